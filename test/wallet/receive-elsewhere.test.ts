import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { limits } from '../../src/base/limits.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { runCommand } from '../support/cli.ts'
import { call, type Json, newSigner } from '../support/client.ts'
import { damage, databaseOf } from '../support/database.ts'
import {
  answering,
  honestly,
  type Reply,
  startForeignService,
  tagOf,
} from '../support/foreign-service.ts'
import { cleanUp } from '../support/server.ts'
import {
  addAccount,
  type Holder,
  newHolder,
  openInbox,
  planShop,
  runShop,
  type Shop,
} from '../support/shops.ts'
import { logged, until } from '../support/until.ts'

const foreign = startForeignService()
const other = startForeignService()
let shop: Shop
let count = 0

beforeAll(async () => {
  const plan = await planShop('shop.test')
  plan.env.LOG_LEVEL = 'debug'
  shop = await runShop(plan, { knows: [foreign, other] })
})
afterAll(async () => {
  foreign.stop()
  other.stop()
  shop.front.close()
  await cleanUp()
})

type Minted = ReturnType<typeof foreign.mint>

/** A new holder for each test, so that no inbox gets full. */
async function newName(): Promise<Holder> {
  const holder = newHolder(`holder${count++}`)
  await addAccount(shop.dataDir, holder.name, holder.signer.pubkey)
  return holder
}

async function arrive(holder: Holder, { nonce, voucher }: Minted, comment?: string): Promise<Json> {
  const body = { action: 'voucher', nonce, voucher, ...(comment && { comment }) }
  const path = `/api/lud16/${holder.name}/cb`
  return (await call(shop.server.url, path, { body })).json
}

const inboxOf = (holder: Holder) => openInbox(shop.server.url, holder, shop.url)

const intents = () =>
  databaseOf(shop.dataDir).all<{ sealed: Uint8Array; attempts: number }>(
    'SELECT * FROM transfer_intents',
  )

const keysFor = ({ nonce }: Minted) =>
  foreign.asked.filter((one) => one.nonce === nonce).map(({ key }) => key)

describe('a voucher of a known service', () => {
  test('is swapped there once, and stored for its holder', async () => {
    const holder = await newName()
    const minted = foreign.mint({ description: 'Con limón', expiresAt: 4_000_000_000 })
    expect(await arrive(holder, minted, 'Hola')).toEqual({ status: 'ACCEPTED' })
    const [asked, ...more] = foreign.asked.filter((one) => one.nonce === minted.nonce)
    expect(more).toEqual([])
    expect(asked?.body).toEqual({ nonce: minted.nonce })
    expect(asked?.key).toMatch(/^[\w-]{32}$/)
    const [held] = await inboxOf(holder)
    expect(held).toMatchObject({
      status: 'unknown',
      comment: 'Hola',
      couponId: 'c0ffee',
      name: 'Té de otra parte',
      description: 'Con limón',
      expiresAt: 4_000_000_000,
    })
    expect(held?.nonce).not.toBe(minted.nonce)
    expect(held?.voucher.pubkey).toBe(foreign.manager)
    expect(await intents()).toEqual([])
    // Again, without asking anybody.
    expect(await arrive(holder, minted)).toEqual({ status: 'ACCEPTED' })
    expect(keysFor(minted)).toHaveLength(1)
    expect(await inboxOf(holder)).toHaveLength(1)
  })

  test('keeps its rules, which may be written in another way', async () => {
    const holder = await newName()
    const minimum = { amount: 500, currency: 'ARS' }
    const readable = foreign.mint({ rules: { minimum, startsAt: null, newer: 1 } })
    foreign.replies.set(
      readable.nonce,
      answering((_, __, content) => Object.assign(content, { rules: { minimum } }), foreign.signer),
    )
    expect(await arrive(holder, readable)).toEqual({ status: 'ACCEPTED' })
    const unreadable = foreign.mint({ rules: { times: 'at dusk' } })
    expect(await arrive(holder, unreadable)).toEqual({ status: 'ACCEPTED' })
    const harder = foreign.mint({ rules: { minimum } })
    foreign.replies.set(
      harder.nonce,
      answering((_, __, content) => {
        content.rules = { minimum: { ...minimum, amount: 501 } }
      }, foreign.signer),
    )
    expect(await arrive(holder, harder)).toMatchObject({ code: 'transfer-pending' })
    foreign.replies.delete(harder.nonce)
    expect(await arrive(holder, harder)).toEqual({ status: 'ACCEPTED' })
    expect(await inboxOf(holder)).toHaveLength(3)
  })

  test('is swapped once for many simultaneous requests', async () => {
    const [holder, rival] = [await newName(), await newName()]
    const minted = foreign.mint()
    const gate = Promise.withResolvers<void>()
    foreign.replies.set(minted.nonce, async (asked, honest) => {
      await gate.promise
      return honestly(asked, honest)
    })
    const same = Array.from({ length: 6 }, () => arrive(holder, minted))
    await until('the swap is under way', () => keysFor(minted).length === 1)
    expect(await arrive(rival, minted)).toMatchObject({ status: 'ERROR', code: 'transfer-busy' })
    gate.resolve()
    expect(await Promise.all(same)).toEqual(Array(6).fill({ status: 'ACCEPTED' }))
    expect(await arrive(rival, minted)).toMatchObject({ code: 'voucher-refreshed' })
    expect(keysFor(minted)).toHaveLength(1)
  })

  test('gets its own Idempotency-Key every time', async () => {
    const holder = await newName()
    const both = [foreign.mint(), foreign.mint()]
    for (const one of both) await arrive(holder, one)
    expect(new Set(both.flatMap(keysFor)).size).toBe(2)
  })

  test('counts towards the inbox of its holder during the swap', async () => {
    const holder = await newName()
    const batch = Array.from({ length: limits.inboxPerMerchantMax }, () => foreign.mint())
    const gate = Promise.withResolvers<void>()
    for (const { nonce } of batch) {
      foreign.replies.set(nonce, async (asked, honest) => {
        await gate.promise
        return honestly(asked, honest)
      })
    }
    const running = batch.map((one) => arrive(holder, one))
    await until('all are under way', async () => (await intents()).length >= batch.length)
    expect(await arrive(holder, foreign.mint())).toMatchObject({ code: 'inbox-merchant-full' })
    gate.resolve()
    expect(await Promise.all(running)).toEqual(Array(batch.length).fill({ status: 'ACCEPTED' }))
  })
})

describe('a service that is out of order', () => {
  const down: Reply = () => new Response('', { status: 502 })

  test('does not delay vouchers of other services', async () => {
    const gate = Promise.withResolvers<void>()
    const holders = await Promise.all(Array.from({ length: 5 }, newName))
    const running = holders.flatMap((holder) =>
      Array.from({ length: limits.inboxPerMerchantMax }, () => {
        const minted = foreign.mint()
        foreign.replies.set(minted.nonce, async (asked, honest) => {
          await gate.promise
          return honestly(asked, honest)
        })
        return arrive(holder, minted)
      }),
    )
    const { takenMax } = limits.refreshSlots.of.host
    await until('its places are taken', async () => (await intents()).length >= takenMax)
    expect(await arrive(await newName(), other.mint())).toEqual({ status: 'ACCEPTED' })
    gate.resolve()
    await Promise.all(running)
  })

  test('uses no more than its own share of open transfers', async () => {
    const database = databaseOf(shop.dataDir)
    const service = Buffer.from(other.manager, 'hex')
    await database.runEach(
      `INSERT INTO transfer_intents (service, handle, holder, owner, sealed, next_at, created_at)
       VALUES (?, ?, ?, ?, x'00', 4000000000, 4000000000)`,
      Array.from({ length: limits.intentsPerServiceMax }, () => [
        ...[service, randomBytes(16), randomBytes(32), randomBytes(32)],
      ]),
    )
    expect(await arrive(await newName(), other.mint())).toMatchObject({ code: 'overloaded' })
    expect(await arrive(await newName(), foreign.mint())).toEqual({ status: 'ACCEPTED' })
    await database.run('DELETE FROM transfer_intents WHERE service = ?', service)
    expect(await arrive(await newName(), other.mint())).toEqual({ status: 'ACCEPTED' })
  })

  test('is retried without end, and does not fill the inbox of a holder for ever', async () => {
    const holder = await newName()
    const batch = Array.from({ length: limits.inboxPerMerchantMax }, () => foreign.mint())
    for (const { nonce } of batch) foreign.replies.set(nonce, down)
    await Promise.all(batch.map((one) => arrive(holder, one)))
    expect(await arrive(holder, foreign.mint())).toMatchObject({ code: 'inbox-merchant-full' })
    const [first] = batch as [Minted]
    await damage(
      shop.dataDir,
      `UPDATE transfer_intents SET created_at = created_at - ${limits.intentFreshSeconds + 60}`,
    )
    expect(await arrive(holder, first)).toMatchObject({ code: 'transfer-pending' })
    const { stdout } = await runCommand(['status'], shop.server)
    const service = npubOf(foreign.manager)
    expect(stdout).toMatch(
      new RegExp(`^vouchers waiting for ${service}: 20, .* since 20\\d\\d-`, 'm'),
    )
    const metrics = (await call(shop.server.url, '/metrics')).text
    expect(metrics).toContain(`cuponera_transfers_open{service="${service}"} 20\n`)
    expect(metrics).toMatch(
      new RegExp(`^cuponera_transfers_oldest_age_seconds\\{service="${service}"\\} \\d{7}$`, 'm'),
    )
    expect(await arrive(holder, foreign.mint())).toEqual({ status: 'ACCEPTED' })
    for (const { nonce } of batch) foreign.replies.delete(nonce)
    for (const one of batch) expect(await arrive(holder, one)).toEqual({ status: 'ACCEPTED' })
    expect(await inboxOf(holder)).toHaveLength(batch.length + 1)
    expect(await intents()).toEqual([])
  })
})

describe('a service that refuses', () => {
  const json =
    (status: number, body: Json): Reply =>
    () =>
      Response.json(body, { status })
  const refusals: [status: number, body: Json, code: string][] = [
    [404, { error: 'no', code: 'voucher-unknown' }, 'voucher-unknown'],
    [404, { error: 'no' }, 'voucher-unknown'],
    [409, { error: 'no', code: 'voucher-claimed' }, 'voucher-claimed'],
    [409, { error: 'no', code: 'something-else' }, 'voucher-refreshed'],
    [410, { code: 'voucher-cancelled' }, 'voucher-cancelled'],
    [410, { error: 'no' }, 'voucher-expired'],
  ]
  test.each(refusals)(
    'with %i is believed, and nothing is left of the transfer',
    async (status, body, code) => {
      const holder = await newName()
      const minted = foreign.mint()
      foreign.replies.set(minted.nonce, json(status, body))
      expect(await arrive(holder, minted)).toMatchObject({ status: 'ERROR', code })
      expect(await intents()).toEqual([])
      // If the service changes its mind, the next request is a new attempt.
      foreign.replies.delete(minted.nonce)
      expect(await arrive(holder, minted)).toEqual({ status: 'ACCEPTED' })
      expect(new Set(keysFor(minted)).size).toBe(2)
    },
  )

  test('is not believed when the refusal may come from a proxy, and an earlier attempt may have swapped it', async () => {
    const holder = await newName()
    const minted = foreign.mint()
    const says = [502, 404, 410]
    foreign.replies.set(minted.nonce, (asked, honest) => {
      honest()
      const status = says.shift()
      return status ? Response.json({ error: 'no' }, { status }) : honestly(asked, honest)
    })
    for (let at = 0; at < 3; at++) {
      expect(await arrive(holder, minted)).toMatchObject({ code: 'transfer-pending' })
    }
    expect(await arrive(holder, minted)).toEqual({ status: 'ACCEPTED' })
    expect(new Set(keysFor(minted)).size).toBe(1)
    expect(await inboxOf(holder)).toHaveLength(1)
  })

  test('is not asked for an expired or an unknown voucher', async () => {
    const holder = await newName()
    const expired = foreign.mint({ expiresAt: 1_700_000_000 })
    expect(await arrive(holder, expired)).toMatchObject({ code: 'voucher-expired' })
    const { nonce, voucher } = foreign.mint()
    const { kind, created_at, tags, content } = voucher
    const strange = newSigner().sign({ kind, created_at, tags, content })
    const path = `/api/lud16/${holder.name}/cb`
    const body = { action: 'voucher', nonce, voucher: strange }
    expect((await call(shop.server.url, path, { body })).json.code).toBe('service-unknown')
    expect(keysFor(expired)).toEqual([])
  })
})

describe('a service that lies, fails or is slow', () => {
  const hangs: Reply = () => new Promise(() => undefined)
  const given = foreign.mint()
  const lies: [what: string, reply: Reply][] = [
    [
      'another benefit',
      answering((_, __, content) => Object.assign(content.coupon, { percent: 5 }), foreign.signer),
    ],
    [
      'another expiry',
      answering((_, event, content) => {
        event.tags.push(['expiration', '4000000000'])
        content.expiresAt = 4_000_000_000
      }, foreign.signer),
    ],
    [
      'a rule that was not promised',
      answering(
        (_, __, content) => Object.assign(content, { rules: { startsAt: 4_000_000_000 } }),
        foreign.signer,
      ),
    ],
    [
      'a rule that cannot be read',
      answering((_, __, content) => Object.assign(content, { rules: 'never' }), foreign.signer),
    ],
    [
      'another owner',
      answering((_, event, content) => {
        const other = newSigner().pubkey
        tagOf(event, 'p')[1] = other
        content.owner = other
      }, foreign.signer),
    ],
    [
      'another coupon',
      answering((_, event) => Object.assign(tagOf(event, 'coupon'), { 1: 'x' }), foreign.signer),
    ],
    ['another signer', answering(() => undefined, newSigner())],
    ['a broken signature', answering((_, event) => Object.assign(event, { sig: '1'.repeat(128) }))],
    [
      'a claimed voucher',
      answering(
        (_, event) => Object.assign(tagOf(event, 'phase'), { 1: 'claimed' }),
        foreign.signer,
      ),
    ],
    [
      'a nonce that is not the voucher’s',
      answering((answer) => Object.assign(answer, { nonce: 'x'.repeat(22) })),
    ],
    [
      'the old nonce',
      (asked) => Response.json({ nonce: asked.nonce, voucher: foreign.mint().voucher }),
    ],
    [
      'what another holder has already',
      () => Response.json({ nonce: given.nonce, voucher: given.voucher }),
    ],
    ['no voucher', () => Response.json({ nonce: 'x'.repeat(22) })],
    ['no JSON', () => new Response('<html>', { status: 201 })],
    ['a list', () => Response.json([])],
    ['far too much', () => new Response(`{"x":"${'a'.repeat(200_000)}"}`, { status: 200 })],
    ['500', () => new Response('{"error":"x"}', { status: 500 })],
    ['503', () => Response.json({ error: 'x', code: 'unavailable' }, { status: 503 })],
    ['429', () => Response.json({ error: 'x', code: 'rate-limited' }, { status: 429 })],
    ['400', () => Response.json({ error: 'x', code: 'field-invalid' }, { status: 400 })],
    ['the 404 page of a proxy', () => new Response('<h1>404</h1>', { status: 404 })],
    ['the 410 of something else', () => Response.json(['gone'], { status: 410 })],
    ['a redirect', () => Response.redirect('https://localhost:1/', 307)],
  ]

  test('is asked again with the same key until it gives a valid answer', async () => {
    const before = await newName()
    // A false answer gives the successor of the first as that of another.
    const first = foreign.mint()
    foreign.replies.set(first.nonce, () =>
      Response.json({ nonce: given.nonce, voucher: given.voucher }),
    )
    expect(await arrive(before, first)).toEqual({ status: 'ACCEPTED' })

    const slow = { holder: await newName(), minted: foreign.mint() }
    foreign.replies.set(slow.minted.nonce, hangs)
    const hanging = arrive(slow.holder, slow.minted)
    const named = await Promise.all(lies.map(newName))
    const cases = lies.map(([what, reply], at) => {
      const minted = foreign.mint()
      if (what === 'the old nonce') {
        foreign.replies.set(minted.nonce, () =>
          Response.json({ nonce: minted.nonce, voucher: minted.voucher }),
        )
      } else foreign.replies.set(minted.nonce, reply)
      return { what, minted, holder: named[at] as Holder }
    })
    const answers = await Promise.all(cases.map(({ holder, minted }) => arrive(holder, minted)))
    const told = cases.map(({ what }, at) => ({ what, code: answers[at]?.code }))
    expect(told).toEqual(cases.map(({ what }) => ({ what, code: 'transfer-pending' })))
    const open = await intents()
    expect(open).toHaveLength(cases.length + 1)
    for (const { minted } of cases) {
      const bytes = Buffer.from(minted.nonce)
      expect(open.some(({ sealed }) => Buffer.from(sealed).includes(bytes))).toBe(false)
    }
    for (const { holder } of cases) expect(await inboxOf(holder)).toEqual([])

    // It answers correctly from now on. Half are sent again, the others are retried.
    for (const { minted } of cases) foreign.replies.delete(minted.nonce)
    const again = cases.filter((_, at) => at % 2 === 0)
    const second = await Promise.all(again.map(({ holder, minted }) => arrive(holder, minted)))
    expect(second).toEqual(again.map(() => ({ status: 'ACCEPTED' })))
    await until('one is left', async () => (await intents()).length <= 1)
    for (const { holder, minted, what } of cases) {
      const held = await inboxOf(holder)
      expect({ what, held: held.length }).toEqual({ what, held: 1 })
      expect(held[0]?.nonce).not.toBe(minted.nonce)
      const keys = keysFor(minted)
      expect(keys.length).toBeGreaterThan(1)
      expect(new Set(keys).size).toBe(1)
    }
    expect(await hanging).toMatchObject({ code: 'transfer-pending' })
    foreign.replies.delete(slow.minted.nonce)
    expect(await arrive(slow.holder, slow.minted)).toEqual({ status: 'ACCEPTED' })
    expect(await intents()).toEqual([])
    await logged(shop.server, 'transfer.postponed')
    for (const { minted } of cases) expect(shop.server.output()).not.toContain(minted.nonce)
  })

  test('that cannot be reached has not seen the voucher, and nothing is stored', async () => {
    const holder = await newName()
    const dead = startForeignService()
    const plan = await planShop('localhost')
    const lonely = await runShop(plan, { knows: [dead] })
    dead.stop()
    await addAccount(lonely.dataDir, holder.name, holder.signer.pubkey)
    const { nonce, voucher } = dead.mint()
    const path = `/api/lud16/${holder.name}/cb`
    const body = { action: 'voucher', nonce, voucher }
    const { json } = await call(lonely.server.url, path, { body })
    expect(json).toMatchObject({ status: 'ERROR', code: 'service-silent' })
    expect(await databaseOf(lonely.dataDir).all('SELECT * FROM transfer_intents')).toEqual([])
    lonely.front.close()
  })
})

test('a nonce of another format is accepted up to a maximum length', async () => {
  const holder = await newName()
  const nonce = randomBytes(64).toString('hex')
  const { voucher } = foreign.mint()
  const content = { ...JSON.parse(voucher.content), nonce }
  const tags = voucher.tags.map((tag) => (tag[0] === 'nonce' ? ['nonce', nonce] : tag))
  const event = {
    kind: 20_402,
    created_at: voucher.created_at,
    tags,
    content: JSON.stringify(content),
  }
  const minted = { nonce, voucher: foreign.signer.sign(event), fields: {} }
  expect(await arrive(holder, minted)).toEqual({ status: 'ACCEPTED' })
})
