import { systemClock } from '../../base/clock.ts'
import { locale } from '../browser/language.ts'
import { createWords } from './words.ts'

const t = createWords({
  'moment.today': ['hoy', 'today'],
  'moment.yesterday': ['ayer', 'yesterday'],
  'moment.tomorrow': ['mañana', 'tomorrow'],
  'moment.on': ['el {day}', 'on {day}'],
  'moment.at': ['{when} a las {time}', '{when} at {time}'],
  // Spanish says one o'clock in the singular.
  'moment.one': ['{when} a la {time}', '{when} at {time}'],
})

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

/** A day on a pill, which stands on one line: `21 nov 2026`. */
export function dayOnPill(seconds: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium' }).format(seconds * 1000)
}

/** A day of the service, `YYYY-MM-DD`, in the same form. It has no time that a clock could move. */
export function dateOnPill(date: string): string {
  const form = new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: 'UTC' })
  return form.format(Date.parse(date))
}

/** A time for a column of a table, where words would break: `1/12/2026 9:00`. */
export function momentInTable(seconds: number): string {
  const date = new Date(seconds * 1000)
  const form = { day: 'numeric', month: 'numeric', year: 'numeric' } as const
  return `${new Intl.DateTimeFormat(locale(), form).format(date)} ${clock(date)}`
}

/**
 * A time on the clock of this device, as people say it within a sentence: `hoy a las 21:53`, `ayer a la 1:05`,
 * `el 3 de mayo a las 9:00`; with the year where it is not this one.
 */
export function moment(seconds: number, now = systemClock()): string {
  const [date, today] = [new Date(seconds * 1000), new Date(now * 1000)]
  // Not in hours: a day in which the clocks change has 23 or 25.
  const days = Math.round((midnight(date) - midnight(today)) / 86_400_000)
  const near = nearDays.get(days)
  return at(date, near ? t(near) : onDay(date, date.getFullYear() !== today.getFullYear()))
}

/** A time for paper, which is read on another day, after a preposition: `el 3 de mayo de 2027 a las 9:00`. */
export function momentOnPaper(seconds: number): string {
  const date = new Date(seconds * 1000)
  return at(date, onDay(date, true)).replace(/^on /, '')
}

/** A time after a preposition, such as `desde` or `until`: English then says no `on`. */
export function momentAfter(seconds: number, now = systemClock()): string {
  return moment(seconds, now).replace(/^on /, '')
}

const nearDays = new Map<number, 'moment.yesterday' | 'moment.today' | 'moment.tomorrow'>([
  [-1, 'moment.yesterday'],
  [0, 'moment.today'],
  [1, 'moment.tomorrow'],
])

function at(date: Date, when: string): string {
  return t(date.getHours() === 1 ? 'moment.one' : 'moment.at', { when, time: clock(date) })
}

function clock(date: Date): string {
  return `${date.getHours()}:${String(date.getMinutes()).padStart(2, '0')}`
}

function onDay(date: Date, withYear: boolean): string {
  const form: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'long' }
  if (withYear) form.year = 'numeric'
  return t('moment.on', { day: new Intl.DateTimeFormat(locale(), form).format(date) })
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}

/** A list in words: `café, té y medialuna`. */
export function list(items: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: 'conjunction' }).format(items)
}

/** Both ends of a key, a handle or an npub, which tell it from others. */
export function short(text: string): string {
  return text.length > 16 ? `${text.slice(0, 9)}…${text.slice(-4)}` : text
}
