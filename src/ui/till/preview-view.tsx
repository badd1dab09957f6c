import type { VoucherTerms } from '../../client/voucher-terms.ts'
import type { Benefit } from '../../coupons/benefit.ts'
import { Fitted } from '../parts/fitted.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { worthOf } from '../parts/shop-shade.ts'
import { knownColor, merchantName } from '../state/merchant-names.ts'
import { addShop, shops } from '../state/shops.ts'
import { benefitBadge, benefitText, nameTells } from '../words/benefit-text.ts'
import { day } from '../words/format.ts'
import { tillWords as t } from '../words/till.ts'
import { Heading } from './banner.tsx'
import { RestingButton } from './resting.tsx'
import { RedeemWithin, RuleLines } from './rules-view.tsx'
import { ShopDoubt, ShopName } from './shop-view.tsx'
import { disown, leave } from './state.ts'

/** A coupon that can be redeemed; where the till has no shop yet, a question whether this one is its own. */
export function PreviewView({ terms }: { terms: VoucherTerms }) {
  const ours = shops.value.includes(terms.npub)
  return (
    // The answer moves the buttons under the finger: a new key makes them rest again, and the title takes the focus.
    <div
      key={String(ours)}
      class={`stack wide ${ours ? 'preview' : 'whose'}`}
      style={{ '--worth': worthOf(knownColor(terms.npub)) }}
    >
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
      <Heading>
        <Worth benefit={terms.coupon} />
      </Heading>
      <div class="stack tight preview-words">
        {nameTells(terms.name, terms.coupon) && <p class="preview-name">{terms.name}</p>}
        {terms.description !== '' && <p class="soft pre">{terms.description}</p>}
        <RuleLines rules={terms.rules} />
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
      <RedeemWithin terms={terms} />
    </>
  )
}

/** The benefit in one sentence. Its amount is large, where the sentence begins with it. */
function Worth({ benefit }: { benefit: Benefit }) {
  const text = benefitText(benefit)
  const badge = benefitBadge(benefit)
  if (!text.startsWith(badge)) return <span class="preview-benefit">{text}</span>
  const rest = text.slice(badge.length).replace(/^: /, ' ')
  return (
    <>
      <Fitted class="preview-amount">{badge}</Fitted>
      <span class="preview-benefit">{rest}</span>
    </>
  )
}

/** Asked once: a till without a shop redeems nothing, or a stranger's coupon would pass for the shop's own. */
function WhoseTill({ terms }: { terms: VoucherTerms }) {
  const { npub, coupon } = terms
  return (
    <>
      <Heading>{t('shop.ask', { who: merchantName(npub) })}</Heading>
      <p>{t('shop.first', { benefit: benefitText(coupon) })}</p>
      <ShopDoubt npub={npub} />
      <RestingButton wide big icon="check" onClick={() => addShop(npub)}>
        {t('shop.yes')}
      </RestingButton>
      <RestingButton wide big icon="close" onClick={disown}>
        {t('shop.no')}
      </RestingButton>
    </>
  )
}
