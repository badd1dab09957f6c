import { Database as Sqlite } from 'bun:sqlite'

/** Held for as long as a process may write the data directory; the kernel lets go when it dies. */
export type Lock = { release(): void }

/** Take the lock, or null while another process holds it. */
export function takeLock(path: string): Lock | null {
  // An exclusive transaction on a file of its own: a lock on every platform, without a native call.
  const file = new Sqlite(path, { create: true, readwrite: true })
  try {
    file.run('PRAGMA busy_timeout = 0')
    file.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    file.close()
    if (cause instanceof Error && 'code' in cause && cause.code === 'SQLITE_BUSY') return null
    throw cause
  }
  return { release: () => file.close() }
}
