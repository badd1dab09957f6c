import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'

/** The file of a database, its log, and how much of the log SQLite takes for stored in the file. */
export type Backfill = {
  /** The salts of the log: the one that begins anew has others. */
  salts(): bigint
  /** Tell SQLite that so many frames of the log are in the file. Transactions that begin from now on read their pages there. */
  tell(frames: number): void
  /** Bring the file to the disk, in another thread or in this one. Each hears of a failed write of its own. */
  store(): Promise<void>
  storeHere(): void
  /** Bring the log to the disk. */
  storeLog(): void
}

/** Places in the index of a log, whose numbers have the byte order of the machine: https://www.sqlite.org/walformat.html */
const saltsAt = 32
const backfillAt = 96

const syncElsewhere = promisify(fdatasync)

/** Open them, for a database that is open. */
export function openBackfill(database: string): Backfill {
  const [file, other] = [keepOpen(database, 'elsewhere'), keepOpen(database, 'here')]
  const index = keepOpen(`${database}-shm`, 'index')
  const salts = new BigUint64Array(1)
  const number = new Uint32Array(1)
  const storeHere = () => fdatasyncSync(other.descriptor)
  return {
    salts() {
      readSync(index.descriptor, new Uint8Array(salts.buffer), 0, 8, saltsAt)
      return salts[0] ?? 0n
    },
    tell(frames) {
      number[0] = frames
      writeSync(index.descriptor, new Uint8Array(number.buffer), 0, 4, backfillAt)
    },
    async store() {
      // One that nobody waits for any more may be the one that hears of a failure.
      if (file.syncs > 0) return storeHere()
      file.syncs++
      try {
        await syncElsewhere(file.descriptor)
      } finally {
        file.syncs--
      }
    },
    storeHere,
    storeLog() {
      // It has no locks.
      const log = openSync(`${database}-wal`, 'r')
      try {
        fdatasyncSync(log)
      } finally {
        closeSync(log)
      }
    },
  }
}

/** The same, whose syncs all run in this thread. */
export function syncedHere(backfill: Backfill): Backfill {
  return { ...backfill, store: async () => backfill.storeHere() }
}

/** A descriptor, and its syncs in other threads that have not ended. */
type Kept = { descriptor: number; syncs: number }

const kept = new Map<string, Kept>()

/**
 * The descriptor of a file for a use. It stays open until the process ends: with the first descriptor of a file that it closes,
 * a process loses all its locks of that file.
 */
function keepOpen(path: string, use: 'elsewhere' | 'here' | 'index'): Kept {
  const key = `${use} ${path}`
  const known = kept.get(key)
  if (known && fstatSync(known.descriptor).ino === statSync(path).ino) return known
  const opened = { descriptor: openSync(path, 'r+'), syncs: 0 }
  kept.set(key, opened)
  return opened
}
