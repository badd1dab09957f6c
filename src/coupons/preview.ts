import { Refusal } from '../base/refusal.ts'
import type { Terms } from './definition.ts'
import { handleOf } from './nonce.ts'
import type { CouponService } from './service.ts'
import { statusOf, type Voucher, voucherView } from './voucher.ts'

/** The JSON of a coupon's terms, in front of the nonce and behind it. */
type TermsText = { couponId: string; owner: string; before: string; after: string }

/** By terms, which vouchers of a revision share: to write them takes longer than the rest of an answer. */
const texts = new WeakMap<Terms, TermsText>()

/**
 * Terms and status of a voucher, as JSON. The successor of a refreshed one stays secret. `nonce` has the form of a nonce.
 * Refuses `voucher-unknown`.
 */
export async function preview(service: CouponService, nonce: string): Promise<string> {
  const voucher = await service.database.look((tx) => tx.vouchers.find(handleOf(nonce)))
  if (!voucher) throw new Refusal('voucher-unknown')
  const { before, after } = textOf(voucher)
  const status = statusOf(voucher, service.now())
  const claimedAt = voucher.phase === 'claimed' ? voucher.endedAt : null
  return `{"status":"${status}",${before},"nonce":"${nonce}",${after},"claimedAt":${claimedAt}}`
}

function textOf(voucher: Voucher): TermsText {
  const { couponId, owner } = voucher
  const known = texts.get(voucher.terms)
  if (known?.couponId === couponId && known.owner === owner) return known
  const entries = Object.entries(voucherView(voucher, ''))
  const at = entries.findIndex(([key]) => key === 'nonce')
  const text = {
    ...{ couponId, owner },
    before: membersOf(entries.slice(0, at)),
    after: membersOf(entries.slice(at + 1)),
  }
  texts.set(voucher.terms, text)
  return text
}

/** The JSON of an object without its braces. */
function membersOf(entries: [string, unknown][]): string {
  return JSON.stringify(Object.fromEntries(entries)).slice(1, -1)
}
