import type { ComponentChildren } from 'preact'
import { couponLink } from '../browser/share.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { WrittenCode } from '../parts/written-code.tsx'
import { couponWords as t } from '../words/coupon.ts'

/** A question that is under way. */
export function Looking() {
  return (
    <div class="row middle" aria-busy="true">
      <span class="spinner huge-spinner" aria-hidden="true" />
    </div>
  )
}

type Props = {
  /** The sentence of a service that answered with a fault; null when it did not answer. */
  message: string | null
  /** The sentence for no answer. */
  detail: string
  children?: ComponentChildren
  onAgain: () => void
}

/** A coupon or a poster of which the service told nothing. */
export function Unreachable({ message, detail, children, onAgain }: Props) {
  return (
    <Empty icon="warning" title={t(message ? 'busy.title' : 'offline.title')}>
      <p>{message ?? detail}</p>
      {children}
      <Button kind="primary" onClick={onAgain}>
        {t('again')}
      </Button>
    </Empty>
  )
}

/** A coupon of which the service never told, and no longer does: the till reads its code all the same. */
export function CodeAlone({ nonce }: { nonce: string }) {
  return (
    <section class="stack center">
      <div class="qr-frame">
        <QrCode text={couponLink(nonce)} label={t('title')} />
      </div>
      <p class="soft">{t('status.minted.detail')}</p>
      <WrittenCode nonce={nonce} />
    </section>
  )
}
