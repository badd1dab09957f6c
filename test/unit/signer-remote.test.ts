/** The connection to a remote signer (NIP-46), over the relays of two services. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createRemoteSigners } from '../../src/client/signer-remote.ts'
import type { TextStore } from '../../src/client/texts.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { secondsNow } from '../support/clock.ts'
import { startRemoteSigner } from '../support/remote-signer.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let first: string
let second: string
beforeAll(async () => {
  const servers = await Promise.all([startServer(), startServer()])
  ;[first, second] = servers.map(({ url }) => `${url.replace('http', 'ws')}/relay`) as [
    string,
    string,
  ]
})
afterAll(cleanUp)

function newSigners() {
  const texts = new Map<string, string>()
  const store: TextStore = {
    read: (name) => texts.get(name) ?? null,
    write: (name, text) => texts.set(name, text) !== undefined,
    remove: (name) => void texts.delete(name),
  }
  const signers = createRemoteSigners({
    store,
    url: 'https://example.com',
    onWait: () => undefined,
  })
  return { signers, texts }
}
const template = () => ({ kind: 1, created_at: secondsNow(), tags: [], content: 'x' })

test('a signer that knows neither switch_relays nor logout answers with an error, and serves on', async () => {
  await using phone = await startRemoteSigner(first)
  const { signers, texts } = newSigners()
  const signer = await signers.open(phone.address)
  expect(npubOf(signer.pubkey)).toBe(phone.npub)
  expect((await signer.sign(template())).pubkey).toBe(signer.pubkey)
  expect(JSON.parse(texts.get('remote-signer') ?? '').relays).toEqual([first])
  signer.close?.()
  expect(texts.size).toBe(0)
  await until('it was asked to forget us', () => phone.methods.includes('logout'))
  expect(phone.methods).toEqual([
    ...['connect', 'switch_relays', 'get_public_key', 'sign_event', 'logout'],
  ])
})

test.each([
  ['JSON text', false],
  ['a list', true],
])('the relays that a signer asks for, as %s, are used from then on', async (_, plain) => {
  await using phone = await startRemoteSigner(first, [second, first], plain)
  const { signers, texts } = newSigners()
  const signer = await signers.open(phone.address)
  expect((await signer.sign(template())).pubkey).toBe(signer.pubkey)
  const { relays } = JSON.parse(texts.get('remote-signer') ?? '')
  expect(relays).toEqual([second, first])
  const again = await signers.restore(signer.pubkey)
  expect((await again?.sign(template()))?.pubkey).toBe(signer.pubkey)
  again?.close?.()
})

test('a list of relays that is none changes nothing', async () => {
  for (const wrong of [[], ['https://a.example'], Array(11).fill(second), [5] as never]) {
    await using phone = await startRemoteSigner(first, wrong)
    const { signers, texts } = newSigners()
    const signer = await signers.open(phone.address)
    expect(JSON.parse(texts.get('remote-signer') ?? '').relays).toEqual([first])
    signer.close?.()
  }
})
