import { signal } from '@preact/signals'
import { createPortal } from 'preact/compat'
import { useEffect } from 'preact/hooks'
import type { Benefit } from '../../coupons/benefit.ts'
import { couponLink } from '../browser/share.ts'
import { benefitText, plainBenefitText } from '../words/benefit-text.ts'
import { commonWords as t } from '../words/common.ts'
import { day } from '../words/format.ts'
import { QrCode } from './qr-code.tsx'

export const printFormats = ['a4', '80', '58'] as const
export type PrintFormat = (typeof printFormats)[number]
type Printed = {
  name: string
  description: string
  coupon: Benefit
  expiresAt: number | null
  nonce: string
}
type Job = { format: PrintFormat; vouchers: readonly Printed[] }

const job = signal<Job | null>(null)
const perSheet = 10

/** Print vouchers: sheets to cut, or a ticket each. */
export function printVouchers(format: PrintFormat, vouchers: readonly Printed[]): void {
  job.value = { format, vouchers }
}

/** The content of the paper, which only a printer shows. A page that prints has it once. */
export function PrintRoom() {
  const current = job.value
  useEffect(() => {
    if (!current) return
    const done = () => {
      job.value = null
    }
    window.addEventListener('afterprint', done, { once: true })
    // After the next paint: the print dialog takes the page as it is drawn.
    requestAnimationFrame(() => window.print())
    return () => window.removeEventListener('afterprint', done)
  }, [current])
  if (!current) return null
  const sheets = current.format === 'a4' ? chunked(current.vouchers, perSheet) : [current.vouchers]
  return createPortal(
    <div class={`paper paper-${current.format}`}>
      {sheets.map((sheet) => (
        <div key={sheet[0]?.nonce} class="paper-sheet">
          {sheet.map((voucher) => (
            <PrintedCoupon key={voucher.nonce} voucher={voucher} />
          ))}
        </div>
      ))}
    </div>,
    document.body,
  )
}

function PrintedCoupon({ voucher }: { voucher: Printed }) {
  const { name, description, coupon, expiresAt, nonce } = voucher
  return (
    <section class="paper-coupon">
      <div class="paper-qr">
        <QrCode text={couponLink(nonce)} label={t('qr.coupon')} />
      </div>
      <div class="paper-words">
        <p class="paper-name">{name}</p>
        {name !== plainBenefitText(coupon) && <p class="paper-benefit">{benefitText(coupon)}</p>}
        <p class="paper-fine">
          {expiresAt === null ? t('coupon.forever') : t('coupon.until', { day: day(expiresAt) })}
        </p>
        {description !== '' && <p class="paper-fine">{description}</p>}
        <p class="paper-fine">{t('print.scan')}</p>
      </div>
    </section>
  )
}

function chunked<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}
