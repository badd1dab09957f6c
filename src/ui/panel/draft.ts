import type { Definition } from '../../client/models.ts'
import type { Benefit } from '../../coupons/benefit.ts'
import type { Language } from '../browser/language.ts'
import { parseAmount, typed } from '../words/amount.ts'

export type Currency = 'ARS' | 'USD' | 'SAT'
export type BenefitType = Benefit['type']
export const benefitTypes: readonly BenefitType[] = [
  'percent',
  'multibuy',
  'buyXgetY',
  'fixed',
  'freeItems',
]

/** What a person has typed so far, as text. */
export type Draft = {
  type: BenefitType
  percent: string
  amount: string
  currency: Currency
  buyQty: string
  payQty: string
  products: string
  bought: string
  gift: string
  items: readonly { d: string; qty: string }[]
  capped: boolean
  capAmount: string
  capCurrency: Currency
  name: string
  description: string
  image: string
  maxUses: string
  /** `YYYY-MM-DD` on the clock of this device. */
  expires: string
  /** The moment that `expires` was read from: it stays, clock time and all, while that day does. */
  expiresAt: number | null
}

export const emptyDraft: Draft = {
  type: 'percent',
  percent: '',
  amount: '',
  currency: 'ARS',
  buyQty: '2',
  payQty: '1',
  products: '',
  bought: '',
  gift: '',
  items: [{ d: '', qty: '1' }],
  capped: false,
  capAmount: '',
  capCurrency: 'ARS',
  name: '',
  description: '',
  image: '',
  maxUses: '',
  expires: '',
  expiresAt: null,
}

/** A definition as it would have been typed. */
export function draftOf({
  name,
  description,
  image,
  benefit,
  maxUses,
  expiresAt,
}: Definition): Draft {
  const cap = benefit.cap
    ? { capped: true, capAmount: typed(benefit.cap.amount), capCurrency: benefit.cap.currency }
    : {}
  const products = 'productDs' in benefit ? { products: (benefit.productDs ?? []).join(', ') } : {}
  return {
    ...emptyDraft,
    ...fieldsOf(benefit),
    ...cap,
    ...products,
    type: benefit.type,
    name,
    description,
    image: image ?? '',
    maxUses: maxUses === null ? '' : String(maxUses),
    expires: expiresAt === null ? '' : dayOf(expiresAt),
    expiresAt,
  }
}

function fieldsOf(benefit: Definition['benefit']): Partial<Draft> {
  switch (benefit.type) {
    case 'percent':
      return { percent: typed(benefit.percent) }
    case 'fixed':
      return { amount: typed(benefit.amount), currency: benefit.currency }
    case 'multibuy':
      return { buyQty: String(benefit.buyQty), payQty: String(benefit.payQty) }
    case 'buyXgetY':
      return { bought: benefit.buyProductD, gift: benefit.giftProductD }
    case 'freeItems':
      return { items: benefit.items.map(({ d, qty }) => ({ d, qty: String(qty) })) }
  }
}

/** What was typed in another language, with the same numbers: `5.000` would be five in English. */
export function retyped(draft: Draft, before: Language): Draft {
  const again = (text: string) => {
    const value = parseAmount(text, before)
    return Number.isNaN(value) ? text : typed(value)
  }
  return {
    ...draft,
    percent: again(draft.percent),
    amount: again(draft.amount),
    buyQty: again(draft.buyQty),
    payQty: again(draft.payQty),
    items: draft.items.map(({ d, qty }) => ({ d, qty: again(qty) })),
    capAmount: again(draft.capAmount),
    maxUses: again(draft.maxUses),
  }
}

/** `YYYY-MM-DD` on the clock of this device. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
