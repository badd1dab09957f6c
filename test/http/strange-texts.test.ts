/** Texts with NUL, halves of surrogate pairs and noncharacters: refused, or kept the same on every engine. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { NostrEvent } from '../../src/nostr/event.ts'
import {
  type Answer,
  call,
  createDefinition,
  mintOne,
  newSigner,
  openSession,
} from '../support/client.ts'
import { createEvent } from '../support/events.ts'
import { identityEvent, newIdentityNonce, walletObject } from '../support/identities.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const owner = newSigner()
let server: TestServer
let token: string
let couponId: string

beforeAll(async () => {
  const env = { RATE_LIMIT: 'off', IDENTITY_ISSUERS: owner.pubkey, MERCHANTS: owner.pubkey }
  server = await startServer({ checkRoots: true, env })
  token = await openSession(server.url, owner)
  couponId = await createDefinition(server.url, token)
})
afterAll(cleanUp)

const send = (path: string, body: unknown, method = 'POST') =>
  call(server.url, path, { method, body, token })
const benefit = { type: 'percent', percent: 10 }

describe.each(['a\0b', 'a\ud800b', '\udc00', '\uFFFF0', '\uFFFF'])('the text %j', (text) => {
  const controlled = !text.isWellFormed() || text.includes('\0')

  test('is refused where people read it, or shown as it was sent', async () => {
    const shown: [(Answer: Answer) => unknown, Promise<Answer>][] = [
      [
        ({ json }) => json.coupon.name,
        send('/api/coupons', { name: `Café ${text}`, description: '', benefit }),
      ],
      [
        ({ json }) => json.coupon.description,
        send('/api/coupons', { name: 'x', description: `Café ${text}`, benefit }),
      ],
      [
        ({ json }) => json.minter.label,
        send('/api/coupons/minters', { pubkey: newSigner().pubkey, label: `Café ${text}` }),
      ],
      [({ json }) => json.name, send('/api/shop', { name: `Café ${text}` }, 'PATCH')],
    ]
    for (const [found, asked] of shown) {
      const answer = await asked
      const refused = answer.status === 400
      expect(refused ? null : found(answer)).toBe(controlled ? null : `Café ${text}`)
    }
  })

  test('is refused in a name of a recipient and of a batch, or minted', async () => {
    const body = { couponId, count: 1, batch: { name: `b ${text}` }, labels: [`l ${text}`] }
    const { status, json } = await send('/api/coupons/mint', body)
    expect(status < 300).toBe(!controlled)
    if (!controlled) expect(json.batch.name).toBe(`b ${text}`)
    else expect(status).toBe(400)
  })

  test('is no id, handle, name or code of anything', async () => {
    const hidden = encodeURIComponent(text.toWellFormed())
    for (const path of [
      `/api/coupons/${hidden}`,
      `/api/coupons/preview/${hidden}`,
      `/.well-known/nostr.json?name=${hidden}`,
      `/.well-known/lnurlp/${hidden}`,
      `/nostr/publish/${hidden}`,
      `/api/coupons/redemptions?before=${hidden}`,
    ]) {
      const { status } = await call(server.url, path, { token })
      expect([path, status < 500]).toEqual([path, true])
    }
    for (const path of ['claim', 'refresh']) {
      expect((await send(`/api/coupons/${path}`, { nonce: text })).status).toBe(400)
    }
  })

  test('in an order of a customer comes back whole', async () => {
    const { nonce } = await mintOne(server.url, token, couponId)
    const tags = [
      ['coupon', couponId],
      ['x', text],
    ]
    const zapRequest = createEvent({ kind: 9734, tags, content: text.toWellFormed() })
    expect((await send('/api/coupons/claim', { nonce, zapRequest })).json.status).toBe('success')
    const { json } = await call(server.url, '/api/coupons/redemptions?limit=1', { token })
    const { order } = json.redemptions[0]
    // A signature is not over half a pair.
    if (order !== null) expect(order).toEqual(zapRequest)
    else expect(text.isWellFormed()).toBe(false)
  })

  test('in an event is kept by the relay, and found by its tags', async () => {
    const tags = [
      ['d', text],
      ['t', text],
    ]
    const event = createEvent({ kind: 30_078, tags, content: text })
    const { status } = await send('/nostr/publish', event)
    if (!text.isWellFormed()) return expect(status < 500).toBe(true)
    expect(status).toBe(202)
    const find = async (filter: object): Promise<NostrEvent[]> =>
      (await send('/nostr/fetch', filter)).json
    const address = { kinds: [30_078], authors: [event.pubkey], '#d': [text] }
    await until('it is kept', async () => (await find(address)).length === 1)
    expect(await find(address)).toEqual([event])
    expect((await find({ '#t': [text] })).map(({ id }) => id)).toContain(event.id)
  })

  test('in the answer of a wallet is kept, or its identity refused', async () => {
    const nonce = await newIdentityNonce(server.url, owner)
    const signer = newSigner()
    const name = `ana-${signer.pubkey.slice(0, 8)}`
    const lud16 = walletObject({ metadata: JSON.stringify([['text/plain', text]]), more: text })
    const wanted = { name, pubkey: signer.pubkey, lud16 }
    const { status } = await send('/api/identity', identityEvent(owner, nonce, wanted))
    const found = await call(server.url, `/.well-known/lnurlp/${name}`)
    expect([status < 500, found.status < 500]).toEqual([true, true])
    expect(found.status === 200).toBe(status < 300)
  })
})
