import { expect } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { signAnew } from '../../support/another-day.ts'
import { call, type Json, newKey, newSigner } from '../../support/client.ts'
import { damage } from '../../support/database.ts'
import { type Documented, sharedServer } from '../../support/documented.ts'
import { createEvent } from '../../support/events.ts'
import {
  identityEvent,
  managerEnv,
  managerSecret,
  newIdentityNonce,
  walletObject,
} from '../../support/identities.ts'
import { loopbackProgram } from '../../support/program.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { startWallet } from '../../support/wallet.ts'

const manager = newSigner(managerSecret)
const registering = 'POST /api/identity'
const origin = 'https://cupones.example'

/** A caller of a service whose manager registers identities. */
async function withManager({ newCaller }: Documented, at: TestServer) {
  const caller = await newCaller({ at })
  const nonce = () => newIdentityNonce(at.url, manager)
  return {
    ...caller,
    nonce,
    register: async (wanted: Json, using?: string) => {
      const body = identityEvent(manager, using ?? (await nonce()), wanted)
      await caller.ask(registering, { body })
    },
  }
}

export function testIdentities(service: Documented): void {
  const { scenario } = service
  const home = sharedServer({ RATE_LIMIT: 'off', ...managerEnv })
  const openHome = sharedServer({ RATE_LIMIT: 'off', ...managerEnv, IDENTITY_SELF_SIGNUP: 'on' })

  for (const route of ['POST /api/nonce', 'POST /api/nonce/create']) {
    scenario(`${route} by an issuer and by others`, async () => {
      const { ask, refused, server } = await withManager(service, home())
      const create = (tags: string[][] = [], parts: Json = {}) =>
        createEvent({ kind: 1112, content: '', signer: manager, tags, ...parts })
      const body = create([
        ['t', 'create-nonce'],
        ['unique', newKey()],
      ])
      await ask(route, { body })
      await refused(route, 'event-repeated', { body })
      await refused(route, 'identity-event-invalid', { body: 'x' })
      await refused(route, 'identity-event-stale', { body: create([], { createdAt: 1 }) })
      await refused(route, 'identity-nonce-invalid', { body: create([['nonce', 'x']]) })
      const stranger = create([], { signer: newSigner() })
      await refused(route, 'identity-not-authorized', { body: stranger })
      const proposal = (unique: string) =>
        create([
          ['nonce', 'n'.repeat(22)],
          ['unique', unique],
        ])
      await call(server.url, '/api/nonce', { body: proposal('a') })
      await refused(route, 'identity-nonce-taken', { body: proposal('b') })
    })
  }

  scenario('open sign-up, and one that is closed', async () => {
    const [asking, requesting] = ['GET /api/signup', 'GET /api/signup/request']
    const closed = await service.newCaller({ at: home() })
    await closed.refused(asking, 'not-found')
    await closed.refused(requesting, 'not-found')
    const { ask } = await service.newCaller({ at: openHome() })
    await ask(asking)
    const { data } = await ask(requesting)
    await ask('POST /api/nonce', { body: data.buyEvent })
  })

  scenario('an issuer sends the examples, signed anew, and others ask for the name', async () => {
    const invoice = service.printed.answers.find(
      ({ route }) => route === 'GET /api/lud16/{name}/cb',
    )?.value
    await using wallet = startWallet(() => Response.json(invoice))
    // A way out to the loopback, which the program never takes.
    const command = loopbackProgram
    const env = { RATE_LIMIT: 'off', ...managerEnv, PUBLIC_URL: origin }
    const at = await startServer({ command, env })
    const { send } = await service.newCaller({ at, origin })
    const sign = (tags: Record<string, string>, content: Json = {}) => ({
      body: (event: Json) => signAnew(event, manager, { tags, content }),
    })
    await send('POST /api/nonce/create', sign({}))
    const nonce = randomBytes(16).toString('base64url')
    expect(await send('POST /api/nonce', sign({ nonce }))).toEqual({ success: true, nonce })
    await send('GET /api/nonce/{nonce}', { path: { nonce } })
    const { pubkey } = newSigner()
    const { lud16 } = JSON.parse(service.exampleOf(registering).content)
    const reached = { ...lud16, callback: `${wallet.url}/lnurlp/ana/callback` }
    await send(registering, sign({ nonce }, { pubkey, lud16: reached }))
    for (const path of ['/.well-known/nostr.json', '/api/identity', '/.well-known/lnurlp/{name}']) {
      await send(`GET ${path}`)
    }
    await send('GET /api/lud16/{name}')
    await send('GET /api/pubkey/{key}', { path: { key: pubkey } })
    expect(await send('GET /api/lud16/{name}/cb')).toEqual(invoice)
  })

  scenario('the state of a nonce', async () => {
    const { ask, refused, nonce, register } = await withManager(service, home())
    const state = 'GET /api/nonce/{nonce}'
    const [burned, fresh] = [await nonce(), await nonce()]
    await register({ name: 'noncia', pubkey: newSigner().pubkey }, burned)
    await ask(state, { path: `/api/nonce/${fresh}` })
    await refused(state, 'nonce-burned', { path: `/api/nonce/${burned}` })
    await refused(state, 'nonce-unknown', { path: '/api/nonce/x' })
  })

  scenario('an identity is registered once', async () => {
    const { refused, nonce, register } = await withManager(service, home())
    const burned = await nonce()
    const ana = { name: 'ana', pubkey: newSigner().pubkey, lud16: walletObject() }
    await register(ana, burned)
    const again = { body: identityEvent(manager, burned, ana) }
    await refused(registering, 'identity-nonce-burned', again)
    const taken = { body: identityEvent(manager, await nonce(), ana) }
    await refused(registering, 'identity-name-taken', taken)
    const other = { body: identityEvent(manager, await nonce(), { ...ana, name: 'eva' }) }
    await refused(registering, 'identity-pubkey-taken', other)
  })

  scenario('an identity that is not to be', async () => {
    const { refused, nonce } = await withManager(service, home())
    const fresh = await nonce()
    const ana = { name: 'ana', pubkey: newSigner().pubkey, lud16: walletObject() }
    const refuse = (code: string, wanted: Json, by = manager, using: string | null = fresh) =>
      refused(registering, code, { body: identityEvent(by, using, wanted) })
    await refused(registering, 'identity-event-invalid', { body: {} })
    const stale = identityEvent(manager, fresh, ana, { createdAt: 1 })
    await refused(registering, 'identity-event-stale', { body: stale })
    await refuse('identity-name-invalid', { ...ana, name: '' })
    await refuse('identity-pubkey-invalid', { ...ana, pubkey: '' })
    await refuse('identity-lud16-invalid', { ...ana, lud16: '' })
    await refuse('identity-not-authorized', ana, newSigner())
    await refuse('identity-nonce-missing', ana, manager, null)
    await refuse('identity-nonce-unknown', ana, manager, 'x')
    await refuse('identity-reserved', { ...ana, name: 'admin' })
  })

  scenario('the name of a key, and the key of a name', async () => {
    const { ask, refused, register } = await withManager(service, home())
    const { pubkey } = newSigner()
    await register({ name: 'clara', pubkey })
    const known = 'GET /api/identity'
    await ask(known, { path: '/api/identity?name=clara' })
    await refused(known, 'identity-unknown', { path: '/api/identity?name=eva' })
    await refused(known, 'method-not-allowed')
    await ask('GET /.well-known/nostr.json', { path: '/.well-known/nostr.json?name=clara' })
    const name = 'GET /api/pubkey/{key}'
    await ask(name, { path: `/api/pubkey/${pubkey}` })
    await refused(name, 'account-unknown', { path: '/api/pubkey/x' })
  })

  scenario('how to pay a name, with a wallet and without', async () => {
    const { ask, refused, register } = await withManager(service, home())
    await register({ name: 'lucas', pubkey: newSigner().pubkey, lud16: walletObject() })
    await register({ name: 'delia', pubkey: newSigner().pubkey })
    for (const path of ['/.well-known/lnurlp', '/api/lud16']) {
      const route = `GET ${path}/{name}`
      await ask(route, { path: `${path}/lucas` })
      await ask(route, { path: `${path}/delia` })
      await refused(route, 'account-unknown', { path: `${path}/x` })
    }
  })

  scenario('an invoice of a name', async () => {
    const { refused, register, server } = await withManager(service, home())
    await register({ name: 'irma', pubkey: newSigner().pubkey, lud16: walletObject() })
    await register({ name: 'teo', pubkey: newSigner().pubkey })
    const pay = 'GET /api/lud16/{name}/cb'
    const paying = (name: string, query: string) => ({ path: `/api/lud16/${name}/cb?${query}` })
    await refused(pay, 'account-unknown', paying('x', ''))
    await refused(pay, 'payments-not-taken', paying('teo', ''))
    await refused(pay, 'amount-invalid', paying('irma', ''))
    const comment = `amount=1000&comment=${'x'.repeat(9000)}`
    await refused(pay, 'field-invalid', paying('irma', comment))
    const dead = JSON.stringify(walletObject({ callback: 'https://127.0.0.1:9/' }))
    await damage(server.dataDir, `UPDATE accounts SET lud16 = '${dead}' WHERE name = 'irma'`)
    await refused(pay, 'wallet-unreachable', paying('irma', 'amount=1000'))
  })
}
