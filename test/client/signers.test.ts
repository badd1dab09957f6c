/** The keys that the published client signs with: one of its own, an extension, and a remote signer. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { npubEncode, nsecEncode } from 'nostr-tools/nip19'
import {
  createClient,
  type EventSigner,
  openBunker,
  openExtension,
  openKey,
  SignerError,
} from '../../src/client/index.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { newSigner } from '../support/client.ts'
import { startRemoteSigner } from '../support/remote-signer.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(cleanUp)
afterEach(() => {
  Reflect.deleteProperty(globalThis, 'nostr')
})

/** The coupons of the key of a signer, which a session asks for. */
async function couponsOf(signer: EventSigner): Promise<unknown[]> {
  const client = createClient({ url: server.url, signer })
  return (await client.call('GET /api/coupons')).coupons
}

test('a secret key signs as nsec, as hex and as bytes, and another text is none', async () => {
  const secret = new Uint8Array(32).fill(0x7f)
  const forms = [secret, nsecEncode(secret), '7f'.repeat(32)]
  const [first, ...others] = forms.map(openKey)
  if (!first) throw new Error('no signer')
  expect(others.map(({ pubkey }) => pubkey)).toEqual([first.pubkey, first.pubkey])
  expect(await couponsOf(first)).toEqual([])
  for (const wrong of ['', 'nsec1', npubEncode(first.pubkey), new Uint8Array(31), '0'.repeat(64)]) {
    expect(() => openKey(wrong)).toThrow(SignerError)
  }
  expect(() => openKey(undefined as never)).toThrow(SignerError)
})

test('an extension of the browser signs (NIP-07), and may say no', async () => {
  await expect(openExtension()).rejects.toMatchObject({ code: 'no-extension' })
  const { pubkey, sign } = newSigner()
  let agrees = true
  Object.assign(globalThis, {
    nostr: {
      getPublicKey: async () => pubkey,
      async signEvent(event: Parameters<typeof sign>[0]) {
        if (!agrees) throw new Error('no')
        return sign(event)
      },
    },
  })
  expect(await couponsOf(await openExtension())).toEqual([])
  agrees = false
  await expect(couponsOf(await openExtension())).rejects.toMatchObject({ code: 'declined' })
})

test('a remote signer signs (NIP-46), and is known again without its person', async () => {
  await using phone = await startRemoteSigner(`${server.url.replace('http', 'ws')}/relay`, [])
  const storage = new Map<string, string>()
  const waits: unknown[] = []
  const signer = await openBunker(phone.address, {
    storage,
    onWait: (wait) => waits.push(wait?.for ?? null),
  })
  expect(npubOf(signer.pubkey)).toBe(phone.npub)
  expect(await couponsOf(signer)).toEqual([])
  expect(waits).toEqual(['connect', null, 'key', null, 'signature', null])

  const asked = phone.methods.length
  const again = await openBunker(phone.address, { storage })
  expect(await couponsOf(again)).toEqual([])
  expect(phone.methods.slice(asked)).toEqual(['sign_event'])

  again.close?.()
  await until('it was asked to forget us', () => phone.methods.includes('logout'))
  expect(storage.size).toBe(0)
  await expect(openBunker('bunker://x')).rejects.toMatchObject({ code: 'bunker-invalid' })
})
