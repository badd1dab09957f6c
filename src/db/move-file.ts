import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { type JsonObject, parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'

/**
 * The file that brings a service to another computer. It is an age file under a passphrase (age-encryption.org/v1),
 * which authenticates it to its end. Inside is a gzip stream of one line of JSON and then the bytes of a backup.
 */
export type MoveHeader = {
  format: 'cuponera-move'
  version: 1
  /** Unix seconds. */
  createdAt: number
  /** The keys as texts, as `cuponera keys export` has them. */
  keys: JsonObject
  database: { bytes: number; sha256: string }
}

/** The same cost as that of a file of keys: 128 MiB and half a second a try. */
const workFactor = 17
/** The whole header of every file that `sealMove` and the age tool write under a passphrase. */
const head =
  /^age-encryption\.org\/v1\n-> scrypt [A-Za-z0-9+/]{22} (\d{1,2})\n[A-Za-z0-9+/]{43}\n--- [A-Za-z0-9+/]{43}\n/
const headBytes = 160

/** Loaded at the first move alone: its curves and hashes would slow down every start. */
const loadAge = () => import('age-encryption')

/** Encrypt the header and the bytes of a backup, piece by piece. */
export async function sealMove(
  header: MoveHeader,
  database: ReadableStream<Uint8Array>,
  passphrase: string,
): Promise<ReadableStream<Uint8Array>> {
  const { Encrypter } = await loadAge()
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(workFactor)
  const line = new TextEncoder().encode(`${JSON.stringify(header)}\n`)
  return encrypter.encrypt(zip(concat(line, database)))
}

/**
 * Decrypt a file of `sealMove`, and write its backup to `target`, a new file for this user only. Nothing of the
 * backup may be used before this returns, since only the end of a file shows that it is whole. Throws
 * OperatorError for a wrong passphrase and for a damaged file.
 */
export async function openMove(
  file: Blob,
  passphrase: string,
  target: string,
): Promise<MoveHeader> {
  await requireHead(file)
  const { Decrypter } = await loadAge()
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  let opened: ReadableStream<Uint8Array>
  try {
    opened = await decrypter.decrypt(file.stream() as ReadableStream<Uint8Array>)
  } catch {
    throw new OperatorError('wrong passphrase (or the file was changed)', 'passphrase')
  }
  const reader = unzip(opened).getReader()
  const output = openSync(target, 'wx', 0o600)
  try {
    const header = await copyOut(reader, (bytes) => {
      for (let at = 0; at < bytes.length; ) at += writeSync(output, bytes, at)
    })
    fsyncSync(output)
    return header
  } finally {
    closeSync(output)
    await reader.cancel().catch(() => undefined)
  }
}

/** The library reads a header of any length and takes any cost below 2^20, so both are bounded here. */
async function requireHead(file: Blob): Promise<void> {
  const [, cost] = head.exec(await file.slice(0, headBytes).text()) ?? []
  if (cost === undefined || Number(cost) > limits.moveWorkFactorMax) {
    throw damaged()
  }
}

type Reader = { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }

async function copyOut(reader: Reader, write: (bytes: Uint8Array) => void): Promise<MoveHeader> {
  const { header, rest } = await readHeader(reader)
  const hash = new Bun.CryptoHasher('sha256')
  let bytes = 0
  const take = (piece: Uint8Array) => {
    bytes += piece.length
    if (bytes > header.database.bytes) throw damaged()
    hash.update(piece)
    write(piece)
  }
  take(rest)
  for (let piece = await next(reader); piece; piece = await next(reader)) take(piece)
  const { database } = header
  if (bytes !== database.bytes || hash.digest('hex') !== database.sha256) {
    throw damaged()
  }
  return header
}

async function readHeader(reader: Reader): Promise<{ header: MoveHeader; rest: Uint8Array }> {
  let read = new Uint8Array()
  for (;;) {
    const end = read.indexOf(10)
    if (end >= 0) {
      return { header: parseHeader(read.subarray(0, end)), rest: read.subarray(end + 1) }
    }
    const piece = read.length > limits.moveHeaderBytesMax ? null : await next(reader)
    if (!piece) throw damaged()
    read = Buffer.concat([read, piece])
  }
}

function parseHeader(line: Uint8Array): MoveHeader {
  const found = parseJsonObject(line, limits.moveHeaderBytesMax)
  const database = found?.database as Partial<MoveHeader['database']> | undefined
  const sound =
    found?.format === 'cuponera-move' &&
    found.version === 1 &&
    typeof found.keys === 'object' &&
    found.keys !== null &&
    Number.isSafeInteger(database?.bytes) &&
    Number(database?.bytes) <= limits.moveFileBytesMax &&
    /^[0-9a-f]{64}$/.test(String(database?.sha256))
  if (!sound) throw damaged()
  return found as MoveHeader
}

/** The next piece, null at the end. The failures of a stream are those of its content: a changed byte, a missing end. */
async function next(reader: Reader): Promise<Uint8Array | null> {
  try {
    const { done, value } = await reader.read()
    return done ? null : (value ?? new Uint8Array())
  } catch {
    throw damaged()
  }
}

function concat(first: Uint8Array, rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = rest.getReader()
  return new ReadableStream({
    start: (controller) => controller.enqueue(first),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

// The types of the two streams of a transformation differ between the runtime and the library only in their buffers.
function zip(plain: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return plain.pipeThrough(new CompressionStream('gzip') as never)
}

function unzip(zipped: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return zipped.pipeThrough(new DecompressionStream('gzip') as never)
}

function damaged(): OperatorError {
  return new OperatorError('this is no file of "cuponera move out", or it is damaged or incomplete')
}
