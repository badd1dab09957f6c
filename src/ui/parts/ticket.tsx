import { useEffect } from 'preact/hooks'
import type { Benefit } from '../../coupons/benefit.ts'
import { benefitBadge, benefitText } from '../client/benefit-text.ts'
import { day } from '../client/format.ts'
import { merchantName } from '../client/merchant.ts'
import { commonWords as t } from '../words/common.ts'
import { QrCode } from './qr-code.tsx'

/** Of the paper, in millimetres. */
export type TicketWidth = 58 | 80

type Props = {
  coupon: {
    name: string
    description: string
    coupon: Benefit
    npub: string
    expiresAt: number | null
  }
  link: string
  width: TicketWidth
  onPrinted: () => void
}

/** One coupon for a ticket printer: shown on paper only, printed as soon as it is there. */
export function Ticket({ coupon, link, width, onPrinted }: Props) {
  const { name, description, coupon: benefit, npub, expiresAt } = coupon
  useEffect(() => {
    const root = document.documentElement
    root.dataset.print = `ticket${width}`
    const end = () => {
      delete root.dataset.print
      onPrinted()
    }
    window.addEventListener('afterprint', end, { once: true })
    const timer = setTimeout(() => window.print())
    return () => {
      clearTimeout(timer)
      window.removeEventListener('afterprint', end)
      delete root.dataset.print
    }
  }, [width])
  return (
    <div class={`ticket ticket${width}`} aria-hidden="true">
      <p class="ticket-shop">{merchantName(npub)}</p>
      <p class="ticket-badge">{benefitBadge(benefit)}</p>
      <p>{benefitText(benefit)}</p>
      <p class="ticket-name">{name}</p>
      {description !== '' && <p class="ticket-fine">{description}</p>}
      <QrCode text={link} label={t('qr.coupon')} />
      <p class="ticket-fine">
        {expiresAt === null ? t('coupon.forever') : t('coupon.until', { day: day(expiresAt) })}
      </p>
    </div>
  )
}
