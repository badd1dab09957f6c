import { useState } from 'preact/hooks'
import type { ShownRules } from '../../client/voucher-rules.ts'
import type { Benefit } from '../../coupons/benefit.ts'
import type { ShopColor } from '../../shops/color.ts'
import { benefitBadge, benefitText, nameTells, shownName } from '../words/benefit-text.ts'
import { commonWords as t } from '../words/common.ts'
import { day } from '../words/format.ts'
import { rulesLines } from '../words/rules-text.ts'
import { Fitted } from './fitted.tsx'
import { worthOf } from './shop-shade.ts'

type CouponLook = {
  name: string
  description: string
  benefit: Benefit
  expiresAt: number | null
  rules?: ShownRules | null | undefined
  /** Path at this origin, or null. */
  image: string | null
}

type Props = {
  coupon: CouponLook
  /** The colour of its shop; null for that of the page. */
  color?: ShopColor | null
  spent?: boolean
  /** True where description and rules stand elsewhere on the page (`CouponFine`). */
  brief?: boolean
  /** Called when the picture does not load. */
  onLost?: () => void
}

/** A coupon as its holder sees it. */
export function CouponCard({ coupon, color = null, spent = false, brief = false, onLost }: Props) {
  const { benefit, expiresAt } = coupon
  const name = shownName(coupon.name, benefit)
  const badge = benefitBadge(benefit)
  const worth = benefitText(benefit)
  // A name that was made from the benefit would repeat it.
  const telling = nameTells(coupon.name, benefit)
  const [lost, setLost] = useState<string | null>(null)
  // A picture that does not load leaves a card without one.
  const image = coupon.image === lost ? null : coupon.image
  const lose = () => {
    setLost(image)
    onLost?.()
  }
  return (
    <article
      class={spent ? 'coupon-card spent' : 'coupon-card'}
      style={{ '--worth': worthOf(color) }}
    >
      <div class={image ? 'coupon-worth pictured' : 'coupon-worth'}>
        {image && <img src={image} alt="" onError={lose} />}
        <Fitted>{badge}</Fitted>
      </div>
      <div class="coupon-terms">
        {telling && <p class="coupon-name">{name.trim() === '' ? t('coupon.unnamed') : name}</p>}
        <p class={telling ? 'coupon-benefit' : 'coupon-benefit coupon-name'}>{worth}</p>
        {!brief && <CouponFine {...coupon} />}
        <p class="coupon-fine">
          {expiresAt === null ? t('coupon.forever') : t('coupon.until', { day: day(expiresAt) })}
        </p>
      </div>
    </article>
  )
}

/** The description and the rules of a coupon, in small print. */
export function CouponFine({ description, rules }: Pick<CouponLook, 'description' | 'rules'>) {
  return (
    <>
      {description !== '' && <p class="coupon-fine">{description}</p>}
      {rulesLines(rules).map((line) => (
        <p key={line} class="coupon-fine">
          {line}
        </p>
      ))}
    </>
  )
}
