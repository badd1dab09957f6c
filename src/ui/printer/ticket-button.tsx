import { useState } from 'preact/hooks'
import type { Handed } from '../hand/message.ts'
import { wifiForPrint } from '../hand/wifi-state.ts'
import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/notice.tsx'
import { printVouchers } from '../parts/print.tsx'
import { say } from '../parts/toast.tsx'
import { nameSoon } from '../state/merchant-names.ts'
import { printerWords as t } from '../words/printer.ts'
import { couponTicket } from './coupon-ticket.ts'
import { PrinterError, type PrinterTrouble } from './device.ts'
import { hasPrinter, printerSettings } from './settings.ts'

type Props = {
  vouchers: readonly Handed[]
  /** Called when all of them are on paper, as far as a page can know. */
  onPrinted?: () => void
}

/** Prints a ticket each with one tap, where a printer was chosen. */
export function TicketButton({ vouchers, onPrinted }: Props) {
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<PrinterTrouble | null>(null)
  const [done, setDone] = useState(0)
  if (!hasPrinter()) return null
  const all = vouchers.length
  const waiting = vouchers.slice(done < all ? done : 0)
  const print = async () => {
    setBusy(true)
    setTrouble(null)
    const begun = all - waiting.length
    setDone(begun)
    const failed = await printAll(waiting, (count) => setDone(begun + count))
    setBusy(false)
    setTrouble(failed)
    if (failed !== null) return
    say(t('ticket.done'))
    onPrinted?.()
  }
  const byBrowser = () => {
    onPrinted?.()
    void printVouchers(`${printerSettings.peek().width}`, waiting, wifiForPrint())
  }
  const label = all > 1 ? t('ticket.do.many', { n: all }) : t('ticket.do')
  return (
    <>
      {/* One coupon has another primary button: its picture, or the end. */}
      <Button
        kind={all > 1 ? 'primary' : 'plain'}
        icon="print"
        busy={busy}
        onClick={() => void print()}
      >
        {trouble !== null && done > 0 && done < all ? t('ticket.rest') : label}
      </Button>
      {trouble !== null && (
        <Notice tone="bad">
          <p>{t(`trouble.${trouble}`)}</p>
          {all > 1 && <p>{t('ticket.part', { at: done, all })}</p>}
          <Button icon="print" onClick={byBrowser}>
            {t('ticket.browser')}
          </Button>
        </Notice>
      )}
    </>
  )
}

/** Print one after the other, until one fails: the trouble, or null. */
async function printAll(
  vouchers: readonly Handed[],
  onCount: (count: number) => void,
): Promise<PrinterTrouble | null> {
  try {
    const { printTicket } = await import('./printing.ts')
    for (const [at, voucher] of vouchers.entries()) {
      const shop = await nameSoon(voucher.npub)
      await printTicket(couponTicket(voucher, shop, wifiForPrint()))
      onCount(at + 1)
    }
    return null
  } catch (cause) {
    return troubleOrThrow(cause)
  }
}

/** A part of the page that does not load (a `TypeError`) fails like a printer. */
export function troubleOrThrow(cause: unknown): PrinterTrouble {
  if (cause instanceof PrinterError) return cause.trouble
  if (cause instanceof TypeError) return 'failed'
  throw cause
}
