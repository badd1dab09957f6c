import type { Static } from '@sinclair/typebox'
import { clientLimits } from '../base/limits-client.ts'
import { Refusal } from '../base/refusal.ts'
import type { BenefitModel } from './models.ts'
import { decimals, isNumber, type Money, parseMoney, parseObject } from './money.ts'
import { parseText } from './text.ts'

/** The value of a coupon in canonical form: no nulls, no unknown keys, no empty `productDs`. */
export type Benefit = Static<typeof BenefitModel>
type Benefits = { [T in Benefit['type']]: Extract<Benefit, { type: T }> }

type Fields = Record<string, unknown>

/** Read a benefit into its canonical form. Refuses `benefit-invalid` with the name of the field. */
export function parseBenefit(value: unknown): Benefit {
  const fields = parseObject(value, 'benefit', 'benefit-invalid')
  const cap = parseCap(fields.cap)
  if (!isBenefitType(fields.type)) refuse('benefit.type')
  const benefit = parsers[fields.type](fields)
  return cap ? { ...benefit, cap } : benefit
}

/** The fields of each type, in canonical form. */
const parsers: { [T in Benefit['type']]: (fields: Fields) => Benefits[T] } = {
  percent: (fields) => {
    return { type: 'percent', percent: parsePercent(fields.percent), ...productDs(fields) }
  },
  fixed: (fields) => ({
    type: 'fixed',
    ...parseMoney(fields, 'benefit', 'benefit-invalid'),
    ...productDs(fields),
  }),
  multibuy(fields) {
    const buyQty = parseQuantity(fields.buyQty, 'benefit.buyQty')
    const payQty = parseQuantity(fields.payQty, 'benefit.payQty')
    if (payQty >= buyQty) refuse('benefit.payQty')
    return { type: 'multibuy', buyQty, payQty, ...productDs(fields) }
  },
  buyXgetY: (fields) => ({
    type: 'buyXgetY',
    buyProductD: parseProduct(fields.buyProductD, 'benefit.buyProductD'),
    giftProductD: parseProduct(fields.giftProductD, 'benefit.giftProductD'),
  }),
  freeItems: (fields) => ({ type: 'freeItems', items: parseItems(fields.items) }),
}

/** True for a type of benefit that this version knows. */
export function isBenefitType(type: unknown): type is Benefit['type'] {
  return typeof type === 'string' && Object.hasOwn(parsers, type)
}

function parsePercent(value: unknown): number {
  if (!isNumber(value) || value <= 0 || value > 100 || decimals(value) > 2) {
    refuse('benefit.percent')
  }
  return value
}

function parseCap(value: unknown): Money | null {
  if (value === undefined || value === null) return null
  return parseMoney(value, 'benefit.cap', 'benefit-invalid')
}

/** Read the product list. Absent, null and empty all mean every product, and the canonical form omits them. */
function productDs(fields: Fields): { productDs?: string[] } {
  const list = fields.productDs
  if (list === undefined || list === null) return {}
  if (!Array.isArray(list)) refuse('benefit.productDs')
  const products = list.map((d, at) => parseProduct(d, `benefit.productDs.${at}`))
  const distinct = [...new Set(products)]
  if (distinct.length > clientLimits.productsMax) refuse('benefit.productDs')
  return distinct.length > 0 ? { productDs: distinct } : {}
}

function parseItems(value: unknown): { d: string; qty: number }[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > clientLimits.itemsMax) {
    refuse('benefit.items')
  }
  const items = value.map((entry, at) => {
    const item = parseObject(entry, `benefit.items.${at}`, 'benefit-invalid')
    return {
      d: parseProduct(item.d, `benefit.items.${at}.d`),
      qty: parseQuantity(item.qty, `benefit.items.${at}.qty`),
    }
  })
  // A product listed twice has no clear quantity.
  if (new Set(items.map((item) => item.d)).size < items.length) refuse('benefit.items')
  return items
}

function parseProduct(value: unknown, field: string): string {
  return parseText(value, {
    field,
    charsMin: 1,
    charsMax: clientLimits.productCharsMax,
    code: 'benefit-invalid',
  })
}

function parseQuantity(value: unknown, field: string): number {
  if (!Number.isInteger(value) || !isNumber(value)) refuse(field)
  if (value < 1 || value > clientLimits.quantityMax) refuse(field)
  return value
}

function refuse(field: string): never {
  throw new Refusal('benefit-invalid', { field })
}
