import { shownPath } from '../../client/images.ts'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Notice } from '../parts/notice.tsx'
import { couponWords as t } from '../words/coupons.ts'
import type { Draft } from './draft.ts'
import { benefitOf, expiryOf, nameOf } from './draft-check.ts'

import { ownColor } from './own-shop.ts'
import { rulesOf } from './rules-draft.ts'

type Props = {
  draft: Draft
  /** The address of the picture that the service has already. */
  saved: string | null
}

/** The coupon as its customers will see it. */
export function EditorPreview({ draft, saved }: Props) {
  const { benefit } = benefitOf(draft)
  const chosen = draft.image.trim()
  const shown = chosen !== '' && chosen === saved ? shownPath({ image: saved }) : null
  return (
    <aside class="stack tight wizard-preview" aria-label={t('preview')}>
      <p class="soft small">{t('preview')}</p>
      {benefit ? (
        <CouponCard
          color={ownColor()}
          coupon={{
            name: nameOf(draft),
            description: draft.description,
            benefit,
            expiresAt: expiryOf(draft),
            rules: rulesOf(draft.rules).rules,
            // A new address shows no picture before the save, see below.
            image:
              draft.picture !== '' ? shownPath({ image: null, picture: draft.picture }) : shown,
          }}
        />
      ) : (
        <p class="ghost">{t('preview.placeholder')}</p>
      )}
      {/* Pages load no picture from other servers: the service fetches it after the save. */}
      {draft.picture === '' && chosen.startsWith('https://') && chosen !== saved && (
        <Notice tone="idle" icon="image">
          {t('preview.picture')}
        </Notice>
      )}
    </aside>
  )
}
