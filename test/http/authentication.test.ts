import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { limits } from '../../src/base/limits.ts'
import {
  call,
  createProof,
  type Json,
  newSigner,
  nostrHeader,
  openSession,
  percentBenefit,
  sha256Hex,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { callRaw, sendBytes } from '../support/raw.ts'
import { expectRefusal, refuses } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { logged, until } from '../support/until.ts'

const sessionSecret = randomBytes(32).toString('base64url')
const signer = newSigner()
let server: TestServer
let token: string

beforeAll(async () => {
  server = await startServer({
    env: { RATE_LIMIT: 'off', MERCHANTS: 'open', SESSION_JWT_SECRET: sessionSecret },
  })
  token = await openSession(server.url, signer)
})

afterAll(cleanUp)

/** GET /api/coupons with this Authorization header. */
function withHeader(authorization: string | null, path = '/api/coupons') {
  const headers: [string, string][] =
    authorization === null ? [] : [['Authorization', authorization]]
  return callRaw(server.url, { target: path, headers })
}

/** A header signed for GET /api/coupons, changed as asked. */
function signed(options: Parameters<typeof createProof>[2] = {}, path = '/api/coupons'): string {
  return nostrHeader(createProof(signer, `${server.url}${path}`, options))
}

function encoded(event: unknown, encoding: 'base64' | 'base64url' = 'base64'): string {
  return Buffer.from(JSON.stringify(event)).toString(encoding)
}

/** Ask until the second of the signature is still that of the answer, as it nearly always is at once. */
async function withinOneSecond<T>(ask: (now: number) => Promise<T>): Promise<T> {
  for (;;) {
    const now = secondsNow() + 1
    await untilSecond(now)
    const answer = await ask(now)
    if (secondsNow() === now) return answer
  }
}

/** A JWT signed with a secret, or with none when the algorithm is `none`. */
function jwt(claims: Json, { secret = sessionSecret, alg = 'HS256' } = {}): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = `${part({ alg, typ: 'JWT' })}.${part(claims)}`
  if (alg === 'none') return `${head}.`
  const hash = alg.toLowerCase().replace('hs', 'sha')
  return `${head}.${createHmac(hash, secret).update(head).digest('base64url')}`
}

const claims = (over: Json = {}) => ({
  sub: signer.pubkey,
  iat: secondsNow(),
  exp: secondsNow() + 43_200,
  ...over,
})

describe('missing credentials', () => {
  const headers: [string, string | null][] = [
    ['no header', null],
    ['an empty header', ''],
    ['a scheme with nothing after it', 'Nostr'],
    ['a scheme and a space', 'Nostr '],
    ['Bearer with nothing after it', 'Bearer'],
    ['Basic', 'Basic dXNlcjpwYXNz'],
    ['a scheme that only begins like ours', 'Nostrum abc'],
    ['a token without a scheme', 'eyJhbGciOiJIUzI1NiJ9'],
  ]
  for (const [name, header] of headers) {
    test(`${name} is missing`, async () => {
      await refuses(server, () => withHeader(header), 401, 'auth-missing', { reason: 'missing' })
    })
  }

  test('a session token counts as missing where only a signature is accepted', async () => {
    const answer = await call(server.url, '/api/auth/session', { body: {}, token })
    expectRefusal(answer, 401, 'auth-missing', { reason: 'missing' })
  })
})

describe('the size of the header', () => {
  const padded = (size: number) => {
    const event = createProof(signer, `${server.url}/api/coupons`)
    // The padding is a tag, so the event is whole and signed; the last characters are base64 spaces.
    const fill = (length: number) =>
      `Nostr ${Buffer.from(JSON.stringify({ ...event, filler: 'x'.repeat(length) })).toString('base64url')}`
    let length = 0
    while (fill(length + 1).length <= size) length++
    const header = fill(length)
    // White space between scheme and value counts too, and makes the length exact.
    return header.replace(' ', ' '.repeat(1 + size - header.length))
  }

  test('exactly 8192 bytes are accepted', async () => {
    const header = padded(8192)
    expect(header.length).toBe(8192)
    expect((await withHeader(header)).status).toBe(200)
  })

  test('8193 bytes are too large', async () => {
    const header = padded(8193)
    expect(header.length).toBe(8193)
    const answer = await withHeader(header)
    expectRefusal(answer, 401, 'auth-too-large', { reason: 'too-large' })
  })

  test('a header of any scheme can be too large', async () => {
    const answer = await withHeader(`Basic ${'x'.repeat(8200)}`)
    expectRefusal(answer, 401, 'auth-too-large', { reason: 'too-large' })
  })

  test('a header of white space is refused as any other', async () => {
    for (const header of [`Nostr a${' '.repeat(8000)}b`, `Nostr ${' '.repeat(8000)}`]) {
      const usual = await withHeader(header.replaceAll('  ', 'xx'))
      const answer = await withHeader(header)
      expect([answer.status, answer.json.code]).toEqual([usual.status, usual.json.code])
    }
  })
})

describe('malformed credentials', () => {
  const url = () => `${server.url}/api/coupons`
  const good = () => createProof(signer, url())
  const cases: [string, () => string][] = [
    ['no base64', () => 'Nostr ¡!'],
    ['base64 of no JSON', () => `Nostr ${Buffer.from('hola').toString('base64')}`],
    ['base64 of bytes that are no UTF-8', () => 'Nostr /////w=='],
    ['an array', () => nostrHeader([good()])],
    ['null', () => nostrHeader(null)],
    ['JSON nested deep', () => `Nostr ${Buffer.from('['.repeat(6000)).toString('base64')}`],
    ['two values', () => `Nostr ${encoded(good())} ${encoded(good())}`],
    ['an event in plain JSON', () => `Nostr ${JSON.stringify(good())}`],
    ['no signature', () => nostrHeader({ ...good(), sig: undefined })],
    ['a short signature', () => nostrHeader({ ...good(), sig: 'ab' })],
    [
      'an upper-case public key',
      () => nostrHeader({ ...good(), pubkey: signer.pubkey.toUpperCase() }),
    ],
    ['a created_at in text', () => nostrHeader({ ...good(), created_at: String(secondsNow()) })],
    [
      'a created_at with a fraction',
      () => nostrHeader({ ...good(), created_at: secondsNow() + 0.5 }),
    ],
    ['a tag that is no list', () => nostrHeader({ ...good(), tags: [{ u: url() }] })],
    ['a tag with a number', () => nostrHeader({ ...good(), tags: [['u', 1]] })],
    ['another kind', () => signed({ kind: 27_236 })],
    ['a wrong id', () => nostrHeader({ ...good(), id: sha256Hex('other') })],
    ['a wrong signature', () => nostrHeader({ ...good(), sig: good().sig })],
    [
      'a changed tag',
      () =>
        nostrHeader({
          ...good(),
          tags: [
            ['u', url()],
            ['method', 'GET'],
          ],
        }),
    ],
    ['no u', () => signed({ tags: [['method', 'GET']] })],
    ['a u without value', () => signed({ tags: [['u'], ['method', 'GET']] })],
    ['no method', () => signed({ tags: [['u', url()]] })],
    ['a payload of another body', () => signed({ body: 'something else' })],
    [
      'an empty payload tag',
      () =>
        signed({
          tags: [
            ['u', url()],
            ['method', 'GET'],
            ['payload', ''],
          ],
        }),
    ],
    [
      'a payload that is right only the second time',
      () =>
        signed({
          tags: [
            ['u', url()],
            ['method', 'GET'],
            ['payload', sha256Hex('x')],
            ['payload', sha256Hex('')],
          ],
        }),
    ],
  ]
  for (const [name, header] of cases) {
    test(`${name} is malformed`, async () => {
      await refuses(server, () => withHeader(header()), 401, 'auth-malformed', {
        reason: 'malformed',
      })
    })
  }

  test('the sample of NIP-98, whose id does not match its content, is malformed', async () => {
    const sample = {
      id: 'fe964e758903360f28d8424d092da8494ed207cba823110be3a57dfe4b578734',
      pubkey: '63fe6318dc58583cfe16810f86dd09e18bfd76aabc24a0081ce2856f330504ed',
      content: '',
      kind: 27_235,
      created_at: 1_682_327_852,
      tags: [
        ['u', 'https://api.snort.social/api/v1/n5sp/list'],
        ['method', 'GET'],
      ],
      sig: '5ed9d8ec958bc854f997bdc24ac337d005af372324747efe4a00e24f4c30437ff4dd8308684bed467d9d6be3e5a517bb43b1732cc7d33949a3aaf86705c22184',
    }
    const answer = await withHeader(nostrHeader(sample))
    expectRefusal(answer, 401, 'auth-malformed', { reason: 'malformed' })
  })

  test('the signature is checked before the time, the time before the address', async () => {
    const old = { createdAt: secondsNow() - 1000 }
    const forged = { ...createProof(signer, url(), old), sig: good().sig }
    expectRefusal(await withHeader(nostrHeader(forged)), 401, 'auth-malformed', {
      reason: 'malformed',
    })
    const elsewhere = nostrHeader(createProof(signer, 'https://evil.example/', old))
    expectRefusal(await withHeader(elsewhere), 401, 'auth-expired', { reason: 'expired' })
  })
})

describe('accepted credentials', () => {
  const url = () => `${server.url}/api/coupons`
  const cases: [string, () => string][] = [
    ['base64 with padding', () => `Nostr ${encoded(createProof(signer, url()))}`],
    [
      'base64 without padding',
      () => `Nostr ${encoded(createProof(signer, url())).replace(/=+$/, '')}`,
    ],
    [
      'base64url without padding',
      () => `Nostr ${encoded(createProof(signer, url()), 'base64url')}`,
    ],
    [
      'base64url with padding',
      () => {
        const text = encoded(createProof(signer, url()), 'base64url')
        return `Nostr ${text}${'='.repeat((4 - (text.length % 4)) % 4)}`
      },
    ],
    ['the scheme in lower case', () => signed().replace('Nostr', 'nostr')],
    ['the scheme in upper case', () => signed().replace('Nostr', 'NOSTR')],
    ['several spaces after the scheme', () => signed().replace(' ', '    ')],
    ['a lower-case method', () => signed({ method: 'get' })],
    [
      'an upper-case payload',
      () =>
        signed({
          tags: [
            ['u', url()],
            ['method', 'GET'],
            ['payload', sha256Hex('').toUpperCase()],
          ],
        }),
    ],
    ['the payload of nothing', () => signed({ body: '' })],
    [
      'an upper-case scheme in u',
      () =>
        signed({
          tags: [
            ['u', url().replace('http', 'HTTP')],
            ['method', 'GET'],
          ],
        }),
    ],
    [
      'tags in another order, and more of them',
      () => signed({ tags: [['x'], ['method', 'GET'], ['u', url()], ['nonce', '1'], []] }),
    ],
    [
      'a first u that is right, whatever comes after',
      () =>
        signed({
          tags: [
            ['u', url()],
            ['method', 'GET'],
            ['u', 'https://evil.example/'],
            ['method', 'PUT'],
          ],
        }),
    ],
    ['59 s ago', () => signed({ createdAt: secondsNow() - 59 })],
    ['60 s ahead', () => signed({ createdAt: secondsNow() + 60 })],
  ]
  for (const [name, header] of cases) {
    test(`${name} is accepted`, async () => {
      expect(await withHeader(header())).toMatchObject({ status: 200 })
    })
  }

  test('a signature of exactly 60 s ago is accepted, one of 61 s ago is expired', async () => {
    const [exact, late] = await withinOneSecond((now) =>
      Promise.all([60, 61].map((ago) => withHeader(signed({ createdAt: now - ago })))),
    )
    expect(exact?.status).toBe(200)
    if (late) expectRefusal(late, 401, 'auth-expired', { reason: 'expired' })
  })

  test('a signature of 61 s ahead is expired', async () => {
    const answer = await withinOneSecond((now) => withHeader(signed({ createdAt: now + 61 })))
    expectRefusal(answer, 401, 'auth-expired', { reason: 'expired' })
  })

  test('a HEAD request is signed as HEAD and gets the headers of GET', async () => {
    const head = (method: string) =>
      callRaw(server.url, {
        method: 'HEAD',
        target: '/api/coupons',
        headers: [['Authorization', signed({ method })]],
      })
    const answer = await head('HEAD')
    expect({ status: answer.status, body: answer.text }).toEqual({ status: 200, body: '' })
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect((await head('GET')).status).toBe(401)
  })

  test('the query is compared byte for byte', async () => {
    const path = '/api/coupons?x=%41&y=a+b&z=~'
    expect((await withHeader(signed({}, path), path)).status).toBe(200)
    const decoded = signed({}, '/api/coupons?x=A&y=a+b&z=~')
    expectRefusal(await withHeader(decoded, path), 401, 'auth-url-mismatch', {
      reason: 'url-mismatch',
    })
  })

  test('a payload hash of the exact bytes of the body is accepted, any other is not', async () => {
    const body = `{ "name":"Café",\n "benefit":${JSON.stringify(percentBenefit)} }`
    const proof = (over: string) =>
      nostrHeader(createProof(signer, `${server.url}/api/coupons`, { method: 'POST', body: over }))
    const post = (authorization: string) =>
      call(server.url, '/api/coupons', { body, headers: { Authorization: authorization } })
    expect((await post(proof(body))).status).toBe(201)
    const other = JSON.stringify(JSON.parse(body))
    await refuses(server, () => post(proof(other)), 401, 'auth-malformed', { reason: 'malformed' })
  })
})

describe('the address of a signature', () => {
  const url = () => `${server.url}/api/coupons`
  const tags = (u: string, method = 'GET') => ({
    tags: [
      ['u', u],
      ['method', method],
    ],
  })
  const cases: [string, () => string][] = [
    ['another method', () => signed({ method: 'POST' })],
    ['another host', () => signed(tags('http://evil.example/api/coupons'))],
    ['another port', () => signed(tags('http://127.0.0.1:1/api/coupons'))],
    ['the default port', () => signed(tags('http://127.0.0.1/api/coupons'))],
    ['https in place of http', () => signed(tags(url().replace('http:', 'https:')))],
    ['another path', () => signed({}, '/api/coupons/mint')],
    ['a trailing slash that was not asked', () => signed({}, '/api/coupons/')],
    ['a query that was not asked', () => signed({}, '/api/coupons?x=1')],
    ['a fragment', () => signed({}, '/api/coupons#top')],
    ['an empty fragment', () => signed({}, '/api/coupons#')],
    ['a user name', () => signed(tags(url().replace('://', '://me@')))],
    ['no URL', () => signed(tags('coupons'))],
    ['a path alone', () => signed(tags('/api/coupons'))],
    ['an empty u', () => signed(tags(''))],
    ['dots that lead to the path', () => signed({}, '/api/./coupons')],
    ['the path in percent escapes', () => signed({}, '/%61pi/coupons')],
    ['an empty method', () => signed(tags(url(), ''))],
    [
      'a first u that is wrong',
      () =>
        signed({
          tags: [
            ['u', 'http://a.example/'],
            ['u', url()],
            ['method', 'GET'],
          ],
        }),
    ],
  ]
  for (const [name, header] of cases) {
    test(`${name} does not match`, async () => {
      await refuses(server, () => withHeader(header()), 401, 'auth-url-mismatch', {
        reason: 'url-mismatch',
      })
    })
  }
})

describe('the refusal of another address', () => {
  const named = async (target: string, method = 'GET', path = target) => {
    const headers: [string, string][] = [['Authorization', signed({}, '/api/other')]]
    const answer = await callRaw(server.url, { method, target, headers })
    expectRefusal(answer, 401, 'auth-url-mismatch', { reason: 'url-mismatch' })
    expect(answer.json.error).toContain(`Firmá ${method} ${server.url}${path} y mandá`)
    return answer.text
  }

  test('names the method and the address that the service got', async () => {
    await named('/api/coupons')
    await named('/api/coupons/minters', 'POST')
    await named('/api/coupons/')
  })

  test('repeats nothing of the path or the query', async () => {
    const secret = 'Anf-OSv8elgEZg1_GQowWQ'
    const id = crypto.randomUUID()
    const target = `/api/coupons/${id}/mints/${secret}`
    const pattern = '/api/coupons/{id}/mints/{handle}'
    const texts = [
      await named(target, 'DELETE', pattern),
      await named(`/api/coupons?x=${secret}`, 'GET', '/api/coupons?…'),
    ]
    for (const text of texts)
      expect([text.includes(secret), text.includes(id)]).toEqual([false, false])
  })

  test('names the public address behind a proxy that forwards another Host', async () => {
    const PUBLIC_URL = 'https://cupones.example,https://otra.example:8443'
    const env = { RATE_LIMIT: 'off', MERCHANTS: 'open', PUBLIC_URL, TRUSTED_PROXIES: '127.0.0.1' }
    const { url } = await startServer({ env })
    const ask = async (forwarded: [string, string][]) => {
      const proof = nostrHeader(createProof(signer, `${url}/api/coupons`))
      const headers: [string, string][] = [['Authorization', proof], ...forwarded]
      return (await callRaw(url, { target: '/api/coupons', headers })).json.error
    }
    expect(await ask([])).toContain('Firmá GET https://cupones.example/api/coupons y')
    const asked: [string, string][] = [
      ['X-Forwarded-Host', 'otra.example:8443'],
      ['X-Forwarded-Proto', 'https'],
    ]
    expect(await ask(asked)).toContain('Firmá GET https://otra.example:8443/api/coupons y')
    const stranger: [string, string][] = [['X-Forwarded-Host', 'evil.example']]
    expect(await ask(stranger)).toContain('Firmá GET https://cupones.example/api/coupons y')
  })
})

describe('the Host header without PUBLIC_URL', () => {
  const ask = (host: string | null, u: string) =>
    callRaw(server.url, {
      target: '/api/coupons',
      host,
      headers: [['Authorization', nostrHeader(createProof(signer, `${u}/api/coupons`))]],
    })
  const own = hostname().toLowerCase()
  const accepted: [host: string, u: string][] = [
    ['localhost', 'http://localhost'],
    ['LOCALHOST:3000', 'http://localhost:3000'],
    ['localhost:80', 'http://localhost'],
    ['localhost', 'http://localhost:80'],
    ['localhost:0080', 'http://localhost'],
    ['127.0.0.1:1', 'http://127.0.0.1:1'],
    ['[::1]:3000', 'http://[::1]:3000'],
    [`${own}:3000`, `http://${own.toUpperCase()}:3000`],
    [`${own.split('.')[0]}.local`, `http://${own.split('.')[0]}.local`],
  ]
  for (const [host, u] of accepted) {
    test(`${host} may be signed for as ${u}`, async () => {
      expect(await ask(host, u)).toMatchObject({ status: 200 })
    })
  }

  for (const host of [
    'evil.example',
    'localhost.evil.example',
    'evil.local.example',
    '10.0.0.1.evil.example',
    '203.0.113.9',
    '203.0.113.9:3000',
    '[2001:db8::1]:3000',
    'of-another-machine',
    'of-another-machine.local',
    'shop.localhost',
    '0.0.0.0:3000',
  ]) {
    test(`${host} may not be signed for, and the message names the setting`, async () => {
      const answer = await ask(host, `http://${host}`)
      expectRefusal(answer, 401, 'auth-origin-unknown', { reason: 'url-mismatch' })
      expect(answer.json.error).toContain(`PUBLIC_URL=http://${host} `)
    })
  }

  test('an invalid host is not repeated in the message', async () => {
    for (const host of ['evil.example"><b>', 'a_b', 'user@evil.example', 'x'.repeat(300)]) {
      const answer = await ask(host, 'http://evil.example')
      expectRefusal(answer, 401, 'auth-origin-unknown', { reason: 'url-mismatch' })
      expect(answer.json.error).toContain('PUBLIC_URL con ella')
      expect(answer.text).not.toContain(host)
    }
  })

  test('the log names the setting once per host, for the first few hosts', async () => {
    const quiet = await startServer({ env: { RATE_LIMIT: 'off' } })
    for (let turn = 0; turn < 10; turn++) {
      for (const host of ['tienda.example', `evil-${turn}.example`]) {
        const proof = nostrHeader(createProof(signer, `http://${host}/api/coupons`))
        const headers: [string, string][] = [['Authorization', proof]]
        await callRaw(quiet.url, { target: '/api/coupons', host, headers })
      }
    }
    const lines = () => quiet.output().match(/"origin\.unknown".*/g) ?? []
    await until('the lines are there', () => lines().length >= limits.unknownOriginsLogged)
    expect(lines().length).toBe(limits.unknownOriginsLogged)
    expect(lines()[0]).toContain('PUBLIC_URL=http://tienda.example"')
    expect(lines().filter((line) => line.includes('tienda')).length).toBe(1)
    await quiet.stop()
  })

  test('a false Host header does not make a signature for another host valid', async () => {
    expectRefusal(await ask('localhost', 'http://evil.example'), 401, 'auth-url-mismatch', {
      reason: 'url-mismatch',
    })
  })

  test('without a Host header (HTTP/1.0) no address may be signed for', async () => {
    for (const origin of ['http://null', 'http://localhost', server.url, 'http:/']) {
      const authorization = nostrHeader(createProof(signer, `${origin}/api/coupons`))
      const head = `GET /api/coupons HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`
      const answer = await sendBytes(server.url, Buffer.from(head))
      expectRefusal(answer, 401, 'auth-origin-unknown', { reason: 'url-mismatch' })
    }
  })

  test('forwarded headers of an undeclared proxy are ignored', async () => {
    const answer = await callRaw(server.url, {
      target: '/api/coupons',
      headers: [
        ['Authorization', nostrHeader(createProof(signer, `https://${own}/api/coupons`))],
        ['X-Forwarded-Host', own],
        ['X-Forwarded-Proto', 'https'],
      ],
    })
    expectRefusal(answer, 401, 'auth-url-mismatch', { reason: 'url-mismatch' })
    await logged(server, 'proxy.undeclared')
  })
})

describe('with PUBLIC_URL and TRUSTED_PROXIES', () => {
  test('only the listed origins are valid, whatever the Host header says', async () => {
    const open = await startServer({
      env: {
        RATE_LIMIT: 'off',
        MERCHANTS: 'open',
        PUBLIC_URL: 'https://cupones.example, https://otra.example:8443',
      },
    })
    const ask = (u: string, host?: string) =>
      callRaw(open.url, {
        target: '/api/coupons',
        ...(host === undefined ? {} : { host }),
        headers: [['Authorization', nostrHeader(createProof(signer, `${u}/api/coupons`))]],
      })
    expect((await ask('https://cupones.example')).status).toBe(200)
    expect((await ask('https://cupones.example:443', 'evil.example')).status).toBe(200)
    expect((await ask('https://otra.example:8443')).status).toBe(200)
    for (const u of ['https://otra.example', 'http://cupones.example', open.url]) {
      expectRefusal(await ask(u), 401, 'auth-url-mismatch', { reason: 'url-mismatch' })
    }
    expectRefusal(await ask('http://localhost', 'localhost'), 401, 'auth-url-mismatch', {
      reason: 'url-mismatch',
    })
  })

  test('a declared proxy tells the host and the scheme', async () => {
    const behind = await startServer({
      env: { RATE_LIMIT: 'off', MERCHANTS: 'open', TRUSTED_PROXIES: '127.0.0.0/8' },
    })
    const ask = (u: string, forwarded: [string, string][]) =>
      callRaw(behind.url, {
        target: '/api/coupons',
        headers: [
          ['Authorization', nostrHeader(createProof(signer, `${u}/api/coupons`))],
          ...forwarded,
        ],
      })
    const own = hostname().toLowerCase()
    const tienda: [string, string][] = [
      ['X-Forwarded-Host', own],
      ['X-Forwarded-Proto', 'https'],
    ]
    expect((await ask(`https://${own}`, tienda)).status).toBe(200)
    expect((await ask(behind.url, [])).status).toBe(200)
    expectRefusal(await ask(behind.url, tienda), 401, 'auth-url-mismatch', {
      reason: 'url-mismatch',
    })
    const stranger: [string, string][] = [['X-Forwarded-Host', 'evil.example']]
    expectRefusal(await ask('http://evil.example', stranger), 401, 'auth-origin-unknown', {
      reason: 'url-mismatch',
    })
  })
})

describe('replay', () => {
  const replayed = { reason: 'replay' } as const

  test('the same event twice is a replay, for reads as for writes', async () => {
    const header = signed()
    expect((await withHeader(header)).status).toBe(200)
    await refuses(server, () => withHeader(header), 401, 'auth-replay', replayed)
  })

  test('two identical events of one second have one id, so the second is a replay', async () => {
    const createdAt = secondsNow()
    const tags = [
      ['u', `${server.url}/api/coupons`],
      ['method', 'GET'],
    ]
    expect((await withHeader(signed({ createdAt, tags }))).status).toBe(200)
    expectRefusal(await withHeader(signed({ createdAt, tags })), 401, 'auth-replay', replayed)
  })

  test('exactly one of twenty simultaneous requests with one event passes', async () => {
    const header = signed()
    const answers = await Promise.all(Array.from({ length: 20 }, () => withHeader(header)))
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 401)])
  })

  const used: [string, () => { path: string; method: string; body?: string; status: number }][] = [
    ['400', () => ({ path: '/api/coupons', method: 'POST', body: '{}', status: 400 })],
    [
      '400 of its meaning',
      () => ({
        path: '/api/coupons',
        method: 'POST',
        body: '{"name":" ","benefit":{}}',
        status: 400,
      }),
    ],
    [
      '403',
      () => ({
        path: '/api/coupons/mint',
        method: 'POST',
        body: JSON.stringify({ couponId: foreignCoupon }),
        status: 403,
      }),
    ],
    ['404', () => ({ path: `/api/coupons/${crypto.randomUUID()}`, method: 'DELETE', status: 404 })],
    [
      '400 of a page',
      () => ({ path: '/api/coupons/redemptions?limit=0', method: 'GET', status: 400 }),
    ],
    [
      '200 of a session',
      () => ({ path: '/api/auth/session', method: 'POST', body: '{}', status: 200 }),
    ],
  ]
  let foreignCoupon: string
  beforeAll(async () => {
    const other = await openSession(server.url, newSigner())
    const body = { name: 'De otro', benefit: percentBenefit }
    foreignCoupon = (await call(server.url, '/api/coupons', { body, token: other })).json.coupon.id
  })
  for (const [name, request] of used) {
    test(`an event is used up by a ${name}`, async () => {
      const { path, method, body, status } = request()
      const proof = createProof(signer, `${server.url}${path}`, { method })
      const ask = () =>
        call(server.url, path, { method, body, headers: { Authorization: nostrHeader(proof) } })
      expect((await ask()).status).toBe(status)
      await refuses(server, ask, 401, 'auth-replay', replayed)
    })
  }

  test('an event that authentication refused can be used later', async () => {
    const proof = createProof(signer, `${server.url}/api/coupons`)
    const header = nostrHeader(proof)
    const post = await call(server.url, '/api/coupons', {
      body: {},
      headers: { Authorization: header },
    })
    expectRefusal(post, 401, 'auth-url-mismatch', { reason: 'url-mismatch' })
    expect((await withHeader(header)).status).toBe(200)
  })

  test('a used event stays used after SIGKILL and a restart', async () => {
    const dataDir = newDirectory()
    const env = { RATE_LIMIT: 'off', PUBLIC_URL: 'http://cupones.example', MERCHANTS: 'open' }
    const header = () => nostrHeader(createProof(signer, 'http://cupones.example/api/coupons'))
    const [read, refused] = [
      header(),
      nostrHeader(
        createProof(signer, 'http://cupones.example/api/coupons/nothing', { method: 'DELETE' }),
      ),
    ]
    const first = await startServer({ dataDir, env })
    const ask = (base: string) => [
      callRaw(base, { target: '/api/coupons', headers: [['Authorization', read]] }),
      callRaw(base, {
        method: 'DELETE',
        target: '/api/coupons/nothing',
        headers: [['Authorization', refused]],
      }),
    ]
    expect((await Promise.all(ask(first.url))).map(({ status }) => status)).toEqual([200, 404])
    await first.kill()
    const second = await startServer({ dataDir, env })
    for (const answer of await Promise.all(ask(second.url))) {
      expectRefusal(answer, 401, 'auth-replay', replayed)
    }
  })
})

describe('sessions', () => {
  const bearer = (text: string) => withHeader(`Bearer ${text}`)

  test('a signature opens a session of exactly twelve hours', async () => {
    const before = secondsNow()
    const { status, json } = await call(server.url, '/api/auth/session', { body: {}, signer })
    expect(status).toBe(200)
    expect(new Set(Object.keys(json))).toEqual(new Set(['expiresAt', 'pubkey', 'token']))
    expect(json.pubkey).toBe(signer.pubkey)
    expect(json.expiresAt).toBeGreaterThanOrEqual(before + 43_200)
    expect(json.expiresAt).toBeLessThanOrEqual(secondsNow() + 43_200)
    const [head, payload] = json.token
      .split('.')
      .slice(0, 2)
      .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    expect(head.alg).toBe('HS256')
    expect(payload).toEqual({
      sub: signer.pubkey,
      iat: json.expiresAt - 43_200,
      exp: json.expiresAt,
    })
  })

  const bodies: [string, string | undefined][] = [
    ['no body', undefined],
    ['an empty object', '{}'],
    ['no JSON at all', '¿hola?'],
    ['half a JSON', '{"a":'],
    ['an array', '[1]'],
    ['a string', '"x"'],
    ['a body of exactly 16 KiB', 'x'.repeat(16 * 1024)],
  ]
  for (const [name, body] of bodies) {
    test(`${name} opens a session, and its hash is checked`, async () => {
      const path = '/api/auth/session'
      const proof = (over: string | undefined) =>
        nostrHeader(
          createProof(signer, `${server.url}${path}`, { method: 'POST', body: over ?? '' }),
        )
      const ask = (over: string | undefined) =>
        call(server.url, path, { method: 'POST', body, headers: { Authorization: proof(over) } })
      expect((await ask(body)).status).toBe(200)
      expectRefusal(await ask('other'), 401, 'auth-malformed', { reason: 'malformed' })
    })
  }

  test('a body over 16 KiB opens no session', async () => {
    const body = 'x'.repeat(16 * 1024 + 1)
    const answer = await call(server.url, '/api/auth/session', { method: 'POST', body, signer })
    expectRefusal(answer, 413, 'too-large', { reason: 'too-large' })
  })

  test('the token names the tenant, and the scheme may be in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await withHeader(`${scheme} ${token}`)).status).toBe(200)
    }
    expect((await bearer(jwt(claims()))).status).toBe(200)
  })

  const invalid: [string, () => string][] = [
    ['no token at all', () => 'hola'],
    ['two parts', () => token.split('.').slice(0, 2).join('.')],
    [
      'a changed claim',
      () => {
        const [head, , signature] = token.split('.')
        const other = Buffer.from(JSON.stringify(claims({ sub: newSigner().pubkey }))).toString(
          'base64url',
        )
        return `${head}.${other}.${signature}`
      },
    ],
    [
      'a changed signature',
      () => {
        const [head, payload, signature = ''] = token.split('.')
        return `${head}.${payload}.${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`
      },
    ],
    ['another secret', () => jwt(claims(), { secret: 'x'.repeat(32) })],
    ['the algorithm none', () => jwt(claims(), { alg: 'none' })],
    ['HS384', () => jwt(claims(), { alg: 'HS384' })],
    ['HS512', () => jwt(claims(), { alg: 'HS512' })],
    ['an algorithm in lower case', () => jwt(claims(), { alg: 'hs256' })],
    ['no subject', () => jwt(claims({ sub: undefined }))],
    ['a subject that is no key', () => jwt(claims({ sub: 'merchant' }))],
    ['an upper-case subject', () => jwt(claims({ sub: signer.pubkey.toUpperCase() }))],
    ['no expiry', () => jwt(claims({ exp: undefined }))],
    ['an expiry in text', () => jwt(claims({ exp: String(secondsNow() + 100) }))],
    [
      'an expired token of another secret',
      () => jwt(claims({ exp: secondsNow() - 1 }), { secret: 'x'.repeat(32) }),
    ],
    ['a Nostr event', () => encoded(createProof(signer, `${server.url}/api/coupons`))],
  ]
  for (const [name, value] of invalid) {
    test(`${name} is an invalid session`, async () => {
      await refuses(server, () => bearer(value()), 401, 'auth-session-invalid', {
        reason: 'session-invalid',
      })
    })
  }

  test('a session past its expiry has expired, without leeway', async () => {
    const expired = { reason: 'session-expired' } as const
    expectRefusal(
      await bearer(jwt(claims({ exp: secondsNow() - 1 }))),
      401,
      'auth-session-expired',
      expired,
    )
    expectRefusal(
      await bearer(jwt(claims({ exp: secondsNow() }))),
      401,
      'auth-session-expired',
      expired,
    )
  })

  test('a session that was valid expires while it is in use', async () => {
    const exp = secondsNow() + briefSeconds
    const short = jwt(claims({ exp }))
    expect((await bearer(short)).status).toBe(200)
    await untilSecond(exp)
    expectRefusal(await bearer(short), 401, 'auth-session-expired', { reason: 'session-expired' })
  })

  test('sessions survive a restart and end with another secret', async () => {
    const dataDir = newDirectory()
    const first = await startServer({ dataDir })
    const kept = await openSession(first.url, signer)
    await first.stop()
    const second = await startServer({ dataDir })
    expect((await call(second.url, '/api/coupons', { token: kept })).status).toBe(200)
    await second.stop()
    const env = { SESSION_JWT_SECRET: randomBytes(32).toString('hex') }
    const third = await startServer({ dataDir, env })
    const answer = await call(third.url, '/api/coupons', { token: kept })
    expectRefusal(answer, 401, 'auth-session-invalid', { reason: 'session-invalid' })
  })
})

describe('every route that takes credentials', () => {
  const id = crypto.randomUUID()
  const routes: [string, string, boolean][] = [
    ['POST', '/api/auth/session', false],
    ['GET', '/api/coupons', true],
    ['POST', '/api/coupons', true],
    ['PATCH', `/api/coupons/${id}`, true],
    ['DELETE', `/api/coupons/${id}`, true],
    ['GET', `/api/coupons/${id}/mints`, true],
    ['DELETE', `/api/coupons/${id}/mints`, true],
    ['DELETE', `/api/coupons/${id}/mints/AAAAAAAAAAAAAAAAAAAAAA`, true],
    ['GET', '/api/coupons/mintable', true],
    ['GET', '/api/coupons/minters', true],
    ['POST', '/api/coupons/minters', true],
    ['DELETE', '/api/coupons/minters/x', true],
    ['PUT', '/api/coupons/discovery', true],
    ['DELETE', '/api/coupons/discovery', true],
    ['POST', '/api/coupons/mint', true],
    ['GET', '/api/coupons/redemptions', true],
    ['GET', '/api/coupons/stats', true],
    ['GET', '/api/coupons/stats/tills', true],
    ['GET', '/api/coupons/authorizations', true],
    ['GET', '/api/coupons/live', true],
  ]
  for (const [method, path, bearer] of routes) {
    test(`${method} ${path.replace(id, '{id}')} asks for them before it looks at the body`, async () => {
      const body = method === 'GET' ? undefined : '[not even JSON'
      const ask = (authorization?: string, sent = body) =>
        call(server.url, path, {
          method,
          body: sent,
          headers: authorization === undefined ? {} : { Authorization: authorization },
        })
      await refuses(server, () => ask(), 401, 'auth-missing', { reason: 'missing' })
      await refuses(server, () => ask('Nostr x'), 401, 'auth-malformed', { reason: 'malformed' })
      const [code, reason] = bearer
        ? ['auth-session-invalid', 'session-invalid']
        : ['auth-missing', 'missing']
      await refuses(server, () => ask('Bearer x'), 401, code, { reason })
      if (method === 'GET') return
      const large = 'x'.repeat(16 * 1024 + 1)
      const tooLarge = { reason: 'too-large' } as const
      await refuses(server, () => ask(undefined, large), 413, 'too-large', tooLarge)
      await refuses(
        server,
        () => ask(`Nostr ${'x'.repeat(9000)}`, large),
        413,
        'too-large',
        tooLarge,
      )
    })
  }
})
