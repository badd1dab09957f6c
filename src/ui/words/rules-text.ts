import { systemClock } from '../../base/clock.ts'
import { type ShownRules, usableFrom } from '../../client/voucher-rules.ts'
import { parseTimeZone } from '../../coupons/rule-times.ts'
import type { RuleTimes } from '../../coupons/rules.ts'
import { language, locale } from '../browser/language.ts'
import { list, momentAfter, money } from './format.ts'
import { createWords } from './words.ts'

const t = createWords({
  'rules.from': ['Desde el {day}', 'From {day}'],
  'rules.from.at': ['Desde el {day} a las {time}', 'From {day} at {time}'],
  'rules.minimum': ['Compra mínima {money}', 'Minimum purchase {money}'],
  'rules.every': ['Todos los días', 'Every day'],
  'rules.days': ['{first} a {last}', '{first} to {last}'],
  'rules.hours': ['de {from} a {to} h', '{from} to {to}'],
  'rules.at': ['{days} {hours}', '{days}, {hours}'],
  'rules.zone': ['hora de {city}', '{city} time'],
  'rules.unreadable': [
    'Tiene condiciones que este equipo no puede mostrar',
    'It has conditions that this device cannot show',
  ],
  'rules.later': ['Se puede usar desde {when}.', 'It can be used from {when}.'],
  'rules.never': [
    'Vence antes de volver a estar en su horario.',
    'It expires before its hours come round again.',
  ],
})

/** The rules of a coupon in words, a line each, without full stops. The last line may be a text of the shop. */
export function rulesLines(rules: ShownRules | null | undefined): string[] {
  if (!rules) return []
  const { startsAt, times, minimum, conditions, unreadable } = rules
  const lines = [
    startsAt !== undefined && startText(startsAt, times?.timeZone),
    times && timesText(times),
    minimum && t('rules.minimum', { money: money(minimum) }),
    conditions,
    unreadable && t('rules.unreadable'),
  ]
  return lines.filter((line) => typeof line === 'string')
}

/** The moment from which a coupon can be used, in a sentence: `Se puede usar desde hoy a las 15:00.` */
export function laterText(usableAt: number, now = systemClock()): string {
  return t('rules.later', { when: momentAfter(usableAt, now) })
}

/** The sentence for a coupon that expires before its next hours. */
export function neverText(): string {
  return t('rules.never')
}

type Ruled = { rules?: ShownRules | undefined; expiresAt: number | null }

/** Why a coupon cannot be used yet, in a sentence. Null if it can, or has expired. The clock here may be wrong. */
export function notNowText({ rules, expiresAt }: Ruled, now = systemClock()): string | null {
  if (!rules || (expiresAt !== null && expiresAt <= now)) return null
  const usableAt = usableFrom({ rules, expiresAt }, now)
  if (usableAt === now) return null
  return usableAt === null ? neverText() : laterText(usableAt, now)
}

/** The name of a time zone in words: `hora de Buenos Aires`. */
export function zoneText(timeZone: string): string {
  const city = timeZone.split('/').at(-1) ?? timeZone
  return t('rules.zone', { city: city.replaceAll('_', ' ') })
}

function startText(startsAt: number, timeZone: string | undefined): string {
  const at = startsAt * 1000
  const zone = timeZone === undefined || !isKnown(timeZone) ? {} : { timeZone }
  const time = new Intl.DateTimeFormat('es-AR', {
    ...zone,
    hour: 'numeric',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at)
  const date = new Intl.DateTimeFormat(locale(), { ...zone, dateStyle: 'long' }).format(at)
  return /^0?0:00$/.test(time)
    ? t('rules.from', { day: date })
    : t('rules.from.at', { day: date, time: time.replace(/^0(?=\d:)/, '') })
}

function timesText({ timeZone, windows }: RuleTimes): string {
  // Phones of 2023 have no `Map.groupBy`.
  const daysOf = new Map(windows.map(({ days }) => [days.join(), days]))
  const groups = [...daysOf].map(([key, named]) => {
    const same = windows.filter(({ days }) => days.join() === key)
    const days = daysText(named)
    const hours = same.filter(({ from, to }) => from !== '00:00' || to !== '00:00').map(hoursText)
    return hours.length < same.length ? days : t('rules.at', { days, hours: list(hours) })
  })
  const text = groups.join('; ')
  const zone = isHere(timeZone) ? '' : ` (${zoneText(timeZone)})`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${zone}`
}

function hoursText({ from, to }: RuleTimes['windows'][number]): string {
  return t('rules.hours', { from: hourText(from), to: hourText(to === '00:00' ? '24:00' : to) })
}

/** `15` or `15:30` in Spanish, where the sentence ends with its `h`. */
function hourText(clock: string): string {
  if (language.value === 'en') return clock === '24:00' ? '00:00' : clock
  return clock.replace(/^0(?=\d)/, '').replace(/:00$/, '')
}

/** `lunes a viernes`, `sábados y domingos`, `todos los días`. */
function daysText(days: readonly number[]): string {
  if (days.length === 7) return decapitalised(t('rules.every'))
  return list(
    runsOf(days).flatMap((run) => {
      const [first = 1, last = 1] = [run[0], run.at(-1)]
      // Two neighbours are named, as people do.
      return run.length > 2
        ? [t('rules.days', { first: weekday(first), last: weekday(last) })]
        : run.map(weekdays)
    }),
  )
}

/** Days that follow each other, Sunday and Monday included. */
function runsOf(days: readonly number[]): number[][] {
  const runs: number[][] = []
  for (const one of days) {
    const run = runs.at(-1)
    if (run?.at(-1) === one - 1) run.push(one)
    else runs.push([one])
  }
  const [first, last] = [runs[0], runs.at(-1)]
  if (runs.length < 2 || first?.[0] !== 1 || last?.at(-1) !== 7) return runs
  return [...runs.slice(1, -1), [...last, ...first]]
}

/** The name of a weekday, 1 for Monday. */
export function weekday(number: number, style: 'long' | 'short' = 'long'): string {
  // The first of January 2024 was a Monday.
  const monday = Date.UTC(2024, 0, 1)
  const names = new Intl.DateTimeFormat(locale(), { weekday: style, timeZone: 'UTC' })
  return names.format(monday + (number - 1) * 86_400_000)
}

/** A weekday as a habit: `sábados`, `Saturdays`. Most Spanish names are their own plural. */
function weekdays(number: number): string {
  const name = weekday(number)
  return name.endsWith('s') ? name : `${name}s`
}

function isKnown(timeZone: string): boolean {
  return parseTimeZone(timeZone) !== null
}

/** True if the clock of this device shows the time of a zone. */
function isHere(timeZone: string): boolean {
  if (!isKnown(timeZone)) return false
  const now = Date.now()
  const reading = { dateStyle: 'short', timeStyle: 'short' } as const
  const clock = (zone: object) => new Intl.DateTimeFormat('en', { ...reading, ...zone }).format(now)
  return clock({}) === clock({ timeZone })
}

function decapitalised(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}
