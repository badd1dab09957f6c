import { closeSync, fdatasync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'

/** The file of a database, its log, and how much of the log SQLite takes for stored in the file. */
export type Backfill = {
  /** The salts of the log: the one that begins anew has others. Read them while nobody can write. */
  salts(): bigint
  /**
   * Tell SQLite that so many frames of the log are in the file. Transactions that begin from now on read their pages there. When
   * these are all frames, the next write begins the log anew.
   */
  tell(frames: number): void
  /** Bring the file to the disk, in another thread or in this one. */
  store(): Promise<void>
  storeHere(): void
  /** Bring the log to the disk. */
  storeLog(): void
}

/** Places in the index of a log, whose numbers have the byte order of the machine: https://www.sqlite.org/walformat.html */
const saltsAt = 32
const backfillAt = 96

const syncElsewhere = promisify(fdatasync)

/**
 * Open them, for a database that is open. The file and the index stay so until the process ends: with the first descriptor of
 * a file that it closes, a process loses all its locks of that file.
 */
export function openBackfill(database: string): Backfill {
  const index = openSync(`${database}-shm`, 'r+')
  const file = openSync(database, 'r')
  const salts = new BigUint64Array(1)
  const number = new Uint32Array(1)
  const bytes = new Uint8Array(number.buffer)
  return {
    salts() {
      readSync(index, new Uint8Array(salts.buffer), 0, 8, saltsAt)
      return salts[0] ?? 0n
    },
    tell(frames) {
      readSync(index, bytes, 0, 4, backfillAt)
      const more = frames > (number[0] ?? 0)
      number[0] = frames
      // Other threads read it at any time. In this order it is never above both numbers, whatever they see of it.
      const places = more ? [0, 1, 2, 3] : [3, 2, 1, 0]
      for (const place of places) writeSync(index, bytes, place, 1, backfillAt + place)
    },
    store: () => syncElsewhere(file),
    storeHere: () => fdatasyncSync(file),
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
