import { expect, test } from 'bun:test'
import { openPendingList } from '../../src/client/pending.ts'
import type { TextStore } from '../../src/client/texts.ts'
import { npubOf, parsePubkey } from '../../src/nostr/keys.ts'
import { type Held, openHoldings, type Status, statusNow } from '../../src/ui/coupon/holdings.ts'
import { createTaker, type Taking } from '../../src/ui/coupon/take.ts'
import { type Alone, createRedeemer, type Redemption } from '../../src/ui/till/redeem.ts'
import { newKey, newSigner } from '../support/client.ts'
import { newAsk, type Told } from '../support/told-answers.ts'

const nonce = 'Anf-OSv8elgEZg1_GQowWQ'
const other = '0JqmII8jrhwXpBMHzbGQPw'
const now = 1_795_270_913
const terms = {
  couponId: '01a1fe7c-2d92-7144-beaa-b9a2d400f9c4',
  coupon: { type: 'percent' as const, percent: 25 },
  name: 'Medialuna de regalo',
  description: '',
  npub: 'npub1mtkz48wps2wlzcea3edsy0yr5wa57ce6p58e40pyfkeegklxwx4qx06tql',
  image: null,
  nonce,
  expiresAt: null,
}

function ok(body: Record<string, unknown>): Told {
  return { status: 200, body: { ...terms, voucher: null, ...body }, retryAfter: null }
}
function no(status: number, code: string): Told {
  return { status, body: { code, error: 'Una frase.' }, retryAfter: null }
}
const lost: Told = { status: 0, body: {}, retryAfter: null }

/** A browser's storage, which may be full. */
function newStore(full = false): TextStore & { map: Map<string, string> } {
  const map = new Map<string, string>()
  const write = (name: string, text: string) => {
    if (!full) map.set(name, text)
    return !full
  }
  return { map, write, read: (name) => map.get(name) ?? null, remove: (name) => map.delete(name) }
}

type Asked = { path: string; body?: unknown; key: string | undefined; kept: string | undefined }

/** The locks that the pages of one browser share. */
function newLocks(): Alone {
  const held = new Map<string, Promise<void>>()
  return async (code, when, work) => {
    const before = held.get(code)
    if (before && when === 'now-or-never') return false
    const mine = before === undefined ? work() : before.then(work)
    held.set(code, mine)
    await mine
    if (held.get(code) === mine) held.delete(code)
    return true
  }
}

/** As where a browser gives no locks. */
const unlocked: Alone = async (_nonce, _when, work) => {
  await work()
  return true
}

/** A till before a service that gives these answers in turn. */
function newTill(
  answers: (Told | Promise<Told>)[],
  store = newStore(),
  manager: string | null = null,
  shops: readonly string[] = [terms.npub],
  alone: Alone = unlocked,
) {
  const asked: Asked[] = []
  const seen: Redemption[] = []
  const late: [string, Redemption][] = []
  const clock = { ms: 0, seconds: now }
  const pending = openPendingList({
    store,
    name: 'pending',
    now: () => now,
    newKey,
  })
  const redeemer = createRedeemer({
    ask: newAsk((path, body, key) => {
      if (asked.length > 40) throw new Error('it asks without end')
      asked.push({ path, body, key, kept: store.map.get('pending') })
      return answers.shift() ?? lost
    }),
    pause: () => Promise.resolve(),
    pending,
    now: () => clock.seconds,
    nowMs: () => clock.ms,
    shops: () => shops,
    manager: () => manager,
    alone,
    onChange: (state) => seen.push(state),
    onLate: ({ name }, outcome) => late.push([name, outcome]),
  })
  return { redeemer, asked, seen, late, pending, store, clock }
}

const minted = ok({ status: 'minted', claimedAt: null })
const success = ok({ status: 'success', claimedAt: now })

test('a look and one tap redeem with one key, which is stored before it leaves', async () => {
  const { redeemer, asked, pending } = newTill([minted, success])
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({ step: 'shown', terms: { name: terms.name } })
  await redeemer.redeem()
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'success', claimedAt: now })
  expect(asked.map(({ path }) => path)).toEqual([
    'POST /api/coupons/preview',
    'POST /api/coupons/claim',
  ])
  expect(asked[1]?.key).toMatch(/^[\w-]{24}$/)
  expect(asked[1]?.kept).toContain(asked[1]?.key ?? 'none')
  expect(pending.all()).toEqual([])
})

test.each([
  ['claimed', 'already'],
  ['refreshed', 'moved'],
  ['voided', 'voided'],
  ['expired', 'expired'],
] as const)('a coupon that is %s cannot be redeemed: %s', async (status, outcome) => {
  const { redeemer, asked } = newTill([ok({ status, claimedAt: status === 'claimed' ? 7 : null })])
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({
    step: 'done',
    outcome,
    claimedAt: status === 'claimed' ? 7 : null,
  })
  await redeemer.redeem()
  expect(asked).toHaveLength(1)
})

test('an unknown code is reported as unknown', async () => {
  const { redeemer } = newTill([no(404, 'voucher-unknown')])
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'unknown', terms: null })
})

test.each([
  [ok({ status: 'claimed', claimedAt: 7 }), 'already'],
  [no(410, 'voucher-moved'), 'moved'],
  [no(410, 'voucher-cancelled'), 'voided'],
  [no(403, 'till-not-allowed'), 'barred'],
  [no(410, 'voucher-expired'), 'expired'],
  [no(404, 'voucher-unknown'), 'unknown'],
] as const)('each outcome between look and tap is told apart: %#', async (answer, outcome) => {
  const { redeemer, pending } = newTill([minted, answer])
  await redeemer.look(nonce)
  await redeemer.redeem()
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome, terms: { name: terms.name } })
  expect(pending.all()).toEqual([])
})

test('lost answers are requested again with the same key, and shown as unconfirmed', async () => {
  const captive = { status: 200, body: {}, retryAfter: null }
  const strange = no(404, 'not-found')
  // A claim has no such refusal, and this nonce has the right form: a gateway says so.
  const [foreign, early] = [no(409, 'voucher-claimed'), no(400, 'nonce-invalid')]
  const { redeemer, asked, seen } = newTill([
    minted,
    ...[lost, no(503, 'unavailable'), no(429, 'rate-limited'), captive, strange, foreign, early],
    success,
  ])
  await redeemer.look(nonce)
  await redeemer.redeem()
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'success' })
  expect(new Set(asked.slice(1).map(({ key }) => key)).size).toBe(1)
  const shown = seen.flatMap((state) => (state.step === 'redeeming' ? [state.lost] : []))
  expect([...new Set(shown)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(seen.filter(({ step }) => step === 'done')).toHaveLength(1)
})

test('a key that was used for another request ends its claim, since no repetition helps', async () => {
  const { redeemer, asked, pending } = newTill([minted, no(409, 'idempotency-key-reused')])
  await redeemer.look(nonce)
  await redeemer.redeem()
  expect(redeemer.state()).toEqual({ step: 'refused', nonce, message: 'Una frase.' })
  expect([asked.length, pending.all()]).toEqual([2, []])
})

test.each([
  [no(403, 'till-not-allowed'), 'unreachable'],
  [no(404, 'not-found'), 'unreachable'],
  [no(503, 'voucher-unknown'), 'unreachable'],
  [no(400, 'field-invalid'), 'refused'],
] as const)('a preview is refused by its own codes only: %#', async (answer, step) => {
  const { redeemer } = newTill([answer])
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({ step, message: 'Una frase.' })
})

test('a reload finds the open redemption and finishes it with its key', async () => {
  const store = newStore()
  // The page went away while the request was out.
  newTill([], store).pending.open(nonce, terms)
  const second = newTill([success], store)
  const [open] = second.pending.all()
  expect(open).toMatchObject({ nonce, name: terms.name, startedAt: now })
  await second.redeemer.resume(open!)
  expect(second.redeemer.state()).toMatchObject({ step: 'done', outcome: 'success' })
  expect(second.asked[0]).toMatchObject({ path: 'POST /api/coupons/claim', key: open?.key })
  expect(second.pending.all()).toEqual([])
})

test('a redemption that was put aside ends with its time, and never green', async () => {
  const store = newStore()
  const first = newTill([minted], store)
  await first.redeemer.look(nonce)
  first.redeemer.redeem().catch(() => {})
  expect(first.pending.all()[0]?.aside).toBeUndefined()
  first.redeemer.leave()
  // Also known after a reload: nobody resumes it then.
  const second = newTill([success], store)
  const [open] = second.pending.all()
  expect(open).toMatchObject({ nonce, aside: true })
  await second.redeemer.settle(open!)
  expect(second.redeemer.state()).toMatchObject({ outcome: 'settled', claimedAt: now, terms })
  expect(second.asked[0]?.key).toBe(open!.key)
  expect(second.pending.all()).toEqual([])
})

test('an answer that arrives after its coupon left the screen is reported', async () => {
  const { redeemer, late, pending } = newTill([minted, success])
  await redeemer.look(nonce)
  const out = redeemer.redeem()
  redeemer.leave()
  await out
  expect(redeemer.state()).toEqual({ step: 'idle' })
  expect(late).toMatchObject([[terms.name, { step: 'done', outcome: 'settled' }]])
  expect(pending.all()).toEqual([])
})

test('scanning a coupon with an open redemption settles it with the same key, not in green', async () => {
  const store = newStore()
  const { pending } = newTill([], store)
  const { key } = pending.open(nonce, terms)
  const { redeemer, asked } = newTill([success], store)
  await redeemer.look(nonce)
  expect(asked).toMatchObject([{ path: 'POST /api/coupons/claim', key }])
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'settled', claimedAt: now })
})

test('a late answer is shown to the next scan of its coupon as settled, once', async () => {
  const store = newStore()
  const first = newTill([minted, success], store)
  await first.redeemer.look(nonce)
  const out = first.redeemer.redeem()
  first.redeemer.leave()
  await out
  // Also after a reload, which lists nothing to settle.
  const claimed = ok({ status: 'claimed', claimedAt: now })
  const { redeemer, asked, pending, clock } = newTill([success, claimed], store)
  expect(pending.all()).toEqual([])
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({ outcome: 'settled', claimedAt: now, terms })
  expect(asked).toMatchObject([{ path: 'POST /api/coupons/claim', key: first.asked[1]?.key }])
  clock.ms = 2000
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({ outcome: 'already', claimedAt: now })
})

test('a late answer that redeemed nothing is not kept', async () => {
  const { redeemer, late, pending } = newTill([minted, no(410, 'voucher-expired')])
  await redeemer.look(nonce)
  const out = redeemer.redeem()
  redeemer.leave()
  await out
  expect(late).toMatchObject([[terms.name, { outcome: 'expired' }]])
  expect(pending.find(nonce)).toBeNull()
})

test('answered entries give way to those without an answer', () => {
  const { pending } = newTill([])
  pending.open('first', { name: '' })
  for (let at = 1; at < 50; at++) {
    pending.open(`code-${at}`, { name: '' })
    pending.markAnswered(`code-${at}`, pending.find(`code-${at}`)!.key)
  }
  for (let at = 50; at < 99; at++) pending.open(`code-${at}`, { name: '' })
  expect(pending.all()).toHaveLength(50)
  expect(pending.find('first')).not.toBeNull()
})

test('an answer closes the entry of its own key only', () => {
  const { pending } = newTill([])
  const { key } = pending.open(nonce, { name: '' })
  pending.close(nonce, `${key}-before`)
  pending.markAnswered(nonce, `${key}-before`)
  expect(pending.all()).toMatchObject([{ nonce, key }])
  pending.markAnswered(nonce, key)
  expect([pending.all(), pending.find(nonce)?.key]).toEqual([[], key])
  pending.close(nonce, key)
  expect(pending.find(nonce)).toBeNull()
})

test('a preview in a second page does not turn a redemption that was put aside green', async () => {
  const store = newStore()
  const second = newTill([minted, success], store)
  await second.redeemer.look(nonce)
  const first = newTill([minted, lost], store)
  await first.redeemer.look(nonce)
  const out = first.redeemer.redeem()
  first.redeemer.leave()
  await out
  await second.redeemer.redeem()
  expect(second.asked[1]?.key).toBe(first.asked[1]!.key!)
  expect(second.redeemer.state()).toMatchObject({ step: 'done', outcome: 'settled' })
})

test.each(['look', 'settle', 'redeem'] as const)(
  'an open redemption is put aside for good by %s',
  async (step) => {
    const store = newStore()
    const { redeemer, pending } = newTill(step === 'redeem' ? [minted] : [], store)
    if (step === 'redeem') await redeemer.look(nonce)
    // Another page opened it.
    const open = newTill([], store).pending.open(nonce, terms)
    const out =
      step === 'settle'
        ? redeemer.settle(open)
        : step === 'redeem'
          ? redeemer.redeem()
          : redeemer.look(nonce)
    out.catch(() => {})
    expect(pending.all()).toMatchObject([{ nonce, aside: true }])
    redeemer.leave()
    await out
  },
)

test('of two pages that finish one redemption, one is green', async () => {
  const store = newStore()
  const first = newTill([minted, lost, success], store)
  await first.redeemer.look(nonce)
  const out = first.redeemer.redeem()
  const second = newTill([success], store)
  await second.redeemer.resume(second.pending.all()[0]!)
  await out
  const outcomes = [first, second].map(({ redeemer }) => redeemer.state())
  expect(outcomes).toMatchObject([{ outcome: 'settled' }, { outcome: 'success' }])
})

test.each([['waits for its answer'], ['puts it aside']])(
  'a second page leaves a redemption to the page that %s',
  async (does) => {
    const [store, alone] = [newStore(), newLocks()]
    const answer = Promise.withResolvers<Told>()
    const first = newTill([minted, answer.promise], store, null, [terms.npub], alone)
    await first.redeemer.look(nonce)
    const out = first.redeemer.redeem()
    const second = newTill([success], store, null, [terms.npub], alone)
    const resumed = second.redeemer.resume(second.pending.all()[0]!)
    if (does === 'puts it aside') first.redeemer.leave()
    answer.resolve(does === 'puts it aside' ? lost : success)
    await Promise.all([out, resumed])
    expect(second.asked).toEqual([])
    expect(second.redeemer.state()).toEqual({ step: 'idle' })
    expect(first.redeemer.state()).toMatchObject(
      does === 'puts it aside' ? { step: 'idle' } : { outcome: 'success' },
    )
  },
)

test.each(['look', 'redeem', 'settle'] as const)(
  'a second page that would %s says that another page waits, and the first ends in green',
  async (step) => {
    const [store, alone] = [newStore(), newLocks()]
    const answer = Promise.withResolvers<Told>()
    const second = newTill([minted, success], store, null, [terms.npub], alone)
    if (step === 'redeem') await second.redeemer.look(nonce)
    const first = newTill([minted, answer.promise], store, null, [terms.npub], alone)
    await first.redeemer.look(nonce)
    const out = first.redeemer.redeem()
    const asked = second.asked.length
    if (step === 'settle') await second.redeemer.settle(second.pending.all()[0]!)
    else if (step === 'redeem') await second.redeemer.redeem()
    else await second.redeemer.look(nonce)
    expect(second.redeemer.state()).toEqual({ step: 'other-page', nonce })
    expect(second.asked).toHaveLength(asked)
    answer.resolve(success)
    await out
    expect(first.redeemer.state()).toMatchObject({ step: 'done', outcome: 'success' })
  },
)

test('a redemption that a page put aside is settled by a second page, before its answer', async () => {
  const [store, alone] = [newStore(), newLocks()]
  const second = newTill([minted, success], store, null, [terms.npub], alone)
  await second.redeemer.look(nonce)
  const never = new Promise<Told>(() => {})
  const first = newTill([minted, never], store, null, [terms.npub], alone)
  await first.redeemer.look(nonce)
  void first.redeemer.redeem()
  first.redeemer.leave()
  await second.redeemer.redeem()
  expect(second.asked[1]?.key).toBe(first.asked[1]!.key!)
  expect(second.redeemer.state()).toMatchObject({ step: 'done', outcome: 'settled' })
})

test('a second page takes a redemption over from one that is gone', async () => {
  const [store, alone] = [newStore(), newLocks()]
  const open = newTill([], store).pending.open(nonce, terms)
  const second = newTill([success], store, null, [terms.npub], alone)
  await second.redeemer.look(nonce)
  expect(second.asked[0]?.key).toBe(open.key)
  expect(second.redeemer.state()).toMatchObject({ outcome: 'settled' })
})

test('a second tap while the lock is on its way asks once', async () => {
  const locks = newLocks()
  const slow: Alone = async (...lock) => {
    await Promise.resolve()
    return locks(...lock)
  }
  const { redeemer, asked } = newTill([minted, success], newStore(), null, [terms.npub], slow)
  await redeemer.look(nonce)
  await Promise.all([redeemer.redeem(), redeemer.redeem()])
  expect(asked.map(({ path }) => path)).toEqual([
    'POST /api/coupons/preview',
    'POST /api/coupons/claim',
  ])
  expect(redeemer.state()).toMatchObject({ outcome: 'success' })
})

test('a second page goes on when the first is gone, unless it has a coupon on its screen', async () => {
  const gone = Promise.withResolvers<void>()
  const wait: Alone = (code, when, work) => gone.promise.then(() => unlocked(code, when, work))
  const store = newStore()
  const open = newTill([], store).pending.open(nonce, terms)
  const free = newTill([success], store, null, [terms.npub], wait)
  const busy = newTill([ok({ status: 'minted', nonce: other })], store, null, [terms.npub], wait)
  await busy.redeemer.look(other)
  const out = [busy.redeemer.resume(open), free.redeemer.resume(open)]
  expect(free.asked).toEqual([])
  gone.resolve()
  await Promise.all(out)
  expect(free.redeemer.state()).toMatchObject({ step: 'done', outcome: 'success' })
  expect(busy.redeemer.state()).toMatchObject({ step: 'shown', nonce: other })
})

test.each([
  ['that waited longer than a customer does', 15 * 60],
  ['whose clock was set back', -15 * 60],
])('a second page %s leaves the redemption for a tap', async (_, passed) => {
  const gone = Promise.withResolvers<void>()
  const store = newStore()
  const open = newTill([], store).pending.open(nonce, terms)
  const late = newTill([success], store, null, [terms.npub], (code, when, work) =>
    gone.promise.then(() => unlocked(code, when, work)),
  )
  const out = late.redeemer.resume(open)
  late.clock.seconds += passed
  gone.resolve()
  await out
  expect(late.asked).toEqual([])
  expect(late.pending.find(nonce)).not.toBeNull()
})

test('a scanner that reads a coupon twice changes nothing', async () => {
  const { redeemer, asked, clock } = newTill([minted, success])
  await redeemer.look(nonce)
  clock.ms = 60_000
  await redeemer.look(nonce)
  await redeemer.redeem()
  clock.ms += 1999
  await redeemer.look(nonce)
  expect(asked).toHaveLength(2)
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'success' })
})

test('green gives way to a read of the same coupon two seconds later', async () => {
  const claimed = ok({ status: 'claimed', claimedAt: now })
  const { redeemer, asked, clock } = newTill([minted, success, claimed, lost])
  await redeemer.look(nonce)
  await redeemer.redeem()
  clock.ms += 2000
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'already', claimedAt: now })
  // Without an answer the old outcome does not stay, either.
  clock.ms += 2000
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({ step: 'unreachable', nonce })
  expect(asked.map(({ path }) => path.slice(18))).toEqual([
    'preview',
    'claim',
    'preview',
    'preview',
  ])
})

test('a second tap and a scan during a request do nothing', async () => {
  const { redeemer, asked } = newTill([minted, success])
  await redeemer.look(nonce)
  const first = redeemer.redeem()
  await redeemer.redeem()
  await redeemer.look(other)
  await first
  expect(asked).toHaveLength(2)
})

test('the key stays in memory where nothing can be stored', async () => {
  const { redeemer, asked } = newTill([minted, lost, success], newStore(true))
  await redeemer.look(nonce)
  await redeemer.redeem()
  expect(asked[1]?.key).toBe(asked[2]?.key as string)
  expect(redeemer.state()).toMatchObject({ outcome: 'success' })
})

test('invalid storage is read as an empty list', () => {
  for (const text of ['', 'x', '{}', '[1,null,{"nonce":1}]']) {
    const store = newStore()
    store.map.set('pending', text)
    expect(newTill([], store).pending.all()).toEqual([])
    expect(openHoldings(store, 'pending', () => now).all()).toEqual([])
  }
})

// ── The shop of a coupon

const ours = parsePubkey(terms.npub)
const anotherShop = npubOf(newSigner().pubkey)

test.each([['minted'], ['claimed'], ['expired']])(
  'a coupon of another shop that is %s is foreign at once, and nothing redeems it',
  async (status) => {
    const { redeemer, asked } = newTill([ok({ status })], newStore(), null, [anotherShop])
    await redeemer.look(nonce)
    expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'foreign', terms: { nonce } })
    await redeemer.redeem()
    expect(asked.map(({ path }) => path)).toEqual(['POST /api/coupons/preview'])
  },
)

test('a till without a shop redeems nothing until the cashier confirms the shop', async () => {
  const shops: string[] = []
  const { redeemer, asked } = newTill([minted, success], newStore(), null, shops)
  await redeemer.look(nonce)
  await redeemer.redeem()
  expect(redeemer.state()).toMatchObject({ step: 'shown' })
  expect(asked).toHaveLength(1)
  shops.push(terms.npub)
  await redeemer.redeem()
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'success' })
})

test('a coupon that the cashier rejects is foreign, and the till still has no shop', async () => {
  const { redeemer, asked } = newTill([minted], newStore(), null, [])
  await redeemer.look(nonce)
  redeemer.disown()
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'foreign' })
  await redeemer.redeem()
  expect(asked).toHaveLength(1)
})

test('every request of a redemption names the shop, also a retry after a reload', async () => {
  const store = newStore()
  const first = newTill([minted, lost, lost], store)
  await first.redeemer.look(nonce)
  const out = first.redeemer.redeem()
  first.redeemer.leave()
  await out
  // The till gets another shop meanwhile: the request is repeated unchanged.
  const second = newTill([success], store, null, [anotherShop])
  await second.redeemer.settle(second.pending.all()[0]!)
  const claims = [...first.asked.slice(1), ...second.asked]
  expect(claims.length).toBeGreaterThan(1)
  for (const { path, body, key } of claims) {
    expect([path, body, key]).toEqual([
      'POST /api/coupons/claim',
      { nonce, owner: ours },
      claims[0]?.key,
    ])
  }
  expect(second.redeemer.state()).toMatchObject({ outcome: 'settled' })
})

test('an open redemption of an older page is requested as that page did', async () => {
  const store = newStore()
  newTill([], store).pending.open(nonce, terms)
  const { redeemer, asked, pending } = newTill([success], store)
  await redeemer.settle(pending.all()[0]!)
  expect(asked[0]?.body).toEqual({ nonce })
})

test('a coupon that the service refuses as another shop’s is foreign, settled, and not asked again', async () => {
  const { redeemer, asked, pending } = newTill([minted, no(409, 'other-merchant')])
  await redeemer.look(nonce)
  await redeemer.redeem()
  expect(redeemer.state()).toMatchObject({ step: 'done', outcome: 'foreign' })
  expect(asked).toHaveLength(2)
  expect(pending.all()).toEqual([])
})

// ── Without the service

const manager = newSigner()
const stranger = newSigner()

function voucherBy(signer: typeof manager, phase = 'minted', expiresAt?: number) {
  const content = {
    v: 1,
    nonce,
    owner: stranger.pubkey,
    name: 'Medialuna',
    description: '',
    coupon: terms.coupon,
    phase,
    expiresAt,
  }
  return signer.sign({
    kind: 20_402,
    created_at: now,
    tags: [
      ['nonce', nonce],
      ['p', stranger.pubkey],
      ['coupon', terms.couponId],
      ['phase', phase],
      ...(expiresAt === undefined ? [] : [['expiration', String(expiresAt)]]),
    ],
    content: JSON.stringify(content),
  })
}

const genuine = voucherBy(manager)
test.each([
  ['right', genuine, { genuine: true, expired: false, promise: { name: 'Medialuna', nonce } }],
  ['over', voucherBy(manager, 'minted', now), { genuine: true, expired: true }],
  ["another service's", voucherBy(stranger), { genuine: false, why: 'other-manager' }],
  ['tampered with', { ...genuine, created_at: now + 1 }, { genuine: false, why: 'signature' }],
  [
    'signed over something else',
    { ...voucherBy(manager), sig: voucherBy(manager, 'minted', now + 9).sig },
    { genuine: false, why: 'signature' },
  ],
  [
    'of two minds',
    { ...genuine, content: genuine.content.replace(nonce, other) },
    { genuine: false, why: 'shape' },
  ],
  ['of a redeemed coupon', voucherBy(manager, 'claimed'), { genuine: false, why: 'phase' }],
])(
  'without the service a voucher that is %s is judged by its signature',
  async (_is, voucher, verdict) => {
    const { redeemer, asked } = newTill([lost], newStore(), manager.pubkey)
    await redeemer.look(nonce, voucher)
    expect(redeemer.state()).toMatchObject({ step: 'unreachable', nonce, verdict })
    // Nothing can be redeemed from here.
    await redeemer.redeem()
    expect(asked).toHaveLength(1)
    expect(redeemer.state().step).toBe('unreachable')
  },
)

test('a voucher with another coupon’s code proves nothing', async () => {
  const { redeemer } = newTill([lost], newStore(), manager.pubkey)
  await redeemer.look(other, genuine)
  expect(redeemer.state()).toMatchObject({ verdict: { genuine: false, why: 'nonce' } })
})

test('without a pinned key, or without a voucher, no verdict on the signature is shown', async () => {
  const unpinned = newTill([lost])
  await unpinned.redeemer.look(nonce, genuine)
  expect(unpinned.redeemer.state()).toMatchObject({ step: 'unreachable', verdict: null })
  const bare = newTill([lost, minted], newStore(), manager.pubkey)
  await bare.redeemer.look(nonce)
  expect(bare.redeemer.state()).toMatchObject({ step: 'unreachable', verdict: null })
  await bare.redeemer.look(nonce)
  expect(bare.redeemer.state()).toMatchObject({ step: 'shown' })
})

test('a service that answers with a fault is not shown as out of reach', async () => {
  const { redeemer } = newTill([no(503, 'unavailable')])
  await redeemer.look(nonce)
  expect(redeemer.state()).toMatchObject({ step: 'unreachable', message: 'Una frase.' })
  const { redeemer: alone } = newTill([lost])
  await alone.look(nonce)
  expect(alone.state()).toMatchObject({ step: 'unreachable', message: null })
})

// ── Making a coupon one's own

function newTaker(answers: Told[], store = newStore()) {
  const asked: Asked[] = []
  const seen: Taking[] = []
  const pending = openPendingList({
    store,
    name: 'pending',
    now: () => now,
    newKey,
  })
  const holdings = openHoldings(store, 'coupons', () => now)
  const taker = createTaker({
    ask: newAsk((path, _body, key) => {
      asked.push({ path, key, kept: store.map.get('pending') })
      return answers.shift() ?? lost
    }),
    pause: () => Promise.resolve(),
    pending,
    holdings,
    now: () => now,
    onChange: (state) => seen.push(state),
  })
  return { taker, asked, seen, pending, holdings, store }
}

const successor: Told = {
  status: 201,
  body: { ...terms, nonce: other, voucher: genuine },
  retryAfter: null,
}

test('a swapped coupon is stored before the old code is forgotten', async () => {
  const { taker, asked, pending, holdings } = newTaker([successor])
  const taking = await taker.take(nonce, terms.name)
  expect(taking).toMatchObject({ step: 'mine', old: nonce, kept: true, held: { nonce: other } })
  expect(asked[0]?.kept).toContain(asked[0]?.key ?? 'none')
  expect(holdings.all()).toMatchObject([{ nonce: other, own: true, voucher: { id: genuine.id } }])
  expect(pending.all()).toEqual([])
})

test('a swap in a full list replaces the old code', async () => {
  const { taker, holdings } = newTaker([successor])
  for (let at = 1; at < 300; at++) holdings.put(held(`code-${at}`, 'minted'))
  expect(holdings.full()).toBe(false)
  holdings.put(held(nonce, 'minted'))
  expect(holdings.full()).toBe(true)
  expect(await taker.take(nonce, terms.name)).toMatchObject({ step: 'mine', kept: true })
  expect([holdings.all().length, holdings.find(nonce)]).toEqual([300, null])
})

test('a lost swap is finished automatically with its key, also by a later page', async () => {
  const store = newStore()
  const first = newTaker([lost, lost, successor], store)
  await first.taker.take(nonce, terms.name)
  expect(new Set(first.asked.map(({ key }) => key)).size).toBe(1)

  const { key } = first.pending.open(nonce, terms)
  const second = newTaker([lost, { ...successor, status: 200 }], store)
  await Promise.all([...second.taker.resume(), second.taker.take(nonce, terms.name)])
  expect(second.asked.map((one) => one.key)).toEqual([key, key])
  expect(second.pending.all()).toEqual([])
  expect(second.holdings.all()).toHaveLength(1)
})

test('a coupon that changed hands too often waits as long as the service demands, and shows it', async () => {
  const often = { ...no(429, 'rate-limited'), retryAfter: 9 }
  const { taker, seen } = newTaker([often, lost, successor])
  expect(await taker.take(nonce, terms.name)).toMatchObject({ step: 'mine' })
  const waits = seen.flatMap((one) => (one.step === 'taking' ? [[one.lost, one.retryAfter]] : []))
  // The next lost answer is shown as lost, and no longer as a wait.
  expect(waits).toEqual([
    [0, null],
    [1, 9],
    [2, null],
  ])
})

test('where nothing can be stored the screen shows it, and the key is not dropped', async () => {
  const { taker, pending } = newTaker([successor], newStore(true))
  expect(await taker.take(nonce, terms.name)).toMatchObject({ step: 'mine', kept: false })
  expect(pending.all()).toHaveLength(1)
})

test.each([
  [409, 'voucher-refreshed', 'moved'],
  [409, 'voucher-claimed', 'claimed'],
  [410, 'voucher-cancelled', 'voided'],
  [410, 'voucher-expired', 'expired'],
  [404, 'voucher-unknown', 'unknown'],
] as const)('a swap that came too late says why: %d %s', async (status, code, why) => {
  const { taker, pending, holdings } = newTaker([no(status, code)])
  expect(await taker.take(nonce, terms.name)).toEqual({ step: 'gone', nonce, why })
  expect(pending.all()).toEqual([])
  expect(holdings.all()).toEqual([])
})

// ── Coupons on a device

function held(code: string, status: Status): Held {
  const when = { claimedAt: null, checkedAt: now, addedAt: now }
  return { ...terms, nonce: code, status, ...when, voucher: null, own: false, sent: null }
}

test('a full list drops unusable coupons only', () => {
  const holdings = openHoldings(newStore(), 'coupons', () => now)
  const code = (at: number) => `code-${at}`
  for (let at = 0; at < 300; at++) holdings.put(held(code(at), at === 7 ? 'claimed' : 'minted'))
  expect(holdings.put(held(code(300), 'minted'))).toBe(true)
  expect([holdings.find(code(7)), holdings.find(code(300))?.status]).toEqual([null, 'minted'])
  expect(holdings.put(held(code(301), 'minted'))).toBe(false)
  expect([holdings.all().length, holdings.find(code(301))]).toEqual([300, null])
  // The data of a listed one may still change.
  expect(holdings.put(held(code(0), 'voided'))).toBe(true)
  expect(holdings.put(held(code(301), 'minted'))).toBe(true)
  expect(holdings.find(code(0))).toBeNull()
})

test('a coupon that expired since its last answer makes room', () => {
  const clock = { now }
  const holdings = openHoldings(newStore(), 'coupons', () => clock.now)
  for (let at = 0; at < 300; at++) {
    holdings.put({ ...held(`code-${at}`, 'minted'), expiresAt: at === 7 ? now + 60 : null })
  }
  expect(holdings.full()).toBe(true)
  clock.now += 61
  expect(holdings.full()).toBe(false)
  expect(holdings.put(held('code-300', 'minted'))).toBe(true)
  expect(holdings.find('code-7')).toBeNull()
})

test.each([
  ['before its end', 'minted', now + 1, 0, 'minted'],
  ['at its end by the clock alone', 'minted', now, -10, 'overdue'],
  ['on a clock that was ahead when the service called it good', 'minted', now - 900, 0, 'minted'],
  ['without an end', 'minted', null, 0, 'minted'],
  ['redeemed', 'claimed', now - 900, -1000, 'claimed'],
] as const)('a coupon %s', (_is, status, expiresAt, checked, shown) => {
  expect(statusNow({ status, expiresAt, checkedAt: now + checked }, now)).toBe(shown)
})
