import { useEffect, useRef, useState } from 'preact/hooks'
import { couponLink, localOrigin, shareLink } from '../browser/share.ts'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { PrintRoom, printVouchers } from '../parts/print.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { say } from '../parts/toast.tsx'
import { knownName } from '../state/merchant-names.ts'
import { benefitText } from '../words/benefit-text.ts'
import { tillWords as t } from '../words/till.ts'
import { handedOver, type Issued } from './issue-state.ts'
import { RestingButton } from './resting.tsx'

/** The QR of a voucher that was just issued, for the customer across the counter. */
export function IssuedView({ issued }: { issued: Issued }) {
  const { name, coupon, nonce, npub } = issued
  const link = couponLink(nonce)
  // Asked for at once, so that the ticket has it.
  const shop = knownName(npub)
  const heading = useRef<HTMLHeadingElement>(null)
  const [shown, setShown] = useState(false)
  // The focused button has left the page.
  useEffect(() => heading.current?.focus(), [])
  const share = async () => {
    const how = await shareLink(name, link)
    if (how === 'copied') say(t('issue.copied'))
    setShown(how === 'shown')
  }
  return (
    <section class="stack center issued">
      <h1 ref={heading} tabIndex={-1}>
        {t('issue.ready')}
      </h1>
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        · <bdi>{benefitText(coupon)}</bdi>
      </p>
      <div class="qr-full">
        <QrCode text={link} label={t('issue.qr', { name })} />
      </div>
      <p class="soft">{t('issue.scan')}</p>
      {/* A phone cannot open a loopback address. */}
      {localOrigin() && <Notice tone="wait">{t('issue.local', { host: location.host })}</Notice>}
      <div class="actions">
        <RestingButton icon="share" onClick={() => void share()}>
          {t('issue.share')}
        </RestingButton>
        <RestingButton icon="print" onClick={() => printVouchers('58', [issued], shop)}>
          {t('issue.print58')}
        </RestingButton>
        <RestingButton icon="print" onClick={() => printVouchers('80', [issued], shop)}>
          {t('issue.print80')}
        </RestingButton>
      </div>
      {shown && <Field label={t('issue.link')} value={link} onText={() => undefined} />}
      <RestingButton kind="primary" icon="check" wide class="huge" onClick={handedOver}>
        {t('issue.done')}
      </RestingButton>
      <PrintRoom />
    </section>
  )
}
