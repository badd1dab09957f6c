/** Operations of one commit write each counter once, and read a definition once. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { AssertionError } from 'node:assert/strict'
import { join } from 'node:path'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import type { AfterCommit, BeforeCommit } from '../../src/db/database.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { openConnection, SqliteEngine, type SqliteOptions } from '../../src/db/sqlite.ts'
import { at, key, terms, uuid } from '../contract/fixtures.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

type Tx = Stores & AfterCommit & BeforeCommit
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
afterAll(cleanUp)

/** An engine with a definition, and the statements that ran on its writing connection since then. */
async function open(time?: SqliteOptions<Stores>['time']) {
  const ran: string[] = []
  const connect = (path: string) => watched(openConnection(path), (text) => ran.push(text))
  const file = join(newDirectory(), 'coupons.db')
  const engine = new SqliteEngine({
    ...{ path: file, schema: couponSchema, connect },
    ...{ now: () => at, stores: createStores },
    ...(time && { time }),
  })
  closers.push(() => engine.close())
  const transact = <T>(operation: (tx: Tx) => Promise<T>) =>
    engine.transact({ roots: 'none' }, operation)
  await transact((tx) => tx.definitions.insert(uuid(1), key(1), { ...terms, maxUses: null }, at))
  ran.length = 0
  const times = (part: string) => ran.filter((text) => text.includes(part)).length
  return { engine, transact, times, ran, file }
}

function watched(connection: Sqlite, tell: (text: string) => void): Sqlite {
  const query = connection.query.bind(connection)
  connection.query = ((text: string) => {
    const statement = query(text)
    for (const name of ['run', 'get', 'all'] as const) {
      const call = statement[name].bind(statement) as (...params: unknown[]) => unknown
      statement[name] = ((...params: unknown[]) => {
        tell(text)
        return call(...params)
      }) as never
    }
    return statement
  }) as typeof connection.query
  return connection
}

let made = 0

/** Mint a voucher of the definition. Returns its handle, and the name on it. */
async function issue(tx: Tx, id = uuid(1)): Promise<{ handle: Uint8Array; name: string }> {
  const definition = await tx.definitions.findUncounted(id)
  if (!definition || !(await tx.definitions.take(definition, 1, at))) throw new Error('not taken')
  const handle = new Uint8Array(16)
  new DataView(handle.buffer).setUint32(0, ++made)
  const { rowId: definitionRowId, revisionId, name } = definition
  await tx.vouchers.issue(handle, { definitionRowId, revisionId, mintedBy: key(1), now: at })
  return { handle, name }
}

const mint = async (tx: Tx) => (await issue(tx)).name

async function cancel(tx: Tx, handle: Uint8Array | undefined): Promise<void> {
  const voucher = handle && (await tx.vouchers.find(handle))
  if (!voucher || !(await tx.vouchers.void(voucher, at))) throw new Error('not voided')
}

const counted = async (tx: Stores) => {
  const { issued, open } = (await tx.definitions.find(uuid(1))) ?? { issued: -1, open: -1 }
  return { issued, open, total: (await tx.vouchers.totals()).issued }
}

test('mints of one commit read their definition once, and write each counter once', async () => {
  const { engine, transact, times } = await open()
  await Promise.all(Array.from({ length: 20 }, () => transact(mint)))
  expect([times('INSERT INTO vouchers'), times('WHERE d.uuid = ?')]).toEqual([20, 1])
  for (const table of ['UPDATE definitions', 'UPDATE totals', 'INSERT INTO hourly']) {
    expect([table, times(table)]).toEqual([table, 1])
  }
  expect(await engine.snapshot(counted)).toEqual({ issued: 20, open: 20, total: 20 })
})

test('an operation sees what others of its commit have counted', async () => {
  const { transact, times } = await open()
  const seen = await Promise.all([
    transact(counted),
    transact(mint).then(() => null),
    transact(async (tx) => [await mint(tx), await mint(tx)]).then(() => null),
    transact(counted),
    transact(mint).then(() => null),
    transact(counted),
  ])
  expect(times('BEGIN IMMEDIATE')).toBe(1)
  expect(seen.filter((one) => one !== null)).toEqual([
    { issued: 0, open: 0, total: 0 },
    { issued: 3, open: 3, total: 3 },
    { issued: 4, open: 4, total: 4 },
  ])
})

test('an edit and the kill switch in the same commit count for the mints behind them', async () => {
  const { engine, transact, times } = await open()
  const edit = async (tx: Tx) => {
    const definition = await tx.definitions.find(uuid(1))
    if (definition) await tx.definitions.update({ ...definition, name: 'Té' }, true)
  }
  const kill = async (tx: Tx) => {
    const definition = await tx.definitions.find(uuid(1))
    if (definition) await tx.vouchers.kill(definition.rowId, definition.open, at)
  }
  const names = await Promise.all([
    transact(mint),
    transact(edit).then(() => null),
    transact(mint),
    transact(kill).then(() => null),
    transact(mint),
  ])
  expect(times('BEGIN IMMEDIATE')).toBe(1)
  expect(names).toEqual(['Café', null, 'Té', null, 'Té'])
  expect(await engine.snapshot(counted)).toEqual({ issued: 3, open: 1, total: 3 })
})

describe('vouchers that expire', () => {
  const [first, second] = [uuid(2), uuid(3)]

  /** An engine with two more definitions, and some vouchers of the first one. */
  async function openExpiring() {
    const opened = await open()
    const { transact } = opened
    const expiring = { ...terms, maxUses: null, expiresAt: at + 60 }
    for (const id of [first, second]) {
      await transact((tx) => tx.definitions.insert(id, key(1), expiring, at))
    }
    const old = [await transact((tx) => issue(tx, first)), await transact((tx) => issue(tx, first))]
    return { ...opened, old: old.map(({ handle }) => handle) }
  }

  const expired = (id: string) => async (tx: Stores) => {
    const rowId = (await tx.definitions.find(id))?.rowId ?? 0
    return tx.statistics.expired(rowId, at + 60)
  }

  test('vouchers that are minted and voided in one commit are counted in that order', async () => {
    const { engine, transact, times, old } = await openExpiring()
    for (const [round, open] of [0, 1].entries()) {
      const handles: Uint8Array[] = []
      const before = times('BEGIN IMMEDIATE')
      await Promise.all([
        // The statement that takes away has its first change here.
        transact((tx) => cancel(tx, old[round])),
        transact(async (tx) => {
          for (let one = 0; one < 3; one++) handles.push((await issue(tx, second)).handle)
        }),
        transact(async (tx) => {
          for (const handle of handles.slice(open)) await cancel(tx, handle)
        }),
      ])
      expect(times('BEGIN IMMEDIATE')).toBe(before + 1)
      expect(await engine.snapshot(expired(second))).toBe(open)
      expect(await engine.snapshot(expired(first))).toBe(1 - round)
    }
  })

  test('a counter that does not fit refuses the operation that counts, and no other', async () => {
    const { engine, transact, old, file } = await openExpiring()
    const damage = new Sqlite(file)
    damage.run('UPDATE expiries SET open = 0')
    damage.close()
    const outcomes = await Promise.allSettled([
      transact(mint),
      transact((tx) => cancel(tx, old[0])),
      transact(expired(first)),
      transact((tx) => cancel(tx, old[1])),
      transact(mint),
    ])
    const refused = (outcome: PromiseSettledResult<unknown>) => outcome.status === 'rejected'
    expect(outcomes.map(refused)).toEqual([false, true, false, true, false])
    expect(await engine.snapshot(counted)).toEqual({ issued: 2, open: 2, total: 4 })
    expect((await engine.snapshot((tx) => tx.vouchers.totals())).voided).toBe(0)
  })
})

test('a refusal takes its counts back, also in commits with savepoints, which end', async () => {
  const { engine, transact, times } = await open()
  const refusal = new Refusal('coupon-exhausted')
  const refuse = () =>
    transact(async (tx) => {
      await mint(tx)
      throw refusal
    }).catch((cause: unknown) => cause)
  const tell: string[] = []
  const told = (name: string) =>
    transact(async (tx) => {
      tx.afterCommit(() => tell.push(name))
      await mint(tx)
    })
  // The first commit runs again with savepoints, the second one has them from the start.
  expect(await Promise.all([told('a'), refuse(), told('b')])).toEqual([
    undefined,
    refusal,
    undefined,
  ])
  expect(await engine.snapshot(counted)).toEqual({ issued: 2, open: 2, total: 2 })
  expect([times('BEGIN IMMEDIATE'), times('SAVEPOINT')]).toEqual([2, 3])
  expect(await Promise.all([told('c'), refuse(), told('d')])).toEqual([
    undefined,
    refusal,
    undefined,
  ])
  expect(await engine.snapshot(counted)).toEqual({ issued: 4, open: 4, total: 4 })
  expect(times('BEGIN IMMEDIATE')).toBe(3)
  expect(tell).toEqual(['a', 'b', 'c', 'd'])

  for (let commit = 2; commit < limits.carefulCommits; commit++) await transact(mint)
  const before = times('SAVEPOINT')
  await transact(mint)
  expect(times('SAVEPOINT')).toBe(before)
})

test('a refusal before the first write undoes nothing and needs no savepoint', async () => {
  const { engine, transact, times } = await open()
  const refused = transact(async (tx) => {
    await tx.definitions.findUncounted(uuid(1))
    throw new Refusal('coupon-exhausted')
  }).catch(() => 'refused')
  expect(await Promise.all([transact(mint), refused])).toEqual(['Café', 'refused'])
  expect([times('BEGIN IMMEDIATE'), times('SAVEPOINT'), times('ROLLBACK')]).toEqual([1, 0, 0])
  expect(await engine.snapshot(counted)).toEqual({ issued: 1, open: 1, total: 1 })
})

test('after two commits on a slow disk the next one waits for operations that share it', async () => {
  let clock = 0
  let waitMs: number = limits.slowSyncMs
  const waiting: { ms: number; call: () => void }[] = []
  const { transact, times } = await open({
    steadyMs: () => (clock += waitMs),
    processorWaitMs: () => 0,
    after: (ms, call) => waiting.push({ ms, call }),
  })
  const turns = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  // `open` made the first slow commit. The second one tells how many may come.
  await Promise.all([transact(mint), transact(mint), transact(mint)])
  expect(times('BEGIN IMMEDIATE')).toBe(1)
  const first = transact(mint)
  await turns()
  const second = transact(mint)
  await turns()
  expect([waiting.map(({ ms }) => ms), times('BEGIN IMMEDIATE')]).toEqual([[limits.gatherMs], 1])
  waitMs = 0
  waiting.pop()?.call()
  await Promise.all([first, second])
  expect(times('BEGIN IMMEDIATE')).toBe(2)

  // The disk is fast again.
  await transact(mint)
  expect([waiting.length, times('BEGIN IMMEDIATE')]).toEqual([0, 3])
})

describe('answers of refreshes that are stored before the commit', () => {
  const bytes = (length: number) => new Uint8Array(length).fill(7)

  /** Refresh a voucher. Its answer comes last. */
  async function refresh(
    tx: Tx,
    handle: Uint8Array,
    answer = () => bytes(40),
  ): Promise<Uint8Array> {
    const old = await tx.vouchers.find(handle)
    const successor = new Uint8Array(16)
    new DataView(successor.buffer).setUint32(0, ++made)
    if (!old || !(await tx.vouchers.replace(old, successor, at))) throw new Error('not refreshed')
    tx.beforeCommit(() => {
      tx.vouchers.fileRefresh(old, { handle: successor, keyMac: bytes(32), sealed: answer() })
    })
    return successor
  }

  const sealedOf = async (tx: Tx, handle: Uint8Array) => {
    const old = await tx.vouchers.find(handle)
    return old && (await tx.vouchers.findRefresh(old.rowId))?.sealed
  }

  test('come behind all operations of the commit', async () => {
    const { transact, ran, times } = await open()
    const [one, other] = [await transact(issue), await transact(issue)]
    ran.length = 0
    await Promise.all([
      transact((tx) => refresh(tx, one.handle)),
      transact((tx) => refresh(tx, other.handle)),
      transact(mint),
    ])
    expect([times('BEGIN IMMEDIATE'), times('INSERT INTO refreshes')]).toEqual([1, 2])
    const first = ran.findIndex((text) => text.includes('INSERT INTO refreshes'))
    expect(ran.slice(first).filter((text) => text.includes('INTO vouchers'))).toEqual([])
  })

  test('are seen by an operation of the same commit that asks for one', async () => {
    const { transact, times } = await open()
    const { handle } = await transact(issue)
    const before = times('BEGIN IMMEDIATE')
    const [successor, sealed] = await Promise.all([
      transact((tx) => refresh(tx, handle)),
      transact((tx) => sealedOf(tx, handle)),
      transact(mint),
    ])
    expect(times('BEGIN IMMEDIATE')).toBe(before + 1)
    expect(sealed).toEqual(bytes(40))
    expect(await transact((tx) => sealedOf(tx, successor))).toBeUndefined()
  })

  test('that cannot be made burn nothing, and others of the commit stand', async () => {
    const { engine, transact } = await open()
    const vouchers = [await transact(issue), await transact(issue)]
    const broken = new Error('the signer fails')
    const fail = () => {
      throw broken
    }
    const [good, bad, asked] = await Promise.allSettled(
      [
        (tx: Tx) => refresh(tx, vouchers[0]?.handle ?? bytes(16)),
        (tx: Tx) => refresh(tx, vouchers[1]?.handle ?? bytes(16), fail),
        (tx: Tx) => sealedOf(tx, vouchers[0]?.handle ?? bytes(16)),
      ].map((operation) => transact<unknown>(operation)),
    )
    expect(good?.status).toBe('fulfilled')
    expect(bad).toEqual({ status: 'rejected', reason: broken })
    expect(asked).toEqual({ status: 'fulfilled', value: bytes(40) })
    const phases = vouchers.map(({ handle }) => engine.snapshot((tx) => tx.vouchers.find(handle)))
    expect((await Promise.all(phases)).map((one) => one?.phase)).toEqual(['refreshed', 'minted'])
  })

  test('that fail behind another operation are not forgotten, whatever it makes of the failure', async () => {
    const { engine, transact } = await open()
    const vouchers = [await transact(issue), await transact(issue)]
    const [bad = bytes(16), good = bytes(16)] = vouchers.map(({ handle }) => handle)
    const broken = new Error('the signer fails')
    const fail = () => {
      throw broken
    }
    const outcomes = await Promise.allSettled(
      [
        (tx: Tx) => refresh(tx, bad, fail),
        (tx: Tx) => refresh(tx, good),
        // It calls the steps of both, and goes on.
        (tx: Tx) => sealedOf(tx, good).catch(() => 'swallowed'),
      ].map((operation) => transact<unknown>(operation)),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect((outcomes[0] as PromiseRejectedResult).reason).toBe(broken)
    const phases = [bad, good].map((handle) => engine.snapshot((tx) => tx.vouchers.find(handle)))
    expect((await Promise.all(phases)).map((one) => one?.phase)).toEqual(['minted', 'refreshed'])
    expect(await transact((tx) => sealedOf(tx, good))).toEqual(bytes(40))
  })

  test('do not count as writes of the operation that reads one and is refused', async () => {
    const { transact, times } = await open()
    const { handle } = await transact(issue)
    const refusal = new Refusal('voucher-refreshed')
    const [, refused] = await Promise.allSettled([
      transact((tx) => refresh(tx, handle)),
      transact(async (tx) => {
        await sealedOf(tx, handle)
        throw refusal
      }),
    ])
    expect(refused).toEqual({ status: 'rejected', reason: refusal })
    expect([times('ROLLBACK'), times('SAVEPOINT operation')]).toEqual([0, 0])
  })

  test('wait, also where a quota counts refreshes', async () => {
    const { transact, ran } = await open()
    const { handle } = await transact(issue)
    ran.length = 0
    await Promise.all([
      transact((tx) => refresh(tx, handle)),
      transact((tx) => tx.quotas.find(1, key(1))),
    ])
    const at = (part: string) => ran.findIndex((text) => text.includes(part))
    expect(at('INSERT INTO refreshes')).toBeGreaterThan(at('merchant_days'))
    expect(at('merchant_days')).toBeGreaterThan(0)
  })

  test('are the only writes of a step', async () => {
    const { engine, transact } = await open()
    const { handle } = await transact(issue)
    const late = transact(async (tx) => {
      await refresh(tx, handle)
      tx.beforeCommit(() => tx.batches.file(handle, null, 'Ana'))
    })
    expect(await late.catch((cause: unknown) => cause)).toBeInstanceOf(AssertionError)
    expect((await engine.snapshot((tx) => tx.vouchers.find(handle)))?.phase).toBe('minted')
  })
})
