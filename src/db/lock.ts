import { Database as Sqlite } from 'bun:sqlite'

/** The lock of a process that may write the data directory. The kernel releases it when the process dies. */
export type Lock = { release(): void }

/** Take the lock. Null while another process holds it. */
export function takeLock(path: string): Lock | null {
  // An exclusive transaction on a file of its own works on every platform and needs no native call.
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
