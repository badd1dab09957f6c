import { locale } from '../browser/language.ts'

type Money = { amount: number; currency: 'ARS' | 'USD' | 'SAT' }

const signs = { ARS: '$', USD: 'US$' }

/** Money as on a price tag: `$5.000`, `US$5`, `2.100 sats`. */
export function money({ amount, currency }: Money): string {
  const places = Number.isInteger(amount) || currency === 'SAT' ? 0 : 2
  const text = number(amount, places)
  if (currency === 'SAT') return amount === 1 ? '1 sat' : `${text} sats`
  return `${signs[currency]}${text}`
}

/** A number with the separators of the language. */
export function number(value: number, places?: number): string {
  return new Intl.NumberFormat(locale(), {
    useGrouping: true,
    ...(places === undefined
      ? { maximumFractionDigits: 2 }
      : { minimumFractionDigits: places, maximumFractionDigits: places }),
  }).format(value)
}

/** A day in words, from Unix seconds: `21 de noviembre de 2026`. */
export function day(seconds: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'long' }).format(seconds * 1000)
}

/** Day and minute on the clock of this device: `21/11/26, 16:05`. */
export function moment(seconds: number): string {
  return new Intl.DateTimeFormat(locale(), {
    dateStyle: 'short',
    timeStyle: 'short',
    // "4:05 p. m." would end a sentence with two full stops.
    ...(locale() === 'es-AR' && { hourCycle: 'h23' }),
  }).format(seconds * 1000)
}

/** A list in words: `café, té y medialuna`. */
export function list(items: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: 'conjunction' }).format(items)
}

/** Both ends of a key, a handle or an npub, which tell it from others. */
export function short(text: string): string {
  return text.length > 16 ? `${text.slice(0, 9)}…${text.slice(-4)}` : text
}
