import { Refusal } from '../base/refusal.ts'
import { type Answer, once, type Repeat } from './answer.ts'
import { handleOf } from './nonce.ts'
import type { CouponService, CouponStores } from './service.ts'
import { claimedResult, refusalFor, spendable, type Voucher } from './voucher.ts'
import { parseAmountMsat, parseZapRequest } from './zap-request.ts'

type ClaimInput = {
  nonce: string
  /** The merchant the till works for, hex; null: it does not say. */
  owner: string | null
  /** Untrusted; filed when they qualify, dropped otherwise. */
  zapRequest: unknown
  amountMsat: unknown
}

/**
 * Redeem a voucher. Again: the first time and the same event id, with status `claimed`. Refuses
 * `voucher-unknown`, `other-merchant`, `voucher-moved`, `voucher-cancelled`, `voucher-expired`.
 */
export function claim(
  service: CouponService,
  input: ClaimInput,
  repeat: Repeat | null,
): Promise<Answer> {
  return service.database.transact(async (tx) => {
    const voucher = await tx.vouchers.find(handleOf(input.nonce))
    if (!voucher) throw new Refusal('voucher-unknown')
    // Before its phase is looked at: a till of another shop learns nothing of what became of it.
    if (input.owner !== null && input.owner !== voucher.owner) throw new Refusal('other-merchant')
    return once(service, tx, repeat, async () => {
      const now = service.now()
      if (voucher.phase === 'claimed') {
        const again = answer(service, 'claimed', voucher, input.nonce, voucher.endedAt ?? now)
        return { ...again, kept: false }
      }
      if (!spendable(voucher, now)) throw refusalFor(voucher, now, 'claim')

      const sent = parseZapRequest(input.zapRequest, voucher, input.nonce, service.verify)
      const order = sent && (await hasRoom(service, tx, voucher.owner, sent.json)) ? sent : null
      const filed = {
        zapRequest: order?.json ?? null,
        zapRequestId: order?.id ?? null,
        amountMsat: parseAmountMsat(input.amountMsat),
      }
      const success = answer(service, 'success', voucher, input.nonce, now)
      if (!(await tx.vouchers.claim(voucher, filed, now))) throw refusalFor(voucher, now, 'claim')
      const { owner, couponId } = voucher
      const { amountMsat } = filed
      const handle = handleOf(input.nonce)
      const change = { type: 'claimed', owner, couponId, at: now, handle, amountMsat } as const
      tx.afterCommit(() => service.changed(change))
      return success
    })
  })
}

/** A redemption never fails for want of room for its order. */
async function hasRoom(service: CouponService, tx: CouponStores, owner: string, text: string) {
  try {
    await service.charge(tx, owner, { bytes: Buffer.byteLength(text) })
    return true
  } catch (refused) {
    if (refused instanceof Refusal) return false
    throw refused
  }
}

function answer(
  service: CouponService,
  status: 'success' | 'claimed',
  voucher: Voucher,
  nonce: string,
  claimedAt: number,
): Answer {
  const result = claimedResult(service.signer, { ...voucher, nonce }, claimedAt)
  return { status: 200, body: JSON.stringify({ status, claimedAt, ...result }) }
}
