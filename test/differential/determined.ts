/**
 * Time and randomness of a process that runs the service twice. Import it before any file of `src`: those take
 * `randomBytes` and the like when they are loaded.
 */
import { createRequire } from 'node:module'
import { limits } from '../../src/base/limits.ts'
import { systemTime } from '../../src/db/jobs.ts'
import { ServerClock } from '../../src/db/postgres/server-clock.ts'

/** A moment in the past, because parts in threads of their own have the real time, and refuse events of the future. */
const startedAt = 1_700_000_000

let nowSeconds = startedAt
let salt = ''
const drawn = new Map<string, number>()

const RealDate = Date
class ChosenDate extends RealDate {
  constructor(...args: []) {
    super(...((args.length === 0 ? [nowSeconds * 1000] : args) as []))
  }

  static override now(): number {
    return nowSeconds * 1000
  }
}
globalThis.Date = ChosenDate as DateConstructor

// The server of PostgreSQL has the real time.
Object.defineProperty(ServerClock.prototype, 'apart', { get: () => false })

// A thread that signs has random numbers of its own, and takes part as soon as the machine has started it.
Object.assign(limits, { cryptoThreadFrom: Number.POSITIVE_INFINITY })

// Old rows are swept at each start alone: a sweep a minute would come to one service before it comes to the other.
const { after } = systemTime
systemTime.after = (seconds, call) => {
  return seconds < limits.housekeepingSeconds ? after(seconds, call) : () => undefined
}

// An import of this module would keep its functions as they are.
const nodeCrypto: typeof import('node:crypto') = createRequire(import.meta.url)('node:crypto')
const real = {
  bytes: nodeCrypto.randomBytes,
  uuid: crypto.randomUUID.bind(crypto),
  fill: crypto.getRandomValues.bind(crypto),
  sorted: Bun.randomUUIDv7.bind(Bun),
}

/** The file that asks for random numbers. Null: the engines, which are no part of any answer. */
function place(): string | null {
  const stack = new Error('where').stack ?? ''
  const file =
    /\/src\/([\w/-]+)\.ts/.exec(stack.replaceAll(/\/node_modules\/\S*/g, ''))?.[1] ?? 'test'
  return file.startsWith('db/') ? null : file
}

/**
 * Files whose outcome follows from the message alone: a request and work in the background sign in either order, and an
 * operation that has to run again on one engine seals its answer again.
 */
const ofMessages = /^crypto\/(schnorr|nip44|multi-nip04|seal)/

/** The next bytes of a file in this turn. Null for the engines. */
function draw(length: number): Uint8Array | null {
  const file = place()
  if (file === null) return null
  const bytes = new Uint8Array(length)
  for (let from = 0; from < length; from += 64) {
    const at = ofMessages.test(file) ? 0 : (drawn.get(file) ?? 0)
    drawn.set(file, at + 1)
    const block = new Bun.CryptoHasher('sha512').update(`${salt} ${file} ${at}`).digest()
    bytes.set(block.subarray(0, Math.min(64, length - from)), from)
  }
  return bytes
}

function uuidOf(bytes: Uint8Array, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toHex()
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

nodeCrypto.randomBytes = ((length: number) => {
  const bytes = draw(length)
  return bytes === null ? real.bytes(length) : Buffer.from(bytes)
}) as typeof real.bytes
crypto.randomUUID = () => {
  const bytes = draw(16)
  return (bytes === null ? real.uuid() : uuidOf(bytes, 4)) as ReturnType<typeof real.uuid>
}
crypto.getRandomValues = ((into: Uint8Array) => {
  const bytes = draw(into.byteLength)
  if (bytes === null) return real.fill(into)
  new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes)
  return into
}) as typeof crypto.getRandomValues
Bun.randomUUIDv7 = (() => {
  const bytes = draw(16)
  if (bytes === null) return real.sorted()
  new DataView(bytes.buffer).setBigUint64(0, BigInt(nowSeconds * 1000) << 16n)
  return uuidOf(bytes, 7)
}) as typeof Bun.randomUUIDv7

/** From here on the random numbers are those of this turn: each of the two services gets the same ones. */
export function turnTo(turn: string): void {
  salt = turn
  drawn.clear()
}

/** Begin again at the first moment. */
export function startClock(): void {
  nowSeconds = startedAt
}

export function pass(seconds: number): void {
  nowSeconds += seconds
}
