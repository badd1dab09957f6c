/** The till without a browser: its camera, its lists, and the locks between its pages. */
import { beforeEach, expect, test } from 'bun:test'
import { npubOf } from '../../src/nostr/keys.ts'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { pretendPage } from '../support/fake-browser.ts'
import { until } from '../support/until.ts'

const nonce = 'Anf-OSv8elgEZg1_GQowWQ'
const npub = 'npub1mtkz48wps2wlzcea3edsy0yr5wa57ce6p58e40pyfkeegklxwx4qx06tql'
const page = pretendPage(() => {})
page.texts.set('cuponera:till:shops', JSON.stringify([npub]))
const headersOf: (string | null)[] = []
const answerWith = globalThis.fetch
Object.assign(globalThis, {
  fetch(path: string, init: RequestInit) {
    headersOf.push(`${path} ${new Headers(init.headers).get('authorization')}`)
    return answerWith(path, init)
  },
})
const tillKey = newSigner().pubkey
const expiresAt = secondsNow() + 30
page.texts.set(
  'cuponera:till:session',
  JSON.stringify({ pubkey: tillKey, kind: 'local', token: 'abc', expiresAt }),
)
const till = await import('../../src/ui/till/state.ts')
const { alone } = await import('../../src/ui/till/alone.ts')
till.resume()

const answer = (status: string) => () =>
  Response.json({
    ...{ couponId: '01a1fe7c-2d92-7144-beaa-b9a2d400f9c4', name: 'Medialuna', description: '' },
    ...{ coupon: { type: 'percent', percent: 25 }, npub, image: null, expiresAt: null },
    ...{ nonce, status, claimedAt: status === 'minted' ? null : 1_795_270_913, voucher: null },
  })
const refusal = () => Response.json({ code: 'field-invalid', error: 'No.' }, { status: 400 })
const step = () => till.redemption.peek().step
const reach = (wanted: string) => until(wanted, () => step() === wanted)
const link = `http://127.0.0.1:3000/c#${nonce}`

beforeEach(() => {
  till.leave()
  till.openScanner()
})

async function film(wanted: string, given: () => Response | Promise<Response>) {
  page.state.answer = given
  till.takeFilmed(link)
  await reach(wanted)
}

test.each([
  ['was cancelled', 'shown', answer('minted'), till.leave],
  ['got no answer', 'unreachable', () => Promise.reject(new TypeError('down')), till.leave],
  ['was refused', 'refused', refusal, till.goOn],
] as const)(
  'the camera reads a coupon again that %s and stayed in the picture',
  async (_did, wanted, given, leave) => {
    await film(wanted, given)
    leave()
    expect(step()).toBe('idle')
    await film('shown', answer('minted'))
  },
)

test('a claim names the till by its session, a preview does not', async () => {
  headersOf.length = 0
  await film('shown', answer('minted'))
  page.state.answer = answer('success')
  till.redeem()
  await reach('done')
  expect(headersOf).toEqual(['/api/coupons/preview null', '/api/coupons/claim Bearer abc'])
})

test('a claim goes without a name when the session is over, and waits for no other', async () => {
  await film('shown', answer('minted'))
  headersOf.length = 0
  const { now } = Date
  try {
    Date.now = () => now() + 60_000
    page.state.answer = answer('success')
    till.redeem()
    await reach('done')
  } finally {
    Date.now = now
  }
  expect(headersOf).toEqual(['/api/coupons/claim null'])
})

test('the camera does not read a redeemed coupon again while it stays in the picture', async () => {
  await film('shown', answer('minted'))
  page.state.answer = answer('success')
  till.redeem()
  await reach('done')
  till.goOn()
  expect([step(), till.cameraOpen.peek()]).toEqual(['idle', true])
  till.takeFilmed(link)
  expect(step()).toBe('idle')
  // A person who opens the camera wants to know about the code before it.
  till.openScanner()
  await film('done', answer('claimed'))
  expect(till.redemption.peek()).toMatchObject({ outcome: 'already' })
})

test('a redemption whose answer came late is listed once among the recent ones', async () => {
  const before = till.recent.peek().length
  await film('shown', answer('minted'))
  const late = Promise.withResolvers<Response>()
  page.state.answer = () => late.promise
  till.redeem()
  await reach('redeeming')
  till.leave()
  late.resolve(answer('success')())
  await until('the late answer', () => till.recent.peek().length === before + 1)
  await film('done', answer('success'))
  expect(till.redemption.peek()).toMatchObject({ outcome: 'settled' })
  expect(till.recent.peek()).toHaveLength(before + 1)
})

test('another page’s work shows among the open and the recent redemptions', () => {
  const open = { nonce, key: 'k'.repeat(24), startedAt: 1, name: 'Medialuna' }
  page.texts.set('cuponera:till:pending', JSON.stringify([open]))
  page.texts.set('cuponera:till:recent', '[]')
  page.changed('cuponera:till:pending')
  expect(till.unsettled.peek()).toEqual([open])
  expect(till.recent.peek()).toEqual([])
  page.texts.delete('cuponera:till:pending')
  page.changed('cuponera:till:pending')
  expect(till.unsettled.peek()).toEqual([])
})

test('a browser that refuses a lock lets the work run once', async () => {
  let count = 0
  const work = async () => {
    count++
  }
  const refuse = () => Promise.reject(new DOMException('not active', 'InvalidStateError'))
  Object.assign(navigator, { locks: { request: refuse } })
  expect(await alone(nonce, 'now-or-never', work)).toBe(true)
  expect(count).toBe(1)
  // The lock breaks off after the work began.
  const breakOff = async (_name: string, _options: object, run: (lock: object) => unknown) => {
    await run({})
    await refuse()
  }
  Object.assign(navigator, { locks: { request: breakOff } })
  expect(await alone(nonce, 'afterwards', work)).toBe(true)
  expect(count).toBe(2)
  // Another page has it.
  const take = (_name: string, { ifAvailable }: LockOptions, run: (lock: null) => unknown) =>
    ifAvailable ? Promise.resolve(run(null)) : Promise.reject(new Error('it waits'))
  Object.assign(navigator, { locks: { request: take } })
  expect(await alone(nonce, 'now-or-never', work)).toBe(false)
  expect(count).toBe(2)
  Reflect.deleteProperty(navigator, 'locks')
})

test('the till goes by the name that its own shop gave it, and keeps it', async () => {
  const issue = await import('../../src/ui/till/issue-state.ts')
  const listed = (mint: boolean) => [
    { npub: npubOf(newSigner().pubkey), label: 'De otro', mint: true },
    { npub, label: 'Caja 1', mint },
  ]
  const load = async (authorizations: object[]) => {
    page.state.answer = (path) =>
      Response.json(path.endsWith('authorizations') ? { authorizations } : { coupons: [] })
    await issue.loadMintable()
    const stored = page.texts.get('cuponera:till:name') ?? null
    return [issue.tillName.peek(), stored, issue.redeemsOnly()]
  }
  expect(await load(listed(false))).toEqual(['Caja 1', 'Caja 1', true])
  expect(await load(listed(true))).toEqual(['Caja 1', 'Caja 1', false])
  // A stranger may list any key.
  expect(await load(listed(true).slice(0, 1))).toEqual([null, null, false])
})

test('a till without a shop takes the one merchant that lists it, also only to redeem', async () => {
  const issue = await import('../../src/ui/till/issue-state.ts')
  const { removeShop, shops } = await import('../../src/ui/state/shops.ts')
  const load = async (npubs: string[]) => {
    for (const one of shops.peek()) removeShop(one)
    const authorizations = npubs.map((one) => ({ npub: one, label: 'Caja 1', mint: false }))
    page.state.answer = (path) =>
      Response.json(path.endsWith('authorizations') ? { authorizations } : { coupons: [] })
    await issue.loadMintable()
    return shops.peek()
  }
  expect(await load([npub, npubOf(newSigner().pubkey)])).toEqual([])
  expect(await load([npub])).toEqual([npub])
  expect(issue.tillName.peek()).toBe('Caja 1')
})

test('a claim whose session has ended is sent once more, and a barred coupon is looked at again', async () => {
  const { session } = await import('../../src/ui/till/issue-state.ts')
  const { addShop } = await import('../../src/ui/state/shops.ts')
  addShop(npub)
  const { pubkey, sign } = newSigner()
  const opened = (token: string) =>
    Response.json({ token, pubkey, expiresAt: secondsNow() + 43_200 })
  const barred = (reason?: string) =>
    Response.json({ code: 'till-not-allowed', error: 'No.', reason }, { status: 403 })
  page.state.answer = () => opened('old')
  await session.signIn({ kind: 'local', pubkey, sign: async (event: never) => sign(event) })
  const redeem = async (second: () => Response) => {
    await film('shown', answer('minted'))
    headersOf.length = 0
    page.state.answer = (path) => {
      if (path.endsWith('/session')) return opened('new')
      return headersOf.at(-1)?.endsWith(' old') ? barred('session-expired') : second()
    }
    till.redeem()
    await reach('done')
    return headersOf.map((one) => one?.split(' ').toSpliced(1, 1).join(' ').slice(0, 30))
  }
  const outcome = () => till.redemption.peek()
  expect(await redeem(() => barred())).toEqual([
    '/api/coupons/claim old',
    expect.stringMatching(/.api.auth/),
    '/api/coupons/claim new',
  ])
  expect(outcome()).toMatchObject({ outcome: 'barred' })
  page.state.answer = answer('minted')
  till.lookAgain()
  await reach('shown')
  page.state.answer = answer('success')
  till.redeem()
  await reach('done')
  expect(outcome()).toMatchObject({ outcome: 'success' })
  till.lookAgain()
  expect(step()).toBe('done')
  session.signOut()
})

test.each(['before', 'after'] as const)(
  'a claim without a session is sent once more with one that opens %s its refusal',
  async (order) => {
    const { session } = await import('../../src/ui/till/issue-state.ts')
    const { addShop } = await import('../../src/ui/state/shops.ts')
    addShop(npub)
    const { pubkey, sign } = newSigner()
    const opened = (token: string, seconds: number) =>
      Response.json({ token, pubkey, expiresAt: secondsNow() + seconds })
    page.state.answer = () => opened('old', 30)
    await session.signIn({ kind: 'local', pubkey, sign: async (event: never) => sign(event) })
    await film('shown', answer('minted'))
    headersOf.length = 0
    const first = Promise.withResolvers<void>()
    page.state.answer = async (path, _body, headers) => {
      const isSession = path.endsWith('/session')
      if (isSession === (order === 'after')) await first.promise
      else first.resolve()
      if (isSession) return opened('new', 43_200)
      if (headers.get('authorization') === 'Bearer new') return answer('success')()
      const body = { code: 'till-not-allowed', error: 'No.', reason: 'missing' }
      return Response.json(body, { status: 403 })
    }
    const { now } = Date
    try {
      Date.now = () => now() + 60_000
      till.redeem()
      await reach('done')
    } finally {
      Date.now = now
    }
    expect(till.redemption.peek()).toMatchObject({ outcome: 'success' })
    const claims = headersOf.filter((one) => one?.startsWith('/api/coupons/claim'))
    expect(claims).toEqual(['/api/coupons/claim null', '/api/coupons/claim Bearer new'])
    session.signOut()
  },
)

test('a name that the panel made stands in the lists in the language that is chosen later', async () => {
  const { chooseLanguage } = await import('../../src/ui/browser/language.ts')
  const { shownName } = await import('../../src/ui/words/benefit-text.ts')
  const english = '25% off everything you buy'
  const made = (status: string) => async () => {
    const told = await answer(status)().json()
    return Response.json({ ...told, name: english })
  }
  await film('shown', made('minted'))
  page.state.answer = () => Promise.reject(new TypeError('down'))
  till.redeem()
  await until('a lost answer', () => till.redemption.peek().step === 'redeeming')
  till.leave()
  await until('the open redemption', () => till.unsettled.peek().length === 1)
  const [open] = till.unsettled.peek()
  const coupon = { type: 'percent', percent: 25 } as const
  expect(open).toMatchObject({ name: english, coupon })
  page.state.answer = made('success')
  if (open) till.settle(open)
  await reach('done')
  // Another page reads the stored list.
  page.changed('cuponera:till:recent')
  const [last] = till.recent.peek()
  expect(last).toMatchObject({ name: english, coupon })
  const names = (['es', 'en'] as const).map((spoken) => {
    chooseLanguage(spoken)
    return last && shownName(last.name, last.coupon)
  })
  expect(names).toEqual(['25 % de descuento en toda tu compra', english])
  chooseLanguage('es')
})

test('an entry of another build is left out of the recent ones, or keeps its name', () => {
  const old = { outcome: 'success', name: 'Medialuna', at: 1 }
  page.texts.set('cuponera:till:recent', JSON.stringify([old, { ...old, coupon: 'x' }, 7]))
  page.changed('cuponera:till:recent')
  expect(till.recent.peek()).toEqual([old] as never)
})

test('a shop that another page of this device added or removed counts here, too', async () => {
  const { addShop, removeShop, shops } = await import('../../src/ui/state/shops.ts')
  const newShop = () => npubOf(newSigner().pubkey)
  const [one, two, three] = [newShop(), newShop(), newShop()]
  const stored = () => JSON.parse(page.texts.get('cuponera:till:shops') ?? '[]')
  page.texts.set('cuponera:till:shops', JSON.stringify([one]))
  page.changed('cuponera:till:shops')
  expect(shops.peek()).toEqual([one])
  // A change here does not undo one that this page has not heard of.
  page.texts.set('cuponera:till:shops', JSON.stringify([one, two]))
  addShop(three)
  expect([stored(), shops.peek()]).toEqual([
    [one, two, three],
    [one, two, three],
  ])
  page.texts.set('cuponera:till:shops', JSON.stringify([two, three]))
  removeShop(two)
  expect(stored()).toEqual([three])
})
