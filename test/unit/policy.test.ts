import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { createPolicy } from '../../src/relay/policy.ts'

const member = 'a'.repeat(64)
const stranger = 'b'.repeat(64)
const event = (pubkey: string, kind = 1) => ({ pubkey, kind }) as NostrEvent
const from = (...keys: string[]) => ({ address: '203.0.113.5', authenticated: new Set(keys) })

function openPolicy(options: { open?: boolean; rateLimit?: boolean } = {}) {
  const clock = { seconds: 0 }
  const policy = createPolicy({
    open: () => options.open ?? false,
    isMember: async (pubkey) => pubkey === member,
    rateLimit: options.rateLimit ?? true,
    seconds: () => clock.seconds,
  })
  return { policy, clock }
}

test('members may write, unknown clients must authenticate, and authenticated strangers are refused', async () => {
  const { policy } = openPolicy()
  expect(await policy.mayWrite(event(member), 300, from())).toBe('yes')
  expect(await policy.mayWrite(event(stranger), 300, from())).toBe('auth')
  expect(await policy.mayWrite(event(stranger), 300, from(stranger))).toBe('no')
  expect(await policy.mayWrite(event(stranger), 300, from(stranger, member))).toBe('yes')
})

test('everybody may write to a private service', async () => {
  const { policy } = openPolicy({ open: true })
  expect(await policy.mayWrite(event(stranger), 300, from())).toBe('yes')
})

test('a key has a quota that refills with time, and large events use more of it', async () => {
  const { policy, clock } = openPolicy()
  const write = (chars: number) => policy.mayWrite(event(member), chars, from())
  for (let left = limits.relayKeyBurst; left > 0; left--) expect(await write(300)).toBe('yes')
  expect(await write(300)).toBe('later')
  clock.seconds += 2
  expect(await write(limits.relayQuotaBytes * limits.relayKeyPerSecond * 2)).toBe('yes')
  expect(await write(300)).toBe('later')
})

test('an address has a quota over all keys', () => {
  const { policy, clock } = openPolicy({ open: true })
  for (let left = limits.relayAddressBurst; left > 0; left--) {
    expect(policy.maySend('203.0.113.5', 300)).toBe(true)
  }
  expect(policy.maySend('203.0.113.5', 300)).toBe(false)
  expect(policy.maySend('203.0.113.6', 300)).toBe(true)
  clock.seconds += 1
  expect(policy.maySend('203.0.113.5', 300)).toBe(true)
})

test('remote signing is open to strangers at a limited rate by address', async () => {
  const { policy } = openPolicy()
  const sign = () => policy.mayWrite(event(stranger, 24_133), 300, from())
  for (let left = limits.relayStrangerBurst; left > 0; left--) expect(await sign()).toBe('yes')
  expect(await sign()).toBe('later')
})

test('a query that looked at many rows costs more', () => {
  const { policy } = openPolicy()
  const rounds = limits.relayAskBurst / (1 + 20)
  for (let left = Math.floor(rounds); left > 0; left--) {
    expect(policy.mayAsk('a')).toBe(true)
    policy.charge('a', 20 * limits.relayAskRows)
  }
  for (let left = limits.relayAskBurst % 21; left > 0; left--) policy.mayAsk('a')
  expect(policy.mayAsk('a')).toBe(false)
  expect(policy.mayAsk('b')).toBe(true)
})

test('without rate limits there are no quotas', async () => {
  const { policy } = openPolicy({ rateLimit: false })
  for (let left = 5000; left > 0; left--) {
    expect(policy.maySend('a', 300_000) && policy.mayAsk('a')).toBe(true)
    expect(await policy.mayWrite(event(member), 300_000, from())).toBe('yes')
  }
})

test('a query that looked at more than is left puts its address in debt', () => {
  const { policy, clock } = openPolicy()
  const [asker, other] = ['203.0.113.5', '203.0.113.6']
  const { relayAskBurst: burst, relayAskPerSecond: perSecond, relayAskRows: rows } = limits
  expect(policy.mayAsk(asker)).toBe(true)
  policy.charge(asker, rows * burst)
  policy.charge(asker, rows * burst)
  clock.seconds += burst / perSecond - 1
  expect([policy.mayAsk(asker), policy.mayAsk(other)]).toEqual([false, true])
  clock.seconds += 2
  expect(policy.mayAsk(asker)).toBe(true)
})
