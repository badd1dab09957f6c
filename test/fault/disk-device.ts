import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { compileC, whyNoCompiler } from '../support/compile-c.ts'
import { newDirectory } from '../support/server.ts'

/** Offsets in the block that disk-faults.c shares with a test, in its order. */
const at = {
  ...{ armed: 0, error: 8, first: 16, last: 24, counted: 32, failed: 40 },
  ...{ logs: 816, syncMs: 824 },
}
const texts = { match: [48, 256], below: [304, 256], told: [560, 256] } as const
const blockBytes = 832

/** A fault of a disk: its error, and the numbers of the first and the last call that fail. */
export type Fault = { error: 'EIO' | 'ENOSPC'; first: number; last: number }

/** The reason why no disk can be made to fail here, or null. */
export function whyNoDevice(): string | null {
  if (process.platform !== 'linux') return 'only on Linux'
  return whyNoCompiler()
}

/** The library, compiled; the same one for all devices of a process. */
let library: string | null = null

function compile(): string {
  if (library !== null && existsSync(library)) return library
  library = compileC(join(import.meta.dir, 'disk-faults.c'), ['-O1', '-shared', '-fPIC'])
  return library
}

/** A disk below a directory that fails on command, for the processes that get its `env`. */
export class Device {
  readonly env: Record<string, string>
  readonly #bytes: Uint8Array
  readonly #block: DataView

  constructor(below: string) {
    const path = join(newDirectory(), 'control')
    writeFileSync(path, new Uint8Array(blockBytes))
    this.#bytes = Bun.mmap(path)
    this.#block = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, blockBytes)
    this.below(below)
    this.env = { LD_PRELOAD: compile(), DISK_FAULTS: path }
  }

  /** Count from now on, and fail. `match`: only calls with this in their text (`fsync /path/file$`). */
  arm({ error, first, last }: Fault, match = ''): void {
    this.disarm()
    this.#write('match', match)
    this.#write('told', '')
    this.#set('error', constants.errno[error])
    this.#set('first', first)
    this.#set('last', last)
    this.#set('counted', 0)
    this.#set('failed', 0)
    this.#set('logs', 0)
    this.#set('armed', 1)
  }

  /** Only files below this directory fail from now on. */
  below(directory: string): void {
    this.#write('below', realpathSync(directory))
  }

  disarm(): void {
    this.#set('armed', 0)
  }

  /** Each sync takes so many milliseconds longer from now on, also while it is not armed. */
  slow(ms: number): void {
    this.#set('syncMs', ms)
  }

  /** The number of calls since it was armed. */
  get counted(): number {
    return Number(this.#block.getBigInt64(at.counted, true))
  }

  /** How many of them failed. */
  get failed(): number {
    return Number(this.#block.getBigInt64(at.failed, true))
  }

  /** How many of them were on the log of a database. */
  get failedOnLog(): number {
    return Number(this.#block.getBigInt64(at.logs, true))
  }

  /** The first call that failed, with its path. */
  get told(): string {
    const [from, bytes] = texts.told
    const text = Buffer.from(this.#bytes.subarray(from, from + bytes)).toString()
    return text.slice(0, text.indexOf('\0'))
  }

  #set(name: keyof typeof at, value: number): void {
    this.#block.setBigInt64(at[name], BigInt(value), true)
  }

  #write(name: keyof typeof texts, text: string): void {
    const [from, bytes] = texts[name]
    const written = Buffer.from(text)
    if (written.length >= bytes) throw new RangeError(`too long: ${text}`)
    this.#bytes.fill(0, from, from + bytes).set(written, from)
  }
}
