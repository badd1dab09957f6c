import { Refusal } from '../base/refusal.ts'
import { mac, sameMac, seal, unseal } from '../crypto/seal.ts'
import type { CouponService, CouponStores } from './service.ts'

/**
 * A finished answer: the body is kept as text, so that a repeat is the same byte for byte. `kept:
 * false`: whoever asks again hears the same anyway, so no row is stored for it.
 */
export type Answer = { status: number; body: string; kept?: false }

/** The optional Idempotency-Key of a request, with what it is bound to. */
export type Repeat = {
  key: string
  /** Route and caller, or route and nonce: the same key elsewhere is another key. */
  scope: string
  /** The request's exact bytes: another payload under the same key is refused. */
  request: string
}

const visibleAscii = /^[\x21-\x7e]{8,255}$/

/** The value of an Idempotency-Key header; refuses what is absent or not 8..255 visible ASCII. */
export function parseIdempotencyKey(value: string | null): string {
  if (value === null || !visibleAscii.test(value)) throw new Refusal('idempotency-key-invalid')
  return value
}

/**
 * Run an operation once per Idempotency-Key, in its transaction: the same request again gets the
 * kept answer, another request under that key `idempotency-key-reused`. Only answers are kept, never refusals.
 */
export async function once(
  service: Pick<CouponService, 'storeKey' | 'now'>,
  tx: Pick<CouponStores, 'answers'>,
  repeat: Repeat | null,
  run: () => Promise<Answer>,
): Promise<Answer> {
  if (!repeat) return run()
  const { scope, key } = repeat
  const binding = { purpose: 'answer', secret: scope, key } as const
  const slot = mac(service.storeKey, binding)
  const request = mac(service.storeKey, { purpose: 'request', secret: scope, key: repeat.request })
  const kept = await tx.answers.find(slot)
  if (kept) {
    if (!sameMac(kept.request, request)) throw new Refusal('idempotency-key-reused')
    return { status: kept.status, body: unseal(service.storeKey, binding, kept.sealed) }
  }
  const answer = await run()
  if (answer.kept === false) return answer
  const sealed = seal(service.storeKey, binding, answer.body)
  await tx.answers.insert(slot, { request, status: answer.status, sealed }, service.now())
  return answer
}
