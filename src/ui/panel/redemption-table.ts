import type { Redemption } from '../../client/models.ts'
import type { Benefit } from '../../coupons/benefit.ts'
import type { Money } from '../../coupons/money.ts'
import { plainBenefitText, shownName } from '../words/benefit-text.ts'
import { shopWords as t } from '../words/shop.ts'
import type { Cell } from './csv.ts'
import { localTime } from './local-time.ts'
import { tillOf } from './till-text.ts'

/**
 * Redemptions as a table for an accountant: local date and time (ISO 8601, which every spreadsheet reads), amounts
 * beside their currency.
 */
export function redemptionTable(rows: readonly Redemption[]): Cell[][] {
  return [
    [
      t('table.date'),
      t('table.time'),
      t('redeemed.coupon'),
      t('redeemed.benefit'),
      t('redeemed.amount'),
      t('table.currency'),
      t('table.discount'),
      t('table.discount.currency'),
      t('redeemed.till'),
      t('issued.handle'),
      t('redeemed.order'),
      t('redeemed.recipient'),
    ],
    ...rows.map((row) => {
      const paid = paidOf(row)
      const discount = discountOf(row.benefit, row.purchase ?? null)
      return [
        ...localTime(row.claimedAt),
        shownName(row.name, row.benefit),
        plainBenefitText(row.benefit),
        ...moneyCells(paid),
        ...moneyCells(discount),
        tillOf(row),
        row.handle,
        row.orderId,
        row.label ?? null,
      ]
    }),
  ]
}

/** An amount and its currency. Parts of a satoshi stay as they are. */
function moneyCells(money: Money | null): [Cell, Cell] {
  if (!money) return [null, null]
  const { amount, currency } = money
  return [currency === 'SAT' ? amount : { value: amount, places: 2 }, currency]
}

/** The purchase that the till named, else the payment of the order. Null if neither is known. */
export function paidOf({ purchase, amountMsat }: Redemption): Money | null {
  if (purchase) return purchase
  return amountMsat === null ? null : { amount: amountMsat / 1000, currency: 'SAT' }
}

/**
 * The value of a discount. Null if it depends on prices that nobody named: of single products, of a gift, or of a
 * purchase in another currency.
 */
function discountOf(benefit: Benefit, purchase: Money | null): Money | null {
  const full = fullDiscount(benefit, purchase)
  if (!full) return null
  // A fixed discount is not higher than the purchase either.
  const bounds = benefit.type === 'fixed' ? [benefit.cap, purchase] : [benefit.cap]
  const known = bounds.filter((bound) => bound !== undefined && bound !== null)
  if (known.some(({ currency }) => currency !== full.currency)) return null
  return { ...full, amount: Math.min(full.amount, ...known.map(({ amount }) => amount)) }
}

function fullDiscount(benefit: Benefit, purchase: Money | null): Money | null {
  switch (benefit.type) {
    case 'percent': {
      if (!purchase || benefit.productDs) return null
      const { amount, currency } = purchase
      const places = currency === 'SAT' ? 1 : 100
      // In hundredths of a percent, which are whole numbers, so that 35 % of 1.10 is not rounded down.
      const parts = Math.round(benefit.percent * 100) * Math.round(amount * places)
      return { amount: Math.round(parts / 10_000) / places, currency }
    }
    case 'fixed':
      return { amount: benefit.amount, currency: benefit.currency }
    case 'multibuy':
    case 'buyXgetY':
    case 'freeItems':
      return null
  }
}
