/** Servers that are silent, and standbys that are away: what concerns an operation is answered, and the rest goes on. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { limits } from '../../src/base/limits.ts'
import type { Leases } from '../../src/db/database.ts'
import { type Connection, ConnectionLost } from '../../src/db/postgres/connection.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { nameStandby } from '../support/postgres-standby.ts'
import { until } from '../support/until.ts'
import { backendsOf, codeOf, holdCommits, idsIn, openRows } from './rows.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())
const rows = openRows(databases)

/** Processes of the server that answer nothing, as after a power cut. */
const frozen: number[] = []
function freeze(processes: readonly number[]): void {
  frozen.push(...processes)
  for (const id of processes) process.kill(id, 'SIGSTOP')
}
function thaw(): void {
  // Those whose node has gone meanwhile are not there any more.
  for (const id of frozen.splice(0)) spawnSync('kill', ['-CONT', String(id)])
}
afterEach(thaw)

async function end(connection: Connection, id: number): Promise<void> {
  await connection.send('SELECT pg_terminate_backend(CAST($1 AS INT))', [id])
}

/** Wait for a lease: a session that was cut is told so by the first question. */
async function leased(engine: Leases, name = 'sweep'): Promise<void> {
  await until(`the lease ${name}`, async () => {
    const lease = await engine.lease(name).catch((cause: unknown) => {
      expect(cause).toBeInstanceOf(ConnectionLost)
      return null
    })
    return lease?.held() === true
  })
}

test('without its standby writes wait, reads are answered, and closing ends', async () => {
  const { url, other } = await rows.create()
  await other.send('SET synchronous_commit = local', [])
  const unknown: string[] = []
  const events = {
    committed: () => undefined,
    failed: () => undefined,
    unknown: (commit: string) => void unknown.push(commit),
  }
  const engine = rows.engine(url, { connections: 4, events })
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  await nameStandby(databases.server, 'nobody')
  try {
    const writes = [2, 3, 4, 5, 6].map((id) =>
      codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(id))),
    )
    await until('commits wait', async () => {
      return (await backendsOf(other, `wait_event = 'SyncRep'`)).length > 2
    })
    expect(await engine.snapshot((tx) => tx.count())).toBe(1)
    await engine.close()
    expect(new Set(await Promise.all(writes))).toEqual(new Set(['unavailable', 'shutting-down']))
    expect(unknown.length).toBeGreaterThan(2)
  } finally {
    await nameStandby(databases.server, '')
  }
})

test('a commit whose wait for its standby was cancelled is not answered, whatever sessions are told of', async () => {
  const { name, url, other } = await rows.create()
  await other.send(`ALTER DATABASE ${name} SET client_min_messages = error`, [])
  const engine = rows.engine(url)
  await engine.snapshot((tx) => tx.count())
  await nameStandby(databases.server, 'nobody')
  try {
    let told = ''
    const held = codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(1)))
    void held.then((code) => {
      told = code
    })
    const waiting = (query: string) =>
      backendsOf(other, `wait_event = 'SyncRep' AND query LIKE '${query}'`)
    await until('the commit waits', async () => (await waiting('COMMIT')).length === 1)
    const [backend = 0] = await waiting('COMMIT')
    await other.send('SELECT pg_cancel_backend($1::int)', [backend])
    const asked = async () => (await waiting('INSERT INTO commits%')).length > 0
    await until('its fate is asked for', async () => told !== '' || (await asked()))
    expect(told).not.toBe('answered')
  } finally {
    await nameStandby(databases.server, '')
  }
})

test('operations are answered after their connections fell silent, all at once', async () => {
  const { url, other } = await rows.create()
  // So many that no test has the time to wait for one after the other.
  const engine = rows.engine(url, { connections: 40 })
  const insert = (id: number) => engine.transact({ roots: 'none' }, (tx) => tx.insert(id))
  await Promise.all(Array.from({ length: 500 }, (_, id) => insert(id)))
  freeze(await backendsOf(other))
  expect(await codeOf(insert(1000))).toBe('answered')
  thaw()
  await until('none of them is used any more', async () => (await backendsOf(other)).length === 1)
  await Bun.sleep(3500)
  freeze(await backendsOf(other))
  expect(await codeOf(insert(1001))).toBe('answered')
  expect((await idsIn(other)).length).toBe(502)
})

test('a lease ends with its session, and another node takes the work', async () => {
  const { url, other } = await rows.create()
  const [one, two] = [rows.engine(url), rows.engine(url)]
  const lease = await one.lease('sweep')
  expect([lease?.held(), await two.lease('sweep')]).toEqual([true, null])
  for (const id of await backendsOf(other)) await end(other, id)
  await until('the first node knows it', () => lease?.held() === false)
  await leased(two)
  expect(await one.lease('sweep')).toBeNull()
  await lease?.release()
  await leased(one, 'courier')
})

test('the server ends the leases of a node that hangs, and they are over for that node', async () => {
  const { url } = await rows.create()
  const one = rows.engine(url)
  const usual = { ...limits }
  // Without beats it is as silent as a stopped process, and its connection is as alive.
  Object.assign(limits, { leaseBeatSeconds: 3600, leaseIdleSeconds: 1 })
  const lease = await one.lease('sweep').finally(() => Object.assign(limits, usual))
  expect(lease?.held()).toBe(true)
  await leased(rows.engine(url))
  await until('the node gives it up', () => lease?.held() === false)
})

test('a lease is over for a node that hears nothing of the server', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url)
  const lease = await engine.lease('sweep')
  freeze(await backendsOf(other))
  await until('the node gives it up', () => lease?.held() === false)
  await lease?.release()
  thaw()
  await leased(engine)
})

test('a node with several hosts holds its lease, whichever host takes no writes', async () => {
  const { url } = await rows.create()
  const socket = encodeURIComponent(databases.server.socket)
  const several = url.replace(/@\/(.*)\?.*/, `@127.0.0.1:1,${socket},${socket}/$1`)
  const engine = rows.engine(several)
  expect((await engine.lease('sweep'))?.held()).toBe(true)
  expect(await engine.snapshot((tx) => tx.count())).toBe(0)
})

test('a node that is closed takes no operation, read or lease, and opens no connection', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url)
  await engine.lease('sweep')
  await engine.close()
  const late = [
    engine.transact({ roots: 'none' }, (tx) => tx.insert(1)),
    engine.snapshot((tx) => tx.count()),
    engine.lease('sweep'),
  ]
  expect(await Promise.all(late.map(codeOf))).toEqual(Array(3).fill('shutting-down'))
  await until('its connections are gone', async () => (await backendsOf(other)).length === 0)
})

test('an operation that waits for a lost server does not run after the node has closed', async () => {
  const { name, url } = await rows.create()
  const engine = rows.engine(url)
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  await databases.server.kill()
  const waiting = codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(2)))
  await engine.close()
  await databases.server.start()
  expect(await waiting).toBe('shutting-down')
  const after = await databases.connect(name)
  expect(await idsIn(after)).toEqual([1])
  await after.end()
})

test('a backend that waits for a lock ends when its node has gone', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url)
  await other.send('SELECT pg_advisory_lock(1)', [])
  await engine.administer(async (connection) => {
    connection.send('SELECT pg_advisory_lock(1)', []).catch(() => undefined)
    await until('it waits', async () => {
      return (await backendsOf(other, `wait_event_type = 'Lock'`)).length === 1
    })
  })
  await until('it has gone', async () => (await backendsOf(other)).length === 0)
})

test('a flood of guesses leaves connections for operations, and writes nothing once it is refused', async () => {
  const { name, url, other } = await rows.create()
  const holder = await databases.connect(name)
  const engine = rows.engine(url, { connections: 32 })
  const guesses = [{ name: 'code', burst: 2, perSecond: 0.001 }]
  const flood = () => Promise.all(Array.from({ length: 40 }, () => engine.buckets.take(guesses)))
  expect(await engine.buckets.take(guesses)).toBe(0)
  await holder.send('BEGIN', [])
  await holder.send('UPDATE guesses SET tokens = tokens', [])
  const waiting = flood()
  const blocked = () => backendsOf(other, `wait_event_type = 'Lock'`)
  await until('guesses wait for the row', async () => (await blocked()).length === 8)
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  await holder.send('COMMIT', [])
  expect((await waiting).filter((wait) => wait === 0)).toHaveLength(1)
  const written = async () => (await other.send('SELECT xmin FROM guesses', [])).rows
  const before = await written()
  expect((await flood()).includes(0)).toBe(false)
  expect(await written()).toEqual(before)
})

test('a commit is settled on a server that warns at each login', async () => {
  const { url, other } = await rows.create()
  for (const text of [
    `CREATE FUNCTION warn() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE WARNING 'as if'; END $$`,
    'CREATE EVENT TRIGGER warns ON login EXECUTE FUNCTION warn()',
  ]) {
    await other.send(text, [])
  }
  await holdCommits(other)
  const engine = rows.engine(url)
  const inserted = engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  const inCommit = () => backendsOf(other, `query = 'COMMIT' AND state = 'active'`)
  await until('the commit waits', async () => (await inCommit()).length === 1)
  for (const id of await inCommit()) await end(other, id)
  await other.send('SELECT pg_advisory_unlock(7)', [])
  await inserted
  expect(await idsIn(other)).toEqual([1])
})
