/** Issuing vouchers: the calls of a merchant or a till, each with its session. */
import { clientLimits } from '../base/limits-client.ts'
import type { Benefit } from '../coupons/benefit.ts'
import type { Rules } from '../coupons/rules.ts'
import { ApiError } from './api-error.ts'
import type { Caller, CallOptions } from './caller.ts'
import type { Mint, MintAnswer } from './described/coupons.ts'
import type { Authorization, VoucherResult } from './models.ts'
import { isOpen, nameOf, once, withName } from './once.ts'

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

export async function listMintable(caller: Caller): Promise<Mintable[]> {
  return (await caller.call('GET /api/coupons/mintable')).coupons
}

/** Issue one voucher. After a lost answer, the next call for the same coupon fetches it and issues no other. */
export function mintOne(caller: Caller, couponId: string): Promise<VoucherResult> {
  return once(caller, 'mint', { couponId }, (name) => mintNamed(caller, couponId, { once: name }))
}

/** Issue one voucher under the name of its key. */
export async function mintNamed(
  caller: Caller,
  couponId: string,
  options: CallOptions & { once: string },
): Promise<VoucherResult> {
  const answer = await caller.call('POST /api/coupons/mint', { ...options, body: { couponId } })
  if ('voucher' in answer) return answer
  throw new ApiError('answer-invalid')
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
export async function mintBatch(
  caller: Caller,
  { couponId, name, count, labels }: Batched,
): Promise<BatchIssued> {
  const vouchers: VoucherResult[] = []
  const keys: string[] = []
  let batch: { name: string } | { id: string } = { name }
  let failure: unknown = null
  const parts = labels ? partsOf(labels) : [null]
  for (const part of parts) {
    const body: Mint = {
      ...{ couponId, batch },
      ...(part ? { count: part.length, labels: part } : count !== undefined && { count }),
    }
    const key = nameOf('mint', body)
    keys.push(key)
    try {
      const mint = (name: string) => caller.call('POST /api/coupons/mint', { body, once: name })
      const minted: MintAnswer = await withName(caller, key, mint)
      if (!('vouchers' in minted)) throw new ApiError('answer-invalid')
      vouchers.push(...minted.vouchers)
      if (minted.batch) batch = { id: minted.batch.id }
    } catch (cause) {
      // The next call repeats every part, and each must find its own vouchers.
      if (isOpen(cause)) throw cause
      failure = cause
      break
    }
  }
  for (const key of keys) await caller.forget(key)
  // The codes of earlier parts must show now: nobody can ask for them after a refusal.
  if (failure !== null && vouchers.length === 0) throw failure
  return { vouchers, failure }
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
export async function listAuthorizations(caller: Caller): Promise<Authorization[]> {
  return (await caller.call('GET /api/coupons/authorizations')).authorizations
}
