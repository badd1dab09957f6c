import { useEffect, useRef } from 'preact/hooks'
import { couponLink, linkReach } from '../browser/share.ts'
import { ReachNotice } from '../hand/reach-notice.tsx'
import { Ways } from '../hand/ways.tsx'
import { WifiBox } from '../hand/wifi-box.tsx'
import { wifiForPrint } from '../hand/wifi-state.ts'
import { Button } from '../parts/button.tsx'
import { PrintRoom, printVouchers } from '../parts/print.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { hasPrinter } from '../printer/settings.ts'
import { TicketButton } from '../printer/ticket-button.tsx'
import { knownName } from '../state/merchant-names.ts'
import { benefitText, nameTells, shownName } from '../words/benefit-text.ts'
import { tillWords as t } from '../words/till.ts'
import { handedOver, type Issued } from './issue-state.ts'
import { RestingButton, useRested } from './resting.tsx'

/** The QR of a voucher that was just issued, for the customer across the counter. */
export function IssuedView({ issued }: { issued: Issued }) {
  const { coupon, nonce, npub } = issued
  const name = shownName(issued.name, coupon)
  const telling = nameTells(issued.name, coupon)
  const link = couponLink(nonce)
  // Asked for at once, so that the ticket has it.
  const shop = knownName(npub)
  const heading = useRef<HTMLHeadingElement>(null)
  const rested = useRested()
  // The focused button has left the page.
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="stack center issued">
      <h1 ref={heading} tabIndex={-1}>
        {t('issue.ready')}
      </h1>
      <p>
        <strong>
          <bdi>{telling ? name : benefitText(coupon)}</bdi>
        </strong>
        {telling && (
          <>
            {' · '}
            <bdi>{benefitText(coupon)}</bdi>
          </>
        )}
      </p>
      <div class="qr-full">
        <QrCode text={link} label={t('issue.qr', { name })} />
      </div>
      <p class="soft">{t('issue.scan')}</p>
      <ReachNotice />
      <WifiBox />
      <Ways handed={issued} shop={shop} rested={rested} />
      <div class="actions" inert={!rested}>
        <TicketButton vouchers={[issued]} />
        {!hasPrinter() &&
          (['58', '80'] as const).map((width) => (
            <Button
              key={width}
              icon="print"
              onClick={() => void printVouchers(width, [issued], wifiForPrint())}
            >
              {t(`issue.print.${width}`)}
            </Button>
          ))}
      </div>
      {/* One is primary: where phones open no link, the picture. */}
      <RestingButton
        kind={linkReach() === 'public' ? 'primary' : 'plain'}
        icon="check"
        wide
        class="huge"
        onClick={handedOver}
      >
        {t('issue.done')}
      </RestingButton>
      <PrintRoom />
    </section>
  )
}
