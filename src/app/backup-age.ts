import { closeSync, openSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { ownLikeDirectory } from '../base/durable.ts'

/** An empty file whose time is that of the last backup. It is no row, because a restored database would have an older one. */
function markPath(dataDir: string): string {
  return join(dataDir, 'backed-up')
}

/** Note that a backup was written just now. False if the data directory takes no file: the backup counts all the same. */
export function noteBackup(dataDir: string): boolean {
  const path = markPath(dataDir)
  try {
    closeSync(openSync(path, 'w', 0o600))
    ownLikeDirectory(path)
    utimesSync(path, systemClock(), systemClock())
    return true
  } catch (cause) {
    if (cause instanceof Error && 'syscall' in cause) return false
    throw cause
  }
}

/** Seconds since the last backup that was noted. Infinity if there is none. */
export function backupAge(dataDir: string): number {
  const mark = statSync(markPath(dataDir), { throwIfNoEntry: false })
  return mark ? Math.max(0, systemClock() - mark.mtimeMs / 1000) : Number.POSITIVE_INFINITY
}
