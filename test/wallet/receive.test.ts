import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import {
  type Answer,
  call,
  createDefinition,
  type Json,
  mintOne,
  newKey,
  newSigner,
  openSession,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { damage, databaseOf } from '../support/database.ts'
import { expectCommonHeaders, readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { addAccount, type Holder, newHolder, openInbox } from '../support/shops.ts'

const managerSecret = Buffer.alloc(32, 11)
const manager = newSigner(managerSecret)
const ana = newHolder('ana')
const eva = newHolder('eva')
const leo = newHolder('leo')
let server: TestServer
let token: string
let couponId: string

beforeAll(async () => {
  const env = { COUPON_MANAGER_NSEC: managerSecret.toString('hex'), RATE_LIMIT: 'off' }
  server = await startServer({ checkRoots: true, env })
  for (const { name, signer } of [ana, eva, leo])
    await addAccount(server.dataDir, name, signer.pubkey)
  token = await openSession(server.url, newSigner())
  couponId = await createDefinition(server.url, token, { description: 'Rico', expiresAt: 4e9 })
  const off = { method: 'PUT', body: { allowVouchers: false }, signer: leo.signer }
  expect((await call(server.url, '/api/wallet/settings', off)).json).toEqual({
    allowVouchers: false,
  })
})
afterAll(cleanUp)

type Minted = Json & { nonce: string; voucher: NostrEvent }

const mint = (): Promise<Minted> => mintOne(server.url, token, couponId)

function arrive(name: string, body: unknown): Promise<Answer> {
  return call(server.url, `/api/lud16/${name}/cb`, { body })
}

function offer({ nonce, voucher }: Pick<Minted, 'nonce' | 'voucher'>, more: Json = {}) {
  return { action: 'voucher', nonce, voucher, ...more }
}

/** The same voucher with something changed, signed again. */
function forged(minted: Minted, signer: Signer, change: (event: Json, content: Json) => void) {
  const event = structuredClone(minted.voucher) as Json
  const content = JSON.parse(event.content)
  change(event, content)
  const { kind, created_at, tags } = event
  const signed = signer.sign({ kind, created_at, tags, content: JSON.stringify(content) })
  return offer({ nonce: minted.nonce, voucher: signed })
}

/** A refusal that is said with 200, and leaves every row as it was. */
async function expectRefused(ask: () => Promise<Answer>, code: string): Promise<void> {
  const before = await readRows(server.dataDir)
  const answer = await ask()
  const { reason, ...rest } = answer.json
  expect({ status: answer.status, ...rest, http: answer.json.status }).toEqual({
    status: 'ERROR',
    http: 'ERROR',
    code,
  })
  expect(answer.status).toBe(200)
  expect(reason).toMatch(/^\S.*\.$/)
  expectCommonHeaders(answer)
  expect(await readRows(server.dataDir)).toEqual(before)
}

describe('a voucher of this service that is sent to a name', () => {
  test('is accepted, and only its holder can read the successor', async () => {
    const minted = await mint()
    const answer = await arrive('ANA', offer(minted, { comment: 'Feliz cumple' }))
    expect([answer.status, answer.json]).toEqual([200, { status: 'ACCEPTED' }])
    expectCommonHeaders(answer)
    const [held] = await openInbox(server.url, ana)
    const { nonce, voucher, sealed, id, receivedAt, ...shown } = held as Json
    expect(shown).toEqual({
      status: 'minted',
      comment: 'Feliz cumple',
      couponId,
      coupon: minted.coupon,
      name: 'Café gratis',
      description: 'Rico',
      image: null,
      npub: minted.npub,
      expiresAt: 4e9,
      service: null,
    })
    expect(nonce).not.toBe(minted.nonce)
    expect(voucher.pubkey).toBe(manager.pubkey)
    expect(voucher.tags.find(([name]: string[]) => name === 'nonce')?.[1]).toBe(nonce)
    expect(receivedAt).toBeWithin(secondsNow() - 60, secondsNow() + 1)
    expect(sealed.pubkey).not.toBe(manager.pubkey)
    const old = await call(server.url, '/api/coupons/claim', { body: { nonce: minted.nonce } })
    expect(old.json.code).toBe('voucher-moved')
    const claimed = await call(server.url, '/api/coupons/claim', { body: { nonce } })
    expect(claimed.json.status).toBe('success')
    expect((await openInbox(server.url, ana))[0]).toMatchObject({ id, status: 'claimed' })
  })

  test('is accepted for a name that could not be registered today', async () => {
    const named = '\u202eotsug\u200b'
    const id = await createDefinition(server.url, token)
    await damage(
      server.dataDir,
      `UPDATE revisions SET name = '${named}'
       WHERE definition_id = (SELECT id FROM definitions WHERE uuid = '${id}')`,
    )
    const minted = await mintOne(server.url, token, id)
    expect(minted.name).toBe(named)
    expect((await arrive('eva', offer(minted))).json).toEqual({ status: 'ACCEPTED' })
    const [held] = await openInbox(server.url, eva)
    expect(held).toMatchObject({ name: named, status: 'minted' })
    const body = { nonce: (held as Json).nonce }
    expect((await call(server.url, '/api/coupons/claim', { body })).json).toMatchObject({
      name: named,
      status: 'success',
    })
    const { status } = await call(server.url, `/api/coupons/${id}`, {
      method: 'PATCH',
      body: { maxUses: 5 },
      token,
    })
    expect(status).toBe(200)
  })

  test('keeps its rules, which a voucher without any does not name', async () => {
    const rules = { minimum: { amount: 10_000, currency: 'ARS' }, conditions: 'Sólo acá' }
    const ruled = await createDefinition(server.url, token, { rules })
    for (const minted of [await mint(), await mintOne(server.url, token, ruled)]) {
      const { json } = await arrive('eva', offer(minted as Minted))
      expect(json).toEqual({ status: 'ACCEPTED' })
    }
    const path = '/api/wallet/vouchers'
    const { vouchers } = (await call(server.url, path, { signer: eva.signer })).json
    expect(vouchers[0].rules).toEqual(rules)
    expect(Object.keys(vouchers[1])).not.toContain('rules')
    await forgetAll(eva)
  })

  test('is accepted again however often it is sent, also after it was deleted', async () => {
    const minted = await mint()
    expect((await arrive('ana', offer(minted))).json).toEqual({ status: 'ACCEPTED' })
    const rows = await readRows(server.dataDir)
    const again = await Promise.all([1, 2, 3].map(() => arrive('ana', offer(minted))))
    expect(again.map(({ json }) => json)).toEqual(Array(3).fill({ status: 'ACCEPTED' }))
    expect(await readRows(server.dataDir)).toEqual(rows)
    const [held] = await openInbox(server.url, ana)
    const path = `/api/wallet/vouchers/${held?.id}`
    expect((await call(server.url, path, { method: 'DELETE', signer: ana.signer })).status).toBe(
      200,
    )
    expect((await arrive('ana', offer(minted))).json).toEqual({ status: 'ACCEPTED' })
    await expectRefused(() => arrive('eva', offer(minted)), 'voucher-refreshed')
  })

  test('goes to one of two names that race for it', async () => {
    for (let round = 0; round < 5; round++) {
      const minted = await mint()
      const answers = await Promise.all(
        ['ana', 'eva', 'ana', 'eva'].map((name) => arrive(name, offer(minted))),
      )
      const accepted = answers.map(({ json }) => json.status === 'ACCEPTED')
      expect(accepted[0]).toBe(accepted[2] as boolean)
      expect(accepted[1]).toBe(accepted[3] as boolean)
      expect(accepted[0]).not.toBe(accepted[1] as boolean)
    }
  })

  test('keeps a comment, unless it contains the nonce', async () => {
    for (const comment of [null, '', undefined, 'x'.repeat(200), '🎉'.repeat(200)]) {
      await arrive('eva', offer(await mint(), { comment }))
      const [held] = await openInbox(server.url, eva)
      expect(held?.comment).toBe(comment || null)
      await forgetAll(eva)
    }
    const minted = await mint()
    await arrive('eva', offer(minted, { comment: `mirá: ${minted.nonce}` }))
    expect((await openInbox(server.url, eva))[0]?.comment).toBeNull()
  })
})

async function forgetAll(holder: Holder): Promise<void> {
  for (const { id } of await openInbox(server.url, holder)) {
    const options = { method: 'DELETE', signer: holder.signer }
    await call(server.url, `/api/wallet/vouchers/${id}`, options)
  }
}

describe('the body', () => {
  const good = { action: 'voucher', nonce: 'A'.repeat(22), voucher: {} }
  const bad: [what: string, body: unknown, code: string, field: string | null][] = [
    ['no JSON', '{', 'body-invalid', null],
    ['a list', [], 'body-invalid', null],
    ['no action', { ...good, action: undefined }, 'field-invalid', 'action'],
    ['another action', { ...good, action: 'pay' }, 'field-invalid', 'action'],
    ['no nonce', { ...good, nonce: undefined }, 'field-invalid', 'nonce'],
    ['a nonce that is too short', { ...good, nonce: 'A'.repeat(15) }, 'nonce-invalid', 'nonce'],
    ['a nonce that is too long', { ...good, nonce: 'A'.repeat(129) }, 'nonce-invalid', 'nonce'],
    ['a nonce with a space', { ...good, nonce: `${'A'.repeat(21)} ` }, 'nonce-invalid', 'nonce'],
    ['no voucher', { ...good, voucher: undefined }, 'field-invalid', 'voucher'],
    ['a voucher that is text', { ...good, voucher: 'x' }, 'field-invalid', 'voucher'],
    ['a comment that is a number', { ...good, comment: 1 }, 'field-invalid', 'comment'],
    [
      'a comment that is too long',
      { ...good, comment: 'x'.repeat(201) },
      'field-invalid',
      'comment',
    ],
    ['a comment that turns text', { ...good, comment: 'x\u202e' }, 'field-invalid', 'comment'],
    ['a comment with a bell', { ...good, comment: 'x\u0007' }, 'field-invalid', 'comment'],
  ]
  test.each(bad)('with %s is refused', async (_, body, code, field) => {
    const before = await readRows(server.dataDir)
    const answer = await arrive('ana', body)
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ status: 'ERROR', code, ...(field && { field }) })
    expect(await readRows(server.dataDir)).toEqual(before)
  })

  test('that is too large is refused', async () => {
    const answer = await arrive('ana', { ...good, comment: 'x'.repeat(64 * 1024) })
    expect([answer.status, answer.json.code]).toEqual([413, 'too-large'])
  })
})

describe('a voucher is refused', () => {
  const tagOf = (event: Json, name: string): string[] =>
    event.tags.find((tag: string[]) => tag[0] === name)
  const invalid: [what: string, change: (event: Json, content: Json) => void][] = [
    ['of another kind', (event) => Object.assign(event, { kind: 1 })],
    ['that was claimed', (event) => Object.assign(tagOf(event, 'phase'), { 1: 'claimed' })],
    ['with another nonce', (event) => Object.assign(tagOf(event, 'nonce'), { 1: 'B'.repeat(22) })],
    ['whose content names another nonce', (_, content) => Object.assign(content, { nonce: 'x' })],
    ['whose content names another owner', (_, content) => Object.assign(content, { owner: 'x' })],
    ['without owner', (event) => Object.assign(tagOf(event, 'p'), { 0: 'q' })],
    ['without coupon', (event) => Object.assign(tagOf(event, 'coupon'), { 1: '' })],
    ['without benefit', (_, content) => Reflect.deleteProperty(content, 'coupon')],
    ['with a benefit that is none', (_, content) => Object.assign(content.coupon, { percent: 0 })],
    ['without name', (_, content) => Reflect.deleteProperty(content, 'name')],
    ['with two expiries', (_, content) => Object.assign(content, { expiresAt: 5e9 })],
    ['with an image over http', (_, content) => Object.assign(content, { image: 'http://a/' })],
  ]
  test.each(invalid)('%s, whoever signed it', async (_, change) => {
    const minted = await mint()
    await expectRefused(() => arrive('ana', forged(minted, manager, change)), 'voucher-invalid')
  })

  test('that is no event, or was changed after it was signed', async () => {
    const minted = await mint()
    const { voucher } = minted
    const wrong = [
      {},
      { ...voucher, sig: undefined },
      {
        ...voucher,
        sig: voucher.sig.replace(/^./, (digit: string) => (digit === 'a' ? 'b' : 'a')),
      },
      { ...voucher, content: voucher.content.replace('Rico', 'Roca') },
      { ...voucher, pubkey: newSigner().pubkey },
    ]
    for (const value of wrong) {
      const body = { action: 'voucher', nonce: minted.nonce, voucher: value }
      await expectRefused(() => arrive('ana', body), 'voucher-invalid')
    }
  })

  test('before the name is looked up', async () => {
    const minted = await mint()
    const body = forged(minted, manager, (event) => Object.assign(event, { kind: 1 }))
    await expectRefused(() => arrive('nobody', body), 'voucher-invalid')
  })

  test('for a name that is unknown or takes none, before its service is looked up', async () => {
    const minted = await mint()
    const strange = forged(minted, newSigner(), () => undefined)
    for (const name of ['nobody', 'leo', '%00', 'ana%2f..']) {
      await expectRefused(() => arrive(name, offer(minted)), 'vouchers-not-taken')
      await expectRefused(() => arrive(name, strange), 'vouchers-not-taken')
    }
  })

  test('of an unknown service', async () => {
    const strange = forged(await mint(), newSigner(), () => undefined)
    await expectRefused(() => arrive('ana', strange), 'service-unknown')
  })

  test('that this service never minted, or that is spent', async () => {
    const made = forged({ ...(await mint()), nonce: 'C'.repeat(22) }, manager, (event, content) => {
      tagOf(event, 'nonce')[1] = 'C'.repeat(22)
      content.nonce = 'C'.repeat(22)
    })
    await expectRefused(() => arrive('ana', made), 'voucher-unknown')
    const claimed = await mint()
    await call(server.url, '/api/coupons/claim', { body: { nonce: claimed.nonce } })
    await expectRefused(() => arrive('ana', offer(claimed)), 'voucher-claimed')
    const refreshed = await mint()
    const headers = { 'Idempotency-Key': newKey() }
    await call(server.url, '/api/coupons/refresh', { body: { nonce: refreshed.nonce }, headers })
    await expectRefused(() => arrive('ana', offer(refreshed)), 'voucher-refreshed')
    const voided = await mint()
    const path = `/api/coupons/${couponId}/mints/${voided.nonce}`
    await call(server.url, path, { method: 'DELETE', token })
    await expectRefused(() => arrive('ana', offer(voided)), 'voucher-cancelled')
    const soon = secondsNow() + briefSeconds
    const brief = await createDefinition(server.url, token, { expiresAt: soon })
    const expired: Minted = await mintOne(server.url, token, brief)
    await untilSecond(soon)
    await expectRefused(() => arrive('ana', offer(expired)), 'voucher-expired')
  })
})

describe('the inbox of a holder', () => {
  const many = newHolder('many')
  /** Vouchers of a merchant of its own, as many as asked for. */
  async function mintBatch(count: number): Promise<Minted[]> {
    const merchant = await openSession(server.url, newSigner())
    const id = await createDefinition(server.url, merchant)
    const body = { couponId: id, count }
    return (await call(server.url, '/api/coupons/mint', { body, token: merchant })).json.vouchers
  }

  test('holds twenty of one merchant and a hundred in all; spent ones do not count', async () => {
    await addAccount(server.dataDir, many.name, many.signer.pubkey)
    const arriveAll = async (batch: Minted[]) => {
      for (const one of batch) {
        expect((await arrive('many', offer(one))).json).toEqual({ status: 'ACCEPTED' })
      }
    }
    const first = await mintBatch(21)
    await arriveAll(first.slice(0, 20))
    await expectRefused(() => arrive('many', offer(first[20] as Minted)), 'inbox-merchant-full')
    for (let merchant = 0; merchant < 4; merchant++) await arriveAll(await mintBatch(20))
    const [more] = await mintBatch(1)
    await expectRefused(() => arrive('many', offer(more as Minted)), 'inbox-full')
    await expectRefused(() => arrive('many', offer(first[20] as Minted)), 'inbox-full')
    // A repetition needs no new room.
    expect((await arrive('many', offer(first[0] as Minted))).json).toEqual({ status: 'ACCEPTED' })

    const held = await openInbox(server.url, many)
    expect(held).toHaveLength(100)
    const [spent] = held
    await call(server.url, '/api/coupons/claim', { body: { nonce: spent?.nonce } })
    expect((await arrive('many', offer(more as Minted))).json).toEqual({ status: 'ACCEPTED' })
    await expectRefused(() => arrive('many', offer(first[20] as Minted)), 'inbox-full')
    expect(await openInbox(server.url, many)).toHaveLength(101)
  })

  test('drops the oldest spent ones to make room', async () => {
    const headers = { 'Idempotency-Key': newKey() }
    for (const { nonce, status } of await openInbox(server.url, many)) {
      if (status !== 'minted') continue
      await call(server.url, '/api/coupons/refresh', { body: { nonce }, headers })
    }
    const batches = await Promise.all([1, 2, 3, 4, 5].map(() => mintBatch(20)))
    for (const one of batches.flat()) await arrive('many', offer(one))
    const held = await openInbox(server.url, many)
    const count = (status: string) => held.filter((one) => one.status === status).length
    expect([held.length, count('minted'), count('refreshed')]).toEqual([200, 100, 99])
  })
})

test('the database contains neither nonce nor sealed text once all is settled', async () => {
  expect(await databaseOf(server.dataDir).all('SELECT * FROM transfer_intents')).toEqual([])
})

test('a name receives a limited number of vouchers, then senders have to wait', async () => {
  const limited = await startServer({ checkRoots: true })
  const nobody = () =>
    call(limited.url, '/api/lud16/nobody/cb', {
      body: { action: 'voucher', nonce: 'A'.repeat(22), voucher: {} },
    })
  const answers = await Promise.all(Array.from({ length: 70 }, nobody))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(60)
  const late = answers.find(({ status }) => status === 429)
  expect(late?.json).toMatchObject({ status: 'ERROR', code: 'rate-limited' })
  expect(Number(late?.headers.get('retry-after'))).toBeGreaterThan(0)
  const other = await call(limited.url, '/api/lud16/somebody/cb', {
    body: { action: 'voucher', nonce: 'A'.repeat(22), voucher: {} },
  })
  expect(other.status).toBe(200)
})

test('invalid names share one rate-limit bucket, so that they cannot fill the memory', async () => {
  const limited = await startServer({ checkRoots: true })
  const answers = await Promise.all(
    Array.from({ length: 70 }, (_, at) =>
      call(limited.url, `/api/lud16/${at}${'n'.repeat(64)}/cb`, {
        body: { action: 'voucher', nonce: 'A'.repeat(22), voucher: {} },
      }),
    ),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
})
