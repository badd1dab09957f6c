import { hexOf } from '../base/bytes.ts'
import { Refusal } from '../base/refusal.ts'
import { mac, sameMac, seal, unseal } from '../crypto/seal.ts'
import type { BeforeCommit } from '../db/database.ts'
import type { Root } from '../db/roots.ts'
import type { CouponService, CouponStores } from './service.ts'

/**
 * A finished answer. The body is text, so that a repeat is the same byte for byte. `kept: false` marks an
 * answer that the operation gives again by itself, so that no row is stored for it.
 */
export type Answer = { status: number; body: string; kept?: false }

/** The optional Idempotency-Key of a request, and the request that it belongs to. */
export type Repeat = {
  key: string
  /** Route and caller, or route and nonce. The same key in another scope is another key. */
  scope: string
  /** Exact bytes of the request. The same key with other bytes is refused. */
  request: string
}

const visibleAscii = /^[\x21-\x7e]{8,255}$/

/** The value of an Idempotency-Key header, 8 to 255 visible ASCII characters. Refuses `idempotency-key-invalid`. */
export function parseIdempotencyKey(value: string | null): string {
  if (value === null || !visibleAscii.test(value)) throw new Refusal('idempotency-key-invalid')
  return value
}

/**
 * The repeat that an optional Idempotency-Key header asks for, bound to `scope` and to the exact bytes of the body.
 * Null if no key was sent. Refuses `idempotency-key-invalid`.
 */
export function parseRepeat(
  { headers }: Pick<Request, 'headers'>,
  scope: string,
  body: Uint8Array,
): Repeat | null {
  const key = headers.get('idempotency-key')
  if (key === null) return null
  return { key: parseIdempotencyKey(key), scope, request: Buffer.from(body).toString('base64') }
}

/**
 * The root of the kept answer, for an operation whose other roots are shared: of two requests under one key at once the
 * later one would be refused where the first one took the last voucher.
 */
export function rootsOfAnswer(
  service: Pick<CouponService, 'storeKey'>,
  repeat: Repeat | null,
): Root[] {
  return repeat ? [{ answer: hexOf(mac(service.storeKey, bindingOf(repeat))) }] : []
}

// Keys and scopes are stored as MACs: a copy of the database shows neither a nonce nor a guessable key.
function bindingOf({ scope, key }: Repeat) {
  return { purpose: 'answer', secret: scope, key } as const
}

/**
 * Run an operation once per Idempotency-Key, in its transaction. The same request gets the kept answer
 * again; another request under that key is refused as `idempotency-key-reused`. Refusals are never kept.
 */
export async function once(
  service: Pick<CouponService, 'storeKey' | 'now'>,
  tx: Pick<CouponStores, 'answers'>,
  repeat: Repeat | null,
  run: () => Promise<Answer>,
): Promise<Answer> {
  if (!repeat) return run()
  const { scope } = repeat
  const binding = bindingOf(repeat)
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

/**
 * An answer whose text has a signature that was begun. It is there before the commit; for an answer that is kept it is made
 * at once.
 */
export function signedAnswer(
  tx: BeforeCommit,
  repeat: Repeat | null,
  text: () => string,
): { status: 200; body: string } {
  const answer = { status: 200 as const, body: repeat ? text() : '' }
  if (!repeat) {
    tx.beforeCommit(() => {
      answer.body = text()
    })
  }
  return answer
}
