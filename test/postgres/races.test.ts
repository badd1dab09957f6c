/** Operations on money that overlap, at each of their statements: a part of the race matrix. */
import { afterAll, describe, expect, test } from 'bun:test'
import { openDatabases } from '../support/postgres-databases.ts'
import { openMatrix, type Pair } from './races/matrix.ts'

const databases = await openDatabases({ deadlock_timeout: '50ms' })
const matrix = await openMatrix(databases)
afterAll(async () => {
  await matrix.close()
  await databases.stop()
})

const decided = ['mint', 'refresh', 'claim', 'void a voucher', 'kill switch', 'edit the limit']
const money = [...decided, 'archive', 'take from a poster']
const pairs: Pair[] = [
  ...money.flatMap((first) => money.map((second): Pair => [first, second])),
  ['refresh', 'refresh under another key'],
  ['mint under a key', 'mint under a key'],
  ['claim under a key', 'claim under a key'],
  ['mint with a signature', 'mint with a signature'],
  ['take from a poster', 'take from a poster again'],
  ['mint with quotas', 'mint another coupon with quotas'],
  ['mint by a minter', 'remove a minter'],
  ['remove a minter', 'mint by a minter'],
  ['change a minter', 'remove a minter'],
  ['end sessions', 'end sessions'],
]

describe('operations that overlap end as one after the other', () => {
  for (const [first, others] of Map.groupBy(pairs, ([name]) => name)) {
    test(`${first}, stopped at each statement: ${others.map(([, name]) => name).join(', ')}`, async () => {
      const problems = []
      for (const pair of others) problems.push(...(await matrix.race(pair)).problems)
      expect(problems).toEqual([])
    })
  }
})

test('without locks a refresh leaves a voucher that the kill switch did not reach', async () => {
  const { problems } = await matrix.race(['refresh', 'kill switch'], false)
  const left = problems.flatMap(({ difference }) => difference)
  expect(left).toContainEqual(expect.stringMatching(/^\+ phase .*"minted"/))
})
