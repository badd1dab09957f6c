import { typedGroups } from '../../client/typed-code.ts'
import { couponLink, linkReach } from '../browser/share.ts'
import type { Handed } from '../hand/message.ts'
import { drawQr } from '../parts/qr-code.tsx'
import { benefitText, plainBenefitText, shownName } from '../words/benefit-text.ts'
import { printerWords as t } from '../words/printer.ts'
import { rulesLines } from '../words/rules-text.ts'
import { untilText } from '../words/until.ts'
import type { Ticket } from './ticket.ts'

/** The Wi-Fi in whose network the coupon opens, and the text of its code. */
type TicketWifi = { network: string; code: string }

/** The ticket of a coupon: its shop, its whole promise and its code. */
export function couponTicket(
  { name, description, coupon, expiresAt, rules, nonce, recipient }: Handed,
  shop: string | null,
  wifi: TicketWifi | null,
): Ticket {
  const title = shownName(name, coupon)
  const benefit = title === plainBenefitText(coupon) ? [] : [benefitText(coupon)]
  const to = recipient ? [t('hand.for', { name: recipient.name })] : []
  const hint = linkReach() === 'network' ? t('print.scan.network') : t('print.scan')
  return {
    shop,
    title,
    lines: [...to, ...benefit, untilText(expiresAt), ...rulesLines(rules), description],
    qr: { ...codeOf(couponLink(nonce)), hint },
    typed: typedOf(nonce),
    wifi: wifi && {
      code: wifi.code,
      modules: codeOf(wifi.code).modules,
      hint: t('print.wifi', { network: wifi.network }),
    },
  }
}

/** A ticket that shows whether the width and the letters are right. */
export function trialTicket(): Ticket {
  const hint = t('printer.trial.hint')
  return {
    shop: 'Cuponera',
    title: t('printer.trial'),
    lines: ['áéíóú ÁÉÍÓÚ ñÑ üÜ ¿? ¡! $ %', '12345678901234567890123456789012'],
    qr: { ...codeOf(location.origin), hint },
    typed: null,
    wifi: null,
  }
}

/** The code in groups, on two lines; null for one that has no such form. */
function typedOf(nonce: string): Ticket['typed'] {
  const groups = typedGroups(nonce)
  if (groups === null) return null
  const half = Math.ceil(groups.length / 2)
  const lines = [groups.slice(0, half), groups.slice(half)]
  return { hint: t('typed.title'), text: lines.map((line) => line.join(' ')).join('\n') }
}

function codeOf(text: string): { text: string; modules: number } {
  return { text, modules: drawQr(text).size }
}
