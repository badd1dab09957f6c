import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hexOf } from '../../src/base/bytes.ts'
import { limits } from '../../src/base/limits.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { runCommand } from '../support/cli.ts'
import {
  call,
  createDefinition,
  createProof,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { admitByCode, sendCode, shownCode, startClosed } from '../support/closed.ts'
import { damage, databaseOf, testOfFile } from '../support/database.ts'
import { startRacers } from '../support/race.ts'
import { expectRefusal, readRows } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { logged } from '../support/until.ts'

afterAll(cleanUp)

const manage = (url: string, token: string) => call(url, '/api/coupons', { token })
const setup = { setup: true } as const

describe('management needs the setup code', () => {
  const reached: [string, Record<string, string>][] = [
    ['beyond the loopback', {}],
    ['with a public origin', { HOST: '127.0.0.1', PUBLIC_URL: 'http://127.0.0.1:1' }],
  ]
  test.each(reached)('%s', async (_, env) => {
    const server = await startClosed({ env })
    expect(server.code).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){2}$/)
    expect(server.output()).toMatch(new RegExp(`setup +http://\\S+/panel#alta=${server.code}\\n`))
    const path = '/api/coupons'
    const proof = (signer: ReturnType<typeof newSigner>, method: string, at: string) =>
      nostrHeader(createProof(signer, `${env.PUBLIC_URL ?? server.url}${at}`, { method }))
    const Authorization = proof(newSigner(), 'GET', path)
    const refused = await call(server.url, path, { headers: { Authorization } })
    expectRefusal(refused, 403, 'merchant-not-allowed', setup)
  })

  test('but sessions, mintable definitions, previews and claims do not', async () => {
    const server = await startClosed()
    const { token } = await admitByCode(server)
    const couponId = await createDefinition(server.url, token)
    const { nonce } = await mintOne(server.url, token, couponId)
    const stranger = await openSession(server.url, newSigner())
    const mintable = await call(server.url, '/api/coupons/mintable', { token: stranger })
    expect(mintable.json).toEqual({ coupons: [] })
    const seen = await call(server.url, '/api/coupons/preview', { body: { nonce } })
    expect(seen.json.status).toBe('minted')
    const spent = await call(server.url, '/api/coupons/claim', { body: { nonce } })
    expect(spent.json.status).toBe('success')
    expectRefusal(await manage(server.url, stranger), 403, 'merchant-not-allowed')
  })
})

test('the code lets one caller in, once, also after restarts', async () => {
  const first = await startClosed()
  const { dataDir, code } = first
  const [merchant, late] = [newSigner(), newSigner()]
  await first.stop()
  const second = await startClosed({ dataDir })
  expect(second.code).toBe(code)

  const typed = ` ${code.toLowerCase().replaceAll('-', ' ')} `
  const answer = await sendCode(second.url, merchant, typed)
  const { pubkey } = merchant
  expect({ status: answer.status, json: answer.json }).toEqual({
    status: 201,
    json: { pubkey, npub: npubOf(pubkey) },
  })
  const token = await openSession(second.url, merchant)
  expect((await manage(second.url, token)).status).toBe(200)
  await logged(second, `"merchant.admitted","npub":"${npubOf(pubkey)}","by":"code"`)
  for (const signer of [late, merchant]) {
    expectRefusal(await sendCode(second.url, signer, code), 403, 'setup-code-wrong')
  }
  // A stranger is not told of a code that is used up.
  const stranger = await openSession(second.url, late)
  expectRefusal(await manage(second.url, stranger), 403, 'merchant-not-allowed')

  await second.stop()
  const third = await startClosed({ dataDir })
  expect(third.output()).toMatch(/management +1 merchant\(s\)\n/)
  expect((await manage(third.url, token)).status).toBe(200)
  expectRefusal(await sendCode(third.url, late, code), 403, 'setup-code-wrong')
  expect(await readRows(dataDir)).toMatchObject({
    merchants: [{ owner: 1, label: null, expires_at: null }],
    setup_code: [],
  })
})

test('the setup route refuses in the order of the protocol', async () => {
  const server = await startClosed()
  const { url, code } = server
  const signer = newSigner()
  const token = await openSession(url, signer)
  const unsigned = await call(url, '/api/setup', { body: { code } })
  expectRefusal(unsigned, 401, 'auth-missing', { reason: 'missing' })
  const session = await call(url, '/api/setup', { body: { code }, token })
  expectRefusal(session, 401, 'auth-missing', { reason: 'missing' })
  const list = await call(url, '/api/setup', { body: '[]', signer })
  expectRefusal(list, 400, 'body-invalid')
  const long = 'A'.repeat(limits.setupCodeCharsMax + 1)
  for (const wrong of [undefined, null, 5, ['A'], {}, long]) {
    const answer = await sendCode(url, signer, wrong)
    expectRefusal(answer, 400, 'field-invalid', { field: 'code' })
  }
  expect((await readRows(server.dataDir)).setup_code).toMatchObject([{ tries: 0 }])
  for (const wrong of ['', 'AAAA-AAAA-AAAA', code.slice(1), `${code}A`, '\ud800']) {
    expectRefusal(await sendCode(url, signer, wrong), 403, 'setup-code-wrong')
  }
  expect(await readRows(server.dataDir)).toMatchObject({
    merchants: [],
    setup_code: [{ tries: 5 }],
  })

  const proof = { method: 'POST', body: JSON.stringify({ code }) }
  const Authorization = nostrHeader(createProof(newSigner(), `${url}/api/setup`, proof))
  const send = () => call(url, '/api/setup', { body: { code }, headers: { Authorization } })
  expect((await send()).status).toBe(201)
  expectRefusal(await send(), 401, 'auth-replay', { reason: 'replay' })
})

test('tries are limited by address, and the code is replaced after its thousandth wrong one', async () => {
  const env = { RATE_LIMIT: 'on', TRUSTED_PROXIES: '127.0.0.1' }
  const server = await startClosed({ env })
  const { url, dataDir, code } = server
  const guess = (address: string, tried: string) =>
    call(url, '/api/setup', {
      body: { code: tried },
      signer: newSigner(),
      headers: { 'X-Forwarded-For': address },
    })
  for (let turn = 0; turn < 10; turn++) {
    expectRefusal(await guess('203.0.113.1', '1'), 403, 'setup-code-wrong')
  }
  expectRefusal(await guess('203.0.113.1', code), 429, 'rate-limited', { retry: true })
  expect((await readRows(dataDir)).setup_code).toMatchObject([{ tries: 10 }])

  await damage(dataDir, `UPDATE setup_code SET tries = ${limits.setupTriesMax - 1}`)
  expectRefusal(await guess('203.0.113.2', '1'), 403, 'setup-code-wrong')
  expect((await readRows(dataDir)).setup_code).toMatchObject([{ tries: 0 }])
  await logged(server, 'setup.replaced')
  expectRefusal(await guess('203.0.113.2', code), 403, 'setup-code-wrong')
  const shown = await runCommand(['setup'], { dataDir })
  const [, other = ''] = /once: (\S+)/.exec(shown.stdout) ?? []
  expect((await guess('203.0.113.2', other)).status).toBe(201)
})

test('exactly one of many processes with the right code is let in', async () => {
  const racers = startRacers(6)
  try {
    for (let round = 0; round < 3; round++) {
      const server = await startClosed()
      const body = { code: server.code }
      const lists = Array.from({ length: 6 }, () =>
        Array.from({ length: 5 }, () => {
          const proof = { method: 'POST', body: JSON.stringify(body) }
          const event = createProof(newSigner(), `${server.url}/api/setup`, proof)
          const headers = { Authorization: nostrHeader(event) }
          return { path: '/api/setup', body, headers }
        }),
      )
      const answers = (await racers.race(server.url, lists)).flat()
      const statuses = answers.map(({ status }) => status).sort()
      expect(statuses).toEqual([201, ...Array.from({ length: 29 }, () => 403)])
      const won = answers.find(({ status }) => status === 201)
      const { merchants = [], setup_code } = await readRows(server.dataDir)
      expect(setup_code).toEqual([])
      expect(merchants.map((row) => hexOf((row as { pubkey: Uint8Array }).pubkey))).toEqual([
        JSON.parse(won?.text ?? '').pubkey,
      ])
      await server.stop()
    }
  } finally {
    await racers.stop()
  }
})

test('a server killed between code and answer has let in one caller or none', async () => {
  for (let round = 0; round < 4; round++) {
    const server = await startClosed()
    const { dataDir, code } = server
    const callers = Array.from({ length: 8 }, () => newSigner())
    const sent = callers.map(async (signer) => ({
      pubkey: signer.pubkey,
      status: await sendCode(server.url, signer, code).then(
        ({ status }) => status,
        () => null,
      ),
    }))
    if (round > 0) await Promise.race(round > 1 ? sent : [Bun.sleep(1)])
    await server.kill()
    const told = await Promise.all(sent)
    const again = await startClosed({ dataDir })
    const won = told.filter(({ status }) => status === 201).map(({ pubkey }) => pubkey)
    const rows = ((await readRows(dataDir)).merchants ?? []) as { pubkey: Uint8Array }[]
    const kept = rows.map((row) => hexOf(row.pubkey))
    expect(kept.length).toBeLessThanOrEqual(1)
    if (won.length > 0) expect(kept).toEqual(won)
    expect(again.code).toBe(kept.length === 0 ? code : '')
    await again.stop()
  }
})

testOfFile('a backup does not contain the code', async () => {
  const { dataDir, code } = await startClosed()
  const file = join(newDirectory(), 'backup.db')
  expect((await runCommand(['backup', file], { dataDir })).code).toBe(0)
  const text = readFileSync(file, 'latin1').toUpperCase()
  expect([code, code.replaceAll('-', '')].filter((form) => text.includes(form))).toEqual([])
})

test('neither the log nor the database contains the code', async () => {
  const server = await startClosed({ env: { LOG_LEVEL: 'debug' } })
  const { dataDir, code } = server
  await sendCode(server.url, newSigner(), `${code}A`)
  const before = await databaseOf(dataDir).content()
  await admitByCode(server)
  await server.stop()
  const logged = server.output().split('\n')
  const lines = logged.filter((line) => line.startsWith('{'))
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
  const texts = [
    ...lines,
    before,
    await databaseOf(dataDir).content(),
    ...files
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
  ]
  expect(lines.length).toBeGreaterThan(3)
  for (const form of [code, code.replaceAll('-', '')]) {
    expect(texts.filter((text) => text.toUpperCase().includes(form)).length).toBe(0)
  }
})

testOfFile('a restored backup does not make a used code valid again', async () => {
  const server = await startClosed()
  const { dataDir, code } = server
  const file = join(newDirectory(), 'backup.db')
  await runCommand(['backup', file], { dataDir })
  await admitByCode(server)
  await server.stop()
  expect((await runCommand(['restore', file, '--force'], { dataDir })).code).toBe(0)
  const restored = await startClosed({ dataDir })
  expect(restored.code).not.toBe('')
  expect(restored.code).not.toBe(code)
  expectRefusal(await sendCode(restored.url, newSigner(), code), 403, 'setup-code-wrong')
})

// The clock of PostgreSQL is that of its server.
testOfFile(
  'a service starts with a clock that is behind, and offers the code once it is right',
  async () => {
    const first = await startServer({ checkRoots: true })
    const { dataDir } = first
    await first.stop()
    await damage(dataDir, `UPDATE state SET newest_write = ${secondsNow() + 100_000}`)
    const behind = await startClosed({ dataDir })
    expect(behind.output()).toContain('management  closed: see cuponera setup')
    await logged(behind, '"setup.unsaved","why":"clock-behind"')
    await behind.kill()
    await damage(dataDir, 'UPDATE state SET newest_write = 1')
    const { code } = await startClosed({ dataDir })
    expect(code).not.toBe('')
  },
)

describe('on the loopback any key manages', () => {
  const headers: [string, string][] = [
    ['Forwarded', 'for=203.0.113.9'],
    ['Via', '1.1 tunnel'],
    ['X-Forwarded-For', '203.0.113.9'],
    ['X-Forwarded-Host', 'tienda.local'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Forwarded-Anything', ''],
  ]
  test.each(headers)('until a request comes with %s', async (name, value) => {
    const server = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
    const { url, dataDir } = server
    expect(server.output()).toContain('open to any key (this machine only)')
    const token = await openSession(url, newSigner())
    expect((await manage(url, token)).status).toBe(200)
    // Management is closed already for the request that comes by the proxy.
    const forwarded = await call(url, '/api/coupons', { token, headers: { [name]: value } })
    expectRefusal(forwarded, 403, 'merchant-not-allowed', setup)
    expectRefusal(await manage(url, token), 403, 'merchant-not-allowed', setup)
    await logged(server, '"management.closed","hint":"run \\"cuponera setup')
    await server.stop()

    const again = await startServer({ dataDir, env: { RATE_LIMIT: 'off' } })
    expectRefusal(await manage(again.url, token), 403, 'merchant-not-allowed', setup)
    const code = shownCode(again)
    expect((await sendCode(again.url, newSigner(), code)).status).toBe(201)
  })

  test.each(['/livez', '/no-such-path', '/relay'])('until a request comes for %s', async (path) => {
    const { url } = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
    const token = await openSession(url, newSigner())
    await fetch(`${url}${path}`, { headers: { 'X-Forwarded-For': '203.0.113.9' } })
    expectRefusal(await manage(url, token), 403, 'merchant-not-allowed', setup)
  })

  test('until a request comes by a trusted proxy', async () => {
    const env = { RATE_LIMIT: 'off', TRUSTED_PROXIES: '127.0.0.1' }
    const { url } = await startServer({ checkRoots: true, env })
    const token = await openSession(url, newSigner())
    expect((await manage(url, token)).status).toBe(200)
    await call(url, '/livez', { headers: { 'X-Forwarded-For': '203.0.113.9' } })
    expectRefusal(await manage(url, token), 403, 'merchant-not-allowed', setup)
  })

  test('and the streams that were open end then', async () => {
    const { url } = await startServer({ checkRoots: true })
    const token = await openSession(url, newSigner())
    const headers = { Authorization: `Bearer ${token}` }
    const stream = await fetch(`${url}/api/coupons/live`, { headers })
    expect(stream.status).toBe(200)
    await call(url, '/livez', { headers: { Via: '1.1 tunnel' } })
    // The session has an end now.
    await stream.text()
  })

  test('without a code and a list of merchants', async () => {
    const { url } = await startServer({ checkRoots: true })
    const signer = newSigner()
    expectRefusal(await sendCode(url, signer, 'AAAA-AAAA-AAAA'), 403, 'setup-code-wrong')
    const list = await call(url, '/api/merchants', { signer })
    expectRefusal(list, 409, 'merchants-by-setting')
  })

  test('and the panel knows, so that it asks for no list of merchants until there is one', async () => {
    const { url } = await startServer({ checkRoots: true })
    const told = async (path: string) =>
      /data-admission="([^"]*)"/.exec((await call(url, path)).text)?.[1] ?? null
    expect([await told('/panel'), await told('/caja')]).toEqual(['private', null])
    await call(url, '/livez', { headers: { Via: '1.1 tunnel' } })
    expect(await told('/panel')).toBe('let-in')
  })
})

describe('MERCHANTS', () => {
  test('=open lets any key manage, at any address of the service', async () => {
    const server = await startClosed({ env: { MERCHANTS: 'open' } })
    expect(server.code).toBe('')
    expect(server.output()).toContain('open to any key by MERCHANTS=open')
    const signer = newSigner()
    const token = await openSession(server.url, signer)
    const headers = { Via: '1.1 tunnel' }
    const answer = await call(server.url, '/api/coupons', { token, headers })
    expect(answer.status).toBe(200)
    expectRefusal(await sendCode(server.url, signer, 'A'), 403, 'setup-code-wrong')
    const added = await call(server.url, '/api/merchants', {
      body: { pubkey: newSigner().pubkey },
      token,
    })
    expectRefusal(added, 409, 'merchants-by-setting')
  })

  test('=list replaces the stored merchants; without the list they are back', async () => {
    const first = await startClosed()
    const { dataDir } = first
    const { token, signer } = await admitByCode(first)
    await first.stop()
    const listed = newSigner()
    const second = await startClosed({ dataDir, env: { MERCHANTS: listed.pubkey } })
    expect(second.output()).toContain('the keys of MERCHANTS (1)')
    expectRefusal(await manage(second.url, token), 403, 'merchant-not-allowed')
    const by = await openSession(second.url, listed)
    expect((await manage(second.url, by)).status).toBe(200)
    for (const caller of [listed, signer]) {
      const removed = await call(second.url, `/api/merchants/${signer.pubkey}`, {
        method: 'DELETE',
        signer: caller,
      })
      expectRefusal(removed, 409, 'merchants-by-setting')
    }
    await second.stop()
    const third = await startClosed({ dataDir })
    expect((await manage(third.url, token)).status).toBe(200)
    expectRefusal(await manage(third.url, by), 403, 'merchant-not-allowed')
  })
})

describe('the merchant of the code', () => {
  test('adds, lists and removes other merchants; those others may not', async () => {
    const server = await startClosed()
    const { url, dataDir } = server
    const { token, signer } = await admitByCode(server)
    const other = newSigner()
    const by = await openSession(url, other)
    expectRefusal(await manage(url, by), 403, 'merchant-not-allowed')
    const add = (body: unknown, as = token) => call(url, '/api/merchants', { body, token: as })
    const npub = npubOf(other.pubkey)

    const added = await add({ pubkey: `nostr:${npub}`, label: 'Panadería' })
    const row = {
      ...{ pubkey: other.pubkey, npub, label: 'Panadería', owner: false },
      createdAt: expect.any(Number),
    }
    expect({ status: added.status, json: added.json }).toEqual({
      status: 201,
      json: { merchant: row },
    })
    expect((await manage(url, by)).status).toBe(200)
    const again = await add({ pubkey: other.pubkey })
    expect({ status: again.status, json: again.json }).toEqual({
      status: 200,
      json: added.json,
    })
    const bare = await add({ pubkey: other.pubkey, label: null })
    expect(bare.json.merchant).toEqual({ ...row, label: null })
    expect((await add({ pubkey: signer.pubkey, label: 'Yo' })).json.merchant).toMatchObject({
      ...{ label: 'Yo', owner: true },
    })
    const { json } = await call(url, '/api/merchants', { token })
    expect(json.merchants.map((one: typeof row) => [one.pubkey, one.owner])).toContainEqual([
      ...[other.pubkey, false],
    ])
    expect(json.merchants).toHaveLength(2)

    const before = await readRows(dataDir)
    const key = `/api/merchants/${npub}`
    expectRefusal(await call(url, '/api/merchants', { token: by }), 403, 'merchants-owner-only')
    expectRefusal(await add({ pubkey: newSigner().pubkey }, by), 403, 'merchants-owner-only')
    const drop = (path: string, as: string) => call(url, path, { method: 'DELETE', token: as })
    expectRefusal(await drop(key, by), 403, 'merchants-owner-only')
    expectRefusal(await add({ pubkey: 'x' }), 400, 'field-invalid', { field: 'pubkey' })
    expectRefusal(await add({ pubkey: 'shop@shop.example' }), 400, 'field-invalid', {
      field: 'pubkey',
    })
    const long = { pubkey: newSigner().pubkey, label: 'x'.repeat(81) }
    expectRefusal(await add(long), 400, 'field-invalid', { field: 'label' })
    expectRefusal(await drop('/api/merchants/x', token), 404, 'merchant-unknown')
    const unknown = `/api/merchants/${newSigner().pubkey}`
    expectRefusal(await drop(unknown, token), 404, 'merchant-unknown')
    const self = `/api/merchants/${signer.pubkey}`
    expectRefusal(await drop(self, token), 409, 'merchant-is-owner')
    expect(await readRows(dataDir)).toEqual(before)

    const couponId = await createDefinition(url, by)
    const { nonce } = await mintOne(url, by, couponId)
    const headers = { Authorization: `Bearer ${by}` }
    const stream = await fetch(`${url}/api/coupons/live`, { headers })
    const removed = await drop(key, token)
    expect({ status: removed.status, json: removed.json }).toEqual({
      status: 200,
      json: { removed: true },
    })
    await stream.text()
    expectRefusal(await manage(url, by), 403, 'merchant-not-allowed')
    for (const type of ['admitted', 'removed']) {
      const line = `"merchant.${type}","npub":"${npub}","by":"${npubOf(signer.pubkey)}"`
      await logged(server, line)
    }
    // Its vouchers stay good, and it goes on issuing.
    const swapped = await call(url, '/api/coupons/refresh', {
      body: { nonce },
      headers: { 'Idempotency-Key': newKey() },
    })
    expect(swapped.status).toBe(201)
    expect(await mintOne(url, by, couponId)).toMatchObject({ couponId })
    expectRefusal(await drop(key, token), 404, 'merchant-unknown')
  })

  test('adds merchants up to the maximum', async () => {
    const server = await startClosed()
    const { token } = await admitByCode(server)
    const known = newSigner().pubkey
    const add = (pubkey: string) => call(server.url, '/api/merchants', { body: { pubkey }, token })
    expect((await add(known)).status).toBe(201)
    await databaseOf(server.dataDir).runEach(
      'INSERT INTO merchants (pubkey, owner, created_at) VALUES (?, 0, 1)',
      Array.from({ length: limits.merchantsMax - 2 }, () => [randomBytes(32)]),
    )
    expectRefusal(await add(newSigner().pubkey), 409, 'merchants-full')
    expect((await add(known)).status).toBe(200)
  })

  test('is not an issuer of identities by that', async () => {
    const server = await startClosed()
    const { signer } = await admitByCode(server)
    const fields = { kind: 1112, created_at: secondsNow(), content: '' }
    const event = signer.sign({ ...fields, tags: [['t', 'create-nonce']] })
    const answer = await call(server.url, '/api/nonce', { body: event })
    expect([answer.status, answer.json.code]).toEqual([403, 'identity-not-authorized'])
  })
})

test('the relay accepts events of a merchant that was let in, before its first coupon', async () => {
  const server = await startClosed()
  const { signer } = await admitByCode(server)
  const publish = async (by: typeof signer) => {
    const fields = { kind: 1, created_at: secondsNow(), tags: [] }
    const body = by.sign({ ...fields, content: 'hola' })
    return (await call(server.url, '/nostr/publish', { body })).status
  }
  expect([await publish(signer), await publish(newSigner())]).toEqual([202, 403])
})
