import { closeSync, existsSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { rewriteOpenFile } from '../base/durable.ts'
import { limits } from '../base/limits.ts'
import type { Failure } from './fold.ts'

/** The write-ahead log of an open database, for syncs outside of SQLite. */
export type Wal = {
  /**
   * Bring what was written to the disk. `here`: this thread waits for it. Else another one does, but for one that does not
   * come to it in time.
   */
  sync(here: boolean): Promise<void>
  /** Forget failures that the kernel has still to tell: those of a commit that was undone, or that is written again. */
  forget(): void
  /** Write the log again as it stands. Throws BrokenLog if its first `frames` frames are not what was written. */
  rewrite(frames: number): void
  close(): void
}

const syncElsewhere = promisify(fdatasync)

/**
 * Open the log of a database that is open. The log has no POSIX locks. The database and its index have, and a process
 * loses those of a file with the first descriptor of it that it closes, so that these are left to SQLite. Null on a file
 * system on which SQLite makes no log.
 */
export function openWal(database: string, patienceMs: number = limits.asidePatienceMs): Wal | null {
  if (!existsSync(`${database}-wal`)) return null
  // Open from the start to the end: the kernel tells each descriptor of a failed write once, if it was open then.
  const file = openSync(`${database}-wal`, 'r+')
  // The kernel tells each descriptor once, too, and the thread may have heard of it by then.
  const other = openSync(`${database}-wal`, 'r+')
  // Syncs in other threads that have not ended.
  let running = 0
  let closed = false
  // The next file that is opened gets the number of a closed one: a late sync would take its failure from it.
  const closeUnused = () => {
    if (closed && running === 0) closeSync(file)
  }
  const sync = async () => {
    running++
    try {
      await syncElsewhere(file)
    } finally {
      running--
      closeUnused()
    }
  }
  return {
    async sync(here) {
      // One that nobody waits for any more may be the one that hears of a failure.
      if (here || running > 0) return fdatasyncSync(other)
      const late = Promise.withResolvers<void>()
      // There are as many threads as processors. Names of hosts are looked up in them, which may take seconds.
      const timer = setTimeout(() => late.resolve(Promise.try(fdatasyncSync, other)), patienceMs)
      try {
        await Promise.race([sync(), late.promise])
      } finally {
        clearTimeout(timer)
      }
    },
    forget() {
      for (const descriptor of [file, other]) {
        try {
          fdatasyncSync(descriptor)
        } catch (cause) {
          if (!(cause instanceof Error && 'code' in cause)) throw cause
        }
      }
    },
    rewrite(frames) {
      const check = new LogCheck(frames)
      rewriteOpenFile(file, (piece) => check.take(piece))
      check.end()
    },
    close() {
      if (closed) return
      closed = true
      closeSync(other)
      closeUnused()
    },
  }
}

/** The kernel dropped a part of the log: no process that has the database open can read what it wrote. */
export class BrokenLog extends Error implements Failure {
  readonly code = 'SQLITE_IOERR_DATA'

  constructor(place: string) {
    super(`the log of the database is not as it was written: ${place}`)
  }
}

/** Sizes in the format of a WAL: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const headerBytes = 32
const frameHeaderBytes = 24
/** The first word of a log whose checksums are of little-endian words. With the lowest bit set they are big-endian. */
const magic = 0x377f0682

/** Checks the salts and the checksums of a log that is read in pieces of a multiple of 8 bytes. */
class LogCheck {
  readonly #frames: number
  #at = 0
  #little = true
  /** Unknown before the header. */
  #frameBytes = 0
  readonly #salts = [0, 0]
  /** The running checksums: two sums of 32 bits over pairs of words. */
  #one = 0
  #two = 0
  /** The checksums that a frame tells before its page. */
  readonly #told = [0, 0]

  constructor(frames: number) {
    if (frames < 0) throw new BrokenLog('its length is unknown')
    this.#frames = frames
  }

  take(piece: Uint8Array): void {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength)
    for (let at = 0; at + 8 <= piece.length; at += 8, this.#at += 8) {
      if (this.#at < headerBytes) this.#takeHeader(view, at)
      else if (this.#at < this.#bytes()) this.#takeFrame(view, at)
      // Behind the last frame there may be some of an older log.
      else return
    }
  }

  end(): void {
    if (this.#at < this.#bytes()) throw new BrokenLog('it is too short')
  }

  /** The length of all frames and the header. */
  #bytes(): number {
    return headerBytes + this.#frames * this.#frameBytes
  }

  #takeHeader(view: DataView, at: number): void {
    if (this.#at === 0) {
      const first = view.getUint32(at)
      if ((first & ~1) >>> 0 !== magic) throw new BrokenLog('its header')
      this.#little = first === magic
    }
    if (this.#at === 8) this.#frameBytes = frameHeaderBytes + view.getUint32(at)
    if (this.#at === 16) keep(this.#salts, view, at)
    if (this.#at < 24) this.#add(view, at)
    else if (!isPair(view, at, this.#one, this.#two)) throw new BrokenLog('its header')
  }

  #takeFrame(view: DataView, at: number): void {
    const [frame, offset] = [
      Math.floor((this.#at - headerBytes) / this.#frameBytes),
      (this.#at - headerBytes) % this.#frameBytes,
    ]
    const [salt = 0, other = 0] = this.#salts
    if (offset === 8) {
      if (!isPair(view, at, salt, other)) throw new BrokenLog(`frame ${frame + 1}`)
    } else if (offset === 16) keep(this.#told, view, at)
    else this.#add(view, at)
    const [one, two] = this.#told
    if (offset === this.#frameBytes - 8 && (one !== this.#one || two !== this.#two)) {
      throw new BrokenLog(`frame ${frame + 1}`)
    }
  }

  #add(view: DataView, at: number): void {
    this.#one = (this.#one + view.getUint32(at, this.#little) + this.#two) | 0
    this.#two = (this.#two + view.getUint32(at + 4, this.#little) + this.#one) | 0
  }
}

/** Pairs of words that stand for themselves are big-endian. */
function keep(pair: number[], view: DataView, at: number): void {
  pair[0] = view.getInt32(at)
  pair[1] = view.getInt32(at + 4)
}

function isPair(view: DataView, at: number, one: number, two: number): boolean {
  return view.getInt32(at) === one && view.getInt32(at + 4) === two
}
