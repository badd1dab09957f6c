/** Counters as changes that are folded into sums while operations go on. */
import { afterAll, expect, spyOn, test } from 'bun:test'
import { createStores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { SharedBuckets } from '../../src/base/guesses.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { appendedCounters, foldCounters } from '../../src/db/postgres/counters.ts'
import { translateStatement } from '../../src/db/postgres/dialect.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import { createSharedBuckets, forgetGuesses } from '../../src/db/postgres/guesses.ts'
import type { Sql } from '../../src/db/sql.ts'
import { at, defined, filed, issued, key } from '../contract/fixtures.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { countWaiting, settledOrWaiting } from '../support/waiting.ts'

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
    const name = await databases.create()
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
  const name = await databases.create()
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

const storesOf = (sql: Sql) => ({ ...createStores(sql), sql })

for (const [maxUses, taken] of [
  [3, false],
  [4, true],
] as const) {
  test(`a mint that waits ${taken ? 'before' : 'at'} the limit counts what a fold moves meanwhile`, async () => {
    const name = await databases.create()
    const [one, other] = [await databases.connect(name), await databases.connect(name)]
    const url = databases.server.url(name)
    const engine = new PostgresEngine({ url, now: systemClock, stores: storesOf })
    const write = <T>(run: (tx: ReturnType<typeof storesOf>) => Promise<T>) =>
      engine.transact({ roots: 'none' }, run)
    const free = await write((tx) => defined(tx, 1, { maxUses: null }))
    const limited = { ...free, maxUses }
    // One of these changes is a sum already.
    await write((tx) => tx.definitions.take(free, 1, at))
    await foldCounters(one, 100)
    await write((tx) => tx.definitions.take(free, 1, at))
    await write((tx) => tx.definitions.update(limited, false))

    await one.send('BEGIN', [])
    await one.send('UPDATE definitions SET issued = issued + 1', [])
    const waiting = write((tx) => tx.definitions.take(limited, 1, at))
    await settledOrWaiting(other, waiting)
    expect(await foldCounters(other, 100)).toBeGreaterThan(0)
    await one.send('COMMIT', [])
    expect(await waiting).toBe(taken)
    expect(await write((tx) => tx.definitions.take(limited, 1, at))).toBe(false)
    await engine.close()
    await Promise.all([one.end(), other.end()])
  })
}

test('the counts of a first part stay when the operation behind it is refused, and its own go', async () => {
  const name = await databases.create()
  const [engine, other] = [
    new PostgresEngine({ url: databases.server.url(name), now: systemClock, stores: storesOf }),
    await databases.connect(name),
  ]
  const free = await engine.transact({ roots: 'none' }, (tx) => defined(tx, 1, { maxUses: null }))
  const issue = (number: number) => async (tx: ReturnType<typeof storesOf>) => {
    expect(await tx.definitions.take(free, number, at)).toBe(true)
  }
  const refused = engine.transact({ roots: 'none', first: issue(1) }, async (tx) => {
    await issue(10)(tx)
    throw new Refusal('coupon-exhausted')
  })
  await expect(refused).rejects.toThrow(Refusal)
  await engine.transact({ roots: 'none', first: issue(100) }, issue(1000))
  const { rows } = await other.send(
    `SELECT CAST(sum(issued) AS BIGINT) AS issued FROM ${appendedCounters.rows('totals')}`,
    [],
  )
  expect(rows).toEqual([{ issued: 1101 }])
  await engine.close()
  await other.end()
})

test('the count of a till goes out with the redemption, and what follows from that with the commit', async () => {
  const url = databases.server.url(await databases.create())
  const engine = new PostgresEngine({ url, now: systemClock, stores: storesOf })
  const vouchers = await engine.transact({ roots: 'none' }, async (tx) =>
    issued(tx, await defined(tx, 1), [1, 2]),
  )
  const by = { pubkey: key(2), listed: true }
  const claim = (voucher = vouchers[0]) =>
    engine.transact({ roots: 'none' }, async (tx) =>
      tx.vouchers.claim(voucher as NonNullable<typeof voucher>, { ...filed, by }, at),
    )
  await claim()
  const spy = spyOn(Connection.prototype, 'sendWithin')
  expect(await claim(vouchers[1])).toBe(true)
  const counted = spy.mock.calls.map(([text]) => text.split('counter_changes').length - 1)
  spy.mockRestore()
  expect(counted).toEqual([0, 1, 1, 0])
  const days = await engine.snapshot(async ({ tills }) => {
    const [till] = await tills.list(key(1), Number.MAX_SAFE_INTEGER, 1)
    return tills.days(till?.rowId ?? 0, { from: 0, to: 1e9, offset: 0 })
  })
  expect(days.map(({ claimed }) => claimed)).toEqual([2])
  await engine.close()
})

test('a redemption has the till that counts it, when another one is the first at that till meanwhile', async () => {
  const name = await databases.create()
  const one = await databases.connect(name)
  const url = databases.server.url(name)
  const engine = new PostgresEngine({ url, now: systemClock, stores: storesOf })
  const vouchers = await engine.transact({ roots: 'none' }, async (tx) =>
    issued(tx, await defined(tx, 1), [1, 2]),
  )
  const [first, held] = vouchers as [(typeof vouchers)[0], (typeof vouchers)[0]]
  for (const text of [
    `CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.voucher_id = ${held.rowId} THEN PERFORM pg_advisory_xact_lock(7); END IF; RETURN NULL; END $$`,
    'CREATE TRIGGER holds AFTER INSERT ON redemptions FOR EACH ROW EXECUTE FUNCTION hold()',
    'SELECT pg_advisory_lock(7)',
  ]) {
    await one.send(text, [])
  }
  const by = { pubkey: key(2), listed: true }
  let ended = 0
  const claims = []
  for (const voucher of [held, first]) {
    const claim = engine.transact({ roots: 'none' }, (tx) =>
      tx.vouchers.claim(voucher, { ...filed, by }, at),
    )
    claims.push(claim.finally(() => ended++))
    const begun = claims.length
    await until('it has ended or waits', async () => ended + (await countWaiting(one)) >= begun)
  }
  await one.send('SELECT pg_advisory_unlock(7)', [])
  expect(await Promise.all(claims)).toEqual([true, true])
  const { rows } = await one.send('SELECT till_id FROM redemptions', [])
  expect(rows).toEqual([{ till_id: expect.any(Number) }, { till_id: expect.any(Number) }])
  await engine.close()
  await one.end()
})

test('a bucket of tokens in a row gives out its burst once, refills, and is forgotten when it is full', async () => {
  const name = await databases.create()
  const connections = await Promise.all(Array.from({ length: 4 }, () => databases.connect(name)))
  const [first] = connections as [Connection]
  const nodes = connections.map((connection) => createSharedBuckets((run) => run(connection)))
  const [one] = nodes as [SharedBuckets]
  const slow = { name: 'of all', burst: 12, perSecond: 1e-6 }
  const roomy = { name: 'of an address', burst: 100, perSecond: 1e-6 }
  const taking = Array.from({ length: 40 }, (_, at) => nodes[at % 4]?.take([slow, roomy]))
  const waits = await Promise.all(taking)
  expect(waits.filter((wait) => wait === 0).length).toBe(12)
  expect([await one.wait([roomy]), (await one.wait([slow, roomy])) > 1e5]).toEqual([0, true])
  // A try that was not taken counts nowhere.
  const left = async () => {
    const { rows } = await first.send('SELECT round(tokens) AS n FROM guesses ORDER BY burst', [])
    return rows.map(({ n }) => Number(n))
  }
  expect(await left()).toEqual([0, 88])
  await one.give([slow, roomy])
  expect(await left()).toEqual([1, 89])
  expect([await one.take([slow]), await one.take([slow])]).toEqual([0, expect.any(Number)])
  await first.send(`UPDATE guesses SET at = at - interval '12000001 seconds' WHERE burst = 12`, [])
  expect(await one.take([slow])).toBe(0)
  expect(await left()).toEqual([11, 89])
  await first.send(`UPDATE guesses SET at = at - interval '12000001 seconds' WHERE burst = 12`, [])
  expect([await forgetGuesses(first, 10), await left()]).toEqual([1, [89]])
  // A name may have any character.
  for (const name of ['a\0b', 'a\ud800', '\udc00', '\uFFFF', '"\\']) {
    const strange = [{ name, burst: 1, perSecond: 1e-6 }]
    expect([await one.take(strange), (await one.take(strange)) > 1e5]).toEqual([0, true])
    await one.give(strange)
    expect([await one.wait(strange), await one.take(strange)]).toEqual([0, 0])
    await first.send('DELETE FROM guesses', [])
  }
  await Promise.all(connections.map((connection) => connection.end()))
})
