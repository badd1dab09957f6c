import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { nsecOf } from '../../src/nostr/keys.ts'
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
import { identityEvent, newIdentityNonce } from '../support/identities.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { Workload } from '../support/workload.ts'

afterAll(cleanUp)

test('no nonce, key, token or secret is in any file or log, after any request and any kind of end', async () => {
  const dataDir = newDirectory()
  const managerSecret = randomBytes(32)
  const storeKey = randomBytes(32)
  const sessionSecret = randomBytes(32).toString('base64url')
  const env = {
    COUPON_MANAGER_NSEC: managerSecret.toString('hex'),
    STORE_KEY: storeKey.toString('hex'),
    SESSION_JWT_SECRET: sessionSecret,
    LOG_LEVEL: 'debug',
    RATE_LIMIT: 'off',
  }
  const secrets: Secret[] = [
    ...formsOf('manager secret', managerSecret),
    { name: 'nsec', bytes: Buffer.from(nsecOf(managerSecret)) },
    ...formsOf('store key', storeKey),
    { name: 'session secret', bytes: Buffer.from(sessionSecret) },
  ]

  let server = await startServer({ dataDir, env })
  const workload = new Workload(server.url, 1)
  await workload.prepare()
  const running = workload.run(8)
  const used = (secret: string) => workload.memory.secrets.push(secret)
  await useEverything(server, used)
  await useIdentities(server, newSigner(managerSecret), used)
  await workload.reach(101)
  // A kill in the middle of it leaves the log and the write-ahead log as they are.
  await server.kill()
  const memory = await running
  for (const text of memory.secrets) secrets.push(...textForms(text))
  expect(memory.problems).toEqual([])
  expect(memory.acknowledged).toBeGreaterThan(100)
  expect(filesBelow(dataDir).map((path) => basename(path))).toContain('cuponera.db-wal')
  expect(found(secrets, dataDir, server)).toEqual([])

  server = await startServer({ dataDir, env })
  await server.stop()
  expect(found(secrets, dataDir, server)).toEqual([])
  // Without this, a search that reads no file would pass, too.
  const [nonce = ''] = Object.keys(memory.vouchers)
  const planted = [{ name: 'coupon id', bytes: Buffer.from(memory.definitions[0] ?? '') }]
  expect(found(planted, dataDir, server)).not.toEqual([])
  expect(textForms(nonce).length).toBe(2)
})

test('the configuration never shows a secret, not even when it is refused', async () => {
  const secret = 'nsec1thisisnosecretatall'
  const child = startServer({ env: { COUPON_MANAGER_NSEC: secret, STORE_KEY: secret } })
  const refused = await child.catch((cause: unknown) => cause)
  expect(String(refused)).toContain('COUPON_MANAGER_NSEC')
  expect(String(refused)).not.toContain(secret)
})

type Secret = { name: string; bytes: Uint8Array }

/** Requests that the workload does not make: credentials in odd places, and refused ones. */
async function useEverything(server: TestServer, used: (secret: string) => void): Promise<void> {
  const { url } = server
  const signer = newSigner()
  const token = await openSession(url, signer)
  const couponId = await createDefinition(url, token)
  const { nonce } = await mintOne(url, token, couponId)
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(url, `/api/coupons/${path}`, { body, headers })
  const key = newKey()
  for (const secret of [token, nonce, key]) used(secret)

  await call(url, `/api/coupons/claim?nonce=${nonce}`)
  await call(url, `/api/coupons/claim?nonce=${nonce}x&nonce=${nonce}`)
  await call(url, `/api/coupons/mints/${nonce}`)
  await call(url, `/${nonce}`, { method: 'POST', body: nonce })
  await post('preview', { nonce: `${nonce}x` })
  await post('preview', nonce)
  await post('claim', { nonce, amountMsat: nonce, zapRequest: nonce }, { 'Idempotency-Key': 'x' })
  const successor = await post('refresh', { nonce }, { 'Idempotency-Key': key })
  used(successor.json.nonce)
  const wrong = newKey()
  used(wrong)
  await post('refresh', { nonce }, { 'Idempotency-Key': wrong })
  const zapRequest = (content: string) =>
    signer.sign({ kind: 9734, created_at: 1_700_000_000, tags: [['coupon', couponId]], content })
  const claimed = { nonce: successor.json.nonce, zapRequest: zapRequest(successor.json.nonce) }
  await post('claim', claimed, { 'Idempotency-Key': key })
  await post('claim', { ...claimed, zapRequest: zapRequest('otro') }, { 'Idempotency-Key': key })

  const signed = (path: string, options: Parameters<typeof createProof>[2] = {}) => {
    const header = nostrHeader(createProof(signer, `${url}${path}`, options))
    used(header.slice('Nostr '.length))
    return header
  }
  for (const Authorization of [
    signed('/api/coupons', { createdAt: 1 }),
    signed('/api/elsewhere'),
    signed('/api/coupons', { kind: 1 }),
    signed('/api/coupons'),
    `Bearer ${token}x`,
    `Basic ${token}`,
    `${token}`,
  ]) {
    await call(url, '/api/coupons', { headers: { Authorization } })
  }
  const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': key }
  await call(url, '/api/coupons', { body: { name: nonce }, headers })
  await call(url, '/api/coupons/minters', { body: { pubkey: token, label: nonce }, headers })
  await call(url, `/api/coupons/minters/${nonce}`, { method: 'DELETE', headers })
  await call(url, '/api/coupons/discovery', { method: 'PUT', body: { event: token }, headers })
  for (const path of ['/metrics', '/readyz', '/livez', '/openapi.json']) await call(url, path)
}

/** Nonces of identities: made, proposed, asked about, used, used again and refused. */
async function useIdentities(
  { url }: TestServer,
  issuer: ReturnType<typeof newSigner>,
  used: (secret: string) => void,
): Promise<void> {
  const proposed = newKey()
  const nonces = [await newIdentityNonce(url, issuer), proposed]
  for (const nonce of nonces) used(nonce)
  const tags = [
    ['t', 'create-nonce'],
    ['nonce', proposed],
  ]
  const body = identityEvent(issuer, null, {}, { tags, content: '' })
  for (let times = 0; times < 2; times++) await call(url, '/api/nonce', { body })
  for (const [at, nonce] of nonces.entries()) {
    const wanted = { name: `n${at}`, pubkey: newSigner().pubkey }
    await call(url, `/api/nonce/${nonce}`)
    await call(url, `/api/nonce/${nonce}`, { method: 'DELETE' })
    await call(url, `/api/identity/${nonce}?name=${nonce}`)
    await call(url, `/.well-known/nostr.json?name=${nonce}`)
    await call(url, '/api/identity', { body: identityEvent(newSigner(), nonce, wanted) })
    for (let times = 0; times < 2; times++) {
      await call(url, '/api/identity', { body: identityEvent(issuer, nonce, wanted) })
    }
    expect((await call(url, `/api/nonce/${nonce}`)).status).toBe(410)
  }
}

/** Names of secrets and the places where they were found. */
function found(secrets: Secret[], dataDir: string, server: TestServer): string[] {
  const places = [
    ...filesBelow(dataDir).map((path) => ({ place: basename(path), bytes: readFileSync(path) })),
    { place: 'log', bytes: Buffer.from(server.output()) },
  ]
  return places.flatMap(({ place, bytes }) =>
    secrets.filter((secret) => bytes.includes(secret.bytes)).map(({ name }) => `${name}: ${place}`),
  )
}

/** Every file of the data directory but the keys themselves. */
function filesBelow(dataDir: string): string[] {
  return readdirSync(dataDir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/keys'))
    .map((entry) => join(entry.parentPath, entry.name))
}

function formsOf(name: string, bytes: Buffer): Secret[] {
  const texts = [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')]
  return [{ name, bytes }, ...texts.map((text) => ({ name, bytes: Buffer.from(text) }))]
}

/** A nonce as text and as its 16 bytes; the signature of a token; anything else as it is. */
function textForms(text: string): Secret[] {
  if (/^[\w-]{22}$/.test(text)) {
    return [
      { name: 'nonce', bytes: Buffer.from(text) },
      { name: 'raw nonce', bytes: Buffer.from(text, 'base64url') },
    ]
  }
  const [, , signature] = text.split('.')
  return [{ name: 'token or key', bytes: Buffer.from(signature ?? text) }]
}
