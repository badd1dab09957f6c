import { asObject, type JsonObject, readJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'

const empty = new Uint8Array()

/** Bodies that are being read, with the second by which each must have come. */
const reading = new Set<{ until: number; late: () => void }>()
// One sweep a second for all of them: a timer for each costs more than reading it.
setInterval(sweep, 1000).unref()

/** The exact bytes of a request's body. Refuses `too-large` and, when it trickles in, `request-timeout`. */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  const { headers } = request
  const declared = headers.get('content-length')
  if (declared === null && !headers.has('transfer-encoding')) return empty
  if (declared !== null && Number(declared) > bytesMax) throw new Refusal('too-large')
  // With a length, Bun collects the bytes itself; without one they are counted as they come.
  const bytes = declared === null ? readStream(request, bytesMax) : request.bytes()
  return beforeDeadline(bytes, request)
}

/** The bytes, or `request-timeout` when they are not complete in time. */
function beforeDeadline(bytes: Promise<Uint8Array>, request: Request): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Refusal('request-timeout'))
    const entry = { until: performance.now() + limits.bodyReadSeconds * 1000, late }
    reading.add(entry)
    bytes.then(
      (value) => {
        reading.delete(entry)
        resolve(value)
      },
      (cause: unknown) => {
        reading.delete(entry)
        // Whoever hangs up half-way hears nothing any more, and is no fault of ours.
        reject(request.signal.aborted ? new Refusal('request-timeout') : cause)
      },
    )
  })
}

function sweep(): void {
  const now = performance.now()
  for (const entry of reading) {
    if (entry.until > now) return
    reading.delete(entry)
    entry.late()
  }
}

/** A body as a JSON object; null: the schema of a route that wants one refuses it, after authentication. */
type ParsedBody = {
  object: JsonObject | null
  /** It was not read at all: it nests too deep, or has too many keys or digits. */
  excessive: boolean
}

/** What the bytes of a body say. */
export function parseBody(bytes: Uint8Array): ParsedBody {
  const reading = readJson(bytes, bytes.length)
  if ('value' in reading) return { object: asObject(reading.value), excessive: false }
  return { object: null, excessive: reading.refused !== 'not-json' }
}

async function readStream({ body }: Request, bytesMax: number): Promise<Uint8Array> {
  if (!body) return empty
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    chunks.push(chunk)
    if (length > bytesMax || chunks.length > limits.bodyChunksMax) throw new Refusal('too-large')
  }
  return Buffer.concat(chunks, length)
}
