import { ApiError } from './api-error.ts'
import { randomText } from './random.ts'
import { device } from './storage.ts'

type Pending = { key: string; body: string }

/**
 * Do a thing once, whatever gets lost: its Idempotency-Key is on this device before the request leaves and
 * stays until an answer is certain. `name` says which thing; with another body it is another one.
 */
export async function once<T>(
  name: string,
  body: string,
  send: (key: string) => Promise<T>,
): Promise<T> {
  const place = `once:${name}`
  const known = parsePending(device.read(place))
  const pending = known?.body === body ? known : { key: randomText(), body }
  device.write(place, JSON.stringify(pending))
  try {
    const answer = await send(pending.key)
    device.remove(place)
    return answer
  } catch (cause) {
    // Whether it was done is not known: the next attempt must carry the same key.
    if (!(cause instanceof ApiError) || !cause.unknown) device.remove(place)
    throw cause
  }
}

function parsePending(text: string | null): Pending | null {
  return text === null ? null : (JSON.parse(text) as Pending)
}
