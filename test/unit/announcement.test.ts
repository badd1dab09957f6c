import { describe, expect, test } from 'bun:test'
import { type AnnouncementContext, parseAnnouncement } from '../../src/coupons/announcement.ts'
import { newSigner, verifyEvent } from '../support/client.ts'
import { refusalOf } from '../support/refused.ts'

const signer = newSigner()
const manager = 'ab'.repeat(32)
const now = 1_800_000_000
const context: AnnouncementContext = {
  author: signer.pubkey,
  manager,
  origins: ['https://cupones.example', 'http://otra.example:8080'],
  now,
  verify: verifyEvent,
}
const goodTags = [
  ['d', 'lacrypta.merchant/coupons'],
  ['p', manager],
  ['client', 'x'],
]
const goodContent = {
  v: 2,
  mintUrl: 'https://cupones.example/api/coupons/mint',
  claimUrl: 'https://cupones.example/api/coupons/claim',
  refreshUrl: 'https://cupones.example/api/coupons/refresh',
}
const event = (
  over: { kind?: number; created_at?: number; tags?: string[][]; content?: unknown } = {},
) => {
  const { content = goodContent, ...rest } = over
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return signer.sign({ kind: 30_078, created_at: now, tags: goodTags, ...rest, content: text })
}
const refused = (value: unknown, over: Partial<AnnouncementContext> = {}) =>
  refusalOf(() => parseAnnouncement(value, { ...context, ...over }))
const warningsOf = (value: unknown) =>
  parseAnnouncement(value, context).warnings.map(({ code }) => code)

test('the recommended layout is accepted without a warning', () => {
  const good = event()
  expect(parseAnnouncement(good, context)).toEqual({ event: good, warnings: [] })
})

describe('refusals', () => {
  const bad: [string, unknown, string][] = [
    ['no event', { id: 'x' }, 'field-invalid'],
    ['another kind', event({ kind: 30_077 }), 'announcement-kind'],
    ['another id', { ...event(), id: 'cd'.repeat(32) }, 'announcement-id'],
    ['another signature', { ...event(), sig: event({ tags: [] }).sig }, 'announcement-signature'],
    ['no d', event({ tags: [['p', manager]] }), 'announcement-d'],
    ['no JSON', event({ content: '{' }), 'announcement-content'],
    ['a list', event({ content: [] }), 'announcement-content'],
    ['a date 901 s ahead', event({ created_at: now + 901 }), 'announcement-future'],
  ]
  for (const [name, value, code] of bad) {
    test(name, () => expect(refused(value)?.code as unknown).toBe(code))
  }

  test('another author is refused', () => {
    expect(refused(event(), { author: manager })).toEqual({ code: 'announcement-author' })
  })

  test('a date up to 900 s ahead is accepted, a later one refused', () => {
    expect(refused(event({ created_at: now + 900 }))).toBeNull()
  })

  test('an address in plain http is refused, except on loopback and on the hosts of this service', () => {
    const plain: [url: string, taken: boolean][] = [
      ['http://localhost/x', true],
      ['http://LOCALHOST:3000/x', true],
      ['http://127.0.0.1/x', true],
      ['http://127.255.0.9:1/x', true],
      ['http://[::1]/x', true],
      ['http://2130706433/x', true],
      ['http://otra.example:8080/x', true],
      ['http://cupones.example/x', true],
      ['http://otra.example/x', false],
      ['http://128.0.0.1/x', false],
      ['http://127.0.0.1.example/x', false],
      ['http://localhost.example/x', false],
      ['http://[::2]/x', false],
      ['http://0.0.0.0/x', false],
      ['https://anything.example/x', true],
      ['ws://localhost/x', false],
      ['', false],
      ['localhost', false],
    ]
    for (const [url, taken] of plain) {
      for (const field of ['mintUrl', 'claimUrl', 'refreshUrl']) {
        const found = refused(event({ content: { ...goodContent, [field]: url } }))
        const expected = taken
          ? null
          : { code: 'announcement-url', field: `event.content.${field}` }
        expect({ url, found: found as unknown }).toEqual({ url, found: expected })
      }
    }
  })
})

describe('warnings', () => {
  const warned: [string, unknown, string[]][] = [
    [
      'another d',
      event({
        tags: [
          ['d', 'x'],
          ['p', manager],
        ],
      }),
      ['other-d'],
    ],
    ['a second d that is right', event({ tags: [['d', 'x'], ...goodTags] }), ['other-d']],
    ['another v', event({ content: { ...goodContent, v: 3 } }), ['other-version']],
    ['no p', event({ tags: [['d', 'lacrypta.merchant/coupons']] }), ['no-manager']],
    [
      'another p',
      event({
        tags: [
          ['d', 'lacrypta.merchant/coupons'],
          ['p', 'cd'.repeat(32)],
        ],
      }),
      ['other-manager'],
    ],
    ['no addresses', event({ content: { v: 2 } }), ['no-mintUrl', 'no-claimUrl', 'no-refreshUrl']],
    [
      'an address elsewhere',
      event({ content: { ...goodContent, mintUrl: 'https://x.example/' } }),
      ['other-mintUrl'],
    ],
    [
      'an address with a query',
      event({ content: { ...goodContent, claimUrl: `${goodContent.claimUrl}?x=1` } }),
      ['other-claimUrl'],
    ],
    [
      'a trailing slash and the default port',
      event({
        content: { ...goodContent, mintUrl: 'https://CUPONES.example:443/api/coupons/mint/' },
      }),
      [],
    ],
    [
      'another of our origins',
      event({ content: { ...goodContent, mintUrl: 'http://otra.example:8080/api/coupons/mint' } }),
      [],
    ],
  ]
  for (const [name, value, codes] of warned) {
    test(`${name}: ${codes.join(', ') || 'none'}`, () => {
      expect<string[]>(warningsOf(value)).toEqual(codes)
    })
  }
})
