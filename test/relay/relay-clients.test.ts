/** Widely used clients, against the embedded relay. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import NDK, { NDKEvent, NDKPrivateKeySigner, NDKRelayAuthPolicies } from '@nostr-dev-kit/ndk'
import { SimplePool } from 'nostr-tools/pool'
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { Relay } from 'nostr-tools/relay'
import { secondsNow } from '../support/clock.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let open: TestServer
let guarded: TestServer
const managerSecret = new Uint8Array(32).fill(7)
const addressOf = ({ url }: TestServer) => `${url.replace('http', 'ws')}/relay`

beforeAll(async () => {
  open = await startServer()
  guarded = await startServer({
    env: { PUBLIC_URL: 'https://shop.example', COUPON_MANAGER_NSEC: '07'.repeat(32) },
  })
})
afterAll(cleanUp)

function sign(secret: Uint8Array, parts: { kind?: number; tags?: string[][]; age?: number } = {}) {
  const { kind = 1, tags = [], age = 0 } = parts
  const content = crypto.randomUUID()
  return finalizeEvent({ kind, tags, content, created_at: secondsNow() - age }, secret)
}

describe("nostr-tools' Relay", () => {
  test('publishes, subscribes, counts, updates and deletes', async () => {
    const secret = generateSecretKey()
    const authors = [getPublicKey(secret)]
    const relay = await Relay.connect(addressOf(open))
    const seen: string[] = []
    let ended = false
    relay.subscribe([{ authors }], {
      onevent: ({ id }) => seen.push(id),
      oneose: () => {
        ended = true
      },
    })
    await until('the stored events came', () => ended)
    const first = sign(secret)
    const profile = sign(secret, { kind: 0, age: 10 })
    const update = sign(secret, { kind: 0 })
    for (const event of [first, profile, update]) await relay.publish(event)
    expect(seen).toEqual([first.id, profile.id, update.id])
    expect(await relay.count([{ authors }], {})).toBe(2)
    const deletion = sign(secret, { kind: 5, tags: [['e', first.id]] })
    await relay.publish(deletion)
    expect(await relay.count([{ authors, kinds: [1] }], {})).toBe(0)
    await expect(relay.publish(first)).rejects.toThrow('blocked:')
    relay.close()
  })

  test('authenticates when the relay asks for it', async () => {
    const relay = await Relay.connect(addressOf(guarded))
    const event = sign(generateSecretKey())
    await expect(relay.publish(event)).rejects.toThrow('auth-required:')
    await relay.auth(async (template) => finalizeEvent(template, managerSecret))
    await relay.publish(event)
    relay.close()
  })
})

describe("nostr-tools' SimplePool", () => {
  test('publishes and queries over two relays', async () => {
    const pool = new SimplePool()
    const relays = [addressOf(open), addressOf(guarded)]
    const event = sign(managerSecret, { kind: 30_078, tags: [['d', 'pool']] })
    expect(await Promise.all(pool.publish(relays, event))).toEqual(['', ''])
    const found = await pool.querySync(relays, {
      kinds: [30_078],
      authors: [event.pubkey],
      '#d': ['pool'],
    })
    expect(found.map(({ id }) => id)).toEqual([event.id])
    expect((await pool.get(relays, { ids: [event.id] }))?.id).toBe(event.id)
    pool.close(relays)
  })

  test('authenticates by itself when the relay asks for it', async () => {
    const pool = new SimplePool()
    const relays = [addressOf(guarded)]
    const onauth = async (template: Parameters<typeof finalizeEvent>[0]) =>
      finalizeEvent(template, managerSecret)
    const event = sign(generateSecretKey())
    expect(await Promise.all(pool.publish(relays, event, { onauth } as never))).toEqual([''])
    pool.close(relays)
  })
})

describe('the Nostr Development Kit', () => {
  async function connect(server: TestServer, secret: Uint8Array, policy: boolean) {
    const signer = new NDKPrivateKeySigner(secret.toHex())
    const ndk = new NDK({
      explicitRelayUrls: [addressOf(server)],
      signer,
      enableOutboxModel: false,
    })
    if (policy) ndk.relayAuthDefaultPolicy = NDKRelayAuthPolicies.signIn({ ndk, signer })
    await ndk.connect(3000)
    const end = () => {
      for (const relay of ndk.pool.relays.values()) relay.disconnect()
    }
    return { ndk, end, pubkey: (await signer.user()).pubkey }
  }

  test('publishes, subscribes, updates and deletes', async () => {
    const writer = await connect(open, generateSecretKey(), false)
    const reader = await connect(open, generateSecretKey(), false)
    const seen: NDKEvent[] = []
    let ended = false
    const subscription = reader.ndk.subscribe({ authors: [writer.pubkey] }, { closeOnEose: false })
    subscription.on('event', (event) => seen.push(event))
    subscription.on('eose', () => {
      ended = true
    })
    await until('the stored events came', () => ended)
    const note = new NDKEvent(writer.ndk, { kind: 1, content: 'hola', tags: [] } as never)
    expect((await note.publish()).size).toBe(1)
    const menu = (content: string, age: number) =>
      new NDKEvent(writer.ndk, {
        kind: 30_078,
        content,
        tags: [['d', 'menu']],
        created_at: secondsNow() - age,
      } as never)
    await menu('old', 10).publish()
    await menu('new', 0).publish()
    await until('three events came', () => seen.length === 3)
    const menus = await reader.ndk.fetchEvents({
      kinds: [30_078 as never],
      authors: [writer.pubkey],
    })
    expect([...menus].map(({ content }) => content)).toEqual(['new'])
    await note.delete()
    await until('the deletion came', () => seen.some(({ kind }) => kind === 5))
    expect((await reader.ndk.fetchEvents({ ids: [note.id] })).size).toBe(0)
    writer.end()
    reader.end()
  })

  test('authenticates by its policy when the relay asks for it, and then may publish events of others', async () => {
    const { ndk, end } = await connect(guarded, managerSecret, true)
    const [relay] = ndk.pool.relays.values()
    let authenticated = false
    relay?.on('authed', () => {
      authenticated = true
    })
    const foreign = new NDKEvent(ndk, sign(generateSecretKey()))
    await expect(foreign.publish(undefined, 4000)).rejects.toThrow()
    await until('authenticated', () => authenticated)
    expect((await foreign.publish(undefined, 4000)).size).toBe(1)
    end()
  })

  test('publishes events of members without a policy', async () => {
    const { ndk, end } = await connect(guarded, managerSecret, false)
    const note = new NDKEvent(ndk, { kind: 1, content: 'hola', tags: [] } as never)
    expect((await note.publish(undefined, 4000)).size).toBe(1)
    expect((await ndk.fetchEvents({ ids: [note.id] })).size).toBe(1)
    end()
  })
})
