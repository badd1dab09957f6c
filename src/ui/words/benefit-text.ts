import type { Benefit } from '../../coupons/benefit.ts'
import { inLanguage, language } from '../browser/language.ts'
import { list, money, number } from './format.ts'
import { createWords, isolated } from './words.ts'

export const benefitWords = createWords({
  cap: [', hasta {money}', ', up to {money}'],
  percent: ['{percent} de descuento{where}', '{percent} off{where}'],
  'percent.value': ['{value} %', '{value}%'],
  'percent.all': ['Gratis en toda tu compra', 'Everything you buy is free'],
  'percent.all.of': ['Gratis en {products}', 'Free: {products}'],
  fixed: ['{money} de descuento{where}', '{money} off{where}'],
  deal: ['{buy}x{pay}', '{buy} for {pay}'],
  multibuy: ['{deal} en toda tu compra', '{deal} on everything you buy'],
  'multibuy.of': ['{deal} en {products}', '{deal} on {products}'],
  gift: ['Comprando {bought}, {gift} de regalo', 'Buy {bought}, get {gift} free'],
  'gift.same': ['Comprando {bought}, otro de regalo', 'Buy {bought}, get another one free'],
  free: ['Gratis: {items}', 'Free: {items}'],
  where: [' en {products}', ' {products}'],
  'where.all': [' en toda tu compra', ' everything you buy'],
  'badge.gift': ['De regalo', 'A gift'],
  'badge.free': ['Gratis', 'Free'],
})

const t = benefitWords

/** The benefit in one sentence without a full stop: `2x1 en café, hasta $5.000`. */
export function benefitText(benefit: Benefit): string {
  const cap = benefit.cap ? t('cap', { money: money(benefit.cap) }) : ''
  return `${promise(benefit)}${cap}`
}

/** The sentence without bidi isolates, which belong on the screen only: for comparing and storing. */
export function plainBenefitText(benefit: Benefit): string {
  return benefitText(benefit).replace(/[\u2068\u2069]/g, '')
}

/**
 * The name of a coupon for its reader: one that the panel made of the benefit, in another language, is told again.
 * Without the benefit, nobody can tell.
 */
export function shownName(name: string, benefit: Benefit | undefined): string {
  if (!benefit) return name
  const { cap: _, ...uncapped } = benefit
  const theirs = language.value === 'es' ? 'en' : 'es'
  const made = [benefit, uncapped].find(
    (one) => inLanguage(theirs, () => plainBenefitText(one)) === name,
  )
  return made ? plainBenefitText(made) : name
}

/** Whether a name adds to the sentence of its benefit. A name that the panel proposed is that sentence without its cap. */
export function nameTells(name: string, benefit: Benefit): boolean {
  return !plainBenefitText(benefit).startsWith(shownName(name, benefit))
}

/** The benefit in a few large letters: `25 %`, `$500`, `2x1`, `Gratis`. */
export function benefitBadge(benefit: Benefit): string {
  switch (benefit.type) {
    case 'percent':
      return percent(benefit.percent)
    case 'fixed':
      return money(benefit)
    case 'multibuy':
      return deal(benefit)
    case 'buyXgetY':
      return t('badge.gift')
    case 'freeItems':
      return t('badge.free')
  }
}

function promise(benefit: Benefit): string {
  switch (benefit.type) {
    case 'percent':
      if (benefit.percent < 100) {
        return t('percent', { percent: percent(benefit.percent), where: where(benefit.productDs) })
      }
      return benefit.productDs
        ? t('percent.all.of', { products: named(benefit.productDs) })
        : t('percent.all')
    case 'fixed':
      return t('fixed', { money: money(benefit), where: where(benefit.productDs) })
    case 'multibuy':
      return benefit.productDs
        ? t('multibuy.of', { deal: deal(benefit), products: named(benefit.productDs) })
        : t('multibuy', { deal: deal(benefit) })
    case 'buyXgetY': {
      const { buyProductD: bought, giftProductD: gift } = benefit
      return bought === gift ? t('gift.same', { bought }) : t('gift', { bought, gift })
    }
    case 'freeItems':
      return t('free', {
        items: list(
          benefit.items.map(({ d, qty }) =>
            qty === 1 ? isolated(d) : `${number(qty)} × ${isolated(d)}`,
          ),
        ),
      })
  }
}

function deal({ buyQty, payQty }: Extract<Benefit, { type: 'multibuy' }>): string {
  return t('deal', { buy: buyQty, pay: payQty })
}

function percent(value: number): string {
  return t('percent.value', { value })
}

function where(products: readonly string[] | undefined): string {
  return products ? t('where', { products: named(products) }) : t('where.all')
}

function named(products: readonly string[]): string {
  return list(products.map(isolated))
}
