import { parseIdempotencyKey, type Repeat } from '../coupons/answer.ts'
import { factsOf } from './facts.ts'

/** The optional Idempotency-Key of a request, bound to `scope`; null when none was sent. */
export function parseRepeat(request: Request, scope: string): Repeat | null {
  const header = request.headers.get('idempotency-key')
  if (header === null) return null
  const bytes = Buffer.from(factsOf(request).body)
  return { key: parseIdempotencyKey(header), scope, request: bytes.toString('base64') }
}
