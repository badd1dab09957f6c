/** The npm client of LaWallet as it is, with its own NDK inside, against a running service. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  baseConfig,
  buildCreateNonceEvent,
  buildIdentityEvent,
  buildTxStartEvent,
  normalizeLNDomain,
  UserIdentity,
} from '@lawallet/utils'
import {
  broadcastEvent,
  claimIdentity,
  createNonce,
  existIdentity,
  getUsername,
  getUserPubkey,
  validateNonce,
} from '@lawallet/utils/actions'
import { version } from '@lawallet/utils/package.json'
import { call, newSigner, sha256Hex } from '../support/client.ts'
import { managerEnv, managerSecret } from '../support/identities.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const manager = newSigner(managerSecret)
const original = { ...baseConfig.endpoints }
let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { ...managerEnv, IDENTITY_SELF_SIGNUP: 'on' } })
  // The settings of a deployment of the client; the rest of it is as it was published.
  baseConfig.endpoints.gateway = server.url
  baseConfig.endpoints.lightningDomain = server.url
  baseConfig.federationId = 'localhost'
})
afterAll(async () => {
  Object.assign(baseConfig.endpoints, original)
  await cleanUp()
})

/** A user of the client: a key, and what it signs with it. */
async function newUser(secret = sha256Hex(crypto.randomUUID())) {
  const user = new UserIdentity({})
  expect(await user.initializeFromPrivateKey(secret)).toBe(true)
  return user
}

/** An event as the client sends it, signed by the client. */
async function signed(user: UserIdentity, event: Parameters<UserIdentity['signEvent']>[0]) {
  const done = await user.signEvent(event)
  if (!done) throw new Error('the client signed nothing')
  return done
}

test('the installed client is the tested version', () => {
  expect(version).toBe('0.2.52')
})

test('an issuer makes a nonce, a user signs up with it and is found by name and by key', async () => {
  const issuer = await newUser(managerSecret.toString('hex'))
  expect(issuer.pubkey).toBe(manager.pubkey)
  const nonce = sha256Hex('an invitation')
  expect(await validateNonce(nonce)).toBe(false)
  const made = await createNonce(await signed(issuer, buildCreateNonceEvent(manager.pubkey, nonce)))
  expect(made.status).toBe(200)
  expect(await validateNonce(nonce)).toBe(true)

  const user = await newUser()
  expect(user.username).toBe('')
  expect(await existIdentity('pepe')).toBe(false)
  const event = await signed(user, buildIdentityEvent(nonce, 'Pepe', user.pubkey))
  expect(await claimIdentity(event)).toEqual({ success: true, pubkey: user.pubkey })

  expect(await validateNonce(nonce)).toBe(false)
  expect(await existIdentity('pepe')).toBe(true)
  expect(await getUserPubkey('pepe')).toBe(user.pubkey)
  expect(await getUsername(user.pubkey)).toBe('pepe')
  await user.initializeIdentityFromPubkey(user.pubkey)
  expect(user.lud16).toBe(`pepe@${normalizeLNDomain(server.url)}`)
})

describe('refusals arrive in the words that the client shows', () => {
  const user = newUser()
  const claim = async (nonce: string, name: string) => {
    const one = await user
    return claimIdentity(await signed(one, buildIdentityEvent(nonce, name, one.pubkey)))
  }
  const invite = async (nonce: string) => {
    const issuer = await newUser(managerSecret.toString('hex'))
    await createNonce(await signed(issuer, buildCreateNonceEvent(manager.pubkey, nonce)))
    return nonce
  }

  test('for a nonce that nobody made', async () => {
    const reason = 'Nonce not found'
    expect(await claim(sha256Hex('nobody'), 'juan')).toEqual({ success: false, reason })
  })

  test('for a name that is taken, and for a name that nobody has', async () => {
    const nonce = await invite(sha256Hex('a second invitation'))
    const reason = 'Name already taken'
    expect(await claim(nonce, 'pepe')).toEqual({ success: false, reason })
    expect(await claim(nonce, 'juan')).toMatchObject({ success: true })
  })

  test('for a key that has a name', async () => {
    const nonce = await invite(sha256Hex('a third invitation'))
    const reason = 'Pubkey already assigned to an existing account'
    expect(await claim(nonce, 'juancito')).toEqual({ success: false, reason })
  })

  test('for a nonce of a stranger', async () => {
    const stranger = await newUser()
    const event = buildCreateNonceEvent(stranger.pubkey, sha256Hex('a forged invitation'))
    const answer = await createNonce(await signed(stranger, event))
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({ success: false, reason: 'Pubkey not authorized' })
  })

  test('for an unknown name and an unknown key', async () => {
    expect(await getUserPubkey('nadie')).toBe('')
    expect(await getUsername(newSigner().pubkey)).toBe('')
  })
})

test('the client publishes the events that its user signed, and nothing else', async () => {
  const user = await newUser()
  const props = {
    tokenName: 'BTC',
    amount: 1,
    senderPubkey: user.pubkey,
    tags: [['p', manager.pubkey]],
  }
  const event = await signed(user, buildTxStartEvent(props))
  expect(await broadcastEvent(event)).toBe(true)
  // Taken is not yet delivered.
  const fetched = async () =>
    (await call(server.url, '/nostr/fetch', { body: { ids: [event.id] } })).json
  await until('delivered', async () => (await fetched()).length === 1)
  expect(await fetched()).toMatchObject([{ id: event.id, content: event.content, sig: event.sig }])
  expect(await broadcastEvent({ ...event, content: '{}' })).toBe(false)
})
