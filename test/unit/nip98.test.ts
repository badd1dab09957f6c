import { describe, expect, test } from 'bun:test'
import type { NostrEvent, VerifyEvent } from '../../src/nostr/event.ts'
import { type SignedRequest, verifyHttpAuth } from '../../src/nostr/nip98.ts'
import { createProof, newSigner, sha256Hex, verifyEvent } from '../support/client.ts'
import { nip98Vector } from '../support/published-events.ts'
import { refusalSoon } from '../support/refused.ts'

const signer = newSigner()
const now = 1_800_000_000
const url = 'https://cupones.example/api/coupons?limit=5'
const request: SignedRequest = {
  method: 'GET',
  origins: ['https://cupones.example'],
  target: '/api/coupons?limit=5',
  body: new Uint8Array(),
}

const encode = (event: unknown) => Buffer.from(JSON.stringify(event)).toString('base64')
const proof = (tags: string[][], createdAt = now) => createProof(signer, url, { tags, createdAt })
const verify = (
  event: unknown,
  over: Partial<SignedRequest> = {},
  check: VerifyEvent = verifyEvent,
) => refusalSoon(() => verifyHttpAuth(encode(event), { ...request, ...over }, now, check))

const vectorRequest: SignedRequest = {
  method: 'POST',
  origins: ['https://merchant.example'],
  target: '/api/coupons/mint',
  body: Buffer.from('{"couponId":"55b5ee4f-4dcc-4a6a-a58e-6d1d94d811a3"}'),
}

describe('the published vector', () => {
  test('is accepted, and its event returned', async () => {
    expect(
      await verifyHttpAuth(encode(nip98Vector), vectorRequest, nip98Vector.created_at, verifyEvent),
    ).toEqual(nip98Vector)
  })

  test('is refused with any of its parts changed', async () => {
    const changed: [Partial<NostrEvent>, Partial<SignedRequest>, number, string][] = [
      [{ content: 'x' }, {}, 0, 'auth-malformed'],
      [{ sig: nip98Vector.sig.replace('6', '7') }, {}, 0, 'auth-malformed'],
      [{}, { body: new Uint8Array() }, 0, 'auth-malformed'],
      [{}, { method: 'PUT' }, 0, 'auth-url-mismatch'],
      [{}, { target: '/api/coupons/mint/' }, 0, 'auth-url-mismatch'],
      [{}, { origins: ['http://merchant.example'] }, 0, 'auth-url-mismatch'],
      [{}, { origins: [] }, 0, 'auth-origin-unknown'],
      [{}, {}, 61, 'auth-expired'],
      [{}, {}, -61, 'auth-expired'],
    ]
    for (const [event, over, later, code] of changed) {
      const at = nip98Vector.created_at + later
      const text = encode({ ...nip98Vector, ...event })
      const refused = await refusalSoon(() =>
        verifyHttpAuth(text, { ...vectorRequest, ...over }, at, verifyEvent),
      )
      expect(refused as unknown).toEqual({ code })
    }
  })
})

describe('a matching proof', () => {
  const good: [string, string[][]][] = [
    [
      'as it is',
      [
        ['u', url],
        ['method', 'GET'],
      ],
    ],
    [
      'a method in lower case',
      [
        ['u', url],
        ['method', 'get'],
      ],
    ],
    [
      'the default port',
      [
        ['u', url.replace('.example', '.example:443')],
        ['method', 'GET'],
      ],
    ],
    [
      'scheme and host in upper case',
      [
        ['u', url.replace('https://cupones', 'HTTPS://CUPONES')],
        ['method', 'GET'],
      ],
    ],
    [
      'the payload of nothing',
      [
        ['u', url],
        ['method', 'GET'],
        ['payload', sha256Hex('')],
      ],
    ],
    [
      'a payload in upper case',
      [
        ['u', url],
        ['method', 'GET'],
        ['payload', sha256Hex('').toUpperCase()],
      ],
    ],
    [
      'the first of each name',
      [
        ['u', url],
        ['method', 'GET'],
        ['u', 'x'],
        ['method', 'PUT'],
      ],
    ],
  ]
  for (const [name, tags] of good)
    test(name, async () => expect(await verify(proof(tags))).toBeNull())

  test('names any of several origins, or a root without its slash', async () => {
    const origins = ['https://a.example', 'http://localhost:3000']
    const tags = [
      ['u', 'http://localhost:3000'],
      ['method', 'GET'],
    ]
    expect(await verify(proof(tags), { origins, target: '/' })).toBeNull()
  })

  test('has a time from 60 s ago to 60 s ahead', async () => {
    for (const [seconds, code] of [
      [-61, 'auth-expired'],
      [-60, null],
      [60, null],
      [61, 'auth-expired'],
    ] as const) {
      const refused = await verify(
        proof(
          [
            ['u', url],
            ['method', 'GET'],
          ],
          now + seconds,
        ),
      )
      expect(refused?.code ?? null).toBe(code)
    }
  })
})

describe('a proof that does not match', () => {
  const bad: [string, string[][], string][] = [
    [
      'a fragment',
      [
        ['u', `${url}#x`],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    [
      'another query',
      [
        ['u', url.replace('5', '6')],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    [
      'the query in escapes',
      [
        ['u', url.replace('5', '%35')],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    [
      'another port',
      [
        ['u', url.replace('.example', '.example:444')],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    [
      'a user',
      [
        ['u', url.replace('://', '://a@')],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    [
      'a user after the host',
      [
        ['u', 'https://cupones.example@evil.example/api/coupons?limit=5'],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    [
      'a backslash',
      [
        ['u', 'https:\\\\cupones.example/api/coupons?limit=5'],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    [
      'another scheme',
      [
        ['u', url.replace('https', 'ftp')],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    [
      'white space',
      [
        ['u', ` ${url}`],
        ['method', 'GET'],
      ],
      'auth-url-mismatch',
    ],
    ['no u', [['method', 'GET']], 'auth-malformed'],
    ['no method', [['u', url]], 'auth-malformed'],
    ['a first u without value', [['u'], ['u', url], ['method', 'GET']], 'auth-malformed'],
    [
      'a wrong payload',
      [
        ['u', url],
        ['method', 'GET'],
        ['payload', sha256Hex('x')],
      ],
      'auth-malformed',
    ],
  ]
  for (const [name, tags, code] of bad) {
    test(name, async () => expect((await verify(proof(tags))) as unknown).toEqual({ code }))
  }
})

test('no signature is verified for an event of the wrong shape or kind', async () => {
  let asked = 0
  const counting: VerifyEvent = (event) => {
    asked++
    return verifyEvent(event)
  }
  const good = proof([
    ['u', url],
    ['method', 'GET'],
  ])
  for (const event of [
    null,
    [],
    {},
    { ...good, kind: 1 },
    { ...good, sig: 'x' },
    { ...good, created_at: -1 },
  ]) {
    expect(await verify(event, {}, counting)).toEqual({ code: 'auth-malformed' })
  }
  expect(asked).toBe(0)
})

test('an invalid encoding is malformed', async () => {
  const texts = [
    '',
    '=',
    'a b',
    'ñ',
    '!!!!',
    'bnVsbA==',
    'W10=',
    '/w==',
    '[',
    '{}',
    `${encode({})}===`,
  ]
  for (const text of texts) {
    const refused = await refusalSoon(() => verifyHttpAuth(text, request, now, verifyEvent))
    expect(refused).toEqual({ code: 'auth-malformed' })
  }
})
