/** Counters as changes that are folded into sums while operations go on. */
import { afterAll, expect, test } from 'bun:test'
import type { Connection } from '../../src/db/postgres/connection.ts'
import { appendedCounters, foldCounters } from '../../src/db/postgres/counters.ts'
import { translateStatement } from '../../src/db/postgres/dialect.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { settledOrWaiting } from '../support/waiting.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())

const count = { keys: { definition_id: '?1', expires_at: '?2' }, by: { open: '?3' } }
const add = translateStatement(appendedCounters.add('expiries', count))
const drop = translateStatement(appendedCounters.drop('expiries'))

async function open(connection: Connection): Promise<unknown> {
  const { rows } = await connection.send(
    `SELECT CAST(sum(open) AS BIGINT) AS n FROM ${appendedCounters.rows('expiries')}`,
    [],
  )
  return rows[0]?.n
}

for (const [kind, folded] of Object.entries({ 'with sums': true, 'without sums': false })) {
  test(`the drop of a counter ${kind} takes along the changes that a fold is moving`, async () => {
    const name = await databases.create('coupons')
    const [folding, dropping] = [await databases.connect(name), await databases.connect(name)]
    await folding.send(add, [1, 500, 7])
    if (folded) {
      await foldCounters(folding, 100)
      await folding.send(add, [1, 500, 4])
    }
    await folding.send('BEGIN', [])
    await foldCounters(folding, 100)
    const dropped = dropping.send(drop, [1])
    await settledOrWaiting(folding, dropped)
    await folding.send('COMMIT', [])
    await dropped
    expect(await open(folding)).toBe(0)
    expect(await foldCounters(folding, 100)).toBe(1)
    expect(await open(folding)).toBe(0)
    await Promise.all([folding.end(), dropping.end()])
  })
}

test('folds beside each other and beside changes count each change once', async () => {
  const name = await databases.create('coupons')
  const connections = await Promise.all(Array.from({ length: 4 }, () => databases.connect(name)))
  const [one, two, ...adding] = connections as [Connection, Connection, ...Connection[]]
  let under = adding.length
  const added = adding.map(async (connection) => {
    for (let turn = 0; turn < 100; turn++) await connection.send(add, [1, turn % 3, 1])
    under--
  })
  const folds = [one, two].map(async (connection) => {
    while (under > 0) await foldCounters(connection, 7)
  })
  await Promise.all([...added, ...folds])
  expect(await open(one)).toBe(200)
  while ((await foldCounters(one, 50)) > 0) expect(await open(two)).toBe(200)
  expect(await open(one)).toBe(200)
  await Promise.all(connections.map((connection) => connection.end()))
})
