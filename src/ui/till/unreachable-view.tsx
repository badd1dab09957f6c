import type { Verdict } from '../../client/voucher-proof.ts'
import { npubOf } from '../../nostr/keys.ts'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Notice } from '../parts/notice.tsx'
import { knownColor } from '../state/merchant-names.ts'
import { shops } from '../state/shops.ts'
import { tillWords as t } from '../words/till.ts'
import { Banner } from './banner.tsx'
import { RestingButton } from './resting.tsx'
import { ShopName } from './shop-view.tsx'
import { leave, retry } from './state.ts'

type Props = {
  /** The sentence of a service that answered with a fault; null when it did not answer. */
  message: string | null
  verdict: Verdict | null
}

/** A coupon without a preview, and the result of its signature. A genuine one may be spent, so none is redeemed. */
export function UnreachableView({ message, verdict }: Props) {
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
      <SignedPromise verdict={verdict} />
    </div>
  )
}

function SignedPromise({ verdict }: { verdict: Verdict | null }) {
  if (!verdict) return <Notice tone="idle">{t('verdict.none')}</Notice>
  if (!verdict.genuine) {
    const harmless = verdict.why === 'shape' || verdict.why === 'phase'
    return <Notice tone={harmless ? 'idle' : 'bad'}>{t(`verdict.${verdict.why}`)}</Notice>
  }
  const { promise, expired } = verdict
  const { name, description, coupon, expiresAt, rules, owner } = promise
  const npub = npubOf(owner)
  const known = shops.value
  if (known.length > 0 && !known.includes(npub)) {
    return (
      <Notice tone="bad" icon="shop">
        <p>{t('verdict.other-merchant')}</p>
        <p>
          <ShopName npub={npub} />
        </p>
      </Notice>
    )
  }
  // A newer service may have types of benefit that this page does not know.
  if (coupon === null) return <Notice tone="wait">{t('verdict.benefit', { name })}</Notice>
  return (
    <div class="stack">
      <CouponCard
        coupon={{ name, description, benefit: coupon, expiresAt, rules, image: null }}
        color={knownColor(npub)}
      />
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
