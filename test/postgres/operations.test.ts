/** Operations that go wrong by themselves: each ends alone, and its connection serves the next one. */
import { afterAll, expect, spyOn, test } from 'bun:test'
import { Refusal } from '../../src/base/refusal.ts'
import { Connection, StatementFailed } from '../../src/db/postgres/connection.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { codeOf, idsIn, openRows } from './rows.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())
const rows = openRows(databases)

const refusal = () => new Refusal('coupon-exhausted')

test('a limit under a root holds whatever isolation the database has by default', async () => {
  const { name, url, other } = await rows.create()
  await other.send(
    `ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`,
    [],
  )
  const engine = rows.engine(url, { connections: 8 })
  const insertBelow = (most: number) => (id: number) =>
    engine.transact({ roots: ['instance'] }, async (tx) => {
      if ((await tx.count()) < most) await tx.insert(id)
    })
  await Promise.all(Array.from({ length: 40 }, (_, id) => insertBelow(10)(id)))
  expect((await idsIn(other)).length).toBe(10)
})

test('a branch that goes on after its operation was refused writes nothing', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url, { connections: 1 })
  const go = Promise.withResolvers<void>()
  let branch: Promise<string> | undefined
  const refused = engine.transact({ roots: 'none' }, async (tx) => {
    branch = codeOf(
      (async () => {
        await tx.count()
        await go.promise
        await tx.insert(1)
      })(),
    )
    await tx.count()
    throw refusal()
  })
  expect(await codeOf(refused)).toBe('coupon-exhausted')
  await engine.transact({ roots: 'none' }, async (tx) => {
    await tx.insert(2)
    go.resolve()
    expect(await branch).toBe('StalledOperation')
    await tx.insert(3)
  })
  expect(await idsIn(other)).toEqual([2, 3])
})

test('an operation that never ends fails and gives its connection back; what it does later is refused', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url, { connections: 1 })
  const go = Promise.withResolvers<void>()
  const late = Promise.withResolvers<string>()
  const stuck = engine.transact({ roots: ['instance'] }, async (tx) => {
    await tx.insert(1)
    await go.promise
    late.resolve(await codeOf(tx.insert(2)))
  })
  expect(await codeOf(stuck)).toBe('StalledOperation')
  await engine.transact({ roots: ['instance'] }, async (tx) => {
    go.resolve()
    expect(await late.promise).toBe('StalledOperation')
    await tx.insert(3)
  })
  const reading = engine.snapshot(() => new Promise<never>(() => undefined))
  expect(await codeOf(reading)).toBe('StalledOperation')
  expect(await idsIn(other)).toEqual([3])
})

test('a write of the first part that fails unseen fails its operation alone', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url, { connections: 1 })
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  const refused = engine.transact(
    { roots: ['instance'], first: async (tx) => tx.post(1) },
    async () => {
      throw refusal()
    },
  )
  expect(await codeOf(refused)).toBe('23505')
  for (const id of [2, 3]) await engine.transact({ roots: 'none' }, (tx) => tx.insert(id))
  expect(await idsIn(other)).toEqual([1, 2, 3])
})

test('a last write that fails unseen fails its operation, of which nothing stands', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url, { connections: 1 })
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  const taken = engine.transact({ roots: 'none' }, async (tx) => {
    await tx.insert(2)
    tx.post(1)
    tx.post(3)
  })
  expect(await codeOf(taken)).toBe('23505')
  await engine.transact({ roots: 'none' }, async (tx) => tx.post(4))
  expect(await idsIn(other)).toEqual([1, 4])
})

test('a commit waits for no write that nobody awaits', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url, { connections: 1 })
  const { sendWithin } = Connection.prototype
  let [under, most] = [0, 0]
  const spy = spyOn(Connection.prototype, 'sendWithin').mockImplementation(async function (
    this: Connection,
    text,
    params,
  ) {
    under++
    if (text === 'COMMIT') most = under
    return sendWithin.call(this, text, params).finally(() => under--)
  })
  try {
    await engine.transact({ roots: 'none' }, async (tx) => {
      await tx.count()
      tx.post(1)
    })
  } finally {
    spy.mockRestore()
  }
  // The write, the row that proves the commit, and the commit.
  expect(most).toBeGreaterThanOrEqual(3)
  expect(await idsIn(other)).toEqual([1])
})

test('a write behind the savepoint that fails unseen leaves the first part as it is', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url, { connections: 1 })
  let begun = 0
  const refused = engine.transact({ roots: 'none', first: (tx) => tx.insert(1) }, async (tx) => {
    begun++
    tx.post(1)
    throw refusal()
  })
  expect(await codeOf(refused)).toBe('coupon-exhausted')
  expect([begun, await idsIn(other)]).toEqual([1, [1]])
})

test('an operation that makes a refusal of a failed statement runs again', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url)
  let turn = 0
  await engine.transact({ roots: 'none' }, async (tx) => {
    turn++
    await other.send('INSERT INTO done VALUES (1) ON CONFLICT DO NOTHING', [])
    if (turn > 1) return
    await tx.insert(1).catch(() => {
      throw refusal()
    })
  })
  expect(turn).toBe(2)
})

test('a taken key is looked at again after the operation was stopped by another one', async () => {
  const { url } = await rows.create()
  const engine = rows.engine(url)
  const causes = ['40P01', '40001', '23505', '40P01']
  const codes = [...causes]
  await engine.transact({ roots: 'none' }, async () => {
    const code = codes.shift()
    if (code !== undefined) throw new StatementFailed(code, 'as if')
  })
  expect(codes).toEqual([])
})

test('an operation that others stop again and again is refused as overloaded', async () => {
  const { url } = await rows.create()
  const engine = rows.engine(url)
  const stopped = engine.transact({ roots: 'none' }, async () => {
    throw new StatementFailed('40P01', 'as if')
  })
  const refused = await stopped.catch((cause: unknown) => cause)
  expect(refused).toBeInstanceOf(Refusal)
  expect((refused as Refusal).code).toBe('overloaded')
  expect((refused as Refusal).detail.retryAfter).toBeGreaterThan(0)
})

test('a commit that fails for a reason of the server is settled before the operation runs again', async () => {
  const { url, other } = await rows.create()
  await other.send('CREATE SEQUENCE turns', [])
  await other.send('GRANT USAGE ON SEQUENCE turns TO cuponera', [])
  await other.send(
    `CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF nextval('turns') = 1 THEN RAISE EXCEPTION 'as if' USING ERRCODE = '58030'; END IF;
       RETURN NULL; END $$`,
    [],
  )
  await other.send(
    `CREATE CONSTRAINT TRIGGER fail_once AFTER INSERT ON done DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION fail_once()`,
    [],
  )
  await rows.engine(url).transact({ roots: 'none' }, (tx) => tx.insert(1))
  const { rows: marks } = await other.send('SELECT outcome FROM commits ORDER BY id', [])
  expect([await idsIn(other), marks.map(({ outcome }) => outcome)]).toEqual([
    [1],
    ['fence', 'work'],
  ])
})

test('an operation with many rows has its turn while small ones never cease', async () => {
  const { url } = await rows.create()
  const engine = rows.engine(url, { connections: 2 })
  let ended = false
  let small = 0
  const lane = async () => {
    while (!ended && small++ < 2000) await engine.transact({ roots: 'none' }, (tx) => tx.count())
  }
  const lanes = Array.from({ length: 8 }, lane)
  await engine.transact({ roots: 'none', rows: 1000 }, (tx) => tx.count())
  ended = true
  await Promise.all(lanes)
  expect(small).toBeLessThan(2000)
})

test('writes are refused while our clock and that of the server are apart, either of them ahead', async () => {
  const { url, other } = await rows.create()
  let ahead = 0
  const engine = rows.engine(url, { now: () => Date.now() / 1000 + ahead })
  const codes: string[] = []
  for (ahead of [0, 60, 0, -60, 0]) {
    codes.push(await codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(codes.length))))
  }
  expect(codes).toEqual(['answered', 'clock-behind', 'answered', 'clock-behind', 'answered'])
  expect(await idsIn(other)).toEqual([0, 2, 4])
})

test('the clock of the server is looked at again before writes are refused for it', async () => {
  const { url } = await rows.create()
  const engine = rows.engine(url)
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  const steady = performance.now.bind(performance)
  const jump = spyOn(performance, 'now').mockImplementation(() => steady() + 3_600_000)
  try {
    await engine.transact({ roots: 'none' }, (tx) => tx.insert(2))
  } finally {
    jump.mockRestore()
  }
})
