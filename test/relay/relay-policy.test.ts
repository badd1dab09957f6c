/** The keys that may write, and how a connection authenticates (NIP-42). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { Signer } from '../../src/nostr/event.ts'
import { call, createDefinition, newSigner, openSession } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { closeClients, connectRelay, type RelayClient } from '../support/relay-client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const publicUrl = 'https://shop.example'
const merchant = newSigner()
const minter = newSigner()
const manager = newSigner(new Uint8Array(32).fill(7))
let server: TestServer

/** A session there, whatever its public address is. */
async function sessionAt(base: string, signer: Signer): Promise<string> {
  const proof = signer.sign({
    kind: 27_235,
    created_at: secondsNow(),
    tags: [
      ['u', `${publicUrl}/api/auth/session`],
      ['method', 'POST'],
      ['nonce', randomBytes(8).toString('hex')],
    ],
    content: '',
  })
  const Authorization = `Nostr ${Buffer.from(JSON.stringify(proof)).toString('base64')}`
  const { json } = await call(base, '/api/auth/session', {
    method: 'POST',
    body: {},
    headers: { Authorization },
  })
  return json.token
}

beforeAll(async () => {
  server = await startServer({
    env: { PUBLIC_URL: publicUrl, MERCHANTS: 'open', COUPON_MANAGER_NSEC: '07'.repeat(32) },
  })
  const token = await sessionAt(server.url, merchant)
  await createDefinition(server.url, token)
  const added = await call(server.url, '/api/coupons/minters', {
    body: { pubkey: minter.pubkey },
    token,
  })
  expect(added.status).toBe(201)
})
afterAll(async () => {
  closeClients()
  await cleanUp()
})

/** The relay sends it at the opening. */
async function challengeOf(client: RelayClient): Promise<string> {
  const [, challenge] = await client.wait(([type]) => type === 'AUTH')
  return challenge
}

type Proof = { relay?: string; challenge?: string; kind?: number; age?: number }

async function authenticate(
  client: RelayClient,
  signer: Signer,
  {
    relay = `${publicUrl.replace('https', 'wss')}/relay`,
    challenge,
    kind = 22_242,
    age = 0,
  }: Proof = {},
): Promise<[boolean, string]> {
  const event = createEvent({
    signer,
    kind,
    createdAt: secondsNow() - age,
    tags: [
      ['relay', relay],
      ['challenge', challenge ?? (await challengeOf(client))],
    ],
    content: '',
  })
  client.send('AUTH', event)
  const [, , accepted, message] = await client.wait(
    ([type, id]) => type === 'OK' && id === event.id,
  )
  return [accepted, message]
}

describe('a public service', () => {
  test('accepts events of its manager, its merchants and their minters', async () => {
    const client = await connectRelay(server.url)
    for (const signer of [manager, merchant, minter]) {
      expect(await client.publish(createEvent({ signer }))).toEqual([true, ''])
    }
  })

  test('sends the challenge at the opening, once, and works while it is unanswered', async () => {
    const client = await connectRelay(server.url)
    const [, challenge] = await client.wait(([type]) => type === 'AUTH')
    expect(challenge).toMatch(/^[0-9a-f]{32}$/)
    expect(client.messages).toHaveLength(1)
    expect(await client.publish(createEvent({ signer: merchant }))).toEqual([true, ''])
    expect(await client.idsOf({ limit: 1 })).toHaveLength(1)
    await client.publish(createEvent())
    expect(client.messages.filter(([type]) => type === 'AUTH')).toHaveLength(1)
  })

  test('asks a stranger that publishes to authenticate, and then refuses', async () => {
    const stranger = newSigner()
    const client = await connectRelay(server.url)
    const [accepted, message] = await client.publish(createEvent({ signer: stranger }))
    expect([accepted, message]).toEqual([false, expect.stringMatching(/^auth-required: /)])
    expect(await authenticate(client, stranger)).toEqual([true, ''])
    const [again, reason] = await client.publish(createEvent({ signer: stranger }))
    expect([again, reason]).toEqual([false, expect.stringMatching(/^restricted: /)])
  })

  test('lets everybody read, count and sign remotely', async () => {
    const stranger = await connectRelay(server.url)
    const client = await connectRelay(server.url)
    const event = createEvent({ signer: merchant })
    await client.publish(event)
    expect(await stranger.idsOf({ ids: [event.id] })).toEqual([event.id])
    expect(await stranger.count({ ids: [event.id] })).toEqual({ count: 1 })
    await client.subscribe('remote', { kinds: [24_133] })
    const request = createEvent({ kind: 24_133 })
    expect(await stranger.publish(request)).toEqual([true, ''])
    await client.wait(([type, name]) => type === 'EVENT' && name === 'remote')
  })

  test('accepts events of others from an authenticated minter', async () => {
    const client = await connectRelay(server.url)
    expect(await authenticate(client, minter)).toEqual([true, ''])
    expect(await client.publish(createEvent())).toEqual([true, ''])
  })

  test('treats a removed minter as a stranger', async () => {
    const gone = newSigner()
    const token = await sessionAt(server.url, merchant)
    await call(server.url, '/api/coupons/minters', { body: { pubkey: gone.pubkey }, token })
    const client = await connectRelay(server.url)
    expect(await client.publish(createEvent({ signer: gone }))).toEqual([true, ''])
    await call(server.url, `/api/coupons/minters/${gone.pubkey}`, { method: 'DELETE', token })
    expect((await client.publish(createEvent({ signer: gone })))[0]).toBe(false)
  })

  test('limits the rate of remote signing by strangers', async () => {
    const client = await connectRelay(server.url)
    const answers: [boolean, string][] = []
    await until('one is refused', async () => {
      const events = Array.from({ length: 50 }, () => createEvent({ kind: 24_133 }))
      answers.push(...(await Promise.all(events.map((event) => client.publish(event)))))
      return answers.some(([accepted]) => !accepted)
    })
    expect(answers.filter(([accepted]) => accepted).length).toBeGreaterThan(10)
    for (const [accepted, message] of answers) {
      if (!accepted) expect(message).toStartWith('rate-limited: ')
    }
  })
})

describe('an authentication', () => {
  const right: [string, () => string][] = [
    ['its public address', () => 'wss://shop.example/relay'],
    ['its public address as a client may write it', () => 'wss://SHOP.example:443/relay/'],
    ['its public address over HTTP', () => publicUrl],
    ['the loopback it connected to', () => `${server.url.replace('http', 'ws')}/relay`],
  ]
  for (const [name, relay] of right) {
    test(`may name ${name}`, async () => {
      const client = await connectRelay(server.url)
      expect(await authenticate(client, minter, { relay: relay() })).toEqual([true, ''])
    })
  }

  const wrong: [string, Proof][] = [
    ['of another relay', { relay: 'wss://other.example/relay' }],
    ['of the same host without TLS', { relay: 'ws://shop.example/relay' }],
    ['of a host that only begins like it', { relay: 'wss://shop.example.evil.example' }],
    ['that names no relay', { relay: '' }],
    ['of another connection', { challenge: 'f'.repeat(32) }],
    ['of another kind', { kind: 1 }],
    ['eleven minutes old', { age: 660 }],
    ['eleven minutes ahead', { age: -660 }],
  ]
  for (const [name, proof] of wrong) {
    test(`${name} is refused and proves nothing`, async () => {
      const client = await connectRelay(server.url)
      const [accepted, message] = await authenticate(client, minter, proof)
      expect([accepted, message]).toEqual([false, expect.stringMatching(/^invalid: /)])
      expect((await client.publish(createEvent()))[0]).toBe(false)
    })
  }

  test('with a signature of somebody else is refused', async () => {
    const client = await connectRelay(server.url)
    const challenge = await challengeOf(client)
    const tags = [
      ['relay', `${publicUrl}/relay`],
      ['challenge', challenge],
    ]
    const event = { ...createEvent({ kind: 22_242, tags }), pubkey: minter.pubkey }
    client.send('AUTH', event)
    const [, , accepted] = await client.wait(([type]) => type === 'OK')
    expect(accepted).toBe(false)
  })

  test('may not name the Host header of the client, unless that is this machine', async () => {
    const client = await connectRelay(server.url, { Host: 'evil.example' })
    expect((await authenticate(client, minter, { relay: 'ws://evil.example/relay' }))[0]).toBe(
      false,
    )
  })
})

describe('a private service', () => {
  test('accepts everybody until a request comes through a proxy', async () => {
    const shop = await startServer({ env: { MERCHANTS: 'open' } })
    const restricted = async () =>
      (await call(shop.url, '/relay')).json.limitation.restricted_writes
    const client = await connectRelay(shop.url)
    expect(await client.publish(createEvent())).toEqual([true, ''])
    expect(client.messages.some(([type]) => type === 'AUTH')).toBe(false)
    expect(await restricted()).toBe(false)
    const visitor = await connectRelay(shop.url, { 'X-Forwarded-For': '203.0.113.5' })
    const [accepted, message] = await visitor.publish(createEvent())
    expect([accepted, message]).toEqual([false, expect.stringMatching(/^auth-required: /)])
    const [later, reason] = await client.publish(createEvent())
    expect([later, reason]).toEqual([false, expect.stringMatching(/^auth-required: /)])
    expect(await restricted()).toBe(true)
    await client.wait(([type]) => type === 'AUTH')
    const token = await openSession(shop.url, merchant)
    await createDefinition(shop.url, token)
    expect(await client.publish(createEvent({ signer: merchant }))).toEqual([true, ''])
  })
})
