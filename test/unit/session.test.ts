import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Refusal } from '../../src/base/refusal.ts'
import { type Cutoff, createCutoffs, everyKey } from '../../src/session/cutoffs.ts'
import type { Session } from '../../src/session/session.ts'
import { createSessions } from '../../src/session/session.ts'

const pubkey = 'ab'.repeat(32)
const start = 1_800_000_000

/** Sessions on a clock that the test moves. */
function open(secret = 's'.repeat(32), ended: Cutoff[] = []) {
  const clock = { now: start }
  const cutoffs = createCutoffs(ended)
  return { clock, cutoffs, sessions: createSessions(secret, () => clock.now, cutoffs) }
}

async function refusedWith(verified: Promise<unknown>): Promise<string | null> {
  try {
    await verified
    return null
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    return refused.code
  }
}

function jwt(header: object, claims: object, secret = 's'.repeat(32)): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = `${part(header)}.${part(claims)}`
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
}

test('a session names its key until exactly twelve hours later', async () => {
  const { clock, sessions } = open()
  const { token, ...rest }: Session = await sessions.create(pubkey)
  expect(rest).toEqual({ pubkey, expiresAt: start + 43_200 })
  expect((await sessions.verify(token)).pubkey).toBe(pubkey)
  clock.now = start + 43_199
  expect((await sessions.verify(token)).pubkey).toBe(pubkey)
  clock.now = start + 43_200
  expect(await refusedWith(sessions.verify(token))).toBe('auth-session-expired')
})

test('an unverified session expires in the same second as a verified one', async () => {
  const { clock, sessions } = open()
  const { token } = await sessions.create(pubkey)
  clock.now = start + 43_200
  expect(await refusedWith(sessions.verify(token))).toBe('auth-session-expired')
})

test('the token has one fixed algorithm and exactly the claims', async () => {
  const { token } = await open().sessions.create(pubkey)
  const [header, claims] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString())
  expect(JSON.parse(header ?? '')).toEqual({ alg: 'HS256', typ: 'JWT' })
  expect(JSON.parse(claims ?? '')).toEqual({ sub: pubkey, iat: start, exp: start + 43_200 })
})

test('the key is the UTF-8 bytes of the secret', async () => {
  const secret = 'ñandú-🧉-'.repeat(4)
  const claims = { sub: pubkey, iat: start, exp: start + 10 }
  const { sessions } = open(secret)
  expect((await sessions.verify(jwt({ alg: 'HS256' }, claims, secret))).pubkey).toBe(pubkey)
})

test('another secret ends every session', async () => {
  const { token } = await open().sessions.create(pubkey)
  expect(await refusedWith(open('t'.repeat(32)).sessions.verify(token))).toBe(
    'auth-session-invalid',
  )
})

const claims = { sub: pubkey, iat: start, exp: start + 100 }
const invalid: [string, string][] = [
  ['nothing', ''],
  ['one part', 'x'],
  ['three empty parts', '..'],
  ['five parts', 'a.b.c.d.e'],
  ['no algorithm', jwt({ typ: 'JWT' }, claims)],
  ['the algorithm none', jwt({ alg: 'none' }, claims)],
  ['HS512 in name only', jwt({ alg: 'HS512' }, claims)],
  ['RS256', jwt({ alg: 'RS256' }, claims)],
  ['a critical header that nobody knows', jwt({ alg: 'HS256', crit: ['x'], x: 1 }, claims)],
  ['claims that are a list', jwt({ alg: 'HS256' }, [])],
  ['no subject', jwt({ alg: 'HS256' }, { iat: start, exp: start + 100 })],
  ['a subject that is no key', jwt({ alg: 'HS256' }, { ...claims, sub: 'x' })],
  ['a subject that is a number', jwt({ alg: 'HS256' }, { ...claims, sub: 1 })],
  ['no expiry', jwt({ alg: 'HS256' }, { sub: pubkey, iat: start })],
  ['a beginning in text', jwt({ alg: 'HS256' }, { ...claims, iat: '5' })],
  ['an expiry in text', jwt({ alg: 'HS256' }, { ...claims, exp: '9999999999' })],
  ['an expiry of null', jwt({ alg: 'HS256' }, { ...claims, exp: null })],
  [
    'an expired one under another secret',
    jwt({ alg: 'HS256' }, { ...claims, exp: 1 }, 'x'.repeat(32)),
  ],
]
for (const [name, token] of invalid) {
  test(`${name} is an invalid session`, async () => {
    expect(await refusedWith(open().sessions.verify(token))).toBe('auth-session-invalid')
  })
}

test('every session is still valid when there are more than are remembered', async () => {
  const { sessions } = open()
  const first = await sessions.create(pubkey)
  for (let at = 0; at < 10_100; at++) {
    await sessions.verify(jwt({ alg: 'HS256' }, { ...claims, iat: at }))
  }
  expect((await sessions.verify(first.token)).pubkey).toBe(pubkey)
})

describe('a session that was ended', () => {
  const other = 'cd'.repeat(32)

  test('is invalid at once, also when it was verified before, and those of other keys stay valid', async () => {
    const { sessions, cutoffs } = open()
    const { token } = await sessions.create(pubkey)
    const seen = await sessions.verify(token)
    const unseen = await sessions.create(pubkey)
    const others = await sessions.create(other)
    cutoffs.set({ pubkey, endedAt: start })
    for (const one of [token, unseen.token]) {
      expect(await refusedWith(sessions.verify(one))).toBe('auth-session-expired')
    }
    expect(() => sessions.requireOpen(seen)).toThrow(Refusal)
    expect((await sessions.verify(others.token)).pubkey).toBe(other)
  })

  test('is followed by valid sessions, in the same second and after it', async () => {
    const { clock, sessions, cutoffs } = open()
    await sessions.create(pubkey)
    cutoffs.set({ pubkey, endedAt: start })
    const again = await sessions.create(pubkey)
    expect(again.expiresAt).toBe(start + 1 + 43_200)
    expect(await sessions.verify(again.token)).toMatchObject({ pubkey, beganAt: start + 1 })
    clock.now += 60
    expect((await sessions.create(pubkey)).expiresAt).toBe(start + 60 + 43_200)
    expect((await sessions.verify(again.token)).pubkey).toBe(pubkey)
  })

  test('also covers a session without iat, which began twelve hours before its expiry', async () => {
    const { sessions, cutoffs } = open()
    const token = jwt({ alg: 'HS256' }, { sub: pubkey, exp: start + 43_200 })
    expect(await sessions.verify(token)).toMatchObject({ beganAt: start })
    cutoffs.set({ pubkey, endedAt: start - 1 })
    expect((await sessions.verify(token)).pubkey).toBe(pubkey)
    cutoffs.set({ pubkey, endedAt: start })
    expect(await refusedWith(sessions.verify(token))).toBe('auth-session-expired')
  })

  test('may be that of everybody, also from before the start', async () => {
    const { token } = await open().sessions.create(pubkey)
    for (const ended of [everyKey, pubkey]) {
      const { sessions } = open(undefined, [{ pubkey: ended, endedAt: start }])
      expect(await refusedWith(sessions.verify(token))).toBe('auth-session-expired')
      const again = await sessions.create(pubkey)
      expect((await sessions.verify(again.token)).pubkey).toBe(pubkey)
    }
    const { sessions } = open(undefined, [{ pubkey: everyKey, endedAt: start - 1 }])
    expect((await sessions.verify(token)).pubkey).toBe(pubkey)
  })
})
