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
  const state: { down: boolean; refusal?: string; unwritable?: boolean } = { down: false }
  Object.assign(globalThis, {
    async fetch(path: string) {
      opened.push(path)
      if (state.down) throw new TypeError('down')
      if (state.refusal !== undefined) {
        const code = state.refusal
        delete state.refusal
        return Response.json({ code, error: 'x' }, { status: 401 })
      }
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
      write(name, text) {
        if (state.unwritable) throw new Error('unwritable')
        return texts.set(name, text).has(name)
      },
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
  // An outage is not the end of it: a request a minute later tries again, and none before.
  state.down = false
  expect(session.atHand()).toBe('token 1')
  await Bun.sleep(0)
  expect(opened).toHaveLength(2)
  later(40_062)
  expect(session.atHand()).toBe('token 1')
  await until('another token is at hand', () => session.atHand() === 'token 3')
  expect(opened).toHaveLength(3)
})

test('an error in the background ends no program', async () => {
  const { session, signer, opened, state, later } = open()
  let signatures = 0
  const sign: typeof signer.sign = async (event) => {
    signatures++
    if (signatures === 2) throw new Error('usb')
    return signer.sign(event)
  }
  const unhandled: unknown[] = []
  const note = (cause: unknown) => unhandled.push(cause)
  process.on('unhandledRejection', note)
  await session.signIn({ ...signer, sign })
  later(40_000)
  expect(session.atHand()).toBe('token 1')
  await until('the signer broke', () => signatures === 2)
  await Bun.sleep(10)
  later(40_062)
  state.unwritable = true
  expect(session.atHand()).toBe('token 1')
  await until('the service was asked', () => opened.length === 2)
  await Bun.sleep(10)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('a signature is sent again while the service takes it, and followed by another', async () => {
  const { session, signer, state, later } = open()
  let signatures = 0
  let seconds = 0
  const wait = (more: number) => {
    seconds += more
    later(seconds)
  }
  const slow: typeof signer = {
    ...signer,
    async sign(event) {
      signatures++
      const made = await signer.sign(event)
      wait(signatures === 1 ? 45 : 0)
      return made
    },
  }
  state.down = true
  await expect(session.signIn(slow)).rejects.toThrow('unreachable')
  wait(20)
  await expect(session.signIn(slow)).rejects.toThrow('unreachable')
  expect(signatures).toBe(2)
  wait(20)
  state.down = false
  // The clock of the service is ahead.
  state.refusal = 'auth-expired'
  await session.signIn(slow)
  expect([signatures, session.atHand()]).toEqual([3, 'token 4'])
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

test('a refused token is replaced at once, although a renewal was lost a moment ago', async () => {
  const { session, signer, opened, state, later } = open()
  await session.signIn(signer)
  // A tablet wakes before its Wi-Fi, and the service has started with another secret meanwhile.
  later(42_600)
  state.down = true
  expect(session.atHand()).toBe('token 1')
  await until('the service was asked', () => opened.length === 2)
  await Bun.sleep(0)
  state.down = false
  expect(await session.replaceAtHand('token 1')).toBe('token 3')
  // The renewal that is under way serves, too.
  later(42_600 + 43_000)
  expect(session.atHand()).toBe('token 3')
  expect(await session.replaceAtHand('token 3')).toBe('token 4')
  expect(opened).toHaveLength(4)
})
