import { asking, cardEvent, delegationOf, type Holder, tapQuery } from '../support/cards.ts'
import type { Json } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { identityEvent } from '../support/identities.ts'
import { createStart } from '../support/ledger.ts'
import { payEvent } from '../support/payments.ts'
import { texts } from './coupon-steps.ts'
import { base } from './twins.ts'
import { type Maker, newest, pick, type World } from './world.ts'

const names = ['ana', 'beto', 'caro', 'Ana', 'ñandu', 'a_b', 'a.b', 'x'.repeat(64), 'admin', 'dani']
const amounts = [1, 50, 500, 0, -1, 1e15, 2 ** 53, 0.5, 1e21]

/** A name of this service, mostly of somebody who may have it. */
const nameOf = (number: number) => pick(names, number % 3 ? number % 4 : number)
const post = (path: string, body: unknown) => ({ method: 'POST', path, body })

export const walletMakers: Record<string, Maker> = {
  publish(world, [a, b, c]) {
    const signer = pick(world.people, a)
    const kind = pick([1, 1, 0, 3, 7, 10_002, 30_023, 5, 30_078], b)
    const older = newest(world.published, c) ?? '0'.repeat(64)
    const tags = pick<string[][]>(
      [[], [['t', pick(texts, a)]], [['d', pick(texts, b)]], [['e', older]]],
      c,
    )
    const createdAt = secondsNow() + pick([0, 0, 0, -1, -100, 1000], a + c)
    const event = createEvent({ kind, signer, tags, createdAt, content: pick(texts, c) })
    return {
      ...post('/nostr/publish', event),
      learn: (_, status) => void (status === 202 && world.published.push(event.id)),
    }
  },

  publication(world, [a]) {
    const id = newest(world.published, a)
    return id === null ? null : { method: 'GET', path: `/nostr/publish/${id}`, eventual: true }
  },

  fetch(world, [a, b, c]) {
    const filter = {
      ...(a % 2 && { authors: [pick(world.people, b).pubkey, world.manager.pubkey] }),
      ...(b % 2 && { kinds: pick([[1], [0, 3], [1112], [30_023, 30_078], []], c) }),
      ...(c % 3 === 0 && { '#t': [pick(texts, a), 'internal-transaction-ok'] }),
      ...(a % 5 === 0 && { since: secondsNow() - 1000, until: secondsNow() }),
      ...(b % 3 === 0 && { limit: pick([0, 1, 2, 500], c) }),
      ...(c % 7 === 0 && { ids: world.published.slice(-2) }),
    }
    return { ...post('/nostr/fetch', filter), eventual: true }
  },

  invite(world, [a, b, c]) {
    const signer = b % 5 ? world.manager : pick(world.people, a)
    const chosen = c % 2 && b > 9 ? String(c % 20).padStart(22, '-') : null
    const tags = [
      ['t', 'create-nonce'],
      ...(chosen ? [['nonce', chosen]] : [['unique', `${a} ${b}`]]),
    ]
    const body = createEvent({ kind: 1112, signer, content: '', tags, createdAt: secondsNow() })
    return {
      ...post('/api/nonce', body),
      learn: ({ nonce }) => void (nonce && world.invitations.push(nonce)),
    }
  },

  identify(world, [a, b, c]) {
    const nonce = newest(world.invitations, a)
    if (c % 4 === 0) return { method: 'GET', path: `/api/nonce/${nonce ?? 'x'}` }
    const wanted = { name: nameOf(b), pubkey: pick(world.people, b).pubkey }
    return post(
      '/api/identity',
      identityEvent(c % 6 ? world.manager : world.person(b), nonce, wanted),
    )
  },

  lookUp(world, [a, b]) {
    const [name, { pubkey }] = [encodeURIComponent(nameOf(a)), pick(world.people, a)]
    const path = pick(
      [
        `/api/identity?name=${name}`,
        `/.well-known/nostr.json?name=${name}`,
        `/.well-known/lnurlp/${name}`,
        `/api/lud16/${name}`,
        `/api/lud16/${name}/cb?amount=1000`,
        `/api/pubkey/${pubkey}`,
        `/api/pubkey/${pubkey.toUpperCase()}`,
      ],
      b,
    )
    return { method: 'GET', path }
  },

  transaction(world, [a, b, c]) {
    const issues = c % 2 === 0
    const start = createStart({
      ledger: world.manager.pubkey,
      from: issues ? world.manager : pick(world.people, a),
      to: pick(world.people, b).pubkey,
      tokens: {
        [pick(['PESO', 'PESO', 'BTC', 'peso', 'NADA'], a)]: pick(amounts, c % 5 ? c % 3 : c),
        ...(b % 7 === 0 && { BTC: pick(amounts, a) }),
      },
      ...(a % 3 && { memo: pick(texts, c) }),
      createdAt: secondsNow(),
    })
    return {
      ...post('/nostr/publish', start),
      learn: (_, status) => void (status === 202 && world.published.push(start.id)),
    }
  },

  balances(world, [a, b]) {
    const { pubkey } = pick(world.people, a)
    const by = b % 5 ? pick(world.people, a) : world.manager
    return { method: 'GET', path: `/api/ledger/balances/${pubkey}`, by }
  },

  initCard(world, [a, b, c]) {
    const fresh = world.cards.length === 0 || a % 3 > 0
    const uid = fresh
      ? `04${(a * 65_536 + b).toString(16).padStart(12, '0')}`
      : pick(world.cards, a).uid
    const design = c % 2 ? { design: { name: pick(texts, a), description: pick(texts, b) } } : {}
    const content = { cid: c % 9 ? uid : uid.toUpperCase(), ...design }
    const parts = c % 11 ? {} : { signer: pick(world.people, a) }
    return {
      ...post('/ntag424', cardEvent('card-init-request', content, parts)),
      learn(json) {
        const { otc } = contentOf(json)
        if (otc) world.cards.push({ uid, otc, counter: 0, holder: null, uuid: '' })
      },
    }
  },

  activate(world, [a, b, c]) {
    const card = newest(world.cards, a)
    if (!card) return null
    const holder = card.holder ?? pick(world.people, b)
    const conditions = `kind=1112&created_at>${secondsNow() - 60}&created_at<${secondsNow() + 86_400}`
    const delegation = c % 9 ? delegationOf(holder, conditions) : undefined
    const otc = c % 7 ? card.otc : card.otc.toUpperCase()
    const event = cardEvent('card-activation-request', { otc, delegation }, { signer: holder })
    return {
      ...post('/card', event),
      learn(json, status) {
        if (status === 201) Object.assign(card, { holder, uuid: contentOf(json).uuid })
      },
    }
  },

  cardData(world, [a, b, c]) {
    const holder = holderOf(world, a)
    const what = pick(['data', 'config'], b)
    return post(
      `/card/${what}/request`,
      cardEvent(`card-${what}-request`, '', { signer: holder, kind: c % 3 ? 21_111 : 1112 }),
    )
  },

  configure(world, [a, b, c]) {
    const card = newest(world.cards, a)
    const holder = holderOf(world, a)
    const amount = pick(amounts, c)
    const limits = [{ name: pick(texts, b), description: 'x', token: 'PESO', amount, delta: 60 }]
    const changes = pick<object>(
      [{ limits }, { name: pick(texts, c) }, { status: 'DISABLED' }, { status: 'ENABLED' }],
      b,
    )
    const pubkeys = world.people.slice(0, c % 3).map(({ pubkey }) => ({ pubkey }))
    const content = {
      ...(b % 5 && card && { cards: { [card.uuid]: changes } }),
      ...(c % 3 === 0 && { 'trusted-merchants': pubkeys }),
    }
    const event = cardEvent('card-config-change', content, { signer: holder, kind: 1112 })
    return post('/nostr/publish', event)
  },

  wipe(world, [a]) {
    const card = newest(world.cards, a)
    return (
      card && {
        method: 'DELETE',
        path: '/ntag424',
        body: cardEvent('card-delete-request', { cid: card.uid }),
      }
    )
  },

  scan(world, [a, b, c]) {
    const active = world.cards.filter(({ holder }) => holder !== null)
    const card = newest(active, a) ?? newest(world.cards, b)
    if (!card) return null
    const counter = card.counter + pick([1, 1, 1, 2, 0], b)
    card.counter = Math.max(card.counter, counter)
    const { headers } = asking('extendedScan', ', tokens=PESO')
    return {
      ...{ method: 'GET', path: `/card/scan?${tapQuery(card.uid, counter)}` },
      ...(c % 3 && { headers }),
      learn: ({ k1 }: Json) => void (k1 && world.scans.push(k1)),
    }
  },

  pay(world, [a, b, c]) {
    const k1 = newest(world.scans, a)
    if (k1 === null) return null
    if (c % 6 === 0) return { method: 'GET', path: `/card/pay/${k1}` }
    const npub = pick(world.people, b).pubkey
    const tokens = { [pick(['PESO', 'PESO', 'BTC', 'X'], b)]: pick(amounts, c % 5 ? c % 3 : c) }
    return post('/card/pay', payEvent({ k1, npub, tokens }, { signer: pick(world.people, a) }))
  },

  transfer(world, [a, b, c]) {
    const voucher = newest(world.vouchers, a)
    if (!voucher) return null
    const { nonce, event } = voucher
    const comment = b % 3 === 0 ? pick(texts, c) : undefined
    if (c % 2) {
      return post(`/api/lud16/${encodeURIComponent(nameOf(b))}/cb`, {
        ...{ action: 'voucher', nonce, voucher: event, comment },
      })
    }
    const to = `${nameOf(b)}@${new URL(base).host}`
    return post('/api/transfer', { nonce, ...(a % 2 && { voucher: event }), to, comment })
  },

  inbox(world, [a, b, c]) {
    const by = pick(world.people, a)
    const held = newest(world.held, b)
    if (c % 5 === 0)
      return {
        method: 'PUT',
        path: '/api/wallet/settings',
        body: { allowVouchers: b % 2 === 0 },
        by,
      }
    if (c % 5 === 1) return { method: 'GET', path: '/api/wallet/settings', by }
    if (c % 5 === 2 && held) return { method: 'DELETE', path: `/api/wallet/vouchers/${held}`, by }
    return {
      ...{ method: 'GET', path: '/api/wallet/vouchers', by },
      learn: ({ vouchers }) => world.held.push(...(vouchers ?? []).map(({ id }: Json) => id)),
    }
  },
}

function holderOf(world: World, number: number): Holder {
  return newest(world.cards, number)?.holder ?? pick(world.people, number)
}

function contentOf(json: Json): Json {
  return typeof json?.content === 'string' ? JSON.parse(json.content) : {}
}
