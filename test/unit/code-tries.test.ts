import { expect, test } from 'bun:test'
import { createCodeTries } from '../../src/wallet/cards/code-tries.ts'

/** Tries on a clock that is set by hand. */
function triesAt(start = 1000) {
  const clock = { now: start }
  const tries = createCodeTries(() => clock.now)
  let fresh = 0
  return {
    clock,
    take: tries.take,
    /** How many tries one address has, each with a key that nobody used. */
    left(address: string): number {
      let count = 0
      while (tries.take(address, `fresh ${fresh++}`).wait === 0) count++
      return count
    },
  }
}

test('an address has thirty tries, and one more every ten seconds, with any key', () => {
  const { clock, take, left } = triesAt()
  expect(left('a')).toBe(30)
  expect(take('a', 'k').wait).toBeCloseTo(10)
  clock.now += 20
  expect(left('a')).toBe(2)
})

test('a key has ten tries, and one more every minute, from any address', () => {
  const { clock, take } = triesAt()
  const count = () => {
    let taken = 0
    while (take(`address ${clock.now} ${taken}`, 'k').wait === 0) taken++
    return taken
  }
  expect(count()).toBe(10)
  clock.now += 60
  expect(count()).toBe(1)
})

test('all together have three hundred tries; after that each address has its first three only', () => {
  const { clock, left } = triesAt()
  const addresses = Array.from({ length: 10 }, (_, at) => `a${at}`)
  expect(addresses.map(left)).toEqual(addresses.map(() => 30))
  expect(left('new')).toBe(3)
  expect(left('new')).toBe(0)
  expect(left('newer')).toBe(3)
  clock.now += 600
  expect(left('new')).toBe(30)
})

test('a returned try can be taken again from the address, the key and the whole', () => {
  const { take, left } = triesAt()
  for (let at = 0; at < 1000; at++) {
    const attempt = take('a', 'k')
    expect(attempt.wait).toBe(0)
    attempt.giveBack()
  }
  expect(left('a')).toBe(30)
  // A try that was not taken returns nothing.
  take('a', 'k').giveBack()
  expect(left('a')).toBe(0)
})
