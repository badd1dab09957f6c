import { ApiError } from './api-error.ts'
import { parseRecord } from './json.ts'
import { randomText } from './random.ts'
import { device } from './storage.ts'

type Pending = { key: string; body: string }

/**
 * Do a thing once, whatever gets lost: its Idempotency-Key is kept before the request leaves and stays
 * until an answer is certain. `name` says which thing; with another body it is another one. What two tabs
 * may each want (to mint one more) is kept in `tab`, what is the same thing everywhere on the `device`.
 */
export async function once<T>(
  name: string,
  body: string,
  send: (key: string) => Promise<T>,
  storage = device,
): Promise<T> {
  const place = `once:${name}`
  const known = parsePending(storage.read(place))
  const pending = known?.body === body ? known : { key: randomText(), body }
  storage.write(place, JSON.stringify(pending))
  try {
    const answer = await send(pending.key)
    storage.remove(place)
    return answer
  } catch (cause) {
    // Whether it was done is not known: the next attempt must carry the same key.
    if (!(cause instanceof ApiError) || !cause.unknown) storage.remove(place)
    throw cause
  }
}

function parsePending(text: string | null): Pending | null {
  return parseRecord(text, 'key', 'body') as Pending | null
}
