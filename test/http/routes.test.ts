import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import {
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
  percentBenefit,
} from '../support/client.ts'
import { callRaw, sendBytes } from '../support/raw.ts'
import { expectCommonHeaders, expectRefusal, refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const signer = newSigner()
const bodyMax = 16 * 1024
let server: TestServer
let token: string

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
})

afterAll(cleanUp)

const id = randomUUID()
const paths: [path: string, methods: string[]][] = [
  ['/api/auth/session', ['POST']],
  ['/api/coupons', ['GET', 'POST', 'HEAD']],
  ['/api/coupons/manager', ['GET', 'HEAD']],
  ['/api/coupons/claim', ['GET', 'POST', 'HEAD']],
  ['/api/coupons/preview', ['POST']],
  ['/api/coupons/refresh', ['POST']],
  ['/api/coupons/mint', ['POST']],
  ['/api/coupons/mintable', ['GET', 'HEAD']],
  ['/api/coupons/minters', ['GET', 'POST', 'HEAD']],
  ['/api/coupons/minters/x', ['DELETE']],
  ['/api/coupons/discovery', ['PUT', 'DELETE']],
  ['/api/coupons/redemptions', ['GET', 'HEAD']],
  ['/api/coupons/stats', ['GET', 'HEAD']],
  ['/api/coupons/stats/tills', ['GET', 'HEAD']],
  ['/api/coupons/authorizations', ['GET', 'HEAD']],
  ['/api/coupons/live', ['GET', 'HEAD']],
  ['/api/shop', ['GET', 'PATCH', 'HEAD']],
  ['/api/shops/x', ['GET', 'HEAD']],
  ['/api/pictures', ['POST']],
  ['/api/pictures/x', ['GET', 'HEAD']],
  [`/api/coupons/${id}`, ['PATCH', 'DELETE']],
  [`/api/coupons/${id}/mints`, ['GET', 'DELETE', 'HEAD']],
  [`/api/coupons/${id}/mints/AAAAAAAAAAAAAAAAAAAAAA`, ['DELETE']],
]
const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']

/** The methods in an Allow header, and the expected ones, in one order. */
const listed = (header: string | null) => inOrder((header ?? '').split(', '))
const inOrder = (methods: readonly string[]) => [...methods].sort((a, b) => a.localeCompare(b))

describe('methods', () => {
  for (const [path, methods] of paths) {
    const name = path.replace(id, '{id}')

    test(`OPTIONS ${name} is 204 with Allow and CORS, with and without Origin and slash`, async () => {
      for (const target of [path, `${path}/`, `${path}?x=1`]) {
        for (const headers of [[], [['Origin', 'https://caja.example']]] as [string, string][][]) {
          const answer = await callRaw(server.url, { method: 'OPTIONS', target, headers })
          expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' })
          const header = (name: string) => answer.headers.get(name)
          expect(listed(header('allow'))).toEqual(inOrder([...methods, 'OPTIONS']))
          expect(header('access-control-allow-methods')).toBe(header('allow'))
          expect(header('access-control-allow-origin')).toBe('*')
          expect(header('access-control-allow-headers')).toBe(
            'Content-Type, Authorization, Idempotency-Key, X-LaWallet-Action, X-LaWallet-Param',
          )
          expect(header('access-control-expose-headers')).toBe(
            'Location, Retry-After, WWW-Authenticate, X-Nostr-Relays',
          )
          expect(header('access-control-max-age')).toBe('86400')
          expect(header('access-control-allow-credentials')).toBeNull()
        }
      }
    })

    test(`every other method on ${name} is 405 with Allow, before anything else is looked at`, async () => {
      for (const method of everyMethod.filter((one) => !methods.includes(one))) {
        const answer = await callRaw(server.url, {
          method,
          target: path,
          ...(method === 'GET' || method === 'HEAD' ? {} : { body: '{' }),
        })
        if (method === 'HEAD')
          expect({ ...answer, headers: 0 }).toMatchObject({ status: 405, text: '' })
        else expectRefusal(answer, 405, 'method-not-allowed')
        expect(listed(answer.headers.get('allow'))).toEqual(inOrder([...methods, 'OPTIONS']))
      }
    })
  }

  test('a static name wins over {id}: its other methods are 405, not 404', async () => {
    for (const name of [
      'mint',
      'mintable',
      'minters',
      'manager',
      'claim',
      'preview',
      'refresh',
      'redemptions',
      'stats',
      'live',
    ]) {
      const answer = await call(server.url, `/api/coupons/${name}`, {
        method: 'PATCH',
        body: {},
        token,
      })
      expectRefusal(answer, 405, 'method-not-allowed')
    }
  })
})

describe('paths', () => {
  const unknown = [
    '/api',
    '/api/',
    '/api/auth',
    '/api/coupon',
    '/API/coupons',
    '/api/coupons//',
    '//api/coupons',
    '/api//coupons',
    `/api/coupons/${id}/mints/a/b`,
    `/api/coupons/${id}/other`,
    '/api/auth/session/x',
    '/api/coupons/minters/x/y',
    '/favicon.ico',
    '/api/coupons%2Fmint',
    '/%',
  ]
  for (const path of unknown) {
    test(`${path} is 404 for every method`, async () => {
      for (const method of ['GET', 'POST', 'DELETE', 'PATCH']) {
        expectRefusal(await callRaw(server.url, { method, target: path }), 404, 'not-found')
      }
    })
  }

  test('an unknown path is 404 with any body and credentials', async () => {
    const body = 'x'.repeat(bodyMax + 1)
    const answer = await call(server.url, '/api/nada', { body, token: 'x' })
    expectRefusal(answer, 404, 'not-found')
  })

  test('a trailing slash is accepted on every route, and signed as it was sent', async () => {
    const couponId = await createDefinition(server.url, token)
    const { nonce } = await mintOne(server.url, token, couponId)
    const signed: [string, string, unknown, number][] = [
      ['GET', '/api/coupons/', undefined, 200],
      ['POST', '/api/coupons/', { name: 'Té', benefit: percentBenefit }, 201],
      ['POST', '/api/auth/session/', {}, 200],
      ['GET', '/api/coupons/mintable/', undefined, 200],
      ['GET', '/api/coupons/minters/', undefined, 200],
      ['POST', '/api/coupons/minters/', { pubkey: newSigner().pubkey }, 201],
      ['DELETE', `/api/coupons/minters/${newSigner().pubkey}/`, undefined, 404],
      ['GET', '/api/coupons/redemptions/', undefined, 200],
      ['DELETE', '/api/coupons/discovery/', undefined, 404],
      ['POST', '/api/coupons/mint/', { couponId }, 200],
      ['PATCH', `/api/coupons/${couponId}/`, { name: 'Mate' }, 200],
      ['GET', `/api/coupons/${couponId}/mints/`, undefined, 200],
      ['GET', `/api/coupons/${couponId}/mints/?limit=1`, undefined, 200],
      ['DELETE', `/api/coupons/${couponId}/mints/AAAAAAAAAAAAAAAAAAAAAA/`, undefined, 404],
      ['GET', '/api/coupons/manager/', undefined, 200],
      ['GET', `/api/coupons/claim/?nonce=${nonce}`, undefined, 200],
      ['POST', '/api/coupons/preview/', { nonce }, 200],
      ['POST', '/api/coupons/claim/', { nonce }, 200],
      ['DELETE', `/api/coupons/${couponId}/mints/`, undefined, 200],
      ['DELETE', `/api/coupons/${couponId}/`, undefined, 200],
    ]
    for (const [method, path, body, status] of signed) {
      const answer = await call(server.url, path, { method, body, signer })
      expect({ method, path, status: answer.status }).toEqual({ method, path, status })
    }
    const next = await mintOne(server.url, token, await createDefinition(server.url, token))
    const headers = { 'Idempotency-Key': newKey() }
    const refreshed = await call(server.url, '/api/coupons/refresh/', {
      body: { nonce: next.nonce },
      headers,
    })
    expect(refreshed.status).toBe(201)
  })
})

describe('GET /api/coupons/manager', () => {
  test('returns the key that signs vouchers, cacheable for five minutes', async () => {
    const answer = await call(server.url, '/api/coupons/manager')
    expect(answer.status).toBe(200)
    expect(new Set(Object.keys(answer.json))).toEqual(new Set(['npub', 'pubkey']))
    expect(answer.json.pubkey).toMatch(/^[0-9a-f]{64}$/)
    expect(server.output()).toContain(answer.json.npub)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('needs no credentials and ignores wrong ones', async () => {
    const answer = await call(server.url, '/api/coupons/manager', { token: 'nonsense' })
    expect(answer.status).toBe(200)
  })
})

describe('HEAD', () => {
  for (const path of [
    '/api/coupons/manager',
    '/api/coupons',
    '/api/coupons/mintable',
    '/api/coupons/minters',
    '/api/coupons/redemptions',
  ]) {
    test(`HEAD ${path} has the status and headers of GET, and no body`, async () => {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => call(server.url, path, { method, token })),
      )
      expect(head?.status).toBe(200)
      expect(head?.text).toBe('')
      for (const name of ['content-type', 'cache-control', 'access-control-allow-origin']) {
        expect(head?.headers.get(name)).toBe(get?.headers.get(name) ?? '')
      }
      const length = Buffer.byteLength(get?.text ?? '')
      expect(length).toBeGreaterThan(0)
      expect(head?.headers.get('content-length')).toBe(String(length))
    })
  }

  test('refusals of HEAD have no body either', async () => {
    for (const [path, status] of [
      ['/api/coupons', 401],
      ['/api/coupons/claim?nonce=x', 400],
      ['/nada', 404],
    ] as const) {
      const answer = await callRaw(server.url, { method: 'HEAD', target: path })
      expect({ status: answer.status, text: answer.text }).toEqual({ status, text: '' })
    }
  })
})

describe('bodies', () => {
  const notObjects: [string, string | Uint8Array | undefined][] = [
    ['no body', undefined],
    ['an empty body', ''],
    ['white space', ' \n'],
    ['an array', '[]'],
    ['an array of objects', '[{"nonce":"x"}]'],
    ['a string', '"nonce"'],
    ['a number', '1'],
    ['null', 'null'],
    ['true', 'true'],
    ['half an object', '{"nonce":'],
    ['an object and more', '{} {}'],
    ['single quotes', "{'nonce':'x'}"],
    ['a trailing comma', '{"nonce":"x",}'],
    ['a form', 'nonce=x&name=y'],
    [
      'invalid UTF-8',
      Buffer.concat([Buffer.from('{"nonce":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ],
    ['UTF-16', Buffer.from('{"nonce":"x"}', 'utf16le')],
    ['arrays nested deep', `{"a":${'['.repeat(8000)}${']'.repeat(8000)}`],
  ]
  const routes = [
    ['POST', '/api/coupons'],
    ['POST', '/api/coupons/minters'],
    ['PUT', '/api/coupons/discovery'],
    ['POST', '/api/coupons/mint'],
    ['PATCH', `/api/coupons/${id}`],
    ['PATCH', '/api/shop'],
    ['POST', '/api/coupons/preview'],
    ['POST', '/api/coupons/claim'],
    ['POST', '/api/coupons/refresh'],
  ] as const
  for (const [method, path] of routes) {
    test(`${method} ${path.replace(id, '{id}')} refuses every body that is no JSON object`, async () => {
      for (const [, body] of notObjects) {
        const headers: [string, string][] = [
          ['Authorization', `Bearer ${token}`],
          ['Idempotency-Key', newKey()],
        ]
        const request = { method, target: path, headers, ...(body === undefined ? {} : { body }) }
        await refuses(server, () => callRaw(server.url, request), 400, 'body-invalid')
      }
    })
  }

  test('the Content-Type is ignored', async () => {
    const types = [
      null,
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'nonsense',
      'application/json; charset=latin1',
      'application/octet-stream',
    ]
    for (const type of types) {
      const headers: [string, string][] = [['Authorization', `Bearer ${token}`]]
      if (type !== null) headers.push(['Content-Type', type])
      const target = '/api/coupons'
      const good = { name: 'Medialuna', benefit: percentBenefit }
      const made = await callRaw(server.url, {
        method: 'POST',
        target,
        headers,
        body: JSON.stringify(good),
      })
      expect({ type, status: made.status }).toEqual({ type, status: 201 })
      const form = await callRaw(server.url, { method: 'POST', target, headers, body: 'name=x' })
      expectRefusal(form, 400, 'body-invalid')
    }
  })

  test('unknown keys are ignored, __proto__ and constructor among them', async () => {
    const body = `{"name":"Alfajor","benefit":{"type":"percent","percent":5,"x":1,"__proto__":{"cap":{"amount":1,"currency":"ARS"}}},
      "__proto__":{"maxUses":3},"constructor":{"prototype":{"maxUses":4}},"id":"mine","minted":9,"owner":"x","toString":1}`
    const { status, json } = await call(server.url, '/api/coupons', { body, token })
    expect(status).toBe(201)
    expect(json.coupon).toMatchObject({
      maxUses: null,
      minted: 0,
      benefit: { type: 'percent', percent: 5 },
    })
    expect(json.coupon.id).not.toBe('mine')
  })

  test('the last of duplicate keys counts', async () => {
    const body = '{"name":"uno","benefit":{"type":"percent","percent":5},"name":"dos"}'
    expect((await call(server.url, '/api/coupons', { body, token })).json.coupon.name).toBe('dos')
  })

  test('a body of exactly 16 KiB passes, one byte more is 413', async () => {
    const body = (size: number) => {
      const text = JSON.stringify({ name: 'Empanada', benefit: percentBenefit, x: '' })
      return text.replace('"x":""', `"x":"${'a'.repeat(size - text.length)}"`)
    }
    expect((await call(server.url, '/api/coupons', { body: body(bodyMax), token })).status).toBe(
      201,
    )
    await refuses(
      server,
      () => call(server.url, '/api/coupons', { body: body(bodyMax + 1), token }),
      413,
      'too-large',
      { reason: 'too-large' },
    )
  })

  test('413 has no reason on routes without credentials', async () => {
    for (const path of ['/api/coupons/claim', '/api/coupons/preview', '/api/coupons/refresh']) {
      const body = 'x'.repeat(bodyMax + 1)
      await refuses(server, () => call(server.url, path, { body }), 413, 'too-large')
    }
  })

  test('413 comes before every other refusal', async () => {
    const body = 'x'.repeat(bodyMax + 1)
    for (const [method, path] of routes.slice(0, 5)) {
      const answer = await call(server.url, path, { method, body, token: 'nonsense' })
      expectRefusal(answer, 413, 'too-large', { reason: 'too-large' })
    }
  })

  const chunked = (sizes: number[]) =>
    `${sizes.map((size) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`).join('')}0\r\n\r\n`

  test('a chunked body over the limit is 413 with envelope and CORS', async () => {
    for (const sizes of [[bodyMax + 1], [bodyMax, 1], Array.from({ length: 40 }, () => 1000)]) {
      const answer = await callRaw(server.url, {
        method: 'POST',
        target: '/api/coupons/claim',
        headers: [['Transfer-Encoding', 'chunked']],
        body: chunked(sizes),
      })
      expectRefusal(answer, 413, 'too-large')
    }
  })

  test('a chunked body within the limit is read whole', async () => {
    const text = JSON.stringify({ name: 'Chipá', benefit: percentBenefit })
    const parts = [text.slice(0, 7), text.slice(7, 30), text.slice(30)].map((part) => {
      return `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`
    })
    const answer = await callRaw(server.url, {
      method: 'POST',
      target: '/api/coupons',
      headers: [
        ['Transfer-Encoding', 'chunked'],
        ['Authorization', `Bearer ${token}`],
      ],
      body: `${parts.join('')}0\r\n\r\n`,
    })
    expect(answer.status).toBe(201)
    expect(answer.json.coupon.name).toBe('Chipá')
  })

  test('a body far over the limit is answered without being read to its end', async () => {
    const declared = await callRaw(server.url, {
      method: 'POST',
      target: '/api/coupons/claim',
      headers: [['Content-Length', '5000000']],
      body: 'x'.repeat(100_000),
    })
    expectRefusal(declared, 413, 'too-large')
  })

  test('a request with an invalid, negative or repeated Content-Length never reaches a route', async () => {
    for (const lengths of [['abc'], ['-1'], ['2', '3']]) {
      const headers = lengths.map((length) => ['Content-Length', length] as const)
      const answer = await callRaw(server.url, {
        method: 'POST',
        target: '/api/coupons/claim',
        headers,
        body: '{}',
      })
      expect(answer.status).toBe(400)
    }
  })

  test('a Content-Length shorter than the body cuts it there', async () => {
    const answer = await callRaw(server.url, {
      method: 'POST',
      target: '/api/coupons/preview',
      headers: [['Content-Length', '5']],
      body: `{"nonce":"${'A'.repeat(22)}"}`,
    })
    expectRefusal(answer, 400, 'body-invalid')
  })

  test('Expect: 100-continue is served', async () => {
    const body = JSON.stringify({ nonce: 'A'.repeat(22) })
    const answer = await callRaw(server.url, {
      method: 'POST',
      target: '/api/coupons/preview',
      headers: [['Expect', '100-continue']],
      body,
    })
    expectRefusal(answer, 404, 'voucher-unknown')
  })

  test('bytes that are not HTTP are refused, and the service goes on', async () => {
    const answer = await sendBytes(server.url, Buffer.from('HOLA\r\n\r\n'))
    expect(answer.status).toBe(400)
    expect((await call(server.url, '/api/coupons/manager')).status).toBe(200)
  })
})

describe('every answer', () => {
  test('has CORS, no-store and a JSON type when it is a success', async () => {
    const couponId = await createDefinition(server.url, token)
    const { nonce } = await mintOne(server.url, token, couponId)
    const asked: [string, string, unknown][] = [
      ['GET', '/api/coupons', undefined],
      ['POST', '/api/coupons', { name: 'Locro', benefit: percentBenefit }],
      ['GET', '/api/coupons/minters', undefined],
      ['GET', '/api/coupons/mintable', undefined],
      ['GET', '/api/coupons/redemptions', undefined],
      ['GET', `/api/coupons/${couponId}/mints`, undefined],
      ['PATCH', `/api/coupons/${couponId}`, { name: 'Humita' }],
      ['GET', `/api/coupons/claim?nonce=${nonce}`, undefined],
      ['POST', '/api/coupons/preview', { nonce }],
      ['POST', '/api/coupons/claim', { nonce }],
      ['DELETE', `/api/coupons/${couponId}/mints`, undefined],
      ['DELETE', `/api/coupons/${couponId}`, undefined],
    ]
    for (const [method, path, body] of asked) {
      const answer = await call(server.url, path, {
        method,
        body,
        token,
        headers: { Origin: 'https://caja.example' },
      })
      expect(answer.status).toBeLessThan(300)
      expectCommonHeaders(answer)
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
    }
  })

  test('ignores wrong credentials on routes that a nonce authorises', async () => {
    const { nonce } = await mintOne(server.url, token, await createDefinition(server.url, token))
    const headers = { Authorization: `Nostr ${'x'.repeat(9000)}` }
    expect(
      (await call(server.url, '/api/coupons/preview', { body: { nonce }, headers })).status,
    ).toBe(200)
    expect((await call(server.url, `/api/coupons/claim?nonce=${nonce}`, { headers })).status).toBe(
      200,
    )
    const refreshed = await call(server.url, '/api/coupons/refresh', {
      body: { nonce },
      headers: { ...headers, 'Idempotency-Key': newKey() },
    })
    expect(refreshed.status).toBe(201)
    const claimed = await call(server.url, '/api/coupons/claim', {
      body: { nonce: refreshed.json.nonce },
      headers: { Authorization: 'Bearer nonsense' },
    })
    expect(claimed.status).toBe(200)
  })

  test('has, when it refuses, a sentence that differs by code and never repeats the input', async () => {
    const answers: Json[] = []
    for (const path of ['/api/coupons/claim', '/api/coupons/preview']) {
      answers.push((await call(server.url, path, { body: { nonce: '<script>' } })).json)
    }
    const proof = nostrHeader(createProof(signer, `${server.url}/<script>`))
    answers.push(
      (await call(server.url, '/api/coupons', { headers: { Authorization: proof } })).json,
    )
    for (const json of answers) expect(JSON.stringify(json)).not.toContain('script')
  })
})
