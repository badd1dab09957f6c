import { FairShares } from '../base/fair-shares.ts'
import { asObject, type JsonObject, readJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'

const empty = new Uint8Array()

/** A body that is still arriving. */
type Arrival = {
  address: string
  weight: number
  /** True when it is complete, or has failed. */
  arrived: boolean
  until: number
  giveUp: () => void
}

/**
 * Reads bodies, each within a deadline. The bytes of arriving bodies are bounded in all and for each
 * address. When they are used up, the oldest body of the address with the most bytes is given up for the new one.
 */
export function createBodies() {
  /** In the order of their deadlines. */
  const arriving = new Set<Arrival>()
  const shares = new FairShares<Arrival>()

  const forget = (arrival: Arrival) => {
    arrival.arrived = true
    if (arriving.delete(arrival)) shares.remove(arrival.address, arrival)
  }
  const giveUp = (arrival: Arrival) => {
    forget(arrival)
    arrival.giveUp()
  }
  const makeRoom = (newcomer: Arrival) => {
    for (;;) {
      const { bodiesBytesPerAddressMax: shareMax, bodiesBytesMax: max } = limits
      const address = shares.overfull(newcomer.address, shareMax, max)
      const oldest = address === null ? undefined : shares.oldestOf(address)
      if (!oldest || oldest === newcomer) return
      giveUp(oldest)
    }
  }
  // One sweep a second for all bodies, because a timer for each costs more than reading it.
  const sweeping = setInterval(() => {
    const now = performance.now()
    for (const arrival of arriving) {
      if (arrival.until > now) return
      giveUp(arrival)
    }
  }, 1000)
  sweeping.unref()

  /**
   * Bodies of this turn of the loop that are not counted yet. Most bodies are there at once, so that they are never counted.
   */
  let fresh: Arrival[] = []
  const countFresh = () => {
    const counted = fresh.filter(({ arrived }) => !arrived)
    fresh = []
    for (const arrival of counted) {
      arriving.add(arrival)
      shares.add(arrival.address, arrival, arrival.weight)
      makeRoom(arrival)
    }
  }

  /** The bytes. Refuses `request-timeout` if they are not complete in time. */
  const arrive = (bytes: Promise<Uint8Array>, request: Request, address: string, weight: number) =>
    new Promise<Uint8Array>((resolve, reject) => {
      const arrival: Arrival = {
        ...{ address, weight, arrived: false },
        until: performance.now() + limits.bodyReadSeconds * 1000,
        giveUp: () => reject(new Refusal('request-timeout')),
      }
      if (fresh.push(arrival) === 1) setImmediate(countFresh)
      bytes.then(
        (value) => {
          forget(arrival)
          resolve(value)
        },
        (cause: unknown) => {
          forget(arrival)
          // A client that hangs up is no fault of ours, and reads no answer.
          reject(request.signal.aborted ? new Refusal('request-timeout') : cause)
        },
      )
    })

  return {
    /**
     * The exact bytes of a body. `address` is that of the client. Refuses `too-large`, and
     * `request-timeout` if the body is slow or is given up for another: at once, or by the promise.
     */
    read(request: Request, bytesMax: number, address: string): Uint8Array | Promise<Uint8Array> {
      const { headers } = request
      const said = headers.get('content-length')
      if (said === null && !headers.has('transfer-encoding')) return empty
      // Bun accepts a repeated Content-Length, as `5, 5`.
      const length = said === null ? null : Number.parseInt(said, 10)
      if (length !== null && !(length <= bytesMax)) throw new Refusal('too-large')
      // With a length, Bun collects the bytes. Without one they are counted here as they arrive.
      const bytes = length === null ? readStream(request, bytesMax) : request.bytes()
      return arrive(bytes, request, address, Math.max(limits.bodyWeightMin, length ?? bytesMax))
    },
    stop: () => clearInterval(sweeping),
  }
}

/** A body as a JSON object, or null. The schema of a route refuses null, after authentication. */
type ParsedBody = {
  object: JsonObject | null
  /** It was not parsed, because it nests too deep or has too many keys or digits. */
  excessive: boolean
}

/** Parse the bytes of a body, whose number was bounded when they were read. */
export function parseBody(bytes: Uint8Array): ParsedBody {
  const reading = readJson(bytes, bytes.length)
  if ('value' in reading) return { object: asObject(reading.value), excessive: false }
  return { object: null, excessive: reading.refused !== 'not-json' }
}

/**
 * Elysia asks every request with a body for its stream. Bun then makes one, and reads the bytes through it, which takes
 * longer than the bytes themselves. The stream is still there for `readStream`.
 */
export function hideStream(request: Request): void {
  Object.defineProperty(request, 'body', { value: null })
}

async function readStream(request: Request, bytesMax: number): Promise<Uint8Array> {
  const body: Request['body'] = Reflect.get(Request.prototype, 'body', request)
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
