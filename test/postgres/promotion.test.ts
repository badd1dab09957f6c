/** The primary dies under load, and its standby is promoted: a service keeps what it answered. */
import { afterAll, expect, test } from 'bun:test'
import { failoverRounds } from '../fault/failover.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { cleanUp } from '../support/server.ts'

afterAll(cleanUp)

const seed = chooseSeed()
const rounds = (count: number, waited: boolean) =>
  failoverRounds({
    ...{ count, kinds: ['primary'], random: new Random(seed) },
    ...{ waited, servers: 'pair', nodes: 2 },
  })

test(`a promoted standby has every answer, once, and the service finds it, SEED=${seed}`, async () => {
  const { problems, acknowledged } = await rounds(2, true)
  expect(problems).toEqual([])
  expect(acknowledged).toBeGreaterThan(80)
})

test(`a standby that nobody waits for has lost some of them, SEED=${seed}`, async () => {
  expect((await rounds(5, false)).problems).not.toEqual([])
})
