/** Drafts of a coupon: the panel refuses what the service would. */
import { beforeAll, expect, test } from 'bun:test'
import { pretendBrowser } from '../support/fake-browser.ts'

type Drafts = typeof import('../../src/ui/panel/draft.ts')
type Checks = typeof import('../../src/ui/panel/draft-check.ts')

let drafts: Drafts
let checks: Checks

beforeAll(async () => {
  pretendBrowser()
  drafts = await import('../../src/ui/panel/draft.ts')
  checks = await import('../../src/ui/panel/draft-check.ts')
})

const outcome = (fields: { name?: string; description?: string }) =>
  checks.authoredOf({ ...drafts.emptyDraft, percent: '10', name: 'Café', ...fields })

test('values that other programs do not read are told beside its field, and sent all the same', async () => {
  const { unreadElsewhere } = await import('../../src/ui/panel/benefit-forms.tsx')
  const of = (fields: object) => unreadElsewhere({ ...drafts.emptyDraft, ...fields })
  expect(of({ percent: '12,5' })).toEqual({ percent: true, products: false })
  expect(of({ percent: '12' })).toEqual({ percent: false, products: false })
  expect(of({ percent: '' })).toEqual({ percent: false, products: false })
  const uuid = crypto.randomUUID()
  expect(of({ percent: '5', products: `${uuid}, café` }).products).toBe(true)
  expect(of({ percent: '5', products: `${uuid} , ${uuid.toUpperCase()}` }).products).toBe(false)
  const sent = checks.authoredOf({ ...drafts.emptyDraft, percent: '12,5', products: 'café' })
  expect(sent.authored?.benefit).toMatchObject({ percent: 12.5, productDs: ['café'] })
})

test('an invisible name, or one that turns text, is reported beside its field', () => {
  for (const name of ['\u3164', 'Café\u202e']) {
    expect(outcome({ name })).toEqual({ authored: null, wrongs: { name: 'wrong.hidden' } })
  }
  expect(outcome({ name: '\ufeff ' }).authored?.name).toBe('10 % de descuento en toda tu compra')
})

test('a description that turns the text behind it is reported, too', () => {
  const wrongs = { description: 'wrong.hidden' } as const
  expect(outcome({ description: '\u2067Rico' })).toEqual({ authored: null, wrongs })
  const copied = 'Al \u202a+54 9 11\u202c'
  expect(outcome({ description: copied }).authored?.description).toBe(copied)
})

const rules = (typed: Partial<ReturnType<typeof rulesDraft>>, fields: object = {}) =>
  checks.authoredOf({
    ...drafts.emptyDraft,
    percent: '10',
    ...fields,
    rules: { ...rulesDraft(), ...typed },
  })
const rulesDraft = () => drafts.emptyDraft.rules
const window = { days: [1, 2, 3], from: '15:00', to: '18:00' }

test('a draft without rules has none', () => {
  expect(rules({}).authored?.rules).toBeNull()
  expect(rules({ conditions: ' \n' }).authored?.rules).toBeNull()
})

test('typed rules are sent in the form of the service, and read back as typed', () => {
  const timeZone = 'America/Argentina/Buenos_Aires'
  const typed = {
    starts: '2026-12-01',
    timeZone,
    windows: [window, { days: [6], from: '', to: '' }],
    minimum: '10.000,5',
    conditions: 'En efectivo ',
  }
  const startsAt = new Date(2026, 11, 1).getTime() / 1000
  const sent = rules(typed).authored?.rules
  expect(sent).toEqual({
    startsAt,
    times: { timeZone, windows: [window, { days: [6], from: '00:00', to: '00:00' }] },
    minimum: { amount: 10_000.5, currency: 'ARS' },
    conditions: 'En efectivo',
  })
  const again = drafts.draftOf({ ...definition, rules: sent ?? {} }).rules
  expect(again).toEqual({
    ...rulesDraft(),
    ...typed,
    startsAt,
    minimum: '10000,5',
    conditions: 'En efectivo',
  })
  expect(rules(again).authored?.rules).toEqual(sent)
})

test('a start keeps its time of the day while its day stays', () => {
  const startsAt = new Date(2026, 11, 1, 15, 30).getTime() / 1000
  const { rules: draft } = drafts.draftOf({ ...definition, rules: { startsAt } })
  expect(rules(draft).authored?.rules).toEqual({ startsAt })
  const moved = rules({ ...draft, starts: '2026-12-02' }).authored?.rules
  expect(moved).toEqual({ startsAt: new Date(2026, 11, 2).getTime() / 1000 })
})

test('rules that make no sense are reported beside their field', () => {
  const wrongs = (typed: Parameters<typeof rules>[0], fields = {}) => rules(typed, fields).wrongs
  expect(wrongs({ windows: [window, { ...window, days: [] }] })).toEqual({
    'rules.times.windows.1.days': 'wrong.days',
  })
  expect(wrongs({ windows: [{ ...window, to: '' }] })).toEqual({
    'rules.times.windows.0.to': 'wrong.clock',
  })
  expect(wrongs({ minimum: 'mucho' })).toEqual({ 'rules.minimum.amount': 'wrong.amount' })
  expect(wrongs({ conditions: 'a\u202eb' })).toEqual({ 'rules.conditions': 'wrong.hidden' })
  const late = wrongs({ starts: '2999-12-02' }, { expires: '2999-12-01' })
  expect(late).toEqual({ 'rules.startsAt': 'wrong.starts' })
  expect(rules({ starts: '2999-12-01' }, { expires: '2999-12-01' }).wrongs).toEqual({})
})

test('a change of language rewrites the minimum', () => {
  const draft = { ...drafts.emptyDraft, rules: { ...rulesDraft(), minimum: '1.500,5' } }
  expect(drafts.retyped(draft, 'es').rules.minimum).toBe('1500,5')
})

const definition = {
  id: 'x',
  name: 'Café',
  description: '',
  image: null,
  benefit: { type: 'percent' as const, percent: 10 },
  maxUses: null,
  minted: 0,
  claimed: 0,
  expiresAt: null,
  archivedAt: null,
  createdAt: 1,
  updatedAt: 1,
}

test('a photo replaces the address of an image, and an edit begins with it', () => {
  const picture = 'ab'.repeat(32)
  const image = 'https://example.com/a.png'
  const typed = { ...drafts.emptyDraft, percent: '10', image }
  expect(checks.authoredOf(typed).authored).toMatchObject({ image, picture: null })
  const pictured = checks.authoredOf({ ...typed, picture }).authored
  expect(pictured).toMatchObject({ image: null, picture })
  const address = `https://cupones.example/api/pictures/${picture}`
  const stored = { ...definition, image: address, picture }
  expect(drafts.draftOf(stored)).toMatchObject({ image: '', picture })
  expect(drafts.draftOf({ ...definition, image })).toMatchObject({ image, picture: '' })
})

test('a copy has every field of its coupon but a date that is over', () => {
  const benefit = { type: 'percent', percent: 25, cap: { amount: 3000, currency: 'ARS' } } as const
  const made = { name: 'Café', description: 'Con leche', image: null, benefit, maxUses: 40 }
  const rules = { minimum: { amount: 900, currency: 'ARS' }, conditions: 'En efectivo' } as const
  const counted = { minted: 12, claimed: 3, archivedAt: 5, expiresAt: 2_000_000_000, rules }
  const coupon = { ...made, ...counted } as unknown as Parameters<Drafts['copyOf']>[0]
  const { expiresAt, ...others } = drafts.copyOf(coupon, 1_900_000_000)
  expect(expiresAt).toBe(2_000_000_000)
  const { authored } = checks.authoredOf({ ...others, expiresAt })
  expect(authored).toMatchObject({ ...made, rules, expiresAt: 2_000_000_000 })
  const late = drafts.copyOf(coupon, 2_000_000_000)
  expect([late.expires, late.expiresAt]).toEqual(['', null])
  expect({ ...late, expires: others.expires }).toEqual({ ...others, expiresAt: null })
})
