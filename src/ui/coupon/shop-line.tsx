import { ShopKey } from '../parts/shop-key.tsx'
import { ShopLogo } from '../parts/shop-logo.tsx'
import { knownLogo, merchantName } from '../state/merchant-names.ts'
import { couponWords as t } from '../words/coupon.ts'

/** The shop of a coupon. */
export function ShopLine({ npub }: { npub: string }) {
  return (
    <p class="with-icon">
      <ShopLogo path={knownLogo(npub)} icon="shop" />
      <span class="grow">
        {t('by', { who: merchantName(npub) })}
        <ShopKey npub={npub} />
      </span>
    </p>
  )
}
