import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { benefitBadge, benefitText } from '../client/benefit-text.ts'
import { day, moment } from '../client/format.ts'
import { merchantName } from '../client/merchant.ts'
import type { Verdict } from '../coupon/voucher-proof.ts'
import { Button } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Notice, type Tone } from '../parts/notice.tsx'
import { tillWords as t } from '../words/till.ts'
import type { CouponFacts, Outcome, Redemption, RedemptionUnderWay } from './redeem.ts'
import { RestingButton } from './resting.tsx'
import { elsewhere, goOn, leave, pinShop, redeem, retry, shops } from './state.ts'

/** The colour of each outcome; its word, its picture and its tune say the same. */
export const outcomeTone: Record<Outcome, Tone> = {
  success: 'good',
  already: 'bad',
  expired: 'wait',
  voided: 'idle',
  moved: 'moved',
  unknown: 'accent',
}

const outcomeIcon: Record<Outcome, IconName> = {
  success: 'check',
  already: 'close',
  expired: 'clock',
  voided: 'stop',
  moved: 'people',
  unknown: 'search',
}

type Shown<Step extends Redemption['step']> = { state: Extract<Redemption, { step: Step }> }

/** A coupon that came before the till, in big words. */
export function OutcomeView({ state }: { state: RedemptionUnderWay }) {
  switch (state.step) {
    case 'looking':
      return (
        <Verdictless title={t('looking.title')} busy>
          <Button onClick={leave}>{t('cancel')}</Button>
        </Verdictless>
      )
    case 'shown':
      return <Preview state={state} />
    case 'redeeming':
      return <Redeeming state={state} />
    case 'done':
      return <Done state={state} />
    case 'unreachable':
      return <Unreachable state={state} />
    case 'refused':
      return (
        <Banner tone="bad" icon="warning" title={t('refused.title')}>
          <p>{state.message ?? t('refused.detail')}</p>
          <Next />
        </Banner>
      )
  }
}

function Preview({ state: { facts } }: Shown<'shown'>) {
  const known = shops.value
  const ours = known.includes(facts.npub)
  const foreign = !ours && known.length > 0
  const who = merchantName(facts.npub)
  return (
    // To note the shop moves the buttons: they rest again, and who pressed that one goes on from the title.
    <div key={String(ours)} class="stack wide preview">
      <Heading>{benefitBadge(facts.coupon)}</Heading>
      <div class="stack tight preview-words">
        <p class="preview-benefit">{benefitText(facts.coupon)}</p>
        <p class="preview-name">{facts.name}</p>
        {facts.description !== '' && <p class="soft pre">{facts.description}</p>}
        <p class="preview-until">
          <Icon name="clock" />
          {facts.expiresAt === null
            ? t('shown.always')
            : t('shown.until', { when: day(facts.expiresAt) })}
        </p>
      </div>
      {ours ? (
        <Notice tone="good" icon="shop">
          <strong>{t('shown.ours')}</strong>
          <p class="small">{who}</p>
        </Notice>
      ) : (
        <Notice tone={foreign ? 'bad' : 'wait'} icon="shop">
          <strong>{t(foreign ? 'shown.foreign' : 'shown.unsure')}</strong>
          <p>{t(foreign ? 'shown.foreign.detail' : 'shown.unsure.detail', { who })}</p>
          <RestingButton kind="plain" icon="check" onClick={() => pinShop(facts.npub)}>
            {t('shown.pin')}
          </RestingButton>
        </Notice>
      )}
      <div class="stack">
        <RestingButton
          kind={foreign ? 'danger' : 'primary'}
          wide
          class="huge"
          icon="check"
          onClick={redeem}
        >
          {t(foreign ? 'shown.redeem.foreign' : 'shown.redeem')}
        </RestingButton>
        <RestingButton wide big onClick={leave}>
          {t('cancel')}
        </RestingButton>
      </div>
    </div>
  )
}

function Redeeming({ state: { name, lost } }: Shown<'redeeming'>) {
  if (lost === 0) {
    return (
      <Verdictless title={t('redeeming.title')} busy>
        <p>{name}</p>
      </Verdictless>
    )
  }
  return (
    <Banner tone="wait" icon="warning" title={t('lost.title')}>
      <p class="banner-name">{name}</p>
      <p>{t('lost.detail')}</p>
      <p class="small">{t('lost.count', { n: lost })}</p>
      <div class="row middle">
        <RestingButton kind="primary" big onClick={retry}>
          {t('again')}
        </RestingButton>
        <RestingButton big onClick={leave}>
          {t('lost.later')}
        </RestingButton>
      </div>
    </Banner>
  )
}

function Done({ state: { outcome, facts, claimedAt } }: Shown<'done'>) {
  const host = elsewhere.value
  const detail = () => {
    if (outcome === 'already' && claimedAt !== null) {
      return t('done.already.detail', { when: moment(claimedAt) })
    }
    if (outcome === 'expired') {
      const at = facts?.expiresAt ?? null
      return at === null ? null : t('done.expired.detail', { when: moment(at) })
    }
    if (outcome === 'unknown' && host !== null) return t('done.unknown.elsewhere', { host })
    return outcome === 'already' ? null : t(`done.${outcome}.detail`)
  }
  return (
    <Banner tone={outcomeTone[outcome]} icon={outcomeIcon[outcome]} title={t(`done.${outcome}`)}>
      {facts && <Facts facts={facts} />}
      <p>{detail()}</p>
      <Next />
    </Banner>
  )
}

function Facts({ facts }: { facts: CouponFacts }) {
  return (
    <div>
      <p class="banner-name">{benefitText(facts.coupon)}</p>
      <p>{facts.name}</p>
    </div>
  )
}

function Unreachable({ state: { message, verdict } }: Shown<'unreachable'>) {
  return (
    <div class="stack wide">
      <Banner tone="wait" icon="warning" title={t(message ? 'busy.title' : 'offline.title')}>
        <p>{message ?? t('offline.detail')}</p>
        {message && <p>{t('busy.detail')}</p>}
        <div class="row middle">
          <RestingButton kind="primary" big onClick={retry}>
            {t('again')}
          </RestingButton>
          <RestingButton big onClick={leave}>
            {t('close')}
          </RestingButton>
        </div>
      </Banner>
      <Judged verdict={verdict} />
    </div>
  )
}

function Judged({ verdict }: { verdict: Verdict | null }) {
  if (!verdict) return <Notice tone="idle">{t('verdict.none')}</Notice>
  if (!verdict.genuine) {
    const harmless = verdict.why === 'shape' || verdict.why === 'phase'
    return <Notice tone={harmless ? 'idle' : 'bad'}>{t(`verdict.${verdict.why}`)}</Notice>
  }
  const { promise, expired } = verdict
  const { name, description, coupon, expiresAt } = promise
  return (
    <div class="stack">
      <CouponCard coupon={{ name, description, benefit: coupon, expiresAt, image: null }} />
      <Notice tone={expired ? 'bad' : 'wait'} icon="key">
        {t(expired ? 'verdict.expired' : 'verdict.genuine')}
      </Notice>
    </div>
  )
}

function Next() {
  return (
    <RestingButton big class="banner-next" icon="qr" onClick={goOn}>
      {t('next')}
    </RestingButton>
  )
}

type BannerProps = { tone: Tone; icon: IconName; title: string; children: ComponentChildren }

/** An outcome, told in one glance from across the counter. */
function Banner({ tone, icon, title, children }: BannerProps) {
  return (
    <section class={`banner banner-${tone}`}>
      <Icon name={icon} size={88} />
      <Heading>{title}</Heading>
      {children}
    </section>
  )
}

function Verdictless({
  title,
  busy,
  children,
}: {
  title: string
  busy: boolean
  children: ComponentChildren
}) {
  return (
    <section class="banner banner-none" aria-busy={busy}>
      <span class="spinner huge-spinner" aria-hidden="true" />
      <Heading>{title}</Heading>
      {children}
    </section>
  )
}

/** Takes the focus: it is read out, and the Enter of a scanner presses nothing. */
function Heading({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <h1 ref={heading} class="outcome-title" tabIndex={-1}>
      {children}
    </h1>
  )
}
