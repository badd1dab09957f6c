import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { type Answer, call, type Json, newSigner } from '../support/client.ts'
import { damage } from '../support/database.ts'
import { expectError } from '../support/envelopes.ts'
import {
  identityEvent,
  managerEnv,
  managerSecret,
  newIdentityNonce,
  walletObject,
} from '../support/identities.ts'
import { loopbackProgram } from '../support/program.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { startWallet } from '../support/wallet.ts'

const manager = newSigner(managerSecret)
const payee = newSigner()
const plain = newSigner()
const invoice = { pr: 'lnbc1…', routes: [], successAction: null }
const metadata = '[["text/plain","Ana"],["text/identifier","ana@wallet.example"]]'
let answer: (url: URL) => Response | Promise<Response> = () => Response.json(invoice)
const wallet = startWallet((url) => answer(url))
const lud16 = walletObject({ callback: `${wallet.url}/cb?id=7`, metadata })
let server: TestServer

beforeAll(async () => {
  // Connections may go to the loopback, which the program never allows.
  server = await startServer({ command: loopbackProgram, env: managerEnv })
  await add(server, { name: 'ana', pubkey: payee.pubkey, lud16 })
  await add(server, { name: 'solo', pubkey: plain.pubkey })
})
afterAll(async () => {
  wallet.stop()
  await cleanUp()
})

async function add(to: TestServer, wanted: object): Promise<void> {
  const nonce = await newIdentityNonce(to.url, manager)
  const body = identityEvent(manager, nonce, wanted)
  expect((await call(to.url, '/api/identity', { body })).status).toBe(200)
}

const ask = (path: string) => call(server.url, path)

/** The fields that LUD-06 and LUD-16 demand of the first answer, and no other. */
function expectPayRequest(json: Json) {
  expect(json.tag).toBe('payRequest')
  expect(URL.canParse(json.callback)).toBe(true)
  expect(Number.isInteger(json.minSendable) && json.minSendable >= 1).toBe(true)
  expect(Number.isInteger(json.maxSendable) && json.maxSendable >= json.minSendable).toBe(true)
  const entries = JSON.parse(json.metadata) as string[][]
  const of = (...types: string[]) => entries.filter(([type = '']) => types.includes(type))
  expect(of('text/plain')).toHaveLength(1)
  expect(of('text/identifier', 'text/email')).toHaveLength(1)
  expect(of('text/identifier')[0]?.[1]).toMatch(/^[a-z0-9._-]+@[a-z0-9.:-]+$/)
}

/** The document as NIP-05 demands it. */
function expectNamesDocument({ status, json, headers }: Answer) {
  expect({ status, cors: headers.get('access-control-allow-origin') }).toEqual({
    status: 200,
    cors: '*',
  })
  for (const [name, key] of Object.entries(json.names)) {
    expect(name).toMatch(/^[a-z0-9._-]+$/)
    expect(key).toMatch(/^[0-9a-f]{64}$/)
  }
  for (const [key, relays] of Object.entries(json.relays as Record<string, string[]>)) {
    expect(Object.values(json.names)).toContain(key)
    for (const relay of relays) expect(new URL(relay).protocol).toMatch(/^wss?:$/)
  }
}

describe('NIP-05', () => {
  test('resolves a name to its key and the relays of this service', async () => {
    for (const name of ['ana', 'ANA']) {
      const answer = await ask(`/.well-known/nostr.json?name=${name}`)
      expectNamesDocument(answer)
      const { json } = answer
      const relay = `${server.url.replace('http', 'ws')}/relay`
      expect(json).toEqual({
        names: { ana: payee.pubkey },
        relays: { [payee.pubkey]: [relay] },
      })
    }
  })

  test('resolves `_` to the service itself', async () => {
    const { json } = await ask('/.well-known/nostr.json?name=_')
    expect(json.names).toEqual({ _: manager.pubkey })
  })

  test('answers an unknown name without an error', async () => {
    for (const query of ['?name=nadie', '?name=', '', '?name=__proto__', '?name=a%00b', '?x=1']) {
      const { status, json } = await ask(`/.well-known/nostr.json${query}`)
      expect({ status, ...json }).toEqual({ status: 200, names: {}, relays: {} })
    }
  })
})

describe('LUD-16', () => {
  test('answers as the wallet does, with a callback of this service', async () => {
    const paths = ['/.well-known/lnurlp/ana', '/api/lud16/ana', '/api/lud16/ANA/']
    for (const path of paths) {
      const { status, json } = await ask(path)
      expect({ status, ...json }).toEqual({
        status: 200,
        ...lud16,
        callback: `${server.url}/api/lud16/ana/cb`,
        allowVouchers: true,
        accountPubKey: payee.pubkey,
        federationId: 'localhost',
      })
      expect(json.metadata).toBe(metadata)
      expectPayRequest(json)
    }
  })

  test('lets an account without a wallet take vouchers, in the format of LUD-06', async () => {
    const { json } = await ask('/api/lud16/solo')
    expectPayRequest(json)
    const address = `solo@${new URL(server.url).host}`
    expect(json).toEqual({
      tag: 'payRequest',
      callback: `${server.url}/api/lud16/solo/cb`,
      minSendable: 1000,
      maxSendable: 10_000_000_000,
      metadata: JSON.stringify([
        ['text/identifier', address],
        ['text/plain', address],
      ]),
      allowVouchers: true,
      accountPubKey: plain.pubkey,
      federationId: 'localhost',
    })
  })

  test('answers 404 for an unknown name, and for an account that takes nothing', async () => {
    await add(server, { name: 'nada', pubkey: newSigner().pubkey })
    await damage(
      server.dataDir,
      "UPDATE accounts SET allow_vouchers = 0 WHERE name IN ('nada', 'ana')",
    )
    for (const name of ['nadie', 'nada', '_', '%00', 'a'.repeat(300)]) {
      for (const path of [`/.well-known/lnurlp/${name}`, `/api/lud16/${name}`]) {
        expectError(await ask(path), 404, 'account-unknown')
      }
      expectError(await ask(`/api/lud16/${name}/cb?amount=1000`), 404, 'account-unknown')
    }
    expect((await ask('/api/lud16/ana')).json.allowVouchers).toBe(false)
    await damage(server.dataDir, "UPDATE accounts SET allow_vouchers = 1 WHERE name = 'ana'")
  })

  test('uses the public origin and the federation of the settings', async () => {
    const env = { ...managerEnv, PUBLIC_URL: 'https://cupones.example,https://otra.example' }
    const asked = async (more: Record<string, string>) => {
      const shop = await startServer({ env: { ...env, ...more } })
      await add(shop, { name: 'ana', pubkey: payee.pubkey })
      return (await call(shop.url, '/.well-known/lnurlp/ana')).json
    }
    const callback = 'https://cupones.example/api/lud16/ana/cb'
    expect(await asked({})).toMatchObject({ callback, federationId: 'cupones.example' })
    expect(await asked({ FEDERATION_ID: 'feria.local' })).toMatchObject({
      callback,
      federationId: 'feria.local',
    })
  })
})

describe('a payment', () => {
  const cb = (query: string, name = 'ana') => ask(`/api/lud16/${name}/cb${query}`)

  test('is requested from the wallet, whose answer is returned unchanged', async () => {
    answer = () => new Response(`{ "pr":"lnbc1", "routes":[] }`)
    const nostr = JSON.stringify({ kind: 9734, content: 'ñ & ¿?' })
    const query = new URLSearchParams({
      amount: '21000',
      comment: 'dos cafés & más',
      nostr,
      x: '1',
    })
    const { status, text, headers } = await cb(`?${query}`)
    expect({ status, text }).toEqual({ status: 200, text: `{ "pr":"lnbc1", "routes":[] }` })
    expect(headers.get('content-type')).toContain('application/json')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const asked = wallet.asked.at(-1)
    expect(asked?.pathname).toBe('/cb')
    expect(Object.fromEntries(asked?.searchParams ?? [])).toEqual({
      id: '7',
      amount: '21000',
      comment: 'dos cafés & más',
      nostr,
    })
  })

  test('is refused in the words of the wallet', async () => {
    const said = { status: 'ERROR', reason: 'too poor' }
    for (const status of [200, 400, 404]) {
      answer = () => Response.json(said, { status })
      const { status: got, json } = await cb('?amount=1000')
      expect({ got, json }).toEqual({ got: status === 200 ? 200 : 400, json: said })
    }
    for (const [reason, shown] of [
      ['no\n\u202eoy', 'no oy'],
      ['x'.repeat(301), 'x'.repeat(300)],
      [{ es: 'no' }, 'La billetera de esa cuenta no responde. Probá de nuevo.'],
    ]) {
      answer = () => Response.json({ ...said, reason, more: 1 })
      expect((await cb('?amount=1000')).json).toEqual({ ...said, reason: shown, more: 1 })
    }
  })

  test('needs an amount that the wallet accepts', async () => {
    const before = wallet.asked.length
    for (const query of [
      '',
      '?amount=',
      '?amount=x',
      '?amount=1e5',
      '?amount=-1000',
      '?amount=999',
      '?amount=100000001',
      '?amount=99999999999999999999',
    ]) {
      expectError(await cb(query), 400, 'amount-invalid')
    }
    const long = 'x'.repeat(limits.paymentFieldCharsMax + 1)
    expectError(await cb(`?amount=1000&comment=${long}`), 400, 'field-invalid', 'comment')
    expectError(await cb(`?amount=1000&nostr=${long}`), 400, 'field-invalid', 'nostr')
    expect(wallet.asked.length).toBe(before)
  })

  test('is refused where there is no wallet', async () => {
    for (const amount of ['1', '1000', '10000000000', ''])
      expectError(await cb(`?amount=${amount}`, 'solo'), 400, 'payments-not-taken')
  })

  const away: [string, () => Response][] = [
    ['fails', () => Response.json({ pr: 'x' }, { status: 500 })],
    ['says something else than JSON', () => new Response('<html>')],
    ['says JSON that is no object', () => Response.json(['x'])],
    ['says what is no text', () => new Response(Uint8Array.of(0x7b, 0xff, 0x7d))],
    ['says too much', () => Response.json({ pr: 'x'.repeat(limits.callbackBodyBytesMax) })],
    ['sends us on', () => Response.redirect('https://127.0.0.1/')],
  ]
  for (const [name, say] of away) {
    test(`fails when the wallet ${name}`, async () => {
      answer = say
      expectError(await cb('?amount=1000'), 400, 'wallet-unreachable')
    })
  }

  test('to a slow wallet delays its own payers only', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    answer = () => promise.then(() => Response.json(invoice))
    const before = wallet.asked.length
    const { takenMax, waitingMax } = limits.callbackSlots.of.account
    const places = takenMax + waitingMax
    const waiting = Array.from({ length: places + 1 }, () => cb('?amount=1000'))
    // Whichever comes last finds no place.
    expect(await Promise.race(waiting)).toMatchObject({
      status: 503,
      json: { status: 'ERROR', code: 'overloaded' },
    })
    await until('its places are taken', () => wallet.asked.length >= before + takenMax)
    await add(server, { name: 'otra', pubkey: newSigner().pubkey, lud16 })
    answer = () => Response.json(invoice)
    expect((await cb('?amount=1000', 'otra')).json).toEqual(invoice)
    resolve()
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([...Array(places).fill(200), 503])
    expect((await cb('?amount=1000')).status).toBe(200)
  })

  test('to four slow wallets leaves room for all others', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = ['lenta-1', 'lenta-2', 'lenta-3', 'lenta-4'].map((name) => {
      const own = startWallet(() => promise.then(() => Response.json(invoice)))
      return { name, own }
    })
    for (const { name, own } of slow) {
      const theirs = walletObject({ callback: `${own.url}/cb`, metadata })
      await add(server, { name, pubkey: newSigner().pubkey, lud16: theirs })
    }
    const { takenMax } = limits.callbackSlots.of.account
    const waiting = slow.flatMap(({ name }) =>
      Array.from({ length: takenMax }, () => cb('?amount=1000', name)),
    )
    const full = ({ own }: (typeof slow)[number]) => own.asked.length >= takenMax
    await until('the places of all four are taken', () => slow.every(full))
    answer = () => Response.json(invoice)
    expect((await cb('?amount=1000')).json).toEqual(invoice)
    resolve()
    await Promise.all(waiting)
    for (const { own } of slow) own.stop()
  })

  test('never connects to a private address', async () => {
    const shop = await startServer({ env: managerEnv })
    const nonce = await newIdentityNonce(shop.url, manager)
    const wanted = { name: 'ana', pubkey: payee.pubkey, lud16 }
    const body = identityEvent(manager, nonce, wanted)
    const refused = await call(shop.url, '/api/identity', { body })
    expect(refused.json.code).toBe('identity-lud16-invalid')
    await add(shop, { name: 'ana', pubkey: payee.pubkey })
    // As if it had been registered before that rule: outgoing requests are checked, too.
    await damage(shop.dataDir, `UPDATE accounts SET lud16 = '${JSON.stringify(lud16)}'`)
    const before = wallet.asked.length
    expectError(await call(shop.url, '/api/lud16/ana/cb?amount=1000'), 400, 'wallet-unreachable')
    expect(wallet.asked.length).toBe(before)
  })
})

describe('the name of a key', () => {
  test('is found for hex and npub', async () => {
    for (const key of [payee.pubkey, payee.pubkey.toUpperCase(), npubOf(payee.pubkey)]) {
      const { status, json } = await ask(`/api/pubkey/${key}`)
      expect({ http: status, ...json }).toEqual({
        http: 200,
        status: 'OK',
        username: 'ana',
        federationId: 'localhost',
      })
    }
  })

  test('is unknown for a key without one, and for an invalid key', async () => {
    for (const key of [
      newSigner().pubkey,
      manager.pubkey,
      'x',
      '%00',
      'npub1x',
      'a'.repeat(2000),
    ]) {
      expectError(await ask(`/api/pubkey/${key}`), 404, 'account-unknown')
    }
  })
})
