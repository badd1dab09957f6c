import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { rewriteFile, syncDirectory } from '../base/durable.ts'
import { OperatorError } from '../base/operator-error.ts'

/** Path of the mark of a restore that puts the log of a database aside, and the database after it. */
export function restoreMark(database: string): string {
  return `${database}-restoring`
}

/** Remove that mark durably: one that came back after a power cut would ask for the restore again. */
export function removeRestoreMark(database: string): void {
  const mark = restoreMark(database)
  if (!existsSync(mark)) return
  rmSync(mark)
  syncDirectory(dirname(mark))
}

/**
 * Bring the log that an ended process left to the disk, before anybody opens the database. Its last sync may have failed: it
 * can be read then, and commits behind it, or a file that it is folded into, would be lost in a power cut. Its index is
 * forgotten, unless this process may have the database open. Throws OperatorError, also where a restore took the log away and
 * did not complete.
 */
export function storeLog(database: string, index: 'forgotten' | 'kept'): void {
  const log = `${database}-wal`
  try {
    const there = statSync(log, { throwIfNoEntry: false })
    if (!there?.size && existsSync(restoreMark(database))) {
      throw new OperatorError(
        `a restore of ${database} was not completed: run the same "cuponera restore" again`,
      )
    }
    if (there) rewriteFile(log)
    if (index === 'forgotten') forgetIndex(database)
    // A restore that ended before it took the log away.
    removeRestoreMark(database)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause
    const path = 'path' in cause ? cause.path : log
    const failed = `cannot read and write ${String(path)} again (${String(cause.code)})`
    throw new OperatorError(`${failed}: make room or mend the disk, then do this again`)
  }
}

/** Databases whose index this process has forgotten. It may have opened them since. */
const forgotten = new Set<string>()

/** Two copies of its header: https://www.sqlite.org/walformat.html#the_wal_index_header */
const indexHeader = new Uint8Array(96)

/**
 * Let the next read make the index of a log anew, from what the log has. The index may name frames that the disk lost:
 * those of a commit whose sync failed, or was still to come. SQLite makes it anew only if no other program has it open,
 * and trusts it else. Without its header, which a writer that is killed leaves half written, all programs read the log.
 */
function forgetIndex(database: string): void {
  const index = `${database}-shm`
  // Closing a descriptor of it ends the locks that connections of this process have on it.
  if (forgotten.has(database)) return
  if (existsSync(index)) {
    const file = openSync(index, 'r+')
    try {
      writeSync(file, indexHeader, 0, indexHeader.length, 0)
    } finally {
      closeSync(file)
    }
  }
  forgotten.add(database)
}
