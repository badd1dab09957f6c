/** Two services on one database behave as one. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { activateCard, cardEnv, newHolder } from '../support/cards.ts'
import { runCommand } from '../support/cli.ts'
import {
  call,
  createDefinition,
  mintOne,
  newKey,
  newSigner,
  openSession,
  withKey,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { startFaultyRelay, stopRelays } from '../support/faulty-relay.ts'
import { pngOf } from '../support/pictures.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { closeClients, connectRelay, type RelayClient } from '../support/relay-client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

/** A relay outside, which both nodes are connected to. */
const sockets: { close(): void }[] = []
const far = startFaultyRelay({ open: (socket) => void sockets.push(socket) })
const databases = await openDatabases()
const name = await databases.create()
const env = {
  ...cardEnv,
  DATABASE_URL: databases.server.url(name),
  STORE_KEY: '22'.repeat(32),
  SESSION_JWT_SECRET: 's'.repeat(32),
  RELAYS: `embedded,${far.url}`,
}
const byText = (a: string, b: string) => (a < b ? -1 : 1)
let one: TestServer
let two: TestServer
beforeAll(async () => {
  one = await startServer({ env: { ...env, NODE_NAME: 'one' } })
  two = await startServer({ env: { ...env, NODE_NAME: 'two' } })
})
afterAll(async () => {
  closeClients()
  await cleanUp()
  await stopRelays()
  await databases.stop()
})

/** The session of a merchant with one coupon, who may write to the relay. */
async function openShop(signer: Signer = newSigner()) {
  const token = await openSession(one.url, signer)
  return { token, couponId: await createDefinition(one.url, token) }
}

/** The live stream of a node. `text` is all that came, `ended` true after its end. */
async function listen({ url }: TestServer, token: string) {
  const response = await fetch(`${url}/api/coupons/live`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  const stream = { text: '', ended: false }
  const read = async () => {
    for await (const bytes of response.body ?? []) stream.text += new TextDecoder().decode(bytes)
    stream.ended = true
  }
  void read()
  await until('the stream is open', () => stream.text.includes('retry'))
  return stream
}

test('a claim on one node shows in the live stream of the other', async () => {
  const { token, couponId } = await openShop()
  const { nonce } = await mintOne(two.url, token, couponId)
  const stream = await listen(one, token)
  expect((await call(two.url, '/api/coupons/claim', { body: { nonce } })).status).toBe(200)
  await until('the claim is told', () => stream.text.includes('event: claimed'))
  expect(stream.text).toMatch(/"handle":"[\w-]+"/)
})

test('a session that was ended on one node is refused on the other, and its stream ends', async () => {
  const token = await openSession(one.url, newSigner())
  const stream = await listen(two, token)
  const options = { dataDir: one.dataDir, env: { DATABASE_URL: env.DATABASE_URL } }
  expect((await runCommand(['sessions', 'end', '--all'], options)).code).toBe(0)
  await until('the stream ends', () => stream.ended)
  const refused = await call(two.url, '/api/coupons', { token })
  expect([refused.status, refused.json.code]).toEqual([401, 'auth-session-expired'])
})

test('a mint that is sent again to the other node gets the same answer', async () => {
  const { token, couponId } = await openShop()
  const request = { body: { couponId }, token, ...withKey() }
  const answers = await Promise.all(
    [one, two, one, two].map(({ url }) => call(url, '/api/coupons/mint', request)),
  )
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  const { json } = await call(two.url, `/api/coupons/${couponId}/mints`, { token })
  expect([answers[0]?.status, json.mints.length]).toEqual([200, 1])
})

test('a voucher is refreshed on each node in turn, and each node repeats the answers of the other', async () => {
  const { token, couponId } = await openShop()
  let { nonce } = await mintOne(one.url, token, couponId)
  for (const [node, other] of [
    [two, one],
    [one, two],
    [two, one],
  ] as const) {
    const request = { body: { nonce }, ...withKey(newKey()) }
    const first = await call(node.url, '/api/coupons/refresh', request)
    const again = await call(other.url, '/api/coupons/refresh', request)
    expect([first.status, again.status, again.text]).toEqual([201, 200, first.text])
    const stolen = await call(other.url, '/api/coupons/refresh', { body: { nonce }, ...withKey() })
    expect(stolen.json.code).toBe('voucher-refreshed')
    nonce = first.json.nonce
  }
  const claims = await Promise.all(
    [one, two].map(({ url }) => call(url, '/api/coupons/claim', { body: { nonce } })),
  )
  expect(claims.map(({ json }) => json.status).toSorted(byText)).toEqual(['claimed', 'success'])
})

test('an event that one node stores or passes on reaches a subscription at the other, and is stored once', async () => {
  const author = newSigner()
  await openShop(author)
  const [here, there] = [await connectRelay(one.url), await connectRelay(two.url)]
  await here.subscribe('feed', { authors: [author.pubkey] })
  const write = async (node: RelayClient, parts: Parameters<typeof createEvent>[0]) => {
    const event = createEvent({ signer: author, ...parts })
    expect(await node.publish(event)).toEqual([true, expect.any(String)])
    await until('it is fed', () => here.eventsOf('feed').some(({ id }) => id === event.id))
    return event
  }
  const note = await write(there, { kind: 1, content: 'first' })
  await write(there, { kind: 20_001, content: 'ephemeral' })
  const now = secondsNow()
  const old = await write(there, { kind: 10_002, content: 'old', createdAt: now - 5 })
  const newer = await write(here, { kind: 10_002, content: 'newer', createdAt: now - 4 })
  const tags = [['d', 'place']]
  const place = await write(here, { kind: 30_078, content: 'here', tags, createdAt: now - 5 })
  const moved = await write(there, { kind: 30_078, content: 'there', tags, createdAt: now - 4 })
  const deletion = await write(here, { kind: 5, tags: [['e', note.id]] })
  for (const node of [here, there]) {
    // Each node refuses what was deleted or replaced through the other, and stores nothing twice.
    expect((await node.publish(note))[0]).toBe(false)
    for (const known of [old, newer, place, moved]) {
      expect((await node.publish(known))[1]).toStartWith('duplicate')
    }
    const kept = [newer.id, moved.id, deletion.id].toSorted(byText)
    expect((await node.idsOf({ authors: [author.pubkey] })).toSorted(byText)).toEqual(kept)
  }
  const series = Array.from({ length: 30 }, (_, at) =>
    createEvent({ signer: author, kind: 8 + at }),
  )
  for (const event of series) there.send('EVENT', event)
  const ids = series.map(({ id }) => id)
  const fed = () => here.eventsOf('feed').flatMap(({ id }) => (ids.includes(id) ? [id] : []))
  await until('all are fed', () => fed().length >= ids.length)
  expect(fed()).toEqual(ids)
  const other = await databases.connect(name)
  const stored = async () => (await other.send('SELECT 1 FROM events WHERE kind = 7', [])).count
  const races = Array.from({ length: 20 }, () => createEvent({ signer: author, kind: 7 }))
  await Promise.all(races.flatMap((event) => [here.publish(event), there.publish(event)]))
  expect(await stored()).toBe(races.length)
  await other.end()
})

test('wrong keys of a burned voucher are counted by all nodes together, and so are chosen codes of cards', async () => {
  const { couponId, token } = await openShop()
  const { nonce } = await mintOne(one.url, token, couponId)
  const right = withKey()
  const refresh = (node: TestServer, key = withKey()) =>
    call(node.url, '/api/coupons/refresh', { body: { nonce }, ...key })
  expect((await refresh(one, right)).status).toBe(201)
  const codes = new Map<string, number>()
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => refresh(at % 2 === 0 ? one : two)),
    )
    for (const { json } of answers) codes.set(json.code, (codes.get(json.code) ?? 0) + 1)
  }
  // 300 tries at once, and one more in ten seconds. Neither node has had so many.
  expect(codes.get('voucher-refreshed')).toBeWithin(300, 320)
  expect((codes.get('voucher-refreshed') ?? 0) + (codes.get('rate-limited') ?? 0)).toBe(400)
  for (const node of [one, two]) expect((await refresh(node, right)).status).toBe(429)

  const holder = newHolder()
  const tried = []
  for (let at = 0; at < 12; at++) {
    const otc = `guess-${at}-${crypto.randomUUID()}`
    tried.push((await activateCard(at % 2 === 0 ? one : two, holder, otc)).json.code)
  }
  const wrong = Array.from({ length: 10 }, () => 'otc-unknown')
  expect(tried).toEqual([...wrong, 'rate-limited', 'rate-limited'])
})

test('an announcement is sent once, and looked up by one node when both reach the relay again', async () => {
  const signer = newSigner()
  const { token } = await openShop(signer)
  const content = JSON.stringify({ v: 2, mintUrl: 'https://cupones.example/api/coupons/mint' })
  const tags = [['d', 'lacrypta.merchant/coupons']]
  const event = createEvent({ kind: 30_078, tags, content, signer })
  const request = { method: 'PUT', body: { event }, token }
  expect((await call(two.url, '/api/coupons/discovery', request)).status).toBe(200)
  const delivered = async ({ id }: NostrEvent, { url }: TestServer) => {
    const { json } = await call(url, `/nostr/publish/${id}`)
    return json.status === 'delivered'
  }
  await until('it is delivered', () => delivered(event, one))
  const asked = () =>
    far.received.filter(([type, , filter]) => type === 'REQ' && isAboutAnnouncements(filter))
  const [before, connections] = [asked().length, far.connections()]
  for (const socket of sockets.splice(0)) socket.close()
  await until('both are back', () => far.connections() === connections + 2)
  await until('one asks', () => asked().length > before)
  // An answer to what follows comes after everything that was sent before.
  for (const node of [one, two]) {
    const another = createEvent({ signer })
    expect((await call(node.url, '/nostr/publish', { body: another })).status).toBe(202)
    await until('it is delivered', () => delivered(another, node))
    expect(far.times(another.id)).toBe(1)
  }
  expect([far.times(event.id), asked().length]).toEqual([1, before + 1])
})

function isAboutAnnouncements(filter: unknown): boolean {
  return (filter as { kinds?: number[] }).kinds?.includes(30_078) === true
}

test('a node without a copy of a picture answers with the one that was uploaded at the other', async () => {
  const { token } = await openShop()
  const picture = pngOf(2, 2)
  const uploaded = await call(one.url, '/api/pictures', { body: picture, token })
  const { hash } = uploaded.json.picture ?? uploaded.json
  for (const { url } of [one, two]) {
    const answer = await fetch(`${url}/api/pictures/${hash}`)
    expect(answer.status).toBe(200)
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(new Uint8Array(picture))
  }
})
