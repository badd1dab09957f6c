/** The overview and the figures of the panel, when answers overtake each other and without the live stream. */
import { beforeEach, expect, test } from 'bun:test'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { pretendPage } from '../support/fake-browser.ts'

const { pubkey } = newSigner()
const page = pretendPage(() => undefined)
const token = { pubkey, kind: 'extension', token: 'x', expiresAt: secondsNow() + 900 }
page.texts.set('cuponera:panel', JSON.stringify(token))
const { allFigures, changeCoupon, failure, findCoupon, loadOverview, signOut, voidBatch } =
  await import('../../src/ui/panel/state.ts')
const { emptyBatch, findBatchDraft, keepBatchDraft } = await import(
  '../../src/ui/panel/batch-draft.ts'
)
const { recipients, rememberRecipient } = await import('../../src/ui/hand/recipients.ts')
const { changes, listening } = await import('../../src/ui/panel/changes.ts')

/** The answers to the statistics and to overviews, in the order of the requests. */
let statistics: (Response | Promise<Response>)[]
let overviews: (Response | Promise<Response>)[]

beforeEach(() => {
  statistics = []
  overviews = []
  listening.value = false
  page.state.answer = (path) => {
    if (path.startsWith('/api/coupons/stats')) return statistics.shift() ?? counted(0)
    if (path === '/api/coupons') return overviews.shift() ?? listed('Café')
    if (path === '/api/coupons/c') return Response.json({ coupon: named('Té') })
    return Response.json({ voided: 2 })
  }
})

const named = (name: string) => ({ id: 'c', name })

function listed(name: string): Response {
  return Response.json({ coupons: [named(name)], minters: [], discovery: null, next: null })
}

function counted(claimed: number): Response {
  const figures = { issued: 5, open: 5 - claimed, expired: 0, claimed, voided: 0 }
  const coupons = [{ couponId: 'c', days: [], figures }]
  return Response.json({ from: '', to: '', coupons, next: null })
}

test('an answer that comes late does not take back the figures of a later one', async () => {
  const late = Promise.withResolvers<Response>()
  statistics = [late.promise, counted(2)]
  const first = loadOverview()
  await loadOverview()
  late.resolve(counted(1))
  await first
  expect(allFigures().claimed).toBe(2)
})

test('an overview that was asked for before a change by this page does not take it back', async () => {
  await loadOverview()
  const late = Promise.withResolvers<Response>()
  overviews = [late.promise, listed('Té verde')]
  const loading = loadOverview()
  await changeCoupon('c', { name: 'Té' })
  expect(findCoupon('c')?.name).toBe('Té')
  late.resolve(listed('Café'))
  await loading
  expect(findCoupon('c')?.name).toBe('Té verde')
})

test('a failure that comes late does not hide a later answer', async () => {
  const late = Promise.withResolvers<Response>()
  statistics = [late.promise, counted(2)]
  const first = loadOverview()
  await loadOverview()
  late.resolve(Response.json({ code: 'unavailable', error: '.' }, { status: 503 }))
  await first
  expect(failure.value).toBeNull()
})

test('without the live stream, lists load again after a change by this page', async () => {
  const before = changes.value
  expect(await voidBatch('c', 'b')).toBe(2)
  expect(changes.value).toBe(before + 1)
  listening.value = true
  await voidBatch('c', 'b')
  expect(changes.value).toBe(before + 1)
})

test('the next person at this device finds no recipient and no number of the one before', () => {
  keepBatchDraft('c', { ...emptyBatch, list: 'Ana; 11 2345-6789' })
  expect([findBatchDraft('c')?.list, findBatchDraft('d')]).toEqual(['Ana; 11 2345-6789', null])
  rememberRecipient({ digits: '5491123456789', text: '+54 9 11 2345-6789' })
  expect(page.texts.get('cuponera:recipients')).toContain('5491123456789')
  signOut()
  expect(findBatchDraft('c')).toBeNull()
  expect(recipients.value).toEqual([])
  expect(page.texts.has('cuponera:recipients')).toBe(false)
})
