/** The rules of a coupon on the pages: in words, and as the wizard asks for them. */
import { beforeAll, expect, test } from 'bun:test'
import { openPendingList } from '../../src/client/pending.ts'
import { verifyVoucher } from '../../src/client/voucher-proof.ts'
import { termsOf } from '../../src/client/voucher-terms.ts'
import type { Rules } from '../../src/coupons/rules.ts'
import { openHoldings } from '../../src/ui/coupon/holdings.ts'
import { createRedeemer } from '../../src/ui/till/redeem.ts'
import { newKey, newSigner } from '../support/client.ts'
import { pretendBrowser } from '../support/fake-browser.ts'
import { newAsk } from '../support/told-answers.ts'

type Language = typeof import('../../src/ui/browser/language.ts')
type Text = typeof import('../../src/ui/words/rules-text.ts')

let speech: Language
let text: Text

beforeAll(async () => {
  process.env.TZ = 'America/Argentina/Buenos_Aires'
  pretendBrowser()
  speech = await import('../../src/ui/browser/language.ts')
  text = await import('../../src/ui/words/rules-text.ts')
})

const zone = 'America/Argentina/Buenos_Aires'
const workdays = [1, 2, 3, 4, 5]
type Windows = NonNullable<Rules['times']>['windows']
const times = (...windows: Windows) => ({ times: { timeZone: zone, windows } })
/** Midnight in Buenos Aires on the first of December 2026. */
const december = Date.parse('2026-12-01T00:00:00-03:00') / 1000

const said: [rules: Rules, spanish: string[], english: string[]][] = [
  [
    times({ days: workdays, from: '15:00', to: '18:00' }),
    ['Lunes a viernes de 15 a 18 h'],
    ['Monday to Friday, 15:00 to 18:00'],
  ],
  [
    times({ days: [6, 7], from: '09:30', to: '00:00' }),
    ['Sábados y domingos de 9:30 a 24 h'],
    ['Saturdays and Sundays, 09:30 to 00:00'],
  ],
  [
    times({ days: [5, 6], from: '22:00', to: '02:00' }),
    ['Viernes y sábados de 22 a 2 h'],
    ['Fridays and Saturdays, 22:00 to 02:00'],
  ],
  [
    times({ days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:00' }),
    ['Todos los días'],
    ['Every day'],
  ],
  [
    times({ days: [1, 6, 7], from: '00:00', to: '00:00' }),
    ['Sábado a lunes'],
    ['Saturday to Monday'],
  ],
  [
    times({ days: [1, 3, 5], from: '00:00', to: '08:00' }),
    ['Lunes, miércoles y viernes de 0 a 8 h'],
    ['Mondays, Wednesdays and Fridays, 00:00 to 08:00'],
  ],
  [
    times(
      { days: workdays, from: '09:00', to: '12:30' },
      { days: workdays, from: '15:00', to: '18:00' },
      { days: [6], from: '10:00', to: '14:00' },
    ),
    ['Lunes a viernes de 9 a 12:30 h y de 15 a 18 h; sábados de 10 a 14 h'],
    ['Monday to Friday, 09:00 to 12:30 and 15:00 to 18:00; Saturdays, 10:00 to 14:00'],
  ],
  [
    { minimum: { amount: 10_000, currency: 'ARS' } },
    ['Compra mínima $10.000'],
    ['Minimum purchase $10,000'],
  ],
  [{ startsAt: december }, ['Desde el 1 de diciembre de 2026'], ['From 1 December 2026']],
  [
    { startsAt: december + 9.5 * 3600 },
    ['Desde el 1 de diciembre de 2026 a las 9:30'],
    ['From 1 December 2026 at 9:30'],
  ],
  [{ conditions: 'Sólo\nacá' }, ['Sólo\nacá'], ['Sólo\nacá']],
]

test.each(said)('the rules %j are said in both languages', (rules, spanish, english) => {
  speech.language.value = 'es'
  expect(text.rulesLines(rules)).toEqual(spanish)
  speech.language.value = 'en'
  expect(text.rulesLines(rules)).toEqual(english)
})

test('all rules are said together, and none say nothing', () => {
  speech.language.value = 'es'
  const all = Object.assign({}, ...said.map(([rules]) => rules)) as Rules
  expect(text.rulesLines(all)).toHaveLength(4)
  expect([null, undefined].map(text.rulesLines)).toEqual([[], []])
})

test('a time zone is said where the clock of the device is another one', () => {
  const window = { days: [1], from: '15:00', to: '18:00' }
  const abroad = (timeZone: string) => text.rulesLines({ times: { timeZone, windows: [window] } })
  speech.language.value = 'es'
  // Montevideo has another name, and the same clock.
  expect(abroad('America/Montevideo')).toEqual(['Lunes de 15 a 18 h'])
  expect(abroad('Asia/Ho_Chi_Minh')).toEqual(['Lunes de 15 a 18 h (hora de Ho Chi Minh)'])
  speech.language.value = 'en'
  expect(abroad('Asia/Kolkata')).toEqual(['Mondays, 15:00 to 18:00 (Kolkata time)'])
})

test('the moment from which a coupon can be used is said as people do', () => {
  const at = (hours: number) => december + hours * 3600
  speech.language.value = 'es'
  expect(text.laterText(at(15), at(9))).toBe('Se puede usar desde hoy a las 15:00.')
  expect(text.laterText(at(39), at(9))).toBe('Se puede usar desde mañana a las 15:00.')
  expect(text.laterText(at(72), at(9))).toBe('Se puede usar desde el 4 de diciembre a las 0:00.')
  speech.language.value = 'en'
  expect(text.laterText(at(72), at(9))).toBe('It can be used from 4 December at 0:00.')
})

/** Hours in a zone that this runtime does not know, as an old phone does not know a new one. */
const farAway = {
  startsAt: december,
  times: { timeZone: 'America/New_Place', windows: [{ days: [1], from: '15:00', to: '18:00' }] },
}

test('hours in a time zone that the browser does not know are said with its name', () => {
  const [held] = heldWith([farAway])
  expect(held?.rules).toEqual(farAway)
  speech.language.value = 'es'
  expect(text.rulesLines(held?.rules)).toEqual([
    'Desde el 1 de diciembre de 2026',
    'Lunes de 15 a 18 h (hora de New Place)',
  ])
  const from = (now: number) => text.notNowText({ rules: farAway, expiresAt: null }, now)
  expect(from(december - 60)).toBe('Se puede usar desde mañana a las 0:00.')
  // A Tuesday. Only the service knows whether it is Monday there.
  expect(from(december)).toBeNull()
})

test('a coupon says that it cannot be used now, but not after it has expired', () => {
  const rules = times({ days: [2], from: '15:00', to: '18:00' })
  const at = (hours: number) => december + hours * 3600
  const said = (hours: number, expiresAt: number | null = null) =>
    text.notNowText({ rules, expiresAt }, at(hours))
  speech.language.value = 'es'
  expect([14, 15, 17.9].map((hours) => said(hours))).toEqual([
    'Se puede usar desde hoy a las 15:00.',
    null,
    null,
  ])
  expect(said(18)).toBe('Se puede usar desde el 8 de diciembre a las 15:00.')
  expect(said(18, at(48))).toBe('Vence antes de volver a estar en su horario.')
  expect(said(48, at(48))).toBeNull()
  expect(text.notNowText({ expiresAt: null }, at(1))).toBeNull()
})

const minimum = { amount: 10_000, currency: 'ARS' } as const
const answered = {
  couponId: '01a1fe7c-2d92-7144-beaa-b9a2d400f9c4',
  coupon: { type: 'percent' as const, percent: 25 },
  name: 'Medialuna',
  description: '',
  npub: 'npub1mtkz48wps2wlzcea3edsy0yr5wa57ce6p58e40pyfkeegklxwx4qx06tql',
  image: null,
  nonce: 'Anf-OSv8elgEZg1_GQowWQ',
  expiresAt: null,
}
/** A value that is no rules: of a newer service, or of nobody who means well. */
const strange = { times: 'always' }

const unreadable = { unreadable: true as const }
const opening = times({ days: [1], from: '15:00', to: '18:00' })

test('the rules in an answer are read; a part that cannot be read leaves a mark', () => {
  const read = (rules: unknown) =>
    termsOf({ status: 200, body: { ...answered, rules }, retryAfter: null, failure: null })
  expect(read(undefined)).toEqual(answered)
  expect(read({})).toEqual(answered)
  expect(read({ minimum })).toEqual({ ...answered, rules: { minimum } })
  const partly = { ...answered, rules: { minimum, ...unreadable } }
  for (const part of [{ x: 1 }, strange, { times: { ...opening.times, except: ['2026-12-25'] } }]) {
    expect(read({ minimum, ...part })).toMatchObject(partly)
  }
  for (const none of ['closed', 5, [1], strange]) {
    expect(read(none)).toEqual({ ...answered, rules: unreadable })
  }
  speech.language.value = 'es'
  expect(text.rulesLines(read(strange)?.rules)).toEqual([
    'Tiene condiciones que este equipo no puede mostrar',
  ])
})

test('without a connection the rules of a voucher come from its signed content', () => {
  const [manager, owner] = [newSigner(), newSigner().pubkey]
  const { nonce, couponId, name, description, coupon } = answered
  const judged = (rules: unknown) => {
    const content = { v: 1, nonce, owner, name, description, coupon, phase: 'minted', rules }
    const tags = [
      ['nonce', nonce],
      ['p', owner],
      ['coupon', couponId],
      ['phase', 'minted'],
    ]
    const event = { kind: 20_402, created_at: 1, tags, content: JSON.stringify(content) }
    const verdict = verifyVoucher(manager.sign(event), { manager: manager.pubkey, now: 2 })
    return verdict.genuine ? (verdict.promise.rules ?? null) : verdict.why
  }
  expect(judged({ minimum })).toEqual({ minimum })
  expect(judged(undefined)).toBeNull()
  expect(judged(strange)).toEqual(unreadable)
})

test('a kept coupon has its rules after a reload, and the mark of those that cannot be read', () => {
  const found = heldWith([{ minimum }, strange, unreadable])
  expect(found.map(({ rules }) => rules)).toEqual([{ minimum }, unreadable, unreadable])
})

/** The kept coupons of a device that stored these rules. */
function heldWith(stored: unknown[]) {
  const kept = { status: 'minted', claimedAt: null, checkedAt: 1, addedAt: 1, voucher: null }
  const list = stored.map((rules) => ({ ...answered, ...kept, rules }))
  const store = { read: () => JSON.stringify(list), write: () => true, remove() {} }
  return openHoldings(store, 'held', () => 1).all()
}

/** A till with a store, before a service that gives these answers in turn. */
function newTill(answers: object[], store = new Map<string, string>()) {
  const asked: unknown[] = []
  const pending = openPendingList({
    store: {
      read: (name) => store.get(name) ?? null,
      write: (name, text) => Boolean(store.set(name, text)),
      remove: (name) => store.delete(name),
    },
    name: 'pending',
    now: () => 1000,
    newKey,
  })
  const redeemer = createRedeemer({
    ask: newAsk((path, body) => {
      if (path.endsWith('claim')) asked.push(body)
      const shown = { ...answered, status: 'minted', voucher: null }
      return { status: 200, body: shown, retryAfter: null, ...answers.shift() }
    }),
    pause: () => new Promise(() => {}),
    pending,
    now: () => 1000,
    nowMs: () => 0,
    shops: () => [answered.npub],
    manager: () => null,
    alone: async (_nonce, _when, work) => {
      await work()
      return true
    },
    onChange: () => {},
    onLate: () => {},
  })
  return { redeemer, asked, pending, store }
}

const { nonce } = answered
const refusedBy = (code: string, retryAfter: number | null = null) => ({
  status: 409,
  body: { code, error: 'x' },
  retryAfter,
})

test('a claim names the purchase, and so does its retry after a reload', async () => {
  const lost = { status: 0, body: {} }
  const { redeemer, asked, store } = newTill([{}, lost])
  await redeemer.look(nonce)
  void redeemer.redeem(minimum)
  while (asked.length === 0) await Bun.sleep(1)
  const again = newTill([], store)
  const [open] = again.pending.all()
  if (open) void again.redeemer.resume(open)
  while (again.asked.length === 0) await Bun.sleep(1)
  expect(again.asked).toEqual(asked)
  expect(asked).toMatchObject([{ nonce, purchase: minimum }])
})

test('a claim without a purchase sends none', async () => {
  const { redeemer, asked } = newTill([{}, refusedBy('voucher-cancelled')])
  await redeemer.look(nonce)
  await redeemer.redeem()
  expect(asked.map((body) => Object.keys(body as object))).toEqual([['nonce', 'owner']])
})

test('a refusal by the rules is an outcome of its own, with the time at which the wait ends', async () => {
  const outcomes = []
  for (const refusal of [
    refusedBy('not-now', 600),
    refusedBy('not-now'),
    refusedBy('minimum-not-met'),
  ]) {
    const { redeemer, pending } = newTill([{}, refusal])
    await redeemer.look(nonce)
    await redeemer.redeem()
    // A new try has a new key, since nothing was redeemed.
    expect(pending.all()).toEqual([])
    outcomes.push(redeemer.state())
  }
  const done = { step: 'done', nonce, terms: answered, claimedAt: null } as const
  expect(outcomes).toEqual([
    { ...done, outcome: 'later', usableAt: 1600 },
    { ...done, outcome: 'later' },
    { ...done, outcome: 'small' },
  ])
})
