import type { VoucherTerms } from '../../client/voucher-terms.ts'
import { Button } from '../parts/button.tsx'
import type { IconName } from '../parts/icon.tsx'
import type { Tone } from '../parts/notice.tsx'
import { knownName } from '../state/merchant-names.ts'
import { shops } from '../state/shops.ts'
import { benefitText, nameTells, shownName } from '../words/benefit-text.ts'
import { moment } from '../words/format.ts'
import { laterText, neverText } from '../words/rules-text.ts'
import { smallText, tillWords as t } from '../words/till.ts'
import { Banner, WaitBanner } from './banner.tsx'
import { PreviewView } from './preview-view.tsx'
import type { Outcome, Redemption, RedemptionUnderWay } from './redeem.ts'
import { RestingButton } from './resting.tsx'
import { RuleLines } from './rules-view.tsx'
import { ShopName } from './shop-view.tsx'
import { elsewhere, goOn, leave, retry } from './state.ts'
import { TillKey } from './till-key.tsx'
import { UnreachableView } from './unreachable-view.tsx'

/** Colours of outcomes. Word, icon and tune differ as well, for those who cannot tell colours apart. */
export const outcomeTone: Record<Outcome, Tone> = {
  success: 'good',
  settled: 'idle',
  already: 'bad',
  foreign: 'bad',
  expired: 'wait',
  voided: 'idle',
  moved: 'moved',
  later: 'wait',
  small: 'wait',
  barred: 'wait',
  unknown: 'accent',
}

const outcomeIcon: Record<Outcome, IconName> = {
  success: 'check',
  settled: 'archive',
  already: 'close',
  foreign: 'shop',
  expired: 'clock',
  voided: 'stop',
  moved: 'people',
  later: 'clock',
  small: 'warning',
  barred: 'lock',
  unknown: 'search',
}

type StateProps<Step extends Redemption['step']> = { state: Extract<Redemption, { step: Step }> }

/** The coupon that the till looks at, and the outcome of its redemption. */
export function OutcomeView({ state }: { state: RedemptionUnderWay }) {
  switch (state.step) {
    case 'looking':
      return (
        <WaitBanner title={t('looking.title')}>
          <Button onClick={leave}>{t('cancel')}</Button>
        </WaitBanner>
      )
    case 'shown':
      return <Shown state={state} />
    case 'redeeming':
      return <Redeeming state={state} />
    case 'other-page':
      return (
        <Banner tone="wait" icon="clock" title={t('page.title')}>
          <p>{t('page.detail')}</p>
          <div class="row middle">
            <RestingButton kind="primary" big onClick={retry}>
              {t('again')}
            </RestingButton>
            <RestingButton big onClick={goOn}>
              {t('next')}
            </RestingButton>
          </div>
        </Banner>
      )
    case 'done':
      return <Done state={state} />
    case 'unreachable':
      return <UnreachableView message={state.message} verdict={state.verdict} />
    case 'refused':
      return (
        <Banner tone="bad" icon="warning" title={t('refused.title')}>
          <p>{state.message ?? t('refused.detail')}</p>
          <Next />
        </Banner>
      )
  }
}

function Shown({ state: { terms, nonce } }: StateProps<'shown'>) {
  // The till may get its shop while the coupon is on the screen, by another tab or the panel.
  const foreign = shops.value.length > 0 && !shops.value.includes(terms.npub)
  if (!foreign) return <PreviewView terms={terms} />
  return <Done state={{ step: 'done', nonce, outcome: 'foreign', terms, claimedAt: null }} />
}

function Redeeming({ state: { named, lost } }: StateProps<'redeeming'>) {
  const name = shownName(named.name, named.coupon)
  if (lost === 0) {
    return (
      <WaitBanner title={t('redeeming.title')}>
        <p>{name}</p>
      </WaitBanner>
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

function Done({ state: { outcome, terms, claimedAt, usableAt } }: StateProps<'done'>) {
  const host = elsewhere.value
  const times = terms?.rules?.times
  const detail = () => {
    if (outcome === 'already' || outcome === 'settled') {
      return claimedAt === null ? null : t(`done.${outcome}.detail`, { when: moment(claimedAt) })
    }
    if (outcome === 'expired') {
      const at = terms?.expiresAt ?? null
      return at === null ? null : t('done.expired.detail', { when: moment(at) })
    }
    if (outcome === 'later') {
      return usableAt === undefined ? neverText() : laterText(usableAt)
    }
    if (outcome === 'small') {
      const minimum = terms?.rules?.minimum
      return minimum ? smallText(minimum) : t('done.small.detail')
    }
    if (outcome === 'unknown' && host !== null) return t('done.unknown.elsewhere', { host })
    return t(`done.${outcome}.detail`)
  }
  return (
    <Banner tone={outcomeTone[outcome]} icon={outcomeIcon[outcome]} title={t(`done.${outcome}`)}>
      {terms && <Terms terms={terms} ours={outcome !== 'foreign'} />}
      <p>{detail()}</p>
      {outcome === 'later' && times && <RuleLines rules={{ times }} />}
      {outcome === 'foreign' && terms && <Foreign npub={terms.npub} />}
      {outcome === 'barred' && <TillKey />}
      <Next />
    </Banner>
  )
}

/** The shop of a foreign coupon. Anybody may choose a name, also the one of this shop: the key tells them apart. */
function Foreign({ npub }: { npub: string }) {
  const name = knownName(npub)
  const alike = name !== null && shops.value.some((one) => sounds(knownName(one)) === sounds(name))
  return (
    <div class="stack tight">
      <p>
        <ShopName npub={npub} />
      </p>
      {alike && <p>{t('done.foreign.alike')}</p>}
    </div>
  )
}

/** A name as a hurried reader takes it. */
function sounds(name: string | null): string | undefined {
  return name?.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
}

function Terms({ terms, ours }: { terms: VoucherTerms; ours: boolean }) {
  return (
    <div>
      <p class="banner-name">{benefitText(terms.coupon)}</p>
      {nameTells(terms.name, terms.coupon) && <p>{terms.name}</p>}
      {/* The shop of a foreign coupon stands below, with a warning. */}
      {ours && (
        <p class="small">
          <ShopName npub={terms.npub} />
        </p>
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
