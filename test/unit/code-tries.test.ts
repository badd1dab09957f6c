import { expect, test } from 'bun:test'
import { createCodeTries } from '../../src/wallet/cards/code-tries.ts'

/** Tries on a clock that is set by hand. */
function triesAt(start = 1000) {
  const clock = { now: start }
  const tries = createCodeTries({ seconds: () => clock.now, shared: null })
  let fresh = 0
  return {
    clock,
    take: tries.take,
    /** How many tries one address has, each with a key that nobody used. */
    async left(address: string): Promise<number> {
      let count = 0
      while ((await tries.take(address, `fresh ${fresh++}`)).wait === 0) count++
      return count
    },
  }
}

test('an address has thirty tries, and one more every ten seconds, with any key', async () => {
  const { clock, take, left } = triesAt()
  expect(await left('a')).toBe(30)
  expect((await take('a', 'k')).wait).toBeCloseTo(10)
  clock.now += 20
  expect(await left('a')).toBe(2)
})

test('a key has ten tries, and one more every minute, from any address', async () => {
  const { clock, take } = triesAt()
  const count = async () => {
    let taken = 0
    while ((await take(`address ${clock.now} ${taken}`, 'k')).wait === 0) taken++
    return taken
  }
  expect(await count()).toBe(10)
  clock.now += 60
  expect(await count()).toBe(1)
})

test('all together have three hundred tries; after that each address has its first three only', async () => {
  const { clock, left } = triesAt()
  const addresses = Array.from({ length: 10 }, (_, at) => `a${at}`)
  expect(await Promise.all(addresses.map(left))).toEqual(addresses.map(() => 30))
  expect(await left('new')).toBe(3)
  expect(await left('new')).toBe(0)
  expect(await left('newer')).toBe(3)
  clock.now += 600
  expect(await left('new')).toBe(30)
})

test('a returned try can be taken again from the address, the key and the whole', async () => {
  const { take, left } = triesAt()
  for (let at = 0; at < 1000; at++) {
    const attempt = await take('a', 'k')
    expect(attempt.wait).toBe(0)
    await attempt.giveBack()
  }
  expect(await left('a')).toBe(30)
  // A try that was not taken returns nothing.
  await (await take('a', 'k')).giveBack()
  expect(await left('a')).toBe(0)
})
