/** Issuing vouchers: the requests of a merchant or a till, each with its session. */
import { clientLimits } from '../base/limits-client.ts'
import type { Benefit } from '../coupons/benefit.ts'
import type { Rules } from '../coupons/rules.ts'
import { requestAs } from './api.ts'
import { ApiError } from './api-error.ts'
import type { Authorization, VoucherResult } from './models.ts'
import { once } from './once.ts'
import type { Session } from './session.ts'
import type { TextStore } from './texts.ts'

/** A coupon that the key of the session may issue. */
export type Mintable = {
  id: string
  name: string
  description: string
  coupon: Benefit
  npub: string
  remaining: number | null
  expiresAt: number | null
  rules?: Rules
}

export async function listMintable(session: Session): Promise<Mintable[]> {
  const path = '/api/coupons/mintable'
  return (await requestAs<{ coupons: Mintable[] }>(session, path)).coupons
}

/** Issue one voucher. After a lost answer, the next call for the same coupon fetches it and issues no other. */
export function mintOne(
  session: Session,
  couponId: string,
  store: TextStore,
): Promise<VoucherResult> {
  const body = JSON.stringify({ couponId })
  const send = (key: string) => {
    const headers = { 'Idempotency-Key': key }
    return requestAs<VoucherResult>(session, '/api/coupons/mint', { body, headers })
  }
  return once(`mint:${couponId}`, body, send, store)
}

/** Vouchers to be issued together: their number, or a recipient for each. */
export type Batched = { couponId: string; name: string } & (
  | { count: number; labels?: never }
  | { labels: readonly string[]; count?: never }
)

/** `failure`: the reason why the rest was not issued; null when all were. */
export type BatchIssued = { vouchers: VoucherResult[]; failure: unknown }

/**
 * Issue the vouchers of a batch, in as many requests as the labels take. After a lost answer, the next call with the
 * same arguments fetches what was issued and issues the rest. Throws what the first request throws.
 */
export function mintBatch(
  session: Session,
  batched: Batched,
  store: TextStore,
): Promise<BatchIssued> {
  const send = (key: string) => sendParts(session, batched, key)
  // Not the place of `mintOne`: a single voucher meanwhile would take the key of parts whose codes nobody has yet.
  return once(`mint-batch:${batched.couponId}`, JSON.stringify(batched), send, store)
}

/** Each part has a key of its own, made from that of the whole, which is stored until all parts are answered. */
async function sendParts(
  session: Session,
  { couponId, name, count, labels }: Batched,
  key: string,
): Promise<BatchIssued> {
  type Minted = { vouchers: VoucherResult[]; batch: { id: string } }
  const vouchers: VoucherResult[] = []
  let batch: { name: string } | { id: string } = { name }
  const parts = labels ? partsOf(labels) : [null]
  for (const [at, part] of parts.entries()) {
    const body = { couponId, batch, ...(part ? { count: part.length, labels: part } : { count }) }
    try {
      const minted: Minted = await requestAs(session, '/api/coupons/mint', {
        body,
        headers: { 'Idempotency-Key': `${key}-${at}` },
      })
      vouchers.push(...minted.vouchers)
      batch = { id: minted.batch.id }
    } catch (cause) {
      const open = cause instanceof ApiError && cause.mayHaveSucceeded
      // The codes of earlier parts must show now: nobody can ask for them after a refusal.
      if (open || vouchers.length === 0) throw cause
      return { vouchers, failure: cause }
    }
  }
  return { vouchers, failure: null }
}

/** Bytes of a request beside its labels. */
const restBytes = 1024

/** Labels in parts of one request each. */
function partsOf(labels: readonly string[]): string[][] {
  const parts: string[][] = [[]]
  let bytes = restBytes
  for (const label of labels) {
    const more = new TextEncoder().encode(JSON.stringify(label)).length + 1
    if (bytes + more > clientLimits.bodyBytesMax) {
      parts.push([])
      bytes = restBytes
    }
    parts.at(-1)?.push(label)
    bytes += more
  }
  return parts
}

/** Fetch the merchants that list the session's key as a till. */
export async function listAuthorizations(session: Session): Promise<Authorization[]> {
  const path = '/api/coupons/authorizations'
  return (await requestAs<{ authorizations: Authorization[] }>(session, path)).authorizations
}
