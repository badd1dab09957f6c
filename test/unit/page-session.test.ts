/** The session of a page: the token at hand, for requests that wait for nothing. */
import { afterEach, expect, test } from 'bun:test'
import { createSession } from '../../src/client/session.ts'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { until } from '../support/until.ts'

const realFetch = globalThis.fetch
const realNow = Date.now
afterEach(() => {
  Object.assign(globalThis, { fetch: realFetch })
  Date.now = realNow
})

/** A session whose service gives out tokens of twelve hours, one after the other. */
function open() {
  const texts = new Map<string, string>()
  const opened: string[] = []
  const state = { down: false }
  Object.assign(globalThis, {
    async fetch(path: string) {
      opened.push(path)
      if (state.down) throw new TypeError('down')
      const token = `token ${opened.length}`
      return Response.json({ token, pubkey: signer.pubkey, expiresAt: secondsNow() + 43_200 })
    },
  })
  const { pubkey, sign } = newSigner()
  const signer = { kind: 'local' as const, pubkey, sign: async (event: never) => sign(event) }
  const session = createSession({
    name: 'session',
    store: {
      read: (name) => texts.get(name) ?? null,
      write: (name, text) => texts.set(name, text).has(name),
      remove: (name) => texts.delete(name),
    },
    origin: 'http://127.0.0.1:3000',
    restore: async () => null,
    onIdentity: () => undefined,
    onAsk: (asked) => expect(asked).toBeNull(),
  })
  const later = (seconds: number) => {
    Date.now = () => realNow() + seconds * 1000
  }
  return { session, signer, opened, state, later, texts }
}

test('a token is at hand until it ends, and is replaced before that in the background', async () => {
  const { session, signer, opened, state, later } = open()
  expect([session.atHand(), opened]).toEqual([null, []])
  await session.signIn(signer)
  expect([session.atHand(), opened.length]).toEqual(['token 1', 1])
  later(40_000)
  state.down = true
  expect(session.atHand()).toBe('token 1')
  await until('the service was asked', () => opened.length === 2)
  await Bun.sleep(0)
  // An outage is not the end of it: the next request tries again.
  state.down = false
  expect(session.atHand()).toBe('token 1')
  await until('another token is at hand', () => session.atHand() === 'token 3')
  expect(opened).toHaveLength(3)
})

test('a session that is over, without its signer, asks nobody', async () => {
  const { session, signer, opened, later } = open()
  await session.signIn({ ...signer, kind: 'extension' })
  later(43_300)
  expect([session.atHand(), opened.length]).toEqual([null, 1])
  session.signOut()
  expect([session.atHand(), opened.length]).toEqual([null, 1])
})

test('a refused token is replaced by the signer at hand, once, and never by asking a person', async () => {
  const { session, signer, opened } = open()
  await session.signIn(signer)
  expect(await session.replaceAtHand('token 1')).toBe('token 2')
  expect(await session.replaceAtHand('token 1')).toBe('token 2')
  expect(opened).toHaveLength(2)
  await session.signIn({ ...signer, kind: 'extension' })
  expect(await session.replaceAtHand('token 3')).toBeNull()
  expect([session.atHand(), opened.length]).toEqual([null, 3])
})
