import { couponWords as t } from '../words/coupons.ts'
import { number } from '../words/format.ts'

/** `remaining` is null where the coupon has no limit. */
type Props = { minted: number; claimed: number; remaining: number | null }

/** The counters in large numbers. */
export function Totals({ minted, claimed, remaining }: Props) {
  return (
    <dl class="totals">
      <Total value={minted} label={t('total.minted', { n: minted })} />
      <Total value={claimed} label={t('total.claimed', { n: claimed })} />
      <Total value={minted - claimed} label={t('total.open')} />
      {remaining !== null && <Total value={remaining} label={t('total.left', { n: remaining })} />}
    </dl>
  )
}

function Total({ value, label }: { value: number; label: string }) {
  return (
    <div class="total">
      <dt>{label}</dt>
      <dd class="number">{number(value)}</dd>
    </div>
  )
}
