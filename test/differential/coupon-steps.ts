import { percentBenefit } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { pngOf, samples } from '../support/pictures.ts'
import { type Maker, type Numbers, newest, pick, type World } from './world.ts'

/** Texts whose order, case or length an engine may see otherwise. */
export const texts = [
  'Café',
  'café',
  'CAFÉ',
  'cafe\u0301',
  'ñandú',
  'Ñandú',
  'z',
  'Z',
  'a b',
  '_%',
  '%',
  "O'Higgins",
  '🧉',
  'ß',
  'ı',
  'İ',
  'x'.repeat(80),
  'Ana',
  'ana',
  'a\u0000b',
  'a\ud800b',
  '\u202eabc',
  '  borde  ',
  '1',
  'null',
  '\\x41',
  '{"a":1}',
]

const keys = ['llave-numero-1', 'llave-numero-2', 'llave-numero-3', 'llave-numero-4']
const numbers = [1, 2, 3, 0, -1, 1_000_000, 1_000_001, 2 ** 31, 2 ** 53, 1.5, 1e21]

const keyOf = (number: number) => (number % 3 ? undefined : pick(keys, number))
/** Moments around now, and far away. */
const moment = (number: number) =>
  pick([null, 1, 60, 3600, 86_400, 0, -5, 2 ** 40], number % 16 > 7 ? 0 : number) ?? null
const from = (number: number) => {
  const away = moment(number)
  return away === null ? null : secondsNow() + away
}

function benefitOf(number: number) {
  return pick(
    [
      percentBenefit,
      { type: 'percent', percent: 33.33, productDs: ['b', 'a', 'Ñ'] },
      { type: 'fixed', amount: 1500.55, currency: 'ARS', productDs: ['z', 'Z'] },
      { type: 'fixed', amount: 1500, currency: 'SAT' },
      { type: 'multibuy', buyQty: 3, payQty: 2, cap: { amount: 0.1, currency: 'ARS' } },
      { type: 'freeItems', items: [{ d: 'x', qty: 2 }] },
      { type: 'fixed', amount: 1e15, currency: 'ARS' },
    ],
    number,
  )
}

function rulesOf(number: number) {
  const windows = [{ days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '12:00' }]
  return pick(
    [
      null,
      undefined,
      { startsAt: secondsNow() + 50, conditions: 'Sólo en efectivo' },
      { minimum: { amount: 100.5, currency: 'ARS' } },
      { times: { timeZone: 'America/Argentina/Buenos_Aires', windows } },
    ],
    number,
  )
}

/** The terms that a merchant writes. */
function termsOf(world: World, [a, b, c]: Numbers) {
  const many = pick([null, 1, 2, 5, 20, undefined], b)
  return {
    name: pick(texts, a),
    benefit: benefitOf(b),
    ...(a % 3 === 0 && { description: pick(texts, c) }),
    ...(a % 5 === 0 && { maxUses: c % 7 ? many : pick(numbers, c) }),
    ...(b % 3 === 0 && { expiresAt: from(c) }),
    ...(c % 4 === 0 && { rules: rulesOf(a) }),
    ...(c % 6 === 0 && world.pictures.length > 0 && { picture: pick(world.pictures, a) }),
  }
}

const coupon = (world: World, number: number) => newest(world.coupons, number)

export const couponMakers: Record<string, Maker> = {
  session(world, [a]) {
    const by = world.person(a)
    return {
      ...{ method: 'POST', path: '/api/auth/session', body: {}, by, signed: true },
      learn: ({ token }) => void (token && world.sessions.set(by.pubkey, token)),
    }
  },

  define(world, numbers) {
    const [a, b] = numbers
    const by = world.person(a)
    return {
      ...{ method: 'POST', path: '/api/coupons', by, signed: b % 5 === 0, key: keyOf(b) },
      body: termsOf(world, numbers),
      learn({ coupon }) {
        if (coupon && !world.coupons.some(({ id }) => id === coupon.id))
          world.coupons.push({ id: coupon.id, owner: by })
      },
    }
  },

  edit(world, [a, b, c]) {
    const one = coupon(world, a)
    if (!one) return null
    const { name, ...more } = termsOf(world, [b, c, a])
    const body = pick<object>(
      [{ archived: true }, { archived: false }, more, { name }, { maxUses: pick(numbers, b) }, {}],
      c,
    )
    const path = `/api/coupons/${b % 11 ? one.id : one.id.toUpperCase()}`
    return { method: 'PATCH', path, body, by: world.owner(one, b), signed: c % 5 === 0 }
  },

  remove(world, [a, b]) {
    const one = coupon(world, a)
    return one && { method: 'DELETE', path: `/api/coupons/${one.id}`, by: world.owner(one, b) }
  },

  mint(world, [a, b, c]) {
    const one = coupon(world, a)
    if (!one) return null
    const batch = newest(world.batches, b)
    const known = batch ? { id: batch.id } : { name: 'Feria' }
    const count = pick([null, 1, 2, 3, 2, 20, 501], c)
    const names = Array.from({ length: count ?? 1 }, (_, at) =>
      at % 2 ? null : pick(texts, a + at),
    )
    const body = {
      couponId: one.id,
      ...(count && { count }),
      ...(c % 3 === 0 && { batch: pick<object>([{ name: pick(texts, a) }, known, known, {}], b) }),
      ...(c % 5 === 0 && { labels: names }),
    }
    return {
      ...{ method: 'POST', path: '/api/coupons/mint', body, key: keyOf(a + c) },
      ...{ by: world.owner(one, b), signed: b % 5 === 0 },
      learn: ({ batch }) =>
        void (batch?.id && world.batches.push({ id: batch.id, couponId: one.id })),
    }
  },

  preview(world, [a, b]) {
    const nonce = newest(world.vouchers, a)?.nonce ?? 'AAECAwQFBgcICQoLDA0ODw'
    return b % 2
      ? { method: 'GET', path: `/api/coupons/claim?nonce=${nonce}` }
      : { method: 'POST', path: '/api/coupons/preview', body: { nonce } }
  },

  claim(world, [a, b, c]) {
    const voucher = newest(world.vouchers, a)
    if (!voucher) return null
    const owner = pick(world.people, b).pubkey
    const purchase = { amount: pick([1, 100.5, 1e9, 0.001], c), currency: pick(['ARS', 'USD'], b) }
    const body = {
      nonce: voucher.nonce,
      ...(b % 4 === 0 && { owner: b % 8 ? owner : owner.toUpperCase() }),
      ...(c % 3 === 0 && { purchase }),
      ...(c % 5 === 0 && { amountMsat: pick(numbers, a) }),
    }
    const by = a % 4 === 0 ? { by: world.person(b) } : {}
    return { method: 'POST', path: '/api/coupons/claim', body, key: keyOf(c), ...by }
  },

  refresh(world, [a, b]) {
    const voucher = newest(world.vouchers, a)
    if (!voucher) return null
    const body = { nonce: voucher.nonce }
    return { method: 'POST', path: '/api/coupons/refresh', body, key: pick(keys, b) }
  },

  void(world, [a, b, c]) {
    const voucher = newest(world.vouchers, a)
    const one = world.coupons.find(({ id }) => id === voucher?.couponId)
    if (!voucher || !one) return null
    const name = c % 3 ? (voucher.handle ?? voucher.nonce) : voucher.nonce
    const chain = pick(['', '', '?chain=1', '?chain=0'], b)
    const path = `/api/coupons/${one.id}/mints/${name}${chain}`
    return { method: 'DELETE', path, by: world.owner(one, b) }
  },

  kill(world, [a, b]) {
    const one = coupon(world, a)
    return (
      one && { method: 'DELETE', path: `/api/coupons/${one.id}/mints`, by: world.owner(one, b) }
    )
  },

  voidBatch(world, [a, b]) {
    const batch = newest(world.batches, a)
    const one = world.coupons.find(({ id }) => id === batch?.couponId)
    if (!batch || !one) return null
    const path = `/api/coupons/${one.id}/batches/${batch.id}`
    return { method: 'DELETE', path, by: world.owner(one, b) }
  },

  minter(world, [a, b, c]) {
    const [by, { pubkey }] = [world.person(a), pick(world.people, b)]
    if (c % 4 === 0) return { method: 'DELETE', path: `/api/coupons/minters/${pubkey}`, by }
    const body = {
      pubkey: pick([pubkey, pubkey.toUpperCase(), 'x'], c % 12 === 1 ? c : 0),
      ...(b % 3 && { label: pick(texts, c) }),
      ...(a % 3 === 0 && { mint: c % 2 === 0 }),
    }
    return { method: 'POST', path: '/api/coupons/minters', body, by }
  },

  announce(world, [a, b, c]) {
    const by = world.person(a)
    if (c % 4 === 0) return { method: 'DELETE', path: '/api/coupons/discovery', by }
    const event = createEvent({
      ...{ kind: 30_078, signer: by, createdAt: secondsNow() + pick([0, 0, -1, -60], b) },
      tags: [
        ['d', 'lacrypta.merchant/coupons'],
        ['p', world.manager.pubkey],
      ],
      content: JSON.stringify({ v: 2, name: pick(texts, c) }),
    })
    return { method: 'PUT', path: '/api/coupons/discovery', body: { event }, by }
  },

  poster(world, [a, b, c]) {
    const one = coupon(world, a)
    const id = newest(world.posters, b)
    const fields = {
      ...(a % 2 && { label: pick(texts, b) }),
      ...(b % 2 && { perPerson: pick([1, 2, 100, 101], c) }),
      ...(c % 2 && { perDay: pick([1, 2, null, 3], a) }),
      ...(a % 3 === 0 && { total: pick([1, 3, null], b) }),
      ...(b % 5 === 0 && { startsAt: from(c), endsAt: from(a) }),
    }
    if (id && c % 8 === 0)
      return { method: 'DELETE', path: `/api/posters/${id}`, by: world.person(a) }
    if (id && c % 3 === 0) {
      const body = { ...fields, ...(a % 4 === 0 && { paused: b % 2 === 0 }) }
      return { method: 'PATCH', path: `/api/posters/${id}`, body, by: world.person(a) }
    }
    if (!one) return null
    const timeZone = pick([undefined, 'Asia/Kolkata', 'UTC', 'america/argentina/buenos_aires'], c)
    return {
      ...{ method: 'POST', path: '/api/posters', key: keyOf(b), by: world.owner(one, b) },
      body: { couponId: one.id, ...fields, timeZone },
      learn: ({ poster }) => void (poster && world.posters.push(poster.id)),
    }
  },

  take(world, [a, b, c]) {
    const id = newest(world.posters, a)
    if (!id) return null
    const path = `/api/posters/${id}/take`
    return { method: 'POST', path, key: pick(keys, b), by: pick(world.people, c) }
  },

  shownPoster(world, [a]) {
    const id = newest(world.posters, a)
    return id === null ? null : { method: 'GET', path: `/api/posters/${id}` }
  },

  shop(world, [a, b, c]) {
    const by = world.person(a)
    if (c % 3 === 0) return { method: 'GET', path: '/api/shop', by }
    if (c % 3 === 1) return { method: 'GET', path: `/api/shops/${by.pubkey}` }
    const body = {
      ...(a % 2 && { name: pick([...texts, null], b) }),
      ...(b % 2 && { color: pick(['red', 'green', null, 'blue'], a) }),
      ...(a % 3 === 0 && { onlyAuthorizedTills: b % 2 === 0 }),
      ...(b % 4 === 0 && { picture: pick([...world.pictures, null], a) }),
    }
    return { method: 'PATCH', path: '/api/shop', body, by }
  },

  picture(world, [a, b, c]) {
    const known = newest(world.pictures, a)
    if (known && c % 2) return { method: 'GET', path: `/api/pictures/${known}` }
    const body = pick<Uint8Array>([samples.jpeg, samples.webp, pngOf(1, 1, { shade: b % 3 })], a)
    const type = pick(['image/jpeg', 'image/webp', 'image/png'], a)
    return {
      ...{ method: 'POST', path: '/api/pictures', body, type, by: world.person(b) },
      learn: ({ picture }) => void (picture && world.pictures.push(picture.hash)),
    }
  },

  merchant(world, [a, b, c]) {
    const [by, { pubkey }] = [world.person(a), pick(world.people, b)]
    if (c % 3 === 0) return { method: 'GET', path: '/api/merchants', by }
    if (c % 3 === 1) return { method: 'DELETE', path: `/api/merchants/${pubkey}`, by }
    return { method: 'POST', path: '/api/merchants', body: { pubkey, label: pick(texts, c) }, by }
  },

  list(world, [a, b, c]) {
    const by = world.person(a)
    const id = newest(world.coupons, b)?.id ?? '00000000-0000-4000-8000-000000000000'
    const limit = pick(['', '?limit=1', '?limit=2', '?limit=500'], c)
    const range = pick(['', '?from=2023-11-01&to=2023-12-01', '?offset=-3', '?offset=14'], c)
    const path = pick(
      [
        '',
        '/mintable',
        '/minters',
        '/authorizations',
        '/manager',
        `/redemptions${limit}`,
        `/stats${range}`,
        `/stats/tills${range}`,
        `/${id}/mints${limit}`,
        `/${id}/mints?chain=${newest(world.vouchers, c)?.handle ?? 'x'}`,
        `/${id}/batches${limit}`,
      ],
      b,
    )
    return { method: 'GET', path: c % 13 ? `/api/coupons${path}` : '/api/posters', by }
  },
}
