import { limits } from '../limits.ts'
import { Refusal } from '../refusal.ts'

const empty = new Uint8Array()

/** A body that is no JSON object: the schema of a route that wants one refuses it, after authentication. */
const noObject = null

/** The exact bytes of a request's body. Refuses `too-large` and, when it trickles in, `request-timeout`. */
export async function readBody(request: Request): Promise<Uint8Array> {
  if (request.body === null) return empty
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > limits.bodyBytesMax) throw new Refusal('too-large')
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => timeout.reject(new Refusal('request-timeout')),
    limits.bodyReadSeconds * 1000,
  )
  try {
    // With a length, Bun collects the bytes itself; without one they are counted as they come.
    const bytes = declared === null ? readStream(request.body) : request.bytes()
    return await Promise.race([bytes, timeout.promise])
  } catch (cause) {
    // Whoever hangs up half-way hears nothing any more, and is no fault of ours.
    if (request.signal.aborted) throw new Refusal('request-timeout')
    throw cause
  } finally {
    clearTimeout(timer)
  }
}

/** The JSON object in the bytes, or `noObject`. */
export function parseObject(bytes: Uint8Array): Record<string, unknown> | typeof noObject {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return noObject
    return value as Record<string, unknown>
  } catch (cause) {
    // TypeError: not UTF-8. RangeError: nested deeper than the parser's stack.
    const expected = [SyntaxError, TypeError, RangeError]
    if (expected.some((type) => cause instanceof type)) return noObject
    throw cause
  }
}

async function readStream(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > limits.bodyBytesMax) throw new Refusal('too-large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
