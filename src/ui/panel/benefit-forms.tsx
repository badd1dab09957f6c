import type { ComponentChild } from 'preact'
import { clientLimits } from '../../base/limits-client.ts'
import type { Benefit } from '../../coupons/benefit.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Check, Field } from '../parts/field.tsx'
import { parseAmount, typed } from '../words/amount.ts'
import { benefitWords } from '../words/benefit-text.ts'
import { couponWords as t } from '../words/coupons.ts'
import type { Wrongs } from './draft-check.ts'
import { type Currency, MoneyField } from './money-field.tsx'

type BenefitType = Benefit['type']
type Benefits = { [T in BenefitType]: Extract<Benefit, { type: T }> }

/** The fields of a benefit as typed, of all types: a change of type and back loses nothing. */
export type BenefitDraft = {
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
}

export const emptyBenefit: BenefitDraft = {
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
}

type Change = (changes: Partial<BenefitDraft>) => void
type Inputs = {
  draft: BenefitDraft
  /** The validation error of a field in words, or null. */
  wrong: (field: string) => string | null
  onChange: Change
}

/** The form of one type of benefit. */
type Form<T extends BenefitType> = {
  /** The picture of the type in the list of types. */
  badge: string
  Inputs: (inputs: Inputs) => ComponentChild
  /** The fields of a benefit as they would have been typed. */
  typed: (benefit: Benefits[T]) => Partial<BenefitDraft>
  /** The fields that the service is sent. */
  sent: (draft: BenefitDraft) => Record<string, unknown>
  /** True if it can be bound to products. */
  ofProducts: boolean
  /** True if it can have a cap. A fixed amount is its own cap. */
  cappable: boolean
}

/** The form of each type of benefit, in the order of the list. */
const forms: { [T in BenefitType]: Form<T> } = {
  percent: {
    badge: '%',
    ofProducts: true,
    cappable: true,
    typed: ({ percent }) => ({ percent: typed(percent) }),
    sent: ({ percent }) => ({ percent: parseAmount(percent) }),
    Inputs: ({ draft, wrong, onChange }) => (
      <Field
        label={t('field.percent')}
        inputMode="decimal"
        placeholder={t('field.example', { text: '25' })}
        value={draft.percent}
        onText={(percent) => onChange({ percent })}
        hint={unreadElsewhere(draft).percent ? t('elsewhere.percent') : undefined}
        error={wrong('percent')}
        beside={<span class="unit">%</span>}
      />
    ),
  },
  multibuy: {
    badge: '2x1',
    ofProducts: true,
    cappable: true,
    typed: ({ buyQty, payQty }) => ({ buyQty: String(buyQty), payQty: String(payQty) }),
    sent: ({ buyQty, payQty }) => ({ buyQty: parseAmount(buyQty), payQty: parseAmount(payQty) }),
    Inputs: ({ draft, wrong, onChange }) => (
      <div class="pair">
        <Field
          label={t('field.buy')}
          inputMode="numeric"
          value={draft.buyQty}
          onText={(buyQty) => onChange({ buyQty })}
          error={wrong('buyQty')}
        />
        <Field
          label={t('field.pay')}
          inputMode="numeric"
          value={draft.payQty}
          onText={(payQty) => onChange({ payQty })}
          error={wrong('payQty')}
        />
      </div>
    ),
  },
  buyXgetY: {
    badge: '1+1',
    ofProducts: false,
    cappable: true,
    typed: ({ buyProductD, giftProductD }) => ({ bought: buyProductD, gift: giftProductD }),
    sent: ({ bought, gift }) => ({ buyProductD: bought.trim(), giftProductD: gift.trim() }),
    Inputs: ({ draft, wrong, onChange }) => (
      <>
        <Field
          label={t('field.bought')}
          value={draft.bought}
          onText={(bought) => onChange({ bought })}
          error={wrong('buyProductD')}
        />
        <Field
          label={t('field.gift')}
          value={draft.gift}
          onText={(gift) => onChange({ gift })}
          error={wrong('giftProductD')}
        />
      </>
    ),
  },
  fixed: {
    badge: '$',
    ofProducts: true,
    cappable: false,
    typed: ({ amount, currency }) => ({ amount: typed(amount), currency }),
    sent: ({ amount, currency }) => ({ amount: parseAmount(amount), currency }),
    Inputs: ({ draft, wrong, onChange }) => (
      <MoneyField
        label={t('field.amount')}
        amount={draft.amount}
        currency={draft.currency}
        error={wrong('amount')}
        onAmount={(amount) => onChange({ amount })}
        onCurrency={(currency) => onChange({ currency })}
      />
    ),
  },
  freeItems: {
    badge: '0 $',
    ofProducts: false,
    cappable: true,
    typed: ({ items }) => ({ items: items.map(({ d, qty }) => ({ d, qty: String(qty) })) }),
    sent: ({ items }) => ({
      items: items.map(({ d, qty }) => ({ d: d.trim(), qty: parseAmount(qty) })),
    }),
    Inputs: Items,
  },
}

export const benefitTypes = Object.keys(forms) as BenefitType[]

/** The types of benefits, with their names. */
function badgeOf(type: BenefitType): string {
  return type === 'multibuy' ? benefitWords('deal', { buy: 2, pay: 1 }) : forms[type].badge
}

export function benefitChoices() {
  return benefitTypes.map((value) => {
    return { value, text: t(`type.${value}`), badge: badgeOf(value) }
  })
}

/** A benefit as it would have been typed. */
export function typedBenefit(benefit: Benefit): Partial<BenefitDraft> {
  const cap = benefit.cap && {
    capped: true,
    capAmount: typed(benefit.cap.amount),
    capCurrency: benefit.cap.currency,
  }
  // One field for all products, separated by commas.
  const products = 'productDs' in benefit ? { products: (benefit.productDs ?? []).join(', ') } : {}
  const { typed: fields } = forms[benefit.type] as Form<BenefitType>
  return { ...fields(benefit), ...cap, ...products, type: benefit.type }
}

/** The benefit in the request. It is not validated yet. */
export function sentBenefit(draft: BenefitDraft): Record<string, unknown> {
  const { type } = draft
  const { sent, ofProducts, cappable } = forms[type]
  const named = draft.products.split(',').map((one) => one.trim())
  const products = ofProducts && { productDs: named.filter((one) => one !== '') }
  const cap = cappable &&
    draft.capped && { cap: { amount: parseAmount(draft.capAmount), currency: draft.capCurrency } }
  return { type, ...sent(draft), ...products, ...cap }
}

/** A draft with every number rewritten by `again`, for another language. */
export function retypedBenefit(draft: BenefitDraft, again: (text: string) => string): BenefitDraft {
  return {
    ...draft,
    percent: again(draft.percent),
    amount: again(draft.amount),
    buyQty: again(draft.buyQty),
    payQty: again(draft.payQty),
    items: draft.items.map(({ d, qty }) => ({ d, qty: again(qty) })),
    capAmount: again(draft.capAmount),
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The fields whose values are good here, but that programs of La Crypta do not read: they want whole percents, and
 * products by UUIDs.
 */
export function unreadElsewhere(draft: BenefitDraft): { percent: boolean; products: boolean } {
  const { percent = 0, productDs = [] } = sentBenefit(draft) as {
    percent?: number
    productDs?: string[]
  }
  return {
    percent: typeof percent === 'number' && percent > 0 && !Number.isInteger(percent),
    products: productDs.some((one) => !uuid.test(one)),
  }
}

type Props = { draft: BenefitDraft; wrongs: Wrongs; onChange: Change }

/** The inputs of the chosen type, and those that types share. */
export function BenefitFields({ draft, wrongs, onChange }: Props) {
  const wrong = (field: string) => {
    const key = wrongs[field]
    return key ? t(key) : null
  }
  const { Inputs, ofProducts, cappable } = forms[draft.type]
  return (
    <div class="stack">
      <Inputs draft={draft} wrong={wrong} onChange={onChange} />
      {ofProducts && (
        <Field
          label={t('field.products')}
          hint={
            unreadElsewhere(draft).products ? t('elsewhere.products') : t('field.products.hint')
          }
          placeholder={t('field.products.example')}
          value={draft.products}
          onText={(products) => onChange({ products })}
          // Any of the products may be invalid, and they share one field.
          error={wrong(
            Object.keys(wrongs).find((field) => field.startsWith('productDs')) ?? 'productDs',
          )}
        />
      )}
      {cappable && (
        <>
          <Check
            label={t('field.cap')}
            checked={draft.capped}
            onChange={(capped) => onChange({ capped })}
          />
          {draft.capped && (
            <MoneyField
              label={t('field.cap.amount')}
              amount={draft.capAmount}
              currency={draft.capCurrency}
              error={wrong('cap.amount')}
              onAmount={(capAmount) => onChange({ capAmount })}
              onCurrency={(capCurrency) => onChange({ capCurrency })}
            />
          )}
        </>
      )}
    </div>
  )
}

/** The free items, each with a quantity. */
function Items({ draft: { items }, wrong, onChange }: Inputs) {
  const change = (at: number, changes: Partial<(typeof items)[number]>) =>
    onChange({ items: items.map((one, index) => (index === at ? { ...one, ...changes } : one)) })
  return (
    <div class="stack">
      {items.map((item, at) => (
        // Keyed by position: items have no identity, and the same text may be typed twice.
        <div key={at} class="item">
          <Field
            label={t('field.item')}
            value={item.d}
            onText={(d) => change(at, { d })}
            // An error of the whole list shows at the last item.
            error={wrong(`items.${at}.d`) ?? (at === items.length - 1 ? wrong('items') : null)}
          />
          <Field
            label={t('field.qty')}
            inputMode="numeric"
            value={item.qty}
            onText={(qty) => change(at, { qty })}
            error={wrong(`items.${at}.qty`)}
          />
          {/* A list without items is no benefit, so the last one stays. */}
          {items.length > 1 && (
            <IconButton
              icon="trash"
              label={t('field.item.remove', { item: item.d })}
              onClick={() => onChange({ items: items.filter((_, index) => index !== at) })}
            />
          )}
        </div>
      ))}
      {items.length < clientLimits.itemsMax && (
        <div>
          <Button
            kind="quiet"
            icon="plus"
            onClick={() => onChange({ items: [...items, { d: '', qty: '1' }] })}
          >
            {t('field.item.add')}
          </Button>
        </div>
      )}
    </div>
  )
}
