import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls'
import { createAuthority, issueCertificate } from '../../src/tls/certificate.ts'
import { findOwnCertificate, renewOwnCertificate } from '../../src/tls/files.ts'
import { expiredCertificate, rsaCertificate, shopCertificate } from '../support/certificates.ts'
import { runCommand } from '../support/cli.ts'
import { createProof, newSigner, nostrHeader } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { logged } from '../support/until.ts'

const year = 365 * 86_400
let dataDir: string
let printed: string
let server: TestServer
let ca: string
/** Https of the server, as the start block says. */
let secure: string

const secureOf = (one: TestServer) => /https\s+(https:\S+)/.exec(one.output())?.[1] ?? ''

beforeAll(async () => {
  dataDir = join(newDirectory(), 'data')
  const { code, stdout } = await runCommand(['tls'], { dataDir, env: { TLS_PORT: '0' } })
  expect(code).toBe(0)
  printed = stdout
  ca = readFileSync(join(dataDir, 'tls/authority.pem'), 'utf8')
  server = await startServer({ dataDir, env: { TLS_PORT: '0' } })
  secure = secureOf(server)
})
afterAll(cleanUp)

describe('cuponera tls', () => {
  test('creates an authority and a certificate, whose keys only this user can read', () => {
    const files = readdirSync(join(dataDir, 'tls'))
    expect(new Set(files)).toEqual(
      new Set(['authority.key', 'authority.pem', 'server.key', 'server.pem']),
    )
    for (const file of files) {
      expect(statSync(join(dataDir, 'tls', file)).mode & 0o777).toBe(0o600)
    }
    const authority = new X509Certificate(ca)
    const certificate = new X509Certificate(readFileSync(join(dataDir, 'tls/server.pem')))
    expect(certificate.verify(authority.publicKey)).toBe(true)
    expect([authority.ca, certificate.ca]).toEqual([true, false])
    expect(certificate.subjectAltName).toContain(
      `DNS:${hostname().split('.')[0]?.toLowerCase()}.local`,
    )
    // iOS refuses certificates that last longer.
    const lasts = Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)
    expect(lasts).toBeLessThan(825 * 86_400_000)
  })

  test('prints the address to open, its QR code and the fingerprint', () => {
    expect(printed).toMatch(/\n {2}http:\/\/\S+:\d+\/tls\n/)
    expect(printed).toContain(new X509Certificate(ca).fingerprint256)
    expect(printed).toMatch(/█{10}/)
    expect(printed).toContain('start with --host 0.0.0.0')
  })

  test('renews the certificate and keeps the authority when it is run again', async () => {
    const own = join(newDirectory(), 'data')
    const read = () =>
      ['authority', 'server'].map((n) => readFileSync(join(own, `tls/${n}.pem`), 'utf8'))
    await runCommand(['tls'], { dataDir: own })
    const first = read()
    await runCommand(['tls'], { dataDir: own })
    const second = read()
    expect([second[0] === first[0], second[1] === first[1]]).toEqual([true, false])
  })
})

describe('the certificate', () => {
  const now = secondsNow()

  test('is renewed when its end is near, or the machine has another name', async () => {
    const own = newDirectory()
    const first = await renewOwnCertificate(own, now)
    expect((await findOwnCertificate(own, now))?.cert).toBe(first.cert)
    const later = await findOwnCertificate(own, now + 2.2 * year)
    expect(later?.cert).not.toBe(first.cert)
    expect(later?.authority).toBe(first.authority)
    const authority = {
      cert: first.authority ?? '',
      key: readFileSync(join(own, 'tls/authority.key'), 'utf8'),
    }
    const other = issueCertificate(authority, ['elsewhere.local'], { from: now, to: now + year })
    writeFileSync(join(own, 'tls/server.pem'), other.cert)
    writeFileSync(join(own, 'tls/server.key'), other.key)
    expect((await findOwnCertificate(own, now))?.hosts).toEqual(first.hosts)
  })

  test('is renewed when a crash left only one of its two files', async () => {
    const own = newDirectory()
    await renewOwnCertificate(own, now)
    const stray = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    writeFileSync(join(own, 'tls/server.key'), stray.export({ type: 'pkcs8', format: 'pem' }))
    const found = await findOwnCertificate(own, now)
    const key = createPrivateKey(found?.key ?? '')
    expect(new X509Certificate(found?.cert ?? '').checkPrivateKey(key)).toBe(true)
  })

  test('is served without the key of the authority, which can be kept elsewhere', async () => {
    const own = newDirectory()
    const { cert } = await renewOwnCertificate(own, now)
    rmSync(join(own, 'tls/authority.key'))
    expect((await findOwnCertificate(own, now + 3 * year))?.cert).toBe(cert)
  })

  test('is refused by clients for a name outside of the network: the authority may not sign for it', async () => {
    const life = { from: now - 60, to: now + year }
    const subject = { organisation: 'Cuponera', name: 'Cuponera caja' }
    const authority = createAuthority(subject, ['caja', 'localhost', 'local'], life)
    const tries: [hosts: string[], taken: boolean][] = [
      [['localhost', 'caja.local', 'caja', '192.168.0.7', 'fd00::7'], true],
      [['localhost', 'banco.example'], false],
      [['localhost', 'local.example'], false],
    ]
    for (const [hosts, taken] of tries) {
      const shop = Bun.serve({
        port: 0,
        tls: issueCertificate(authority, hosts, life),
        fetch: () => new Response('ok'),
      })
      const asked = fetch(`https://localhost:${shop.port}`, { tls: { ca: authority.cert } })
      const answer = await asked.then(({ ok }) => ok).catch(() => false)
      expect({ hosts, taken: answer }).toEqual({ hosts, taken })
      await shop.stop(true)
    }
  })
})

describe('a service with a certificate', () => {
  const get = (url: string, init: RequestInit = {}) => fetch(url, { ...init, tls: { ca } })

  test('answers at https and at http', async () => {
    for (const url of [`${secure}/livez`, `${secure.replace('127.0.0.1', 'localhost')}/livez`]) {
      expect((await get(url)).status).toBe(200)
    }
    expect((await fetch(`${server.url}/livez`)).status).toBe(200)
    expect((await get(`${secure}/readyz`, { method: 'HEAD' })).status).toBe(200)
  })

  test('accepts signatures for the scheme of the request, and no other', async () => {
    const signer = newSigner()
    const session = (base: string, signed: string) => {
      const proof = createProof(signer, `${signed}/api/auth/session`, { method: 'POST' })
      const headers = { Authorization: nostrHeader(proof) }
      return get(`${base}/api/auth/session`, { method: 'POST', headers })
    }
    expect((await session(secure, secure)).status).toBe(200)
    const crossed = await session(secure, secure.replace('https:', 'http:'))
    expect([crossed.status, (await crossed.json()).reason]).toEqual([401, 'url-mismatch'])
    expect((await session(server.url, server.url)).status).toBe(200)
  })

  test('carries request bodies, streams and the relay', async () => {
    const signer = newSigner()
    const proof = createProof(signer, `${secure}/api/auth/session`, { method: 'POST' })
    const asking = { method: 'POST', headers: { Authorization: nostrHeader(proof) } }
    const { token } = await (await get(`${secure}/api/auth/session`, asking)).json()
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const live = await get(`${secure}/api/coupons/live`, { headers })
    const reader = live.body?.pipeThrough(new TextDecoderStream()).getReader()
    const benefit = { type: 'percent', percent: 10 }
    const body = JSON.stringify({ name: 'Café', benefit, description: 'ñ'.repeat(400) })
    const made = await get(`${secure}/api/coupons`, { method: 'POST', headers, body })
    expect([made.status, (await made.json()).coupon.description.length]).toEqual([201, 400])
    let heard = ''
    while (!heard.includes('event: coupon')) heard += (await reader?.read())?.value
    await reader?.cancel()

    const socket = new WebSocket(`${secure.replace('https', 'wss')}/relay`, {
      tls: { ca },
    } as never)
    const told = Promise.withResolvers<string>()
    socket.onopen = () => socket.send(JSON.stringify(['REQ', 'x', { limit: 1 }]))
    socket.onmessage = ({ data }) => {
      if (String(data).includes('EOSE')) told.resolve(String(data))
    }
    socket.onerror = () => told.reject(new Error('no connection'))
    expect(JSON.parse(await told.promise)).toEqual(['EOSE', 'x'])
    socket.close()
  })

  test('is not disturbed by plain http on its https port', async () => {
    const { hostname, port } = new URL(secure)
    for (const text of ['GET /livez HTTP/1.1\r\nHost: x\r\n\r\n', '\x16\x03\x01garbage', '']) {
      const socket = connect(Number(port), hostname)
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      socket.on('error', () => undefined)
      let answered = ''
      socket.on('data', (bytes) => {
        answered += bytes.toString('latin1')
      })
      socket.end(text)
      await closed
      expect(answered).not.toContain('200')
    }
    expect((await get(`${secure}/livez`)).status).toBe(200)
  })

  test('explains how to trust it, also over plain http, in the language and for the device of the visitor', async () => {
    const page = async (base: string, path: string, headers: Record<string, string> = {}) =>
      get(`${base}${path}`, { headers })
    for (const base of [server.url, secure]) {
      const response = await page(base, '/tls')
      const html = await response.text()
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('content-security-policy')).toStartWith("default-src 'none'")
      expect(html).toContain('<html lang="es-AR">')
      expect(html).toContain(new X509Certificate(ca).fingerprint256)
      expect(html).toContain('href="/tls/cuponera.crt"')
      expect(html).toMatch(/<svg[\s\S]+<\/svg>/)
      expect(html).not.toMatch(/<script|<img|\son\w+=|\sstyle=/)
      expect(html).toContain(`:${new URL(secure).port}/caja"`)
    }
    const open = async (agent: string) => {
      const html = await (await page(server.url, '/tls', { 'User-Agent': agent })).text()
      return [...html.matchAll(/<details open><summary>([^<]+)/g)].map(([, name]) => name)
    }
    expect(await open('Mozilla/5.0 (Linux; Android 15)')).toEqual(['Android'])
    expect(await open('Mozilla/5.0 (iPhone; CPU iPhone OS 19_0)')).toEqual(['iPhone, iPad'])
    expect(await open('Mozilla/5.0 (X11; Linux x86_64)')).toEqual(['Linux'])
    expect(await open('curl')).toEqual([])
    const english = { 'Accept-Language': 'en-US,en;q=0.9,es;q=0.5' }
    expect(await (await page(server.url, '/tls', english)).text()).toContain('<html lang="en">')
    const chosen = await page(server.url, '/tls?lang=es', english)
    expect(await chosen.text()).toContain('<html lang="es-AR">')
    // A Host header of a stranger does not get into the page.
    const forged = await page(server.url, '/tls', { Host: 'evil.example"><b>' })
    expect(await forged.text()).not.toContain('evil')
  })

  test('serves the certificate of the authority, and never its key', async () => {
    const response = await fetch(`${server.url}/tls/cuponera.crt`)
    expect(response.headers.get('content-type')).toBe('application/x-x509-ca-cert')
    expect(Buffer.from(await response.bytes())).toEqual(new X509Certificate(ca).raw)
    const { status } = await fetch(`${server.url}/tls/authority.key`)
    expect(status).toBe(404)
  })

  test('accepts only suites with a fresh key for each connection and authenticated encryption', async () => {
    const twelve: ConnectionOptions = { maxVersion: 'TLSv1.2' }
    const tries: [asked: ConnectionOptions, spoken: string | null][] = [
      [{}, 'TLSv1.3'],
      [twelve, 'TLSv1.2'],
      // Safari and older Androids begin with these.
      [{ ...twelve, ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' }, 'TLSv1.2'],
      [{ ...twelve, ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' }, 'TLSv1.2'],
      [{ ...twelve, ciphers: 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA' }, null],
      [{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }, null],
    ]
    for (const [asked, spoken] of tries) {
      expect({ asked, spoken: await protocolOf(secure, { ...asked, ca }) }).toEqual({
        asked,
        spoken,
      })
    }
  })

  test('speaks https only when both ports are the same, and its commands know that', async () => {
    const own = join(newDirectory(), 'data')
    await runCommand(['tls'], { dataDir: own })
    const free = Bun.serve({ port: 0, fetch: () => new Response() })
    const port = String(free.port)
    await free.stop(true)
    const env = { PORT: port, TLS_PORT: port }
    const alone = await startServer({ dataDir: own, env })
    expect(alone.url).toStartWith('https://')
    const { code, stdout } = await runCommand(['health'], { dataDir: own, env })
    expect([stdout, code]).toEqual(['ready\n', 0])
    expect(await alone.stop()).toBe(0)
  })
})

describe('TLS_CERT and TLS_KEY', () => {
  const write = (files: Record<string, string>) => {
    const directory = newDirectory()
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(directory, name), text, { mode: 0o600 })
    }
    return (name: string) => join(directory, name)
  }
  const serve = (env: Record<string, string>, dataDir = join(newDirectory(), 'data')) =>
    runCommand(['serve'], { dataDir, env })

  test('are served to clients', async () => {
    const path = write({ cert: shopCertificate.cert, key: shopCertificate.key })
    const env = { TLS_CERT: path('cert'), TLS_KEY: path('key'), TLS_PORT: '0' }
    const shop = await startServer({ env })
    const { testAuthority } = await import('../support/certificates.ts')
    const url = `${secureOf(shop).replace('127.0.0.1', 'localhost')}/livez`
    expect((await fetch(url, { tls: { ca: testAuthority } })).status).toBe(200)
    // Devices trust a public authority already: there is nothing to explain.
    expect((await fetch(`${shop.url}/tls`)).status).toBe(404)
    expect(shop.output()).not.toContain('tls.')
    await shop.stop()
  })

  test('with a PUBLIC_URL of https only: every answer over https tells browsers to use https', async () => {
    const path = write({ cert: shopCertificate.cert, key: shopCertificate.key })
    const publicUrl = 'https://shop.test'
    const env = { TLS_CERT: path('cert'), TLS_KEY: path('key'), TLS_PORT: '0' }
    const told = async (base: string, path: string, Host: string, method = 'GET') => {
      const tls = { rejectUnauthorized: false }
      const answer = await fetch(`${base}${path}`, { method, headers: { Host }, tls })
      return answer.headers.get('strict-transport-security')
    }
    const shop = await startServer({ env: { ...env, PUBLIC_URL: publicUrl } })
    const year = 'max-age=31536000'
    const answers: [path: string, method?: string][] = [
      ['/caja'],
      ['/api/coupons/manager'],
      ['/api/coupons', 'GET'],
      ['/api/coupons', 'OPTIONS'],
      ['/livez', 'POST'],
      ['/livez', 'HEAD'],
      ['/nowhere'],
    ]
    for (const [path, method] of answers) {
      expect(await told(secureOf(shop), path, 'shop.test', method)).toBe(year)
    }
    expect(await told(secureOf(shop), '/caja', 'caja.local')).toBeNull()
    expect(await told(shop.url, '/caja', 'shop.test')).toBeNull()
    const mixed = await startServer({
      env: { ...env, PUBLIC_URL: `${publicUrl},http://shop.test` },
    })
    expect(await told(secureOf(mixed), '/caja', 'shop.test')).toBeNull()
    const local = await startServer({ env })
    expect(await told(secureOf(local), '/caja', 'shop.test')).toBeNull()
  })

  test('with an RSA key are served without RSA key exchange, so that a stolen key opens no recorded connection', async () => {
    const path = write(rsaCertificate)
    const env = { TLS_CERT: path('cert'), TLS_KEY: path('key'), TLS_PORT: '0' }
    const shop = await startServer({ env })
    const speak = (ciphers: string) =>
      protocolOf(secureOf(shop), { maxVersion: 'TLSv1.2', ciphers, ca: rsaCertificate.cert })
    expect(await speak('ECDHE-RSA-AES128-GCM-SHA256')).toBe('TLSv1.2')
    expect(await speak('AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA')).toBeNull()
    await shop.stop()
  })

  test('cause a warning when other users can read the key, and when the certificate has expired', async () => {
    const path = write({ cert: expiredCertificate.cert, key: expiredCertificate.key })
    chmodSync(path('key'), 0o644)
    const env = { TLS_CERT: path('cert'), TLS_KEY: path('key'), TLS_PORT: '0' }
    const shop = await startServer({ env })
    await logged(shop, '"tls.key"')
    await logged(shop, '"tls.expired"')
    await shop.stop()
  })

  test('stop the start with one line when they cannot be used', async () => {
    const encrypted = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
    }).privateKey
    const path = write({
      cert: shopCertificate.cert,
      key: shopCertificate.key,
      other: expiredCertificate.key,
      text: 'nothing',
      encrypted,
    })
    const wrong: [cert: string, key: string, line: RegExp][] = [
      ['none', 'key', /^cuponera: TLS_CERT: cannot read \S+ \(ENOENT\)\n$/],
      ['cert', 'none', /^cuponera: TLS_KEY: cannot read \S+ \(ENOENT\)\n$/],
      ['text', 'key', /^cuponera: TLS_CERT: \S+ holds no certificate in PEM\n$/],
      ['cert', 'other', /^cuponera: TLS_KEY: \S+ is not the key of TLS_CERT/],
      ['cert', 'text', /^cuponera: TLS_KEY: \S+ is not the key of TLS_CERT/],
      ['cert', 'encrypted', /^cuponera: TLS_KEY: \S+ is not the key of TLS_CERT, or is encrypted/],
    ]
    for (const [cert, key, line] of wrong) {
      const dataDir = join(newDirectory(), 'data')
      const env = { TLS_CERT: path(cert), TLS_KEY: path(key) }
      const { code, stderr } = await serve(env, dataDir)
      expect([stderr, code]).toEqual([expect.stringMatching(line), 1])
      // The way back to an older program stays open: no database was made or migrated.
      expect(existsSync(join(dataDir, 'cuponera.db'))).toBe(false)
    }
    const { stderr } = await serve({ TLS_CERT: path('cert') })
    expect(stderr).toBe('cuponera: TLS_CERT and TLS_KEY: set both or neither\n')
  })
})

/** The version that a client and an address of https agree on, or null. */
function protocolOf(url: string, options: ConnectionOptions): Promise<string | null> {
  const { hostname: host, port } = new URL(url)
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const socket = connectSecurely({ host, port: Number(port), ...options }, () => {
    resolve(socket.getProtocol())
    socket.end()
  })
  socket.on('error', () => resolve(null))
  return promise
}
