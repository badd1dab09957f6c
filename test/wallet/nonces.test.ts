import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { limits } from '../../src/base/limits.ts'
import type { Signer } from '../../src/nostr/event.ts'
import { delegationTag, newHolder } from '../support/cards.ts'
import { type Answer, call, newSigner, sha256Hex } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { databaseOf } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const secret = Buffer.alloc(32, 9)
const manager = newSigner(secret)
const merchant = newSigner()
let server: TestServer

beforeAll(async () => {
  const env = { COUPON_MANAGER_NSEC: secret.toString('hex'), MERCHANTS: merchant.pubkey }
  server = await startServer({ checkRoots: true, env })
})
afterAll(cleanUp)

const request = (parts: Parameters<typeof createEvent>[0] = {}) =>
  createEvent({ kind: 1112, tags: [['t', 'create-nonce']], signer: manager, ...parts })
const proposing = (nonce: string) => [
  ['t', 'create-nonce'],
  ['nonce', nonce],
]
const create = (body: unknown, path = '/api/nonce') => call(server.url, path, { body })

/** Check a refusal as a whole; it left every row as it was. */
async function refuses(ask: () => Promise<Answer>, status: number, code: string, reason: string) {
  const before = await readRows(server.dataDir)
  const answer = await ask()
  expect({ status: answer.status, ...answer.json }).toEqual({
    status,
    success: false,
    reason,
    code,
  })
  expect(await readRows(server.dataDir)).toEqual(before)
}

describe('a nonce for an identity', () => {
  test('is made for the manager and for a merchant, on both paths', async () => {
    for (const signer of [manager, merchant]) {
      for (const path of ['/api/nonce', '/api/nonce/', '/api/nonce/create']) {
        const { status, json } = await create(request({ signer, content: `${path}` }), path)
        expect({ status, ...json }).toEqual({ status: 200, success: true, nonce: json.nonce })
        expect(json.nonce).toMatch(/^[\w-]{22}$/)
      }
    }
  })

  test('may be proposed, and is stored as its hash only', async () => {
    const nonce = sha256Hex('proposed')
    const { json } = await create(request({ tags: proposing(nonce) }))
    expect(json).toEqual({ success: true, nonce })
    const { identity_nonces: rows } = (await readRows(server.dataDir)) as {
      identity_nonces: object[]
    }
    expect(rows.at(-1)).toMatchObject({
      hash: new Uint8Array(Buffer.from(sha256Hex(nonce), 'hex')),
      issuer: new Uint8Array(Buffer.from(manager.pubkey, 'hex')),
      burned_at: null,
    })
    expect(JSON.stringify(rows)).not.toContain(nonce)
  })

  test('needs an event of an issuer, checked in this order', async () => {
    const invalid = [400, 'identity-event-invalid', 'Should send as NOSTR event'] as const
    const stranger = newSigner()
    for (const body of ['', 'x', '[]', {}, { ...request(), sig: '0'.repeat(128) }]) {
      await refuses(() => create(body), ...invalid)
    }
    await refuses(() => create(request({ kind: 1, signer: stranger })), ...invalid)
    const wrongType = [['t', 'create-identity']]
    await refuses(() => create(request({ tags: wrongType, createdAt: 1 })), ...invalid)
    const stale = [400, 'identity-event-stale', 'Should send as NOSTR event'] as const
    for (const seconds of [-200, 200]) {
      const tags = proposing('x')
      const parts = { createdAt: secondsNow() + seconds, tags, signer: stranger }
      await refuses(() => create(request(parts)), ...stale)
    }
    for (const nonce of ['x'.repeat(21), 'x'.repeat(129), `${'x'.repeat(22)} `, 'é'.repeat(22)]) {
      const sent = request({ tags: proposing(nonce), signer: stranger })
      await refuses(() => create(sent), 400, 'identity-nonce-invalid', 'Nonce not valid')
    }
    const denied = [403, 'identity-not-authorized', 'Pubkey not authorized'] as const
    await refuses(() => create(request({ signer: stranger })), ...denied)
  })

  test('is made for a delegation for this purpose, and for no other of an issuer', async () => {
    const issuer = newHolder(secret)
    const [stranger, phone] = [newSigner(), newSigner()]
    const asked = (signer: Signer, conditions: string, to: string[]) =>
      request({
        signer,
        tags: [
          ['t', 'create-nonce'],
          ...to.map((key) => ['p', key]),
          delegationTag(issuer, signer, conditions),
        ],
      })
    const window = `created_at>${secondsNow() - 60}&created_at<${secondsNow() + 60}`
    const invalid = [400, 'identity-event-invalid', 'Should send as NOSTR event'] as const
    const meant = [manager.pubkey]
    for (const [conditions, to] of [
      [window, meant],
      [`kind=1112&kind=1&${window}`, meant],
      [`kind=1112&${window}`, []],
      [`kind=1112&${window}`, [stranger.pubkey]],
    ] as const) {
      await refuses(() => create(asked(stranger, conditions, [...to])), ...invalid)
    }
    const { status } = await create(asked(phone, `kind=1112&${window}`, meant))
    expect(status).toBe(200)
  })

  test('is made once for an event, and never the same twice', async () => {
    const event = request({
      tags: proposing('the same nonce'.padEnd(30, '-').replaceAll(' ', '-')),
    })
    expect((await create(event)).status).toBe(200)
    await refuses(() => create(event), 409, 'event-repeated', 'Event already used')
    const again = request({ tags: event.tags, content: 'another event' })
    await refuses(() => create(again), 409, 'identity-nonce-taken', 'Nonce already exists')
  })

  test('is refused for another method, in the same envelope', async () => {
    for (const path of ['/api/nonce', '/api/nonce/create']) {
      const answer = await call(server.url, path)
      expect({ status: answer.status, ...answer.json }).toEqual({
        status: 405,
        success: false,
        reason: 'Must use POST method',
        code: 'method-not-allowed',
      })
      expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
    }
  })

  test('counts towards the maximum of its issuer', async () => {
    const issuer = Buffer.from(merchant.pubkey, 'hex')
    await databaseOf(server.dataDir).runEach(
      'INSERT INTO identity_nonces (hash, issuer, created_at) VALUES (?, ?, 1)',
      Array.from({ length: limits.openNoncesMax }, () => [randomBytes(32), issuer]),
    )
    const full = [409, 'identity-nonces-full', 'Too many unused nonces'] as const
    await refuses(() => create(request({ signer: merchant })), ...full)
    expect((await create(request())).status).toBe(200)
  })

  test('is made only for the listed issuers, when there is a list', async () => {
    const issuer = newSigner()
    const env = { MERCHANTS: merchant.pubkey, IDENTITY_ISSUERS: issuer.pubkey }
    const listed = await startServer({ checkRoots: true, env })
    const ask = (signer: typeof issuer) =>
      call(listed.url, '/api/nonce', { body: request({ signer }) })
    expect((await ask(issuer)).status).toBe(200)
    expect((await ask(merchant)).status).toBe(403)
  })
})
