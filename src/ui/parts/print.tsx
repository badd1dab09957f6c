import { signal } from '@preact/signals'
import { createPortal } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ShownRules } from '../../client/voucher-rules.ts'
import type { Benefit } from '../../coupons/benefit.ts'
import { loadedPath } from '../browser/load-picture.ts'
import { couponLink, linkReach } from '../browser/share.ts'
import { knownLogo, nameSoon } from '../state/merchant-names.ts'
import { benefitText, plainBenefitText, shownName } from '../words/benefit-text.ts'
import { commonWords as t } from '../words/common.ts'
import { day } from '../words/format.ts'
import { rulesLines } from '../words/rules-text.ts'
import { CodeText } from './code-text.tsx'
import { type Fit, measureFit, type PrintFormat, paperLook } from './print-fit.ts'
import { usePrinting } from './printing.ts'
import { QrCode } from './qr-code.tsx'

type Printed = {
  name: string
  description: string
  coupon: Benefit
  expiresAt: number | null
  rules?: ShownRules | undefined
  nonce: string
  recipient?: { name: string }
}
/** The Wi-Fi in whose network coupons open, and the text of its code. */
export type PrintedWifi = { network: string; code: string }

/** `shop`: null where its name is unknown; the paper shows no key. `wifi`: tickets have room for its code, sheets do not. */
type Job = {
  format: PrintFormat
  vouchers: readonly Printed[]
  shop: string | null
  /** The path of its logo, which has loaded; else null. */
  logo: string | null
  wifi: PrintedWifi | null
}

const job = signal<Job | null>(null)
const perSheet = 10

/** Print the vouchers of one shop: sheets to cut, or a ticket each. */
export async function printVouchers(
  format: PrintFormat,
  vouchers: readonly (Printed & { npub: string })[],
  wifi: PrintedWifi | null,
): Promise<void> {
  const [first] = vouchers
  const shop = first ? await nameSoon(first.npub) : null
  const logo = await loadedPath(first ? knownLogo(first.npub) : null)
  job.value = { format, vouchers, shop, logo, wifi: format === 'a4' ? null : wifi }
}

/** The content of the paper, which only a printer shows. A page that prints has it once. */
export function PrintRoom() {
  const current = job.value
  const [fitted, setFitted] = useState<{ job: Job; fit: Fit } | null>(null)
  const fit = fitted?.job === current ? fitted?.fit : undefined
  const measured = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!current || fit || !measured.current) return
    setFitted({ job: current, fit: measureFit(measured.current, paperOf(current)) })
  }, [current, fit])
  usePrinting(job, fit !== undefined)
  if (!current) return null
  if (!fit) {
    return createPortal(
      <div key="measured" ref={measured} aria-hidden="true">
        <Sheet job={current} vouchers={distinct(current.vouchers)} />
      </div>,
      document.body,
    )
  }
  const sheets =
    current.format === 'a4' && !fit.long ? chunked(current.vouchers, perSheet) : [current.vouchers]
  return createPortal(
    <div key="printed" {...paperLook(paperOf(current), fit)}>
      {sheets.map((sheet) => (
        <Sheet
          key={sheet[0]?.nonce}
          job={current}
          vouchers={sheet}
          more={fit.long && current.format !== 'a4'}
        />
      ))}
    </div>,
    document.body,
  )
}

/** `more`: a coupon may take more than one ticket, and says so. */
type SheetProps = { job: Job; vouchers: readonly Printed[]; more?: boolean }

function paperOf({ format, wifi }: Job) {
  return { format, wifi: wifi !== null }
}

function Sheet({ job, vouchers, more = false }: SheetProps) {
  return (
    <div class="paper-sheet">
      {vouchers.map((voucher) => (
        <PrintedCoupon key={voucher.nonce} voucher={voucher} job={job} more={more} />
      ))}
    </div>
  )
}

type CouponProps = {
  voucher: Printed
  job: Job
  more: boolean
}

function PrintedCoupon({ voucher, job: { shop, logo, wifi }, more }: CouponProps) {
  const { name, description, coupon, expiresAt, rules, nonce, recipient } = voucher
  const title = shownName(name, coupon)
  return (
    <section class="paper-coupon">
      <div class="paper-qr">
        <QrCode text={couponLink(nonce)} label={t('qr.coupon')} />
        <CodeText nonce={nonce} />
        {more && <p class="paper-fine paper-more">{t('print.more')}</p>}
      </div>
      <div class="paper-words">
        {logo !== null && <img class="paper-logo" src={logo} alt="" decoding="sync" />}
        {shop !== null && <p class="paper-shop">{shop}</p>}
        <p class="paper-name">{title}</p>
        {recipient && <p class="paper-fine">{t('hand.for', recipient)}</p>}
        {title !== plainBenefitText(coupon) && <p class="paper-benefit">{benefitText(coupon)}</p>}
        <p class="paper-fine">
          {expiresAt === null ? t('coupon.forever') : t('coupon.until', { day: day(expiresAt) })}
        </p>
        {rulesLines(rules).map((line) => (
          <p key={line} class="paper-fine paper-rule">
            {line}
          </p>
        ))}
        {description !== '' && <p class="paper-fine">{description}</p>}
        {/* Not alone on a ticket. */}
        {!more && (
          <p class="paper-fine">
            {t(linkReach() === 'network' ? 'print.scan.network' : 'print.scan')}
          </p>
        )}
      </div>
      {wifi && (
        <div class="paper-wifi">
          <p class="paper-fine">{t('print.wifi', { network: wifi.network })}</p>
          <QrCode text={wifi.code} label={t('print.wifi', { network: wifi.network })} />
        </div>
      )}
    </section>
  )
}

/**
 * One voucher of each kind of terms: five hundred of the same coupon are measured once. Each has the longest of the
 * names, in the widest of letters, so that all others fit.
 */
function distinct<One extends Printed>(vouchers: readonly One[]): One[] {
  const longest = Math.max(...vouchers.map(({ recipient }) => recipient?.name.length ?? 0))
  const widest = longest > 0 && { recipient: { name: 'W'.repeat(longest) } }
  const kinds = vouchers.map((one): [string, One] => {
    const { name, description, coupon, expiresAt, rules } = one
    return [JSON.stringify([name, description, coupon, expiresAt, rules]), { ...one, ...widest }]
  })
  return [...new Map(kinds).values()]
}

function chunked<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}
