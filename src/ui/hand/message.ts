import type { VoucherTerms } from '../../client/voucher-terms.ts'
import type { Reach } from '../browser/host-reach.ts'
import { codeTextOf } from '../parts/code-text.tsx'
import { plainBenefitText } from '../words/benefit-text.ts'
import { handWords as t } from '../words/hand.ts'
import { rulesLines } from '../words/rules-text.ts'
import { untilText } from '../words/until.ts'
import type { Phone } from './phone.ts'

/** A coupon that is handed over, with the terms that its receiver reads. */
export type Handed = Pick<
  VoucherTerms,
  'name' | 'description' | 'coupon' | 'nonce' | 'npub' | 'expiresAt' | 'rules'
> & {
  /** The person that it is for, on this device alone. */
  recipient?: { name: string; phone: Phone | null }
}

/**
 * `shop`: null where its name is unknown. `reach`: the devices that can open the link. `held`: its sender has the same
 * code, which the receiver has to swap.
 */
type Sent = { shop: string | null; link: string; reach: Reach; held?: boolean }

/** The text that goes with the link of a coupon in a message. */
export function couponMessage(
  { coupon, description, expiresAt, rules, nonce }: Handed,
  { shop, link, reach, held = false }: Sent,
): string {
  const opening = shop === null ? t('message.opening') : t('message.shop', { shop })
  // The whole promise with its limits: a message is all that the customer may ever read.
  const limits = [...rulesLines(rules), untilText(expiresAt)]
  const promise = [plainBenefitText(coupon), description.trim(), ...limits]
  const told = [opening, ...promise.filter(Boolean), '']
  const typed = codeTextOf(nonce)
  // No other device opens the link, but a till reads the code.
  if (reach === 'device') return [...told, t('message.code.only'), typed].join('\n')
  const where = reach === 'public' ? 'anywhere' : 'network'
  const open = held ? t(`message.take.${where}`) : t(`message.open.${where}`)
  // A till reads the code also where the phone of the customer is not in the network.
  const code = held || reach === 'public' ? [] : ['', t('message.code'), typed]
  return [...told, open, link, ...code].join('\n')
}
