import { describe, expect, test } from 'bun:test'
import { Buckets } from '../../src/base/buckets.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { createVoucherLimits } from '../../src/coupons/voucher-limits.ts'
import { createRateLimits, type RateLimits } from '../../src/http/rate-limit.ts'

const rule = { burst: 3, perSecond: 0.5, entriesMax: 4 }

describe('a bucket', () => {
  test('allows its burst at once, then its rate', () => {
    const buckets = new Buckets(rule)
    const waits = [0, 0, 0, 0, 1, 2, 2, 3].map((at) => buckets.take('a', at))
    expect(waits).toEqual([0, 0, 0, 2, 1, 0, 2, 1])
  })

  test('never holds more than its burst', () => {
    const buckets = new Buckets(rule)
    buckets.take('a', 0)
    const waits = [1e6, 1e6, 1e6, 1e6].map((at) => buckets.take('a', at))
    expect(waits).toEqual([0, 0, 0, 2])
  })

  test('is separate for each key', () => {
    const buckets = new Buckets(rule)
    for (let times = 0; times < 4; times++) buckets.take('a', 0)
    expect(buckets.take('a', 0)).toBeGreaterThan(0)
    expect(buckets.take('b', 0)).toBe(0)
  })

  test('is not charged for a refused request', () => {
    const buckets = new Buckets(rule)
    for (let times = 0; times < 50; times++) buckets.take('a', 0)
    expect(buckets.take('a', 2)).toBe(0)
  })

  test('can be charged afterwards, into a debt of one burst at most', () => {
    const buckets = new Buckets(rule)
    buckets.charge('a', 0, 2)
    expect([buckets.take('a', 0), buckets.wait('a', 0)]).toEqual([0, 2])
    buckets.charge('a', 0, 100)
    expect(buckets.wait('a', 0)).toBe((1 + rule.burst) / rule.perSecond)
  })

  test('allows a request above its size when it is full, and is in debt then', () => {
    const buckets = new Buckets(rule)
    expect(buckets.take('a', 0, 10)).toBe(0)
    expect(buckets.take('a', 0)).toBe(16)
    expect(buckets.take('a', 16)).toBe(0)
  })

  test('accepts returns up to its burst', () => {
    const buckets = new Buckets(rule)
    buckets.take('a', 0)
    buckets.give('a')
    buckets.give('a', 100)
    buckets.give('never seen')
    const waits = [0, 0, 0, 0].map((at) => buckets.take('a', at))
    expect(waits).toEqual([0, 0, 0, 2])
    expect(buckets.size).toBe(1)
  })

  test('is dropped when too many others were used after it', () => {
    const buckets = new Buckets(rule)
    for (const key of ['a', 'b', 'c', 'd', 'a', 'e']) buckets.take(key, 0)
    expect(buckets.size).toBe(4)
    // `b` was the oldest: it begins anew, while `a` was used in between.
    expect(buckets.take('a', 0, 2)).toBeGreaterThan(0)
    expect(buckets.take('b', 0, 3)).toBe(0)
  })
})

test('a million addresses use no more memory than the bound', () => {
  const buckets = new Buckets({ ...rule, entriesMax: 1000 })
  for (let at = 0; at < 1_000_000; at++) buckets.take(`address ${at}`, at)
  expect(buckets.size).toBe(1000)
})

describe('the limits', () => {
  const createClock = () => {
    let now = 1000
    return { seconds: () => now, pass: (seconds: number) => (now += seconds) }
  }
  /** How often it passes before it is refused, and the seconds to wait then. */
  const run = (ask: () => void, most = 5000) => {
    for (let passed = 0; passed < most; passed++) {
      try {
        ask()
      } catch (refused) {
        if (!(refused instanceof Refusal) || refused.code !== 'rate-limited') throw refused
        return { passed, retryAfter: refused.detail.retryAfter ?? 0 }
      }
    }
    return { passed: most, retryAfter: 0 }
  }

  const request = (limits: RateLimits, address: string) => {
    const over = limits.request(address)
    if (over) throw over
  }

  test('never refuse a shop of 300 claims a minute, each with a preview', () => {
    const clock = createClock()
    const limits = createRateLimits(clock.seconds)
    for (let minute = 0; minute < 120; minute++) {
      for (let claim = 0; claim < 300; claim++) {
        request(limits, 'shop')
        request(limits, 'shop')
        clock.pass(0.2)
      }
    }
  })

  test('return whole seconds to wait, and let pass after them', () => {
    const clock = createClock()
    const limits = createRateLimits(clock.seconds)
    for (const ask of [
      () => request(limits, 'a'),
      () => limits.key('k', 1),
      () => limits.failure('a'),
    ]) {
      const { retryAfter } = run(ask)
      expect(Number.isInteger(retryAfter) && retryAfter > 0).toBe(true)
      clock.pass(retryAfter)
      ask()
    }
  })

  test('are tight for failures, which take nothing from good requests', () => {
    const clock = createClock()
    const limits = createRateLimits(clock.seconds)
    const { passed } = run(() => {
      request(limits, 'a')
      limits.mistake('a', false)
      limits.failure('a')
    })
    expect(passed).toBeLessThanOrEqual(100)
    for (let times = 0; times < 3000; times++) {
      request(limits, 'a')
      run(() => limits.mistake('a', false), 1)
      expect(run(() => limits.failure('a'), 1).passed).toBe(0)
    }
    expect(run(() => request(limits, 'a')).passed).toBeGreaterThanOrEqual(1000)
  })

  test('bound mistakes, which take nothing from good requests', () => {
    const limits = createRateLimits(createClock().seconds)
    const { passed } = run(() => {
      request(limits, 'a')
      limits.mistake('a', false)
    })
    expect(passed).toBe(1200)
    expect(run(() => request(limits, 'a')).passed).toBeGreaterThanOrEqual(1000)
  })

  test('refuse a mistake without room, or charge it as a request of a known credential', () => {
    const limits = createRateLimits(createClock().seconds)
    for (let times = 0; times < 1200; times++) limits.mistake('a', false)
    for (let times = 0; times < 200; times++) {
      request(limits, 'a')
      limits.mistake('a', true)
    }
    expect(() => limits.mistake('a', false)).toThrow()
    expect(run(() => request(limits, 'a')).passed).toBe(1001)
  })

  test('let a request over its address budget pass by each of its credentials', () => {
    const limits = createRateLimits(createClock().seconds)
    run(() => request(limits, 'a'))
    expect(run(() => limits.carried({ of: 'chain', id: 1 })).passed).toBe(60)
    for (const of of ['spent', 'card'] as const) limits.carried({ of, id: 1 })
    limits.carried({ of: 'chain', id: 2 })
    expect(run(() => limits.stranger('a')).passed).toBe(600)
    limits.stranger('b')
    limits.key('k', 1)
  })

  test('allow twenty refreshes of a coupon at once, then one in ten seconds', () => {
    const clock = createClock()
    const { refreshes } = createVoucherLimits(clock.seconds, null)
    const refresh = (chain: number) => {
      const wait = refreshes.wait(chain)
      if (wait === 0) refreshes.made(chain)
      return wait
    }
    for (let times = 0; times < 20; times++) expect(refresh(1)).toBe(0)
    expect(refresh(1)).toBeCloseTo(10)
    expect(refresh(2)).toBe(0)
    clock.pass(9)
    expect(refresh(1)).toBeCloseTo(1)
    clock.pass(1.01)
    expect([refresh(1), refresh(1) > 9]).toEqual([0, true])
  })

  test('charge a key by the work of its request', () => {
    const limits = createRateLimits(createClock().seconds)
    expect(run(() => limits.key('a', 20)).passed).toBe(run(() => limits.key('b', 1)).passed / 20)
  })

  test('count only wrong keys for a burned voucher, by voucher and address', async () => {
    const { wrongKeys } = createVoucherLimits(createClock().seconds, null)
    const waits = async (handle: string, address: string) => {
      const wait = await wrongKeys.wait(handle, address)
      expect(wrongKeys.waitHere(handle, address)).toBe(wait)
      return wait > 0
    }
    for (let times = 0; times < 5000; times++) await wrongKeys.wait('handle', 'a')
    expect(await waits('handle', 'a')).toBe(false)
    for (let times = 0; times < 500; times++) await wrongKeys.take('handle', 'a')
    expect(await waits('handle', 'a')).toBe(true)
    expect([await waits('handle', 'b'), await waits('other', 'a')]).toEqual([false, false])
    // Many addresses together are one guesser.
    for (let times = 0; times < 1000; times++) await wrongKeys.take('handle', `address ${times}`)
    expect([await waits('handle', 'c'), await waits('other', 'c')]).toEqual([true, false])
  })
})
