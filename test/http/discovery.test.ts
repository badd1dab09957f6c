import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { call, type Json, newSigner, openSession } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let manager: string
let signer: Signer
let token: string

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
  manager = (await call(server.url, '/api/coupons/manager')).json.pubkey
})

beforeEach(async () => {
  signer = newSigner()
  token = await openSession(server.url, signer)
})

afterAll(cleanUp)

const put = (event: unknown, by = token) =>
  call(server.url, '/api/coupons/discovery', { method: 'PUT', body: { event }, token: by })
const withdraw = () => call(server.url, '/api/coupons/discovery', { method: 'DELETE', token })
const stored = async (): Promise<NostrEvent | null> =>
  (await call(server.url, '/api/coupons', { token })).json.discovery

const goodTags = () => [
  ['d', 'lacrypta.merchant/coupons'],
  ['p', manager],
  ['client', 'cuponera'],
]
const goodContent = (): Json => ({
  v: 2,
  mintUrl: `${server.url}/api/coupons/mint`,
  claimUrl: `${server.url}/api/coupons/claim`,
  refreshUrl: `${server.url}/api/coupons/refresh`,
})
type Over = { kind?: number; created_at?: number; tags?: string[][]; content?: unknown }
const announcement = ({ content = goodContent(), ...over }: Over = {}, by: Signer = signer) =>
  by.sign({
    kind: 30_078,
    created_at: secondsNow(),
    tags: goodTags(),
    content: typeof content === 'string' ? content : JSON.stringify(content),
    ...over,
  })

describe('PUT /api/coupons/discovery', () => {
  test('stores a valid announcement and answers with it alone', async () => {
    const event = announcement()
    const { status, json } = await put(event)
    expect({ status, json }).toEqual({ status: 200, json: { event } })
    expect(await stored()).toEqual(event)
  })

  test('stores the seven fields of the event and no others', async () => {
    const event = announcement()
    expect((await put({ ...event, relays: ['x'] })).json).toEqual({ event })
    expect(await stored()).toEqual(event)
  })

  const malformed: [string, (event: NostrEvent) => unknown][] = [
    ['null', () => null],
    ['a string', (event) => JSON.stringify(event)],
    ['a list', (event) => [event]],
    ['an empty object', () => ({})],
    ['no signature', ({ sig, ...rest }) => (sig ? rest : null)],
    ['an upper-case id', (event) => ({ ...event, id: event.id.toUpperCase() })],
    ['a content that is an object', (event) => ({ ...event, content: goodContent() })],
    ['tags with numbers', (event) => ({ ...event, tags: [['d', 1]] })],
    ['a negative created_at', (event) => ({ ...event, created_at: -1 })],
    ['a kind in text', (event) => ({ ...event, kind: '30078' })],
  ]
  for (const [name, change] of malformed) {
    test(`refuses as event ${name}`, async () => {
      await refuses(server, () => put(change(announcement())), 400, 'field-invalid', {
        field: 'event',
      })
    })
  }

  test('refuses a body without event', async () => {
    const ask = () => call(server.url, '/api/coupons/discovery', { method: 'PUT', body: {}, token })
    await refuses(server, ask, 400, 'field-invalid', { field: 'event' })
  })

  const refused: [string, () => NostrEvent, code: string][] = [
    ['another kind', () => announcement({ kind: 30_079 }), 'kind'],
    ['another author', () => announcement({}, newSigner()), 'author'],
    ['a wrong id', () => ({ ...announcement(), id: 'ab'.repeat(32) }), 'id'],
    ['a changed content', () => ({ ...announcement(), content: '{"v":3}' }), 'id'],
    [
      'a wrong signature',
      () => ({ ...announcement(), sig: announcement({ content: '{}' }).sig }),
      'signature',
    ],
    ['no d', () => announcement({ tags: [['p', manager]] }), 'd'],
    ['a d without value', () => announcement({ tags: [['d'], ['p', manager]] }), 'd'],
    ['a D', () => announcement({ tags: [['D', 'x']] }), 'd'],
    ['an empty content', () => announcement({ content: '' }), 'content'],
    ['a content that is no JSON', () => announcement({ content: 'hola' }), 'content'],
    ['a content that is a list', () => announcement({ content: '[]' }), 'content'],
    ['a content that is null', () => announcement({ content: 'null' }), 'content'],
    ['a content that is text', () => announcement({ content: '"x"' }), 'content'],
    ['a content nested deep', () => announcement({ content: '['.repeat(7000) }), 'content'],
    [
      'a created_at 16 minutes ahead',
      () => announcement({ created_at: secondsNow() + 960 }),
      'future',
    ],
  ]
  for (const [name, event, code] of refused) {
    test(`refuses ${name}`, async () => {
      await put(announcement({ created_at: secondsNow() - 100 }))
      await refuses(server, () => put(event()), 400, `announcement-${code}`)
    })
  }

  const badUrls: [string, unknown][] = [
    ['http elsewhere', 'http://cupones.example/x'],
    ['http on a private address', 'http://192.168.0.5/x'],
    ['http on a name like localhost', 'http://localhost.evil.example/x'],
    ['another scheme', 'ftp://cupones.example/x'],
    ['a path alone', '/api/coupons/mint'],
    ['a host alone', 'cupones.example'],
    ['an empty text', ''],
    ['a number', 5],
    ['a list', ['https://cupones.example/']],
    ['false', false],
    ['javascript', 'javascript:alert(1)'],
  ]
  for (const [name, url] of badUrls) {
    test(`refuses as address ${name}`, async () => {
      for (const field of ['mintUrl', 'claimUrl', 'refreshUrl']) {
        const event = announcement({ content: { ...goodContent(), [field]: url } })
        await refuses(server, () => put(event), 400, 'announcement-url', {
          field: `event.content.${field}`,
        })
      }
    })
  }

  test('refuses in order: kind, author, id, signature, d, content, address, date', async () => {
    const steps: [Over, Signer, string][] = [
      [{ kind: 1, tags: [], content: '' }, newSigner(), 'kind'],
      [{ tags: [], content: '' }, newSigner(), 'author'],
      [{ tags: [], content: '' }, signer, 'd'],
      [{ content: '' }, signer, 'content'],
      [{ content: { mintUrl: 'x' } }, signer, 'url'],
      [{}, signer, 'future'],
    ]
    for (const [over, by, code] of steps) {
      const { status, json } = await put(
        announcement({ created_at: secondsNow() + 5000, ...over }, by),
      )
      expect([status, json.code]).toEqual([400, `announcement-${code}`])
    }
  })

  const plain = [
    'http://localhost',
    'http://localhost:9999',
    'http://127.0.0.1:1',
    'http://127.9.9.9',
    'http://[::1]:80',
  ]
  for (const origin of plain) {
    test(`takes ${origin} in plain http`, async () => {
      const { status, json } = await put(
        announcement({ content: { ...goodContent(), mintUrl: `${origin}/api/coupons/mint` } }),
      )
      expect(status).toBe(200)
      expect(json.warnings.map((one: Json) => one.code)).toEqual(['other-mintUrl'])
    })
  }

  const warned: [string, () => Over, string[]][] = [
    [
      'another d',
      () => ({
        tags: [
          ['d', 'x'],
          ['p', manager],
        ],
      }),
      ['other-d'],
    ],
    [
      'an empty d',
      () => ({
        tags: [
          ['d', ''],
          ['p', manager],
        ],
      }),
      ['other-d'],
    ],
    ['another version', () => ({ content: { ...goodContent(), v: 1 } }), ['other-version']],
    ['a version in text', () => ({ content: { ...goodContent(), v: '2' } }), ['other-version']],
    ['no version', () => ({ content: { ...goodContent(), v: undefined } }), ['other-version']],
    ['no p', () => ({ tags: [['d', 'lacrypta.merchant/coupons']] }), ['no-manager']],
    [
      'another manager',
      () => ({
        tags: [
          ['d', 'lacrypta.merchant/coupons'],
          ['p', 'ab'.repeat(32)],
        ],
      }),
      ['other-manager'],
    ],
    ['no mintUrl', () => ({ content: { ...goodContent(), mintUrl: undefined } }), ['no-mintUrl']],
    ['no claimUrl', () => ({ content: { ...goodContent(), claimUrl: null } }), ['no-claimUrl']],
    [
      'no refreshUrl',
      () => ({ content: { ...goodContent(), refreshUrl: undefined } }),
      ['no-refreshUrl'],
    ],
    [
      'another host',
      () => ({
        content: { ...goodContent(), claimUrl: 'https://cupones.example/api/coupons/claim' },
      }),
      ['other-claimUrl'],
    ],
    [
      'another path here',
      () => ({ content: { ...goodContent(), refreshUrl: `${server.url}/api/coupons/claim` } }),
      ['other-refreshUrl'],
    ],
    [
      'everything at once',
      () => ({ tags: [['d', 'x']], content: {} }),
      ['other-d', 'other-version', 'no-manager', 'no-mintUrl', 'no-claimUrl', 'no-refreshUrl'],
    ],
  ]
  for (const [name, over, codes] of warned) {
    test(`accepts ${name} with a warning`, async () => {
      const event = announcement(over())
      const { status, json } = await put(event)
      expect(status).toBe(200)
      expect(new Set(Object.keys(json))).toEqual(new Set(['event', 'warnings']))
      expect(json.event).toEqual(event)
      expect(json.warnings).toEqual(
        codes.map((code) => ({ code, message: expect.stringMatching(/\S\.$/) })),
      )
      expect(await stored()).toEqual(event)
    })
  }

  test('accepts a created_at 14 minutes ahead', async () => {
    expect(
      (await put(announcement({ created_at: secondsNow() + 840 }))).json.warnings,
    ).toBeUndefined()
  })

  test('the newer announcement stays, and the older is 409', async () => {
    const [older, newer] = [announcement({ created_at: secondsNow() - 10 }), announcement()]
    await put(older)
    expect((await put(newer)).status).toBe(200)
    await refuses(server, () => put(older), 409, 'announcement-older')
    expect(await stored()).toEqual(newer)
  })

  test('at the same time the lower id stays', async () => {
    const created_at = secondsNow()
    const events = ['a', 'b'].map((client) =>
      announcement({ created_at, tags: [...goodTags(), ['client', client]] }),
    )
    const [lower, higher] = events.sort((a, b) => (a.id < b.id ? -1 : 1)) as [
      NostrEvent,
      NostrEvent,
    ]
    await put(higher)
    expect((await put(lower)).status).toBe(200)
    await refuses(server, () => put(higher), 409, 'announcement-older')
    expect(await stored()).toEqual(lower)
  })

  test('a repetition of the same announcement is 200, with the same answer', async () => {
    const event = announcement({ tags: [['d', 'x']] })
    const first = await put(event)
    const again = await put(event)
    expect({ status: again.status, text: again.text }).toEqual({ status: 200, text: first.text })
  })

  test('each merchant has its own announcement', async () => {
    const mine = announcement()
    await put(mine)
    const other = newSigner()
    const theirs = announcement({}, other)
    await put(theirs, await openSession(server.url, other))
    expect(await stored()).toEqual(mine)
  })
})

describe('DELETE /api/coupons/discovery', () => {
  test('removes the announcement once', async () => {
    await put(announcement())
    const { status, json } = await withdraw()
    expect({ status, json }).toEqual({ status: 200, json: { removed: true } })
    expect(await stored()).toBeNull()
    await refuses(server, withdraw, 404, 'announcement-unknown')
  })

  test('allows an older announcement afterwards', async () => {
    await put(announcement())
    await withdraw()
    expect((await put(announcement({ created_at: secondsNow() - 100 }))).status).toBe(200)
  })
})

test('with PUBLIC_URL its origins are those of this service, and may be plain http', async () => {
  const open = await startServer({
    checkRoots: true,
    env: {
      RATE_LIMIT: 'off',
      MERCHANTS: 'open',
      PUBLIC_URL: 'https://cupones.example,http://cupones.example:8080',
    },
  })
  const own = newSigner()
  const session = await call(open.url, '/api/auth/session', {
    method: 'POST',
    headers: { Authorization: signedFor(own, 'https://cupones.example/api/auth/session') },
  })
  const { token: by } = session.json
  const { pubkey } = (await call(open.url, '/api/coupons/manager')).json
  /** The answer to an announcement of addresses under `origin`, which is then withdrawn. */
  const announced = async (origin: string): Promise<Json> => {
    const content = JSON.stringify({
      v: 2,
      mintUrl: `${origin}/api/coupons/mint`,
      claimUrl: `${origin}/api/coupons/claim`,
      refreshUrl: `${origin}/api/coupons/refresh`,
    })
    const tags = [
      ['d', 'lacrypta.merchant/coupons'],
      ['p', pubkey],
    ]
    const event = own.sign({ kind: 30_078, created_at: secondsNow(), tags, content })
    const answer = await call(open.url, '/api/coupons/discovery', {
      method: 'PUT',
      body: { event },
      token: by,
    })
    await call(open.url, '/api/coupons/discovery', { method: 'DELETE', token: by })
    return answer.json
  }
  for (const origin of [
    'https://cupones.example',
    'http://cupones.example:8080',
    'https://CUPONES.example:443',
  ]) {
    expect(Object.keys(await announced(origin))).toEqual(['event'])
  }
  expect((await announced(open.url)).warnings).toHaveLength(3)
  expect((await announced('http://otra.example')).code).toBe('announcement-url')
})

function signedFor(by: Signer, url: string): string {
  const tags = [
    ['u', url],
    ['method', 'POST'],
    ['nonce', crypto.randomUUID()],
  ]
  const event = by.sign({ kind: 27_235, created_at: secondsNow(), tags, content: '' })
  return `Nostr ${Buffer.from(JSON.stringify(event)).toString('base64')}`
}
