/** Validation of a draft by the rules of the service, before a request is sent. */
import { systemClock } from '../../base/clock.ts'
import { clientLimits } from '../../base/limits-client.ts'
import { Refusal } from '../../base/refusal.ts'
import { isPlainName, isPlainText } from '../../base/words.ts'
import type { Authored } from '../../client/management.ts'
import { type Benefit, parseBenefit } from '../../coupons/benefit.ts'
import { parseAmount } from '../words/amount.ts'
import { plainBenefitText } from '../words/benefit-text.ts'
import { sentBenefit } from './benefit-forms.tsx'
import { dayOf, endOf } from './days.ts'
import type { Draft } from './draft.ts'
import { rulesOf } from './rules-draft.ts'

/** Validation errors by path of the field, as keys of the sentences. */
export type Wrongs = Readonly<Record<string, WrongKey>>
type WrongKey =
  | 'wrong.percent'
  | 'wrong.amount'
  | 'wrong.quantity'
  | 'wrong.pay'
  | 'wrong.products'
  | 'wrong.product'
  | 'wrong.items'
  | 'wrong.name'
  | 'wrong.hidden'
  | 'wrong.image'
  | 'wrong.max'
  | 'wrong.expires'
  | 'wrong.starts'
  | 'wrong.days'
  | 'wrong.clock'

/** The benefit of a draft, or its validation errors. */
export function benefitOf(draft: Draft): { benefit: Benefit | null; wrongs: Wrongs } {
  try {
    // The parser of the service itself, so that the two can never disagree.
    return { benefit: parseBenefit(sentBenefit(draft)), wrongs: {} }
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause
    const field = (cause.detail.field ?? 'benefit').replace(/^benefit\./, '')
    return { benefit: null, wrongs: { [field]: wrongOf(field) } }
  }
}

function wrongOf(field: string): WrongKey {
  if (field === 'percent') return 'wrong.percent'
  if (field === 'payQty') return 'wrong.pay'
  if (field.endsWith('amount')) return 'wrong.amount'
  if (field.startsWith('productDs')) return 'wrong.products'
  if (/ProductD$|\.d$/.test(field)) return 'wrong.product'
  if (/qty$/i.test(field)) return 'wrong.quantity'
  return 'wrong.items'
}

function wrongRule(path: string): WrongKey {
  if (path === 'startsAt') return 'wrong.starts'
  if (path === 'conditions') return 'wrong.hidden'
  if (path.startsWith('minimum')) return 'wrong.amount'
  return path.endsWith('.days') ? 'wrong.days' : 'wrong.clock'
}

/** The typed name, else one made from the benefit. */
export function nameOf(draft: Draft): string {
  const { benefit } = benefitOf(draft)
  const typedName = draft.name.trim()
  if (typedName !== '' || !benefit) return typedName
  // A name is short, and the card shows the cap beside it.
  const { cap: _, ...uncapped } = benefit
  return [...plainBenefitText(uncapped)].slice(0, clientLimits.nameCharsMax).join('')
}

/** The body of the request, or the validation errors. */
export function authoredOf(draft: Draft): { authored: Authored | null; wrongs: Wrongs } {
  const { benefit, wrongs } = benefitOf(draft)
  const found: Record<string, WrongKey> = { ...wrongs }
  const name = nameOf(draft)
  if (name === '' || [...name].length > clientLimits.nameCharsMax) found.name = 'wrong.name'
  else if (!isPlainName(name)) found.name = 'wrong.hidden'
  const description = draft.description.trim()
  if (!isPlainText(description)) found.description = 'wrong.hidden'
  const image = draft.picture === '' ? draft.image.trim() : ''
  if (image !== '' && !/^https:\/\/[^\s@]+$/.test(image)) found.image = 'wrong.image'
  const maxUses = draft.maxUses.trim() === '' ? null : parseAmount(draft.maxUses)
  if (
    maxUses !== null &&
    !(Number.isInteger(maxUses) && maxUses >= 1 && maxUses <= clientLimits.maxUsesMax)
  ) {
    found.maxUses = 'wrong.max'
  }
  const expiresAt = expiryOf(draft)
  const past = expiresAt !== null && !(expiresAt > systemClock())
  // An expiry that nobody touched may be past: a new name must not move it.
  if (past && expiresAt !== draft.expiresAt) found.expires = 'wrong.expires'
  const { rules, wrong } = rulesOf(draft.rules)
  if (wrong !== null) found[`rules.${wrong}`] = wrongRule(wrong)
  const startsAt = rules?.startsAt
  if (startsAt !== undefined && expiresAt !== null && startsAt >= expiresAt) {
    found['rules.startsAt'] = 'wrong.starts'
  }
  if (!benefit || Object.keys(found).length > 0) return { authored: null, wrongs: found }
  const picture = draft.picture === '' ? null : draft.picture
  const terms = { name, description, image: image === '' ? null : image, picture }
  return { authored: { ...terms, benefit, maxUses, expiresAt, rules }, wrongs: {} }
}

/** The expiry of a draft; null for never, NaN for an invalid day. */
export function expiryOf({ expires, expiresAt }: Draft): number | null {
  if (expires === '') return null
  // The form shows a day. As long as it is the same one, the coupon keeps its clock time.
  return expiresAt !== null && dayOf(expiresAt) === expires ? expiresAt : endOf(expires)
}
