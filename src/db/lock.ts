import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'
import { storeLog } from './left-log.ts'
import { relayBeside } from './relay-snapshot.ts'

/** The lock of a process that may write the data directory. The kernel releases it when the process dies. */
export type Lock = { release(): void }

/**
 * Take the lock of a data directory, and bring the logs that an ended process left of the databases in `needed` to the
 * disk. Null while another process holds the lock. Throws OperatorError if one of them cannot be stored.
 */
export function lockDatabases(dataDir: string, needed = databasesIn(dataDir)): Lock | null {
  const lock = takeLock(join(dataDir, 'lock'))
  try {
    if (lock) for (const path of needed) storeLog(path, 'forgotten')
    return lock
  } catch (cause) {
    lock?.release()
    throw cause
  }
}

/** The paths of the databases of a data directory, there or not. */
export function databasesIn(dataDir: string): string[] {
  const database = join(dataDir, 'cuponera.db')
  return [database, relayBeside(database)]
}

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
