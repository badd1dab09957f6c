/** The page of a poster without a browser: what it sends, keeps and shows. */
import { beforeEach, expect, test } from 'bun:test'
import { verifyEvent } from 'nostr-tools/pure'
import { createPosterTaker, type PosterTaking } from '../../src/ui/coupon/poster-taker.ts'
import { openPosterTakes } from '../../src/ui/coupon/poster-takes.ts'
import { newKey } from '../support/client.ts'
import { pretendPage, couponTerms as terms } from '../support/fake-browser.ts'
import { newAsk, type Told } from '../support/told-answers.ts'
import { until } from '../support/until.ts'

const page = pretendPage(() => {
  coupon.readAddress()
  const id = coupon.openPoster.peek()
  if (id !== null) poster.showPoster(id)
})
const coupon = await import('../../src/ui/coupon/state.ts')
const poster = await import('../../src/ui/coupon/poster-state.ts')
const { refusalWords } = await import('../../src/ui/words/poster.ts')

const id = '01a1fe7c-3b10-7a52-9c1e-52d0a6f7e318'
const nonce = 'Anf-OSv8elgEZg1_GQowWQ'
const shownPoster = { poster: { id, state: 'open', startsAt: null, endsAt: null }, ...terms }
const refusal = (status: number, code: string) => Response.json({ code, error: 'No.' }, { status })

type Taken = { key: string | null; authorization: string; stored: string }
let taken: Taken[] = []
let status = 'minted'

/** A service with one poster. It answers takes as it is told. */
function serve(answerTake: () => Response | Promise<Response> = giveCoupon) {
  page.state.answer = (path, _body, headers) => {
    if (path === `/api/posters/${id}`) return Response.json(shownPoster)
    if (path === `/api/posters/${id}/take`) {
      const stored = [...page.texts.values()].join(' ')
      const authorization = headers.get('authorization') ?? ''
      taken.push({ key: headers.get('idempotency-key'), authorization, stored })
      return answerTake()
    }
    if (path.endsWith('/preview')) return Response.json({ ...terms, nonce, status, claimedAt: 5 })
    return refusal(404, 'not-found')
  }
}
const giveCoupon = () => Response.json({ ...terms, nonce, voucher: null }, { status: 201 })

const isShown = () => until('the poster', () => poster.posterView.peek().step === 'shown')
const isTaken = () => until('the coupon', () => coupon.openNonce.peek() === nonce)
const keptCodes = () => coupon.holdings.all().map((held) => held.nonce)

async function visit(path = `/c/p/${id}`) {
  page.visit(path)
  await isShown()
}

beforeEach(() => {
  page.state.full = false
  page.texts.clear()
  taken = []
  status = 'minted'
  serve()
  coupon.remove(nonce)
  coupon.openList()
})

test('a visitor takes a coupon, which stays on the device in place of the poster', async () => {
  await visit(`/c/p/${id.toUpperCase()}`)
  poster.takeCoupon()
  await isTaken()
  expect([location.pathname, coupon.openPoster.peek()]).toEqual(['/c', null])
  expect(keptCodes()).toEqual([nonce])
  expect(coupon.holdings.find(nonce)).toMatchObject({ own: true, status: 'minted' })

  const [sent] = taken
  const event = JSON.parse(atob(sent?.authorization.replace('Nostr ', '') ?? ''))
  expect(verifyEvent(event)).toBe(true)
  expect(event.tags).toContainEqual(['u', `http://127.0.0.1:3000/api/posters/${id}/take`])
  // Both keys were on the device before the request left.
  expect(sent?.stored).toContain(sent?.key ?? '?')
  expect(page.texts.get('cuponera:browser-key')).toMatch(/^[0-9a-f]{64}$/)
})

test('a second scan shows the coupon that the browser has, without another take', async () => {
  await visit()
  poster.takeCoupon()
  await isTaken()
  coupon.openList()
  page.visit(`/c/p/${id}`)
  await isTaken()
  expect(taken).toHaveLength(1)
})

test('a coupon that was used or removed is offered again under its key, and another under a new one', async () => {
  await visit()
  poster.takeCoupon()
  await isTaken()
  status = 'claimed'
  await coupon.look(nonce)
  await visit()
  expect(poster.hasTaken(id)).toBe(true)
  poster.takeCoupon()
  await isTaken()
  await visit()
  serve(() => refusal(409, 'poster-taken'))
  poster.takeCoupon(true)
  await until('the refusal', () => poster.posterTaking.peek()?.step === 'refused')
  expect(poster.posterTaking.peek()).toMatchObject({ code: 'poster-taken' })
  const [first, again, another] = taken.map(({ key }) => key)
  expect(again).toBe(first ?? '?')
  expect(another).not.toBe(first ?? '?')
  // The refused take is forgotten, the answered one is not.
  expect(poster.hasTaken(id)).toBe(true)
})

test('a browser without storage takes a coupon, and says so before', async () => {
  page.state.full = true
  await visit()
  expect(poster.takesLast()).toBe(false)
  poster.takeCoupon()
  await isTaken()
  expect(coupon.isKept(nonce)).toBe(false)
})

test('a poster that is gone, or out of reach, is told apart', async () => {
  const step = () => poster.posterView.peek().step
  page.state.answer = () => refusal(404, 'poster-unknown')
  page.visit(`/c/p/${id}`)
  await until('the answer', () => step() === 'unknown')
  page.state.answer = () => Promise.reject(new TypeError('no connection'))
  page.visit(`/c/p/${id}`)
  await until('no answer', () => step() === 'unreachable')
  page.visit('/c/p/none/more')
  expect(coupon.openPoster.peek()).toBeNull()
})

/** A page with the storage of the device; its service gives these answers in turn, and none after that. */
function newPage(texts: Map<string, string>, answers: Told[]) {
  const store = {
    read: (name: string) => texts.get(name) ?? null,
    write: (name: string, text: string) => texts.set(name, text) !== null,
    remove: (name: string) => texts.delete(name),
  }
  const keys: (string | undefined)[] = []
  const states: PosterTaking[] = []
  const taker = createPosterTaker({
    ask: newAsk((_path, _body, key) => {
      keys.push(key)
      return answers.shift() ?? new Promise<Told>(() => undefined)
    }),
    authorize: async () => 'Nostr x',
    pause: async () => undefined,
    takes: openPosterTakes(store, 'takes', newKey),
    now: () => 5,
    onChange: (state) => states.push(state),
  })
  return { taker, keys, states }
}

const given: Told = { status: 201, body: { ...terms, nonce, voucher: null }, retryAfter: null }
const answered = (code: string, of = 409, retryAfter: number | null = null): Told => {
  return { status: of, body: { code, error: 'No.' }, retryAfter }
}

test('a tab that was closed before the answer is followed by one that asks with the same key', async () => {
  const texts = new Map<string, string>()
  const closed = newPage(texts, [
    { status: 0, body: {}, retryAfter: null },
    answered('overloaded', 503),
  ])
  void closed.taker.take(id)
  await until('three attempts', () => closed.keys.length === 3)
  const next = newPage(texts, [given])
  await Promise.all([next.taker.resume(), next.taker.take(id)])
  expect(new Set([...closed.keys, ...next.keys]).size).toBe(1)
  expect(next.keys).toHaveLength(1)
  expect(next.states.at(-1)).toMatchObject({ step: 'taken', held: { nonce, own: true } })
  // Nothing is open any more.
  const last = newPage(texts, [])
  await last.taker.resume()
  expect(last.keys).toEqual([])
})

test.each([
  ...['poster-ended', 'poster-paused', 'not-now', 'poster-taken', 'poster-exhausted'],
  ...['poster-today', 'poster-unknown', 'coupon-archived', 'auth-expired', 'vouchers-day-full'],
])('a take ends with the refusal %s', async (code) => {
  const { taker, states, keys } = newPage(new Map(), [answered(code)])
  await taker.take(id)
  expect(keys).toHaveLength(1)
  expect(states.at(-1)).toMatchObject({ step: 'refused', code, message: 'No.' })
})

test('a take keeps its key when a signature is refused: an answer may have been lost before', async () => {
  const texts = new Map<string, string>()
  const lost: Told = { status: 0, body: {}, retryAfter: null }
  // A browser sent the second attempt twice; then the clock of the device went wrong.
  const answers = [lost, answered('auth-replay', 401), answered('auth-expired', 401)]
  const late = newPage(texts, answers)
  await late.taker.take(id)
  expect(late.states.at(-1)).toMatchObject({ step: 'refused', code: 'auth-expired' })
  const next = newPage(texts, [given])
  await next.taker.take(id)
  expect(next.states.at(-1)).toMatchObject({ step: 'taken', held: { nonce } })
  const keys = [...late.keys, ...next.keys]
  expect([keys.length, new Set(keys).size]).toEqual([4, 1])
})

test('a take waits for its turn when many ask at once', async () => {
  const { taker, states } = newPage(new Map(), [answered('rate-limited', 429, 2), given])
  await taker.take(id)
  expect(states.map((state) => state.step)).toEqual(['taking', 'taking', 'taken'])
  expect(states[1]).toMatchObject({ lost: 1, retryAfter: 2 })
})

test('the list of takes forgets the oldest answered one first', () => {
  const texts = new Map<string, string>()
  const store = {
    read: (name: string) => texts.get(name) ?? null,
    write: (name: string, text: string) => texts.set(name, text) !== null,
    remove: (name: string) => texts.delete(name),
  }
  const takes = openPosterTakes(store, 'takes', newKey)
  const open = takes.open('waiting', false)
  for (let number = 0; number < 120; number++) {
    takes.settle(takes.open(`poster ${number}`, false), nonce)
  }
  expect(takes.waiting()).toEqual([open])
  expect(takes.find('poster 119')?.nonce).toBe(nonce)
  expect(takes.find('poster 0')).toBeNull()
})

test('a device with a wrong clock is told so, and no word of a signature', () => {
  expect(refusalWords('auth-expired', 'La firma venció.')).toStartWith('La hora de este equipo')
  expect(refusalWords('poster-taken', 'Ya tenés tu cupón.')).toBe('Ya tenés tu cupón.')
  expect(refusalWords('poster-ended', null)).toStartWith('Esto ya terminó')
})

test('a poster of a service that has moved says so', async () => {
  const { moved } = await import('../../src/ui/state/reach.ts')
  await visit()
  page.state.answer = () => refusal(503, 'moved')
  await poster.lookAtPoster(id)
  expect([poster.posterView.peek().step, moved.peek()]).toEqual(['unreachable', true])
  serve()
  await poster.lookAtPoster(id)
  expect(moved.peek()).toBe(false)
})

test('a coupon that was passed on and taken back is the one of its poster', async () => {
  await visit()
  poster.takeCoupon()
  await isTaken()
  const fresh = '0JqmII8jrhwXpBMHzbGQPw'
  page.state.answer = (path, { nonce: code }: { nonce: string }) =>
    path.endsWith('/refresh')
      ? Response.json({ ...terms, nonce: fresh, voucher: null }, { status: 201 })
      : Response.json({ ...terms, nonce: code, status: 'minted', claimedAt: null })
  coupon.take(coupon.holdings.all()[0]!)
  await until('the swap', () => coupon.openNonce.peek() === fresh)
  coupon.openList()
  page.visit(`/c/p/${id}`)
  await until('the coupon', () => coupon.openNonce.peek() === fresh)
  expect(taken).toHaveLength(1)
  coupon.remove(fresh)
})
