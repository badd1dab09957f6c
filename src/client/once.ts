import { ApiError } from './api-error.ts'
import { parseRecord } from './json.ts'
import { randomText } from './random.ts'
import type { TextStore } from './texts.ts'

type Pending = { key: string; body: string }

/**
 * Do a thing once, although answers get lost: its Idempotency-Key is kept before the request leaves and
 * stays until an answer is certain. `name` says which thing; another body is another thing. Give the store
 * of a tab for what two tabs may each want, such as to mint one more.
 */
export async function once<T>(
  name: string,
  body: string,
  send: (key: string) => Promise<T>,
  store: TextStore,
): Promise<T> {
  const place = `once:${name}`
  const known = parsePending(store.read(place))
  const pending = known?.body === body ? known : { key: randomText(), body }
  store.write(place, JSON.stringify(pending))
  try {
    const answer = await send(pending.key)
    store.remove(place)
    return answer
  } catch (cause) {
    // Whether it was done is not known: the next attempt must carry the same key.
    if (!(cause instanceof ApiError) || !cause.unknown) store.remove(place)
    throw cause
  }
}

function parsePending(text: string | null): Pending | null {
  return parseRecord(text, 'key', 'body') as Pending | null
}
