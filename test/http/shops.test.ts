import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { npubEncode } from 'nostr-tools/nip19'
import { call, newSigner, openSession } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { startClosed } from '../support/closed.ts'
import { refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const signer = newSigner()
let server: TestServer
let token: string

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
})

afterAll(cleanUp)

const own = (by = token) => call(server.url, '/api/shop', { token: by })
const change = (body: unknown, by = token) =>
  call(server.url, '/api/shop', { method: 'PATCH', body, token: by })
const shopOf = (key: string, headers: Record<string, string> = {}) =>
  call(server.url, `/api/shops/${key}`, { headers })

describe('the settings of a shop', () => {
  test('are null before the first change; a change keeps absent ones, and null clears', async () => {
    const by = await openSession(server.url, newSigner())
    const unset = { name: null, color: null, picture: null, onlyAuthorizedTills: false }
    expect((await own(by)).json).toEqual(unset)
    const steps = [
      [{ name: ' Pizzería «Don Julio» 🍕 ' }, { name: 'Pizzería «Don Julio» 🍕', color: null }],
      [{ color: 'red' }, { name: 'Pizzería «Don Julio» 🍕', color: 'red' }],
      [
        { name: 'x'.repeat(80), color: null, more: 1 },
        { name: 'x'.repeat(80), color: null },
      ],
      [{ name: null }, { name: null, color: null }],
    ]
    for (const [body, shop] of steps) {
      const answer = await change(body, by)
      expect({ status: answer.status, json: answer.json }).toEqual({
        status: 200,
        json: { ...unset, ...shop },
      })
      expect((await own(by)).json).toEqual(answer.json)
    }
    expect((await own()).json).toEqual(unset)
  })

  const bad: [name: string, body: unknown, code: string, field?: string][] = [
    ['an empty change', {}, 'nothing-to-change'],
    ['an empty name', { name: '' }, 'field-invalid', 'name'],
    ['a blank name', { name: ' \u2800 ' }, 'field-invalid', 'name'],
    ['an invisible name', { name: '\u200b\u2060' }, 'field-invalid', 'name'],
    ['a turning name', { name: 'Don \u202eoiluJ' }, 'field-invalid', 'name'],
    ['a name of two lines', { name: 'Don\nJulio' }, 'field-invalid', 'name'],
    ['half a character', { name: 'x\ud800' }, 'field-invalid', 'name'],
    ['a long name', { name: 'x'.repeat(81) }, 'field-invalid', 'name'],
    ['a number for a name', { name: 1 }, 'field-invalid', 'name'],
    ['an unknown colour', { color: '#ff0000' }, 'field-invalid', 'color'],
    ['a logo that is no hash', { picture: 'x' }, 'field-invalid', 'picture'],
    ['a colour of an object', { color: { toString: 1 } }, 'field-invalid', 'color'],
  ]
  test('are refused where they are invalid, and stay as they were', async () => {
    for (const [, body, code, field] of bad) {
      await refuses(server, () => change(body), 400, code, field === undefined ? {} : { field })
    }
  })

  test('belong to a merchant that may manage', async () => {
    const closed = await startClosed()
    const by = await openSession(closed.url, newSigner())
    const options = { method: 'PATCH', body: { name: 'x' }, token: by }
    const ask = () => call(closed.url, '/api/shop', options)
    await refuses(closed, ask, 403, 'merchant-not-allowed', { setup: true })
  })
})

describe('GET /api/shops/{key}', () => {
  test('shows name and colour to anyone, under every form of the key', async () => {
    await change({ name: 'Café Ñandú', color: 'blue' })
    const npub = npubEncode(signer.pubkey)
    for (const key of [npub, signer.pubkey, `nostr:${npub}`]) {
      const { status, json } = await shopOf(key)
      expect({ status, json }).toEqual({
        status: 200,
        json: { npub, name: 'Café Ñandú', color: 'blue', picture: null },
      })
    }
    const stranger = npubEncode(newSigner().pubkey)
    expect((await shopOf(stranger)).json).toEqual({
      ...{ npub: stranger, name: null, color: null, picture: null },
    })
    await refuses(server, () => shopOf('don-julio'), 404, 'merchant-unknown')
  })

  test('may be kept for a minute, and is sent again only after a change', async () => {
    await change({ name: 'Uno' })
    const first = await shopOf(signer.pubkey)
    expect(first.headers.get('cache-control')).toBe('public, max-age=60')
    const etag = first.headers.get('etag') ?? ''
    const again = await shopOf(signer.pubkey, { 'If-None-Match': `"x", W/${etag}` })
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' })
    expect(again.headers.get('etag')).toBe(etag)
    expect(again.headers.get('access-control-allow-origin')).toBe('*')
    await change({ name: 'Dos' })
    expect((await shopOf(signer.pubkey, { 'If-None-Match': etag })).json.name).toBe('Dos')
  })
})

test('a shop with a name publishes its profile on the own relay before its first coupon', async () => {
  const merchant = newSigner()
  const env = { MERCHANTS: npubEncode(merchant.pubkey), HOST: '0.0.0.0', RELAYS: 'embedded' }
  const { url: bound } = await startServer({ env })
  const url = bound.replace('0.0.0.0', '127.0.0.1')
  const by = await openSession(url, merchant)
  const content = JSON.stringify({ name: 'Café Ñandú' })
  const profile = merchant.sign({ kind: 0, created_at: secondsNow(), tags: [], content })
  const publish = () => call(url, '/nostr/publish', { body: profile })
  expect((await publish()).json.code).toBe('not-allowed')
  await call(url, '/api/shop', { method: 'PATCH', body: { name: 'Café Ñandú' }, token: by })
  expect((await publish()).status).toBe(202)
  const filter = { kinds: [0], authors: [merchant.pubkey] }
  const published = async () => (await call(url, '/nostr/fetch', { body: filter })).json.length > 0
  await until('the profile on the relay', published)
})
