import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Overview } from '../../client/models.ts'
import { arrive } from '../parts/arrival.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { Announcement } from './announcement.tsx'
import { FirstCoupon } from './first-coupon.tsx'
import { HandOver } from './hand-over.tsx'
import { figuresOf } from './state.ts'
import { TillLink } from './till-link.tsx'

/** Steps up to a redeemed coupon. */
const all = 3

/**
 * The first steps of a merchant, up to a redeemed coupon, and the announcement, which many shops do not need.
 * The live stream ticks each one off.
 */
export function Checklist({ overview }: { overview: Overview }) {
  const { coupons, discovery } = overview
  const [handing, setHanding] = useState(false)
  // The button of a ready-made coupon goes with its step, and would take the focus with it.
  const heading = useRef<HTMLHeadingElement>(null)
  // An archived coupon cannot be issued.
  const active = coupons.find(({ archivedAt }) => archivedAt === null)
  const announced = discovery !== null
  const minted = coupons.some(({ id }) => figuresOf(id).issued > 0)
  const redeemed = coupons.some((coupon) => coupon.claimed > 0)
  const done = [coupons.length > 0, minted, redeemed].filter(Boolean).length
  const seen = useRef(done).current
  // Shown until the page is left: a merchant who finishes the last step should see it, a later visit need not.
  if (done === all && seen === all) return null
  return (
    <section class="sheet stack" aria-labelledby="first-steps">
      <div class="row apart">
        <h2 id="first-steps" ref={heading}>
          {t('start.title')}
        </h2>
        <span class="soft small">{t('start.of', { done, all })}</span>
      </div>
      <progress class="progress" value={done} max={all} aria-labelledby="first-steps" />
      <ol class="steps">
        <Step done={coupons.length > 0} title={t('start.create')} why={t('start.create.why')}>
          {coupons.length === 0 && <FirstCoupon onMade={() => arrive(heading.current)} />}
        </Step>
        <Step done={minted} title={t('start.mint')} why={t('start.mint.why')}>
          {/* Until one is redeemed, since a code that was put away cannot be shown again. */}
          {active && !redeemed && (
            <Button kind={minted ? 'plain' : 'primary'} icon="qr" onClick={() => setHanding(true)}>
              {t(minted ? 'hand.another' : 'coupon.hand')}
            </Button>
          )}
        </Step>
        <Step done={redeemed} title={t('start.redeem')} why={t('start.redeem.why')}>
          {minted && !redeemed && <TillLink kind="primary">{t('start.redeem.do')}</TillLink>}
        </Step>
        <Step done={announced} title={t('start.announce')} why={t('start.announce.why')}>
          <Announcement announced={discovery?.id ?? null} />
        </Step>
      </ol>
      {done === all && <Notice tone="good">{t('start.all')}</Notice>}
      {/* Outside of the step, whose button goes while the dialog is open. */}
      {handing && active && <HandOver coupon={active} onClose={() => setHanding(false)} />}
    </section>
  )
}

type StepProps = { done: boolean; title: string; why: string; children?: ComponentChildren }

/** One step. Its mark is a picture, so screen readers get a word. */
function Step({ done, title, why, children }: StepProps) {
  return (
    <li class={done ? 'step done' : 'step'}>
      <span class="step-mark" aria-hidden="true">
        {done && <Icon name="check" size={18} />}
      </span>
      <div class="grow stack tight">
        <h3>
          {title}
          {done && <span class="unseen"> ({t('start.done')})</span>}
        </h3>
        {!done && <p class="soft">{why}</p>}
        {children && <div>{children}</div>}
      </div>
    </li>
  )
}
