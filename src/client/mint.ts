/** Issuing vouchers: the requests of a merchant or a till, each with its session. */
import type { Benefit } from '../coupons/benefit.ts'
import type { Rules } from '../coupons/rules.ts'
import { requestAs } from './api.ts'
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
  return sendOnce(session, { couponId }, store)
}

/** Issue several vouchers. After a lost answer, the next call with the same arguments fetches it. */
export async function mintMany(
  session: Session,
  couponId: string,
  count: number,
  store: TextStore,
): Promise<VoucherResult[]> {
  type Minted = { vouchers: VoucherResult[] }
  return (await sendOnce<Minted>(session, { couponId, count }, store)).vouchers
}

function sendOnce<T>(
  session: Session,
  asked: { couponId: string; count?: number },
  store: TextStore,
): Promise<T> {
  const body = JSON.stringify(asked)
  const send = (key: string) =>
    requestAs<T>(session, '/api/coupons/mint', { body, headers: { 'Idempotency-Key': key } })
  return once(`mint:${asked.couponId}`, body, send, store)
}

/** Fetch the merchants that list the session's key as a till. */
export async function listAuthorizations(session: Session): Promise<Authorization[]> {
  const path = '/api/coupons/authorizations'
  return (await requestAs<{ authorizations: Authorization[] }>(session, path)).authorizations
}
