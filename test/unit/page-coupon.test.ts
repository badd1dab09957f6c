/** The coupon page without a browser: what it keeps, and what stays removed. */
import { beforeEach, expect, test } from 'bun:test'
import { pretendPage, couponTerms as terms } from '../support/fake-browser.ts'
import { until } from '../support/until.ts'

const page = pretendPage(() => coupon.readAddress())
const coupon = await import('../../src/ui/coupon/state.ts')
const { reachable, watchService } = await import('../../src/ui/state/reach.ts')
coupon.follow()

const codes = [
  'Anf-OSv8elgEZg1_GQowWQ',
  '0JqmII8jrhwXpBMHzbGQPw',
  'q83vASNFZ4mrze8BI0VniQ',
] as const
const [nonce, other, third] = codes

const mintedAnswer = (_path: string, { nonce: code }: { nonce: string }) =>
  Response.json({ ...terms, nonce: code, status: 'minted', claimedAt: null })
const unknownAnswer = () => Response.json({ code: 'voucher-unknown', error: '' }, { status: 404 })
const noAnswer = () => Promise.reject(new TypeError('no connection'))

/** The codes in the storage itself, which the next page reads. */
const stored = (name = 'coupons'): string[] =>
  JSON.parse(page.texts.get(`cuponera:${name}`) ?? '[]').map((one: { nonce: string }) => one.nonce)
const shown = () => until('the coupon', () => coupon.view.peek().step === 'shown')
const settled = () => until('an answer', () => coupon.view.peek().step !== 'looking')

async function visit(code: string) {
  page.visit(`/c#${code}`)
  await settled()
}

beforeEach(() => {
  page.state.full = false
  page.state.answer = mintedAnswer
  for (const code of codes) coupon.remove(code)
  coupon.openList()
})

test('a coupon that was opened twice by its link and removed is not kept again by "back"', async () => {
  await visit(nonce)
  await visit(nonce)
  expect(stored()).toEqual([nonce])
  coupon.openList()
  coupon.remove(nonce)
  for (const _ of [1, 2]) {
    page.back()
    await shown()
    expect(stored()).toEqual([])
  }
})

test('a coupon that another page removed is no longer among the kept ones', async () => {
  await visit(nonce)
  expect(coupon.isKept(nonce)).toBe(true)
  page.texts.set('cuponera:coupons', '[]')
  page.changed('cuponera:coupons')
  expect(coupon.isKept(nonce)).toBe(false)

  expect(coupon.keep(coupon.holdings.find(nonce) ?? heldOnScreen())).toBe(true)
  page.texts.set('cuponera:coupons', '[]')
  await coupon.look(nonce)
  expect(coupon.isKept(nonce)).toBe(false)
})

function heldOnScreen() {
  const now = coupon.view.peek()
  if (now.step !== 'shown') throw new Error('no coupon on the screen')
  return now.held
}

test('a stored coupon counts as kept also on a storage that takes no more', async () => {
  await visit(nonce)
  page.state.full = true
  expect(coupon.isKept(nonce)).toBe(true)
})

test('a code that gets no answer is kept, listed, and asked for again', async () => {
  page.state.answer = noAnswer
  await visit(nonce)
  expect(coupon.view.peek().step).toBe('unreachable')
  expect([coupon.isKeptUnseen(nonce), stored('coupons:unseen')]).toEqual([true, [nonce]])
  // A second visit, without an answer either, lists it once.
  await visit(nonce)
  expect(coupon.unseen.peek().map((one) => one.nonce)).toEqual([nonce])
  coupon.openList()
  page.state.answer = mintedAnswer
  await coupon.lookAtAll()
  expect([stored(), stored('coupons:unseen')]).toEqual([[nonce], []])
})

test('when the service is back, each code without a coupon is asked for once', async () => {
  page.state.answer = noAnswer
  await visit(nonce)
  await visit(other)
  const asked: string[] = []
  page.state.answer = (path, { nonce: code }: { nonce: string }) => {
    asked.push(code)
    return mintedAnswer(path, { nonce: code })
  }
  coupon.resume()
  reachable.value = false
  reachable.value = true
  await until('both coupons', () => stored().length === 2)
  await shown()
  expect(asked.toSorted((one, two) => one.localeCompare(two))).toEqual([other, nonce])
  expect(stored('coupons:unseen')).toEqual([])
})

test('a code is kept before the answer, since the tab may close', async () => {
  const answer = Promise.withResolvers<Response>()
  page.state.answer = () => answer.promise
  page.visit(`/c#${nonce}`)
  expect(stored('coupons:unseen')).toEqual([nonce])
  // The person is back on the list by the time of the answer.
  coupon.openList()
  answer.resolve(mintedAnswer('', { nonce }))
  await until('the coupon in the list', () => stored().includes(nonce))
  expect(stored('coupons:unseen')).toEqual([])
})

test('a code that was removed before its answer does not come back', async () => {
  page.state.answer = noAnswer
  await visit(nonce)
  coupon.openList()
  coupon.remove(nonce)
  page.state.answer = mintedAnswer
  page.back()
  await shown()
  expect([stored(), stored('coupons:unseen')]).toEqual([[], []])
})

test.each([
  ['does not exist', unknownAnswer],
  [
    'is over',
    () => Response.json({ ...terms, nonce, status: 'claimed', claimedAt: 1_795_270_913 }),
  ],
])('a code leaves the list when its coupon %s', async (_is, answer) => {
  page.state.answer = noAnswer
  await visit(nonce)
  page.state.answer = answer
  await coupon.lookAtAll()
  expect([stored(), stored('coupons:unseen')]).toEqual([[], []])
})

test.each(['remove', 'keep'] as const)(
  'a swap that the device did not store is over after a %s',
  async (action) => {
    await visit(nonce)
    page.state.answer = (path) =>
      path.endsWith('/refresh')
        ? Response.json({ ...terms, nonce: other, voucher: null }, { status: 201 })
        : mintedAnswer(path, { nonce: third })
    coupon.take(heldOnScreen())
    // The key of the swap is stored, its result is not.
    page.state.full = true
    await until('the swap', () => coupon.taking.peek()?.step === 'mine')
    expect([coupon.taking.peek(), stored('takes')]).toMatchObject([{ kept: false }, [nonce]])
    page.state.full = false
    if (action === 'keep') expect(coupon.keep(heldOnScreen())).toBe(true)
    else coupon.remove(other)
    expect(stored('takes')).toEqual([])
    expect(stored()).toEqual(action === 'keep' ? [other] : [])
  },
)

test('the service is looked for at the start only where nothing else of the page asks it', async () => {
  const asked: string[] = []
  page.state.answer = (path) => {
    asked.push(path)
    return Response.json({ pubkey: 'ab' })
  }
  watchService({ asking: true })
  expect(asked).toEqual([])
  watchService()
  expect(asked).toEqual(['/api/coupons/manager'])
})

test('the link of a coupon that was swapped here leads to the coupon under its next code', async () => {
  await visit(nonce)
  const swaps = [other, third]
  const ended = new Set<string>()
  page.state.answer = (path, { nonce: code }: { nonce: string }) => {
    if (path.endsWith('/refresh')) {
      ended.add(code)
      return Response.json({ ...terms, nonce: swaps.shift(), voucher: null }, { status: 201 })
    }
    const status = ended.has(code) ? 'refreshed' : 'minted'
    return Response.json({ ...terms, nonce: code, status, claimedAt: null })
  }
  for (const next of [...swaps]) {
    coupon.take(heldOnScreen())
    await until('the swap', () => coupon.openNonce.peek() === next)
    await shown()
  }
  for (const old of [nonce, other]) {
    coupon.openList()
    page.visit(`/c#${old}`)
    await until('the next code', () => coupon.openNonce.peek() === third)
    await shown()
    expect(heldOnScreen()).toMatchObject({ nonce: third, own: true, status: 'minted' })
    expect(stored()).toEqual([third])
  }
  // Without it, the page can only say that the code has ended.
  coupon.remove(third)
  await visit(nonce)
  expect(heldOnScreen()).toMatchObject({ nonce, status: 'refreshed' })
})
