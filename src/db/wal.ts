import { closeSync, existsSync, fdatasync, openSync, readSync, writeSync } from 'node:fs'

/** The write-ahead log of an open database, for syncs outside of SQLite. */
export type Wal = {
  /** Bring what was written to the disk. Another thread waits for it. */
  sync(): Promise<void>
  /** Write the first frames again, as they stand. Throws if they are not whole. */
  rewrite(frames: number): void
  close(): void
}

/**
 * Open the log of a database that is open. The log has no POSIX locks. The database and its index have, and a process
 * loses those of a file with the first descriptor of it that it closes, so that these are left to SQLite. Null on a file
 * system on which SQLite makes no log.
 */
export function openWal(database: string): Wal | null {
  if (!existsSync(`${database}-wal`)) return null
  // Open from the start to the end: the kernel tells each descriptor of a failed write once, if it was open then.
  const file = openSync(`${database}-wal`, 'r+')
  return {
    sync: () =>
      new Promise((resolve, reject) =>
        fdatasync(file, (cause) => (cause ? reject(cause) : resolve())),
      ),
    rewrite(frames) {
      if (frames <= 0) return
      const header = new Uint8Array(headerBytes)
      readWhole(file, header)
      const pageBytes = new DataView(header.buffer).getUint32(8)
      if (pageBytes < 512 || pageBytes > 65_536) throw new BrokenLog('its header is damaged')
      const bytes = new Uint8Array(headerBytes + frames * (frameHeaderBytes + pageBytes))
      readWhole(file, bytes)
      requireFrames(bytes, pageBytes)
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at)
    },
    close: () => closeSync(file),
  }
}

/** The log is not what was written to it. */
class BrokenLog extends Error {
  constructor(reason: string) {
    super(`the log of the database is not as it was written: ${reason}`)
  }
}

/** Sizes in the format of a WAL: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const headerBytes = 32
const frameHeaderBytes = 24
/** The first word of a log whose checksums are of little-endian words. With the lowest bit set they are big-endian. */
const magic = 0x377f0682

function readWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(file, bytes, at, bytes.length - at, at)
    if (read === 0) throw new BrokenLog('it is too short')
    at += read
  }
}

/** Check the salts and checksums of a header and of all frames behind it. */
function requireFrames(bytes: Uint8Array, pageBytes: number): void {
  const view = new DataView(bytes.buffer)
  const first = view.getUint32(0)
  if ((first & ~1) >>> 0 !== magic) throw new BrokenLog('its header is damaged')
  const sums = new Checksums(view, first === magic)
  sums.add(0, 24)
  if (!sums.stand(24)) throw new BrokenLog('its header is damaged')
  const frameBytes = frameHeaderBytes + pageBytes
  for (let at = headerBytes; at < bytes.length; at += frameBytes) {
    const salted = [0, 4].every(
      (word) => view.getUint32(at + 8 + word) === view.getUint32(16 + word),
    )
    sums.add(at, 8)
    sums.add(at + frameHeaderBytes, pageBytes)
    if (salted && sums.stand(at + 16)) continue
    throw new BrokenLog(`frame ${(at - headerBytes) / frameBytes + 1} is damaged`)
  }
}

/** The running checksums of a log: two sums of 32 bits over pairs of words. */
class Checksums {
  readonly #view: DataView
  readonly #little: boolean
  #one = 0
  #two = 0

  constructor(view: DataView, little: boolean) {
    this.#view = view
    this.#little = little
  }

  add(from: number, bytes: number): void {
    const [view, little] = [this.#view, this.#little]
    let [one, two] = [this.#one, this.#two]
    for (let at = from; at < from + bytes; at += 8) {
      one = (one + view.getUint32(at, little) + two) | 0
      two = (two + view.getUint32(at + 4, little) + one) | 0
    }
    this.#one = one
    this.#two = two
  }

  /** True if both sums, which are stored big-endian, stand at this place. */
  stand(at: number): boolean {
    return this.#view.getInt32(at) === this.#one && this.#view.getInt32(at + 4) === this.#two
  }
}
