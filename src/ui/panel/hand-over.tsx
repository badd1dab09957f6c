import { useEffect, useState } from 'preact/hooks'
import { limits } from '../../base/limits.ts'
import { imagePath } from '../../client/images.ts'
import type { Definition, VoucherResult } from '../../client/models.ts'
import { couponLink } from '../browser/share.ts'
import { ReachNotice } from '../hand/reach-notice.tsx'
import { Ways } from '../hand/ways.tsx'
import { WifiBox } from '../hand/wifi-box.tsx'
import { wifiForPrint } from '../hand/wifi-state.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { Field, Select } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { printVouchers } from '../parts/print.tsx'
import { type PrintFormat, printFormats } from '../parts/print-fit.ts'
import { QrCode } from '../parts/qr-code.tsx'
import { useStaying } from '../parts/staying.ts'
import { hasPrinter } from '../printer/settings.ts'
import { TicketButton } from '../printer/ticket-button.tsx'
import { knownName } from '../state/merchant-names.ts'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { ownColor } from './own-shop.ts'
import { mint, overview } from './state.ts'
import { TillLink } from './till-link.tsx'

type Props = {
  coupon: Definition
  /** Asks for a number first. One is issued at once. */
  many: boolean
  onClose: () => void
}

/** Issues vouchers, and hands them over on the screen, as links, as a picture or on paper. */
export function HandOver({ coupon, many, onClose }: Props) {
  const [vouchers, setVouchers] = useState<readonly VoucherResult[]>([])
  const [count, setCount] = useState(many ? '10' : '1')
  const [wrong, setWrong] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const [given, setGiven] = useState(false)
  // Before the first redemption a merchant tries it out, on this device.
  const [trial] = useState(() => !many && overview.value?.coupons.every((one) => one.claimed === 0))
  const { busy, failure, attempt } = useAttempt()

  const issue = () => {
    const wanted = Number(count)
    // Checked here as well, since the field takes any text.
    const sensible = Number.isInteger(wanted) && wanted >= 1 && wanted <= limits.mintCountMax
    setWrong(!sensible)
    if (sensible) {
      void attempt(async () => {
        setVouchers(await mint(coupon.id, wanted))
        // The next codes are nobody's again.
        setGiven(false)
      })
    }
  }
  useEffect(() => {
    if (!many) issue()
  }, [])
  // Nobody has these codes yet, and the page cannot show them again: leaving asks first.
  const unprinted = vouchers.length > 1 && !given
  useStaying(unprinted, () => setLeaving(true))
  const close = () => {
    if (unprinted) setLeaving(true)
    // A code on its way would be issued and never seen.
    else if (!busy) onClose()
  }
  if (vouchers.length === 0) {
    return (
      <Dialog title={many ? t('many.title') : t('hand.title')} roomy={!many} onClose={close}>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            issue()
          }}
        >
          <CouponCard coupon={{ ...coupon, image: imagePath(coupon.image) }} color={ownColor()} />
          {many && (
            <Field
              data-begin
              label={t('many.count')}
              hint={t('many.hint')}
              inputMode="numeric"
              value={count}
              onText={setCount}
              error={wrong ? t('many.wrong') : null}
            />
          )}
          {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
          <Button kind="primary" wide big type="submit" icon="ticket" busy={busy}>
            {many ? t('many.do') : t(busy ? 'hand.working' : 'retry')}
          </Button>
        </form>
      </Dialog>
    )
  }
  const several = vouchers.length > 1
  const title = several ? t('hand.many.title', { n: vouchers.length }) : t('hand.title')
  return (
    <Dialog title={title} roomy onClose={close}>
      <Given
        vouchers={vouchers}
        onGiven={() => setGiven(true)}
        // After the click: the browser follows the link of a page that still has it.
        onTrial={trial ? () => void setTimeout(onClose) : null}
      />
      {/* At a counter one follows another; a batch is printed once. */}
      {!several && (
        <div class="dialog-foot">
          <Button kind="quiet" icon="plus" busy={busy} onClick={issue}>
            {t('hand.another')}
          </Button>
        </div>
      )}
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {leaving && (
        <Confirm
          title={t('hand.leave')}
          action={t('hand.leave.do')}
          danger
          onClose={() => setLeaving(false)}
          onConfirm={async () => onClose()}
        >
          <p>{t('hand.leave.why')}</p>
        </Confirm>
      )}
    </Dialog>
  )
}

type GivenProps = {
  vouchers: readonly VoucherResult[]
  onGiven: () => void
  /** The till of this device opened with the code; null where that is not offered. */
  onTrial: (() => void) | null
}

/** The issued codes, one at a time, and the ways to hand them over. `onGiven`: all of them were. */
function Given({ vouchers, onGiven, onTrial }: GivenProps) {
  const [at, setAt] = useState(0)
  const heading = useArrival()
  const [format, setFormat] = useState<PrintFormat>('a4')
  const voucher = vouchers[Math.min(at, vouchers.length - 1)]
  if (!voucher) return null
  const shop = knownName(voucher.npub)
  return (
    <div class="hand">
      <div class="stack">
        <div class="qr-box">
          <QrCode text={couponLink(voucher.nonce)} label={t('qr.coupon')} />
        </div>
        {vouchers.length > 1 && (
          <div class="row middle">
            <IconButton
              icon="back"
              label={t('hand.previous')}
              onClick={() => setAt((at + vouchers.length - 1) % vouchers.length)}
            />
            <span class="number" role="status">
              {t('hand.at', { at: at + 1, all: vouchers.length })}
            </span>
            <IconButton
              icon="next"
              label={t('hand.next')}
              onClick={() => setAt((at + 1) % vouchers.length)}
            />
          </div>
        )}
        {onTrial && (
          <TillLink kind="primary" nonce={voucher.nonce} onOpen={onTrial}>
            {t('hand.trial')}
          </TillLink>
        )}
        <WifiBox />
      </div>
      <div class="stack">
        <h3 ref={heading} class="hand-name">
          {voucher.name}
        </h3>
        <p>{t('hand.how')}</p>
        <ReachNotice />
        <Ways handed={voucher} all={vouchers} shop={shop} onGiven={onGiven} />
        <TicketButton key={vouchers[0]?.nonce} vouchers={vouchers} onPrinted={onGiven} />
        <Select
          label={t('print.format')}
          value={format}
          options={printFormats.map((one) => [one, t(`print.${one}`)])}
          onChoose={setFormat}
        />
        <Button
          kind={hasPrinter() ? 'plain' : 'primary'}
          icon="print"
          onClick={() => {
            // A page cannot learn whether the paper came out.
            onGiven()
            void printVouchers(format, vouchers, wifiForPrint())
          }}
        >
          {t('hand.print')}
        </Button>
        <Notice tone="wait" icon="lock">
          {t('hand.secret')}
        </Notice>
      </div>
    </div>
  )
}
