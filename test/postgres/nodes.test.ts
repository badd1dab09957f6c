/** Several nodes on one database: their rows, and the leader. */
import { afterAll, expect, test } from 'bun:test'
import { createStores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import { limits } from '../../src/base/limits.ts'
import { type Fingerprints, leader } from '../../src/db/database.ts'
import { couponSchema, versionOf } from '../../src/db/migrations.ts'
import { openPostgres } from '../../src/db/postgres/open.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())

type Node = Awaited<ReturnType<typeof openNode>>

/** All work of the leader for the engine, until nothing is left. */
async function upkeep(node: Node): Promise<void> {
  for (const { step } of node.upkeep) while (await step());
}

const openNode = async (url: string, name: string) => {
  const options = { url, now: systemClock, schema: couponSchema, stores: createStores }
  return (await openPostgres({ ...options, node: { name, version: '9.9.9' } })).database
}

test('each node of a database has a row, until it stops or was dead for long', async () => {
  const name = await databases.create()
  const url = databases.server.url(name)
  const [one, two] = [await openNode(url, 'one'), await openNode(url, 'two')]
  const names = async () => (await one.nodes?.list())?.map(({ name }) => name)
  two.nodes?.listening('http://two')
  await until(
    'the address is told',
    async () => (await one.nodes?.list())?.[1]?.address === 'http://two',
  )
  const listed = await one.nodes?.list()
  expect(listed).toEqual([
    expect.objectContaining({ id: one.nodes?.id, name: 'one', address: null }),
    expect.objectContaining({ id: two.nodes?.id, name: 'two', address: 'http://two' }),
  ])
  expect(listed?.[0]).toMatchObject({ version: '9.9.9', schema: versionOf(couponSchema) })
  expect(Math.abs((listed?.[0]?.startedAt ?? 0) - systemClock())).toBeLessThan(60)

  const other = await databases.connect(name)
  await other.send(
    `INSERT INTO nodes
     SELECT gen_random_uuid(), 'dead', version, schema, address, backend, read_to, settings,
       clock_timestamp(), seen_at - make_interval(secs => $1) FROM nodes WHERE name = 'two'`,
    [limits.nodeKeptSeconds + 5],
  )
  expect(await names()).toEqual(['one', 'two', 'dead'])
  await upkeep(one)
  expect(await names()).toEqual(['one', 'two'])

  // A beat brings back the row of a node that was only silent.
  await other.send(`DELETE FROM nodes WHERE name = 'two'`, [])
  await until('the row is there again', async () => (await names())?.length === 2)
  await two.close()
  expect(await names()).toEqual(['one'])
  await one.close()
  expect((await other.send('SELECT 1 FROM nodes', [])).count).toBe(0)
  await other.end()
})

test('news that a node has not read are counted', async () => {
  const name = await databases.create()
  const node = await openNode(databases.server.url(name), 'one')
  const unread = async () => (await node.nodes?.list())?.[0]?.unread
  const [open, other] = [await databases.connect(name), await databases.connect(name)]
  // Each look reads this table, too.
  await open.send('BEGIN', [])
  await open.send('LOCK TABLE facts', [])
  await other.send(
    `INSERT INTO changes (channel, node, topic, body)
     VALUES ('cuponera_service', gen_random_uuid(), 'any', '0')`,
    [],
  )
  await until('it is counted', async () => (await unread()) === 1)
  await open.send('COMMIT', [])
  await until('it is read', async () => (await unread()) === 0)
  await Promise.all([node.close(), open.end(), other.end()])
})

test('a node that differs where it must not is refused, unless the other one is dead', async () => {
  const name = await databases.create()
  const url = databases.server.url(name)
  const nodes = [await openNode(url, 'one'), await openNode(url, 'two')]
  const [other, watching] = [await databases.connect(name), await databases.connect(name)]
  const agree = (node: Node, settings: Fingerprints) => node.nodes?.agree(settings, new Set(['B']))

  // Both are ready to write before one of them does.
  await other.send('BEGIN', [])
  await other.send('LOCK TABLE nodes IN SHARE MODE', [])
  const starting = nodes.map((node, at) => agree(node, { A: '1', B: String(at) }))
  const waiting = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE '%started_at, seen_at)%'`
  await until('both wait', async () => (await watching.send(waiting, [])).count === 2)
  await other.send('COMMIT', [])
  const outcomes = await Promise.all(starting)
  const won = outcomes.findIndex((differences) => differences?.length === 0)
  const [one, two, B] = [nodes[won], nodes[1 - won], String(won)] as [Node, Node, string]
  const winner = won === 0 ? 'one' : 'two'
  expect(outcomes[1 - won]).toEqual([{ node: winner, settings: ['B'] }])

  // Nothing of a refused node is told.
  expect(await agree(one, { A: '1', B, C: '1' })).toEqual([])
  expect(await agree(two, { A: '2', B, D: '1' })).toEqual([{ node: winner, settings: ['A'] }])
  expect((await two.nodes?.list())?.find(({ name }) => name === winner)?.differing).toEqual(['A'])
  await one.close()
  await other.send(
    `INSERT INTO nodes SELECT gen_random_uuid(), 'dead', version, schema, address, backend, read_to,
       '{"B":"9"}', started_at, clock_timestamp() - make_interval(secs => $1) FROM nodes`,
    [limits.nodeSilentSeconds - 0.5],
  )
  expect(await agree(two, { B: '8' })).toEqual([])
  await Promise.all([two.close(), other.end(), watching.end()])
})

test('of several nodes one leads, and another takes over when its session ends', async () => {
  const name = await databases.create()
  const nodes = [await openNode(databases.server.url(name), 'one')]
  nodes.push(await openNode(databases.server.url(name), 'two'))
  const [one, two] = nodes as [Node, Node]
  const leads = await one.lease(leader)
  expect([leads?.held(), await two.lease(leader)]).toEqual([true, null])
  const leaders = async () => (await two.nodes?.list())?.map(({ leads }) => leads)
  expect(await leaders()).toEqual([true, false])

  const other = await databases.connect(name)
  await other.send(
    `SELECT pg_terminate_backend(CAST(backend AS INTEGER)) FROM nodes WHERE name = 'one'`,
    [],
  )
  await until('the leader knows it', () => leads?.held() === false)
  await until('the second leads', async () => (await two.lease(leader))?.held() === true)
  expect(await one.lease(leader)).toBeNull()
  await until('both are listed again', async () => (await leaders())?.join() === 'false,true')

  await other.end()
  for (const node of nodes) await node.close()
})
