import { commonWords as t } from '../words/common.ts'

/** The key of a shop or a till, for those who ask: two may have the same name. */
export function ShopKey({ npub, why }: { npub: string; why?: string }) {
  return (
    <details class="shop-key">
      <summary>{t('shop.key.show')}</summary>
      <code class="block small">{npub}</code>
      {why !== undefined && <p class="soft small">{why}</p>}
    </details>
  )
}
