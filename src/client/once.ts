import { ApiError } from './api-error.ts'
import { parseRecord } from './json.ts'
import { randomText } from './random.ts'
import type { TextStore } from './texts.ts'

type Pending = { key: string; body: string }

/**
 * Send a request once, although answers get lost: its Idempotency-Key is stored before the request leaves
 * and stays until the answer is certain. Requests with the same name and body share a key. Use the store of
 * a tab where two tabs may each want one, such as one more voucher.
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
    // The service may have executed it: the next attempt must carry the same key.
    if (!(cause instanceof ApiError) || !cause.mayHaveSucceeded) store.remove(place)
    throw cause
  }
}

function parsePending(text: string | null): Pending | null {
  return parseRecord(text, 'key', 'body') as Pending | null
}
