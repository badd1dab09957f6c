/** Operations that overlap, most of them on money, at each of their statements: a part of the race matrix. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { races, runRaces } from '../fault/races.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { cleanUp } from '../support/server.ts'
import { type Matrix, openMatrix, type Pair } from './races/matrix.ts'

const databases = await openDatabases({ deadlock_timeout: '50ms', max_connections: '250' })
let matrix: Matrix
beforeAll(async () => {
  matrix = await openMatrix(databases)
})
afterAll(async () => {
  await matrix.close()
  await cleanUp()
  await databases.stop()
})

const decided = ['mint', 'refresh', 'claim', 'void a voucher', 'kill switch', 'edit the limit']
const money = [...decided, 'archive', 'take from a poster']
const unlimited = ['mint without a limit', 'set a limit', 'kill switch where no limit is']
const pairs: Pair[] = [
  ...money.flatMap((first) => money.map((second): Pair => [first, second])),
  ...unlimited.flatMap((first) => unlimited.map((second): Pair => [first, second])),
  ['mint', 'lift the limit'],
  ['lift the limit', 'mint'],
  ['mint without a limit under a key', 'mint without a limit under a key'],
  ['refresh', 'refresh under another key'],
  ['mint under a key', 'mint under a key'],
  ['mint the last ones under a key', 'mint the last ones under a key'],
  ['mint the last of a day under a key', 'mint the last of a day under a key'],
  ['claim under a key', 'claim under a key'],
  ['mint with a signature', 'mint with a signature'],
  ['take from a poster', 'take from a poster again'],
  ['mint with quotas', 'mint another coupon with quotas'],
  ['mint by a minter', 'remove a minter'],
  ['remove a minter', 'mint by a minter'],
  ['change a minter', 'remove a minter'],
  ['end sessions', 'end sessions'],
  ['take over an announcement', 'take over a deletion'],
  ['take over a deletion', 'take over an announcement'],
  ['record an end of the connection', 'make deliveries due'],
  ['store a newer profile', 'delete events'],
  ['end a first attempt that did not leave', 'repeat a swap'],
  ['repeat a swap', 'end a first attempt that did not leave'],
  ['repeat a swap', 'repeat a swap'],
  ['repeat a swap without an answer', 'repeat a swap'],
  ['receive from elsewhere', 'receive from elsewhere'],
  ['receive from elsewhere', 'receive from elsewhere for another'],
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

const seed = chooseSeed()
test(`callers of three nodes race, and every node keeps every answer, SEED=${seed}`, async () => {
  const rounds = Object.keys(races).length
  const asked = { rounds, random: new Random(seed), nodes: { databases, count: 3 } }
  expect(await runRaces(asked)).toEqual([])
})
