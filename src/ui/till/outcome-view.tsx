import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Verdict } from '../../client/voucher-proof.ts'
import type { VoucherTerms } from '../../client/voucher-terms.ts'
import { npubOf } from '../../nostr/keys.ts'
import { Button } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Notice, type Tone } from '../parts/notice.tsx'
import { knownName, merchantName } from '../state/merchant-names.ts'
import { addShop, shops } from '../state/shops.ts'
import { benefitBadge, benefitText } from '../words/benefit-text.ts'
import { day, moment } from '../words/format.ts'
import { tillWords as t } from '../words/till.ts'
import type { Outcome, Redemption, RedemptionUnderWay } from './redeem.ts'
import { RestingButton } from './resting.tsx'
import { ShopKey, ShopName } from './shop-view.tsx'
import { disown, elsewhere, goOn, leave, redeem, retry } from './state.ts'

/** The colour of each outcome; its word, its picture and its tune say the same. */
export const outcomeTone: Record<Outcome, Tone> = {
  success: 'good',
  already: 'bad',
  foreign: 'bad',
  expired: 'wait',
  voided: 'idle',
  moved: 'moved',
  unknown: 'accent',
}

const outcomeIcon: Record<Outcome, IconName> = {
  success: 'check',
  already: 'close',
  foreign: 'shop',
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

function Preview({ state: { terms, nonce } }: Shown<'shown'>) {
  const ours = shops.value.includes(terms.npub)
  // The till got its shop, or another one, while the coupon was on the screen.
  if (!ours && shops.value.length > 0) {
    const claimedAt = null
    return <Done state={{ step: 'done', nonce, outcome: 'foreign', terms, claimedAt }} />
  }
  return (
    // The answer moves the buttons: they rest again, and who gave it goes on from the title.
    <div key={String(ours)} class={`stack wide ${ours ? 'preview' : 'whose'}`}>
      {ours ? <Ours terms={terms} /> : <WhoseTill terms={terms} />}
      <RestingButton wide big onClick={leave}>
        {t('cancel')}
      </RestingButton>
    </div>
  )
}

function Ours({ terms }: { terms: VoucherTerms }) {
  return (
    <>
      <Heading>{benefitBadge(terms.coupon)}</Heading>
      <div class="stack tight preview-words">
        <p class="preview-benefit">{benefitText(terms.coupon)}</p>
        <p class="preview-name">{terms.name}</p>
        {terms.description !== '' && <p class="soft pre">{terms.description}</p>}
        <p class="preview-until">
          <Icon name="clock" />
          {terms.expiresAt === null
            ? t('shown.always')
            : t('shown.until', { when: day(terms.expiresAt) })}
        </p>
      </div>
      <Notice tone="good" icon="shop">
        <strong>{t('shown.ours')}</strong>
        <p class="small">
          <ShopName npub={terms.npub} />
        </p>
      </Notice>
      <RestingButton kind="primary" wide class="huge" icon="check" onClick={redeem}>
        {t('shown.redeem')}
      </RestingButton>
    </>
  )
}

/** Once, before the first redemption: nothing is redeemed by a till that knows no shop. */
function WhoseTill({ terms }: { terms: VoucherTerms }) {
  const { npub, coupon } = terms
  return (
    <>
      <Heading>{t('shop.ask', { who: merchantName(npub) })}</Heading>
      <p>{t('shop.first', { benefit: benefitText(coupon) })}</p>
      <ShopKey npub={npub} />
      <RestingButton wide big icon="check" onClick={() => addShop(npub)}>
        {t('shop.yes')}
      </RestingButton>
      <RestingButton wide big icon="close" onClick={disown}>
        {t('shop.no')}
      </RestingButton>
    </>
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

function Done({ state: { outcome, terms, claimedAt } }: Shown<'done'>) {
  const host = elsewhere.value
  const detail = () => {
    if (outcome === 'already' && claimedAt !== null) {
      return t('done.already.detail', { when: moment(claimedAt) })
    }
    if (outcome === 'expired') {
      const at = terms?.expiresAt ?? null
      return at === null ? null : t('done.expired.detail', { when: moment(at) })
    }
    if (outcome === 'unknown' && host !== null) return t('done.unknown.elsewhere', { host })
    return outcome === 'already' ? null : t(`done.${outcome}.detail`)
  }
  return (
    <Banner tone={outcomeTone[outcome]} icon={outcomeIcon[outcome]} title={t(`done.${outcome}`)}>
      {terms && <Terms terms={terms} />}
      <p>{detail()}</p>
      {outcome === 'foreign' && terms && <Foreign npub={terms.npub} />}
      <Next />
    </Banner>
  )
}

/** The shop of a foreign coupon. Its name proves nothing, least of all one that is also ours. */
function Foreign({ npub }: { npub: string }) {
  const name = knownName(npub)
  const alike = name !== null && shops.value.some((one) => knownName(one) === name)
  return (
    <div class="stack tight">
      <p>
        <ShopName npub={npub} />
      </p>
      {alike && <p>{t('done.foreign.alike')}</p>}
    </div>
  )
}

function Terms({ terms }: { terms: VoucherTerms }) {
  return (
    <div>
      <p class="banner-name">{benefitText(terms.coupon)}</p>
      <p>{terms.name}</p>
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
  const { name, description, coupon, expiresAt, owner } = promise
  const npub = npubOf(owner)
  const known = shops.value
  if (known.length > 0 && !known.includes(npub)) {
    return (
      <Notice tone="bad" icon="shop">
        <p>{t('verdict.foreign')}</p>
        <p>
          <ShopName npub={npub} />
        </p>
      </Notice>
    )
  }
  return (
    <div class="stack">
      <CouponCard coupon={{ name, description, benefit: coupon, expiresAt, image: null }} />
      <Notice tone={expired ? 'bad' : 'wait'} icon="key">
        {t(expired ? 'verdict.expired' : 'verdict.genuine')}
      </Notice>
      {known.length === 0 && (
        <Notice tone="wait" icon="shop">
          <p>{t('verdict.unsure')}</p>
          <p>
            <ShopName npub={npub} />
          </p>
        </Notice>
      )}
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
