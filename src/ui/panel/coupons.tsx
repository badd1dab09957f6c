import { useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import type { Definition } from '../../client/models.ts'
import { hrefTo } from '../browser/route.ts'
import { ButtonLink } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Field, Select } from '../parts/field.tsx'
import { Fitted } from '../parts/fitted.tsx'
import { Badge } from '../parts/notice.tsx'
import { benefitBadge, benefitText, plainBenefitText, shownName } from '../words/benefit-text.ts'
import { couponWords as t } from '../words/coupons.ts'
import { dayOnPill, number } from '../words/format.ts'
import { nearEnd } from '../words/until.ts'
import { matchesWords } from './plain-text.ts'
import { figuresOf } from './state.ts'

type Shown = 'active' | 'archived' | 'all'

/** The list of all coupons, with search and filter. */
export function Coupons({ coupons }: { coupons: readonly Definition[] }) {
  const [sought, setSought] = useState('')
  const [shown, setShown] = useState<Shown>('active')
  const found = coupons.filter((coupon) => {
    // Archived coupons are out of the way, and found by the filter.
    if (shown !== 'all' && (shown === 'archived') !== (coupon.archivedAt !== null)) return false
    const text = `${coupon.name} ${coupon.description} ${plainBenefitText(coupon.benefit)}`
    return matchesWords(text, sought)
  })
  return (
    <div class="stack wide">
      <div class="row apart">
        <h1>{t('list.title')}</h1>
        {coupons.length > 0 && (
          <ButtonLink kind="primary" icon="plus" href={hrefTo('new')}>
            {t('list.new')}
          </ButtonLink>
        )}
      </div>
      {coupons.length === 0 ? (
        <Empty icon="ticket" title={t('list.empty')}>
          <p>{t('list.empty.why')}</p>
          <ButtonLink kind="primary" icon="plus" href={hrefTo('new')}>
            {t('list.new')}
          </ButtonLink>
        </Empty>
      ) : (
        <>
          <search class="filters">
            <Field
              label={t('list.search')}
              type="search"
              value={sought}
              onText={setSought}
              autoComplete="off"
            />
            <Select
              label={t('list.show')}
              value={shown}
              options={[
                ['active', t('list.active')],
                ['archived', t('list.archived')],
                ['all', t('list.all')],
              ]}
              onChoose={setShown}
            />
          </search>
          <p class="soft small" role="status">
            {found.length === 0 ? t('list.none') : t('list.count', { n: found.length })}
          </p>
          <ul class="cards">
            {found.map((coupon) => (
              <li key={coupon.id}>
                <CouponTile coupon={coupon} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

function CouponTile({ coupon }: { coupon: Definition }) {
  const { name, benefit, minted, maxUses, expiresAt, archivedAt } = coupon
  const { issued, claimed } = figuresOf(coupon.id)
  const badge = benefitBadge(benefit)
  const worth = benefitText(benefit)
  const now = systemClock()
  const title = shownName(name, benefit)
  const over = archivedAt !== null || (expiresAt !== null && expiresAt <= now)
  return (
    <a class={over ? 'tile over' : 'tile'} href={hrefTo('coupons', coupon.id)}>
      {/* The sentence beside it has the same benefit. */}
      <span class="tile-badge" aria-hidden="true">
        <Fitted>{badge}</Fitted>
      </span>
      <span class="stack tight grow">
        <span class="tile-name">{title}</span>
        {/* A name made from the benefit says it already. */}
        {title !== plainBenefitText(benefit) && <span class="soft small">{worth}</span>}
        <span class="small number">
          {number(issued)} {t('total.issued', { n: issued })} · {number(claimed)}{' '}
          {t('total.claimed', { n: claimed })}
        </span>
        <span class="row tight-row">
          {archivedAt !== null && <Badge tone="idle">{t('archived')}</Badge>}
          {archivedAt === null && over && <Badge tone="bad">{t('status.expired')}</Badge>}
          {!over && expiresAt !== null && (
            <Badge tone={nearEnd(expiresAt, now) ? 'wait' : 'idle'}>
              {t('card.until', { day: dayOnPill(expiresAt) })}
            </Badge>
          )}
          {!over && maxUses !== null && (
            <Badge tone="accent">{t('card.left', { n: Math.max(0, maxUses - minted) })}</Badge>
          )}
        </span>
      </span>
    </a>
  )
}
