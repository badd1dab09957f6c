import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { anyone } from '../../client/anyone.ts'
import type { VoucherStatus } from '../../client/models.ts'
import { couponLink, linkReach } from '../browser/share.ts'
import type { Handed } from '../hand/message.ts'
import { ReachNotice } from '../hand/reach-notice.tsx'
import { Ways } from '../hand/ways.tsx'
import { WifiBox } from '../hand/wifi-box.tsx'
import { wifiForPrint } from '../hand/wifi-state.ts'
import { arrive, useArrival } from '../parts/arrival.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Select } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { printVouchers } from '../parts/print.tsx'
import { type PrintFormat, printFormats } from '../parts/print-fit.ts'
import { QrCode } from '../parts/qr-code.tsx'
import { hasPrinter } from '../printer/settings.ts'
import { TicketButton } from '../printer/ticket-button.tsx'
import { knownName } from '../state/merchant-names.ts'
import { shownName } from '../words/benefit-text.ts'
import { couponWords as t } from '../words/coupons.ts'
import { useReload } from './reload.ts'
import { TillLink } from './till-link.tsx'

type Props = {
  vouchers: readonly Handed[]
  /** Called with those that were handed over, as far as a page can know. */
  onGiven: (given: readonly Handed[]) => void
  /** The till of this device opened with the code; null where that is not offered. */
  onTrial: (() => void) | null
  /** Further ways. */
  children?: ComponentChildren
}

/**
 * The statuses of the vouchers that were shown, by their nonces. The one on the screen follows every change, so that
 * a code that was redeemed elsewhere does not look good. `onOver`: called with a nonce that nobody can use any more.
 */
function useStatuses(nonce: string | null, onOver: (nonce: string) => void) {
  const [known, setKnown] = useState<ReadonlyMap<string, VoucherStatus>>(new Map())
  // A failure changes nothing: the till asks the service anyway.
  useReload(nonce ?? '', async () => {
    if (nonce === null) return () => undefined
    const { status } = await anyone.call('POST /api/coupons/preview', { body: { nonce } })
    return () => {
      setKnown((before) => new Map(before).set(nonce, status))
      if (status !== 'minted') onOver(nonce)
    }
  })
  return known
}

/** The issued codes, one at a time, and the ways to hand them over. */
export function Given({ vouchers, onGiven, onTrial, children }: Props) {
  const [at, setAt] = useState(0)
  const heading = useArrival()
  const [format, setFormat] = useState<PrintFormat>('a4')
  const voucher = vouchers[Math.min(at, vouchers.length - 1)]
  const statuses = useStatuses(voucher?.nonce ?? null, (nonce) =>
    onGiven(vouchers.filter((one) => one.nonce === nonce)),
  )
  if (!voucher) return null
  const shop = knownName(voucher.npub)
  const status = statuses.get(voucher.nonce) ?? 'minted'
  const good = vouchers.filter(({ nonce }) => (statuses.get(nonce) ?? 'minted') === 'minted')
  const reach = linkReach()
  const trial = onTrial && (
    <TillLink
      {...(reach === 'public' && { kind: 'primary' as const })}
      nonce={voucher.nonce}
      onOpen={onTrial}
    >
      {t('hand.trial')}
    </TillLink>
  )
  return (
    <div class={reach === 'public' ? 'hand' : 'hand nearby'}>
      <div class="stack">
        <div class="qr-box" role="status">
          {status === 'minted' ? (
            <QrCode text={couponLink(voucher.nonce)} label={t('qr.coupon')} />
          ) : (
            <Empty icon={status === 'claimed' ? 'check' : 'info'} title={t(`status.${status}`)} />
          )}
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
        {reach === 'public' && status === 'minted' && trial}
        <WifiBox />
      </div>
      <div class="stack">
        <h3 ref={heading} class="hand-name">
          {shownName(voucher.name, voucher.coupon)}
        </h3>
        {voucher.recipient && <p>{t('hand.for', { name: voucher.recipient.name })}</p>}
        {status === 'minted' && (
          <Passing to={heading}>
            {reach !== 'device' && <p>{t('hand.how')}</p>}
            <ReachNotice />
            <Ways handed={voucher} all={good} shop={shop} onGiven={onGiven}>
              {reach !== 'public' && trial}
            </Ways>
          </Passing>
        )}
        {good.length > 0 && (
          <Passing to={heading}>
            {/* All of them: it counts those that are on paper. */}
            <TicketButton
              key={vouchers[0]?.nonce}
              vouchers={vouchers}
              onPrinted={() => onGiven(vouchers)}
            />
            <Select
              label={t('print.format')}
              value={format}
              options={printFormats.map((one) => [one, t(`print.${one}`)])}
              onChoose={setFormat}
            />
            <Button
              kind={hasPrinter() || vouchers.length === 1 ? 'plain' : 'primary'}
              icon="print"
              onClick={() => {
                // A page cannot learn whether the paper came out.
                onGiven(good)
                void printVouchers(format, good, wifiForPrint())
              }}
            >
              {t('hand.print')}
            </Button>
          </Passing>
        )}
        {children}
        {good.length > 0 && (
          <Notice tone="wait" icon="lock">
            {t('hand.secret')}
          </Notice>
        )}
      </div>
    </div>
  )
}

type PassingProps = { to: RefObject<HTMLElement | null>; children: ComponentChildren }

/** Controls that go by themselves when a code is over: the focus of one goes to `to`, and not out of the dialog. */
function Passing({ to, children }: PassingProps) {
  const box = useRef<HTMLDivElement>(null)
  // A layout effect, since a passive one is cleaned up after the controls have gone.
  useLayoutEffect(() => {
    const around = box.current
    return () => {
      if (around?.contains(document.activeElement)) arrive(to.current)
    }
  }, [])
  return (
    <div ref={box} class="stack">
      {children}
    </div>
  )
}
