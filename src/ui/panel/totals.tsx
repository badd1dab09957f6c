import type { Figures } from '../../client/models.ts'
import { couponWords as t } from '../words/coupons.ts'
import { number } from '../words/format.ts'

/** `remaining` is null where the coupon has no limit. */
type Props = { figures: Figures; remaining: number | null }

/** The figures in large numbers. Those that a shop may never have are left out while they are zero. */
export function Totals({ figures, remaining }: Props) {
  const { issued, claimed, open, expired, voided } = figures
  return (
    <dl class="totals">
      <Total value={issued} label={t('total.issued', { n: issued })} />
      <Total value={claimed} label={t('total.claimed', { n: claimed })} />
      <Total value={open} label={t('total.open')} />
      {expired > 0 && <Total value={expired} label={t('total.expired', { n: expired })} />}
      {voided > 0 && <Total value={voided} label={t('total.voided', { n: voided })} />}
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
