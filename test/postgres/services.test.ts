/** Two services on one database. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { version } from '../../package.json'
import { couponSchema, versionOf } from '../../src/db/migrations.ts'
import { runCommand } from '../support/cli.ts'
import { call, newSigner } from '../support/client.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { logged, until } from '../support/until.ts'

const databases = await openDatabases()
const name = await databases.create()
const env = { DATABASE_URL: databases.server.url(name) }
let one: TestServer
let two: TestServer
beforeAll(async () => {
  one = await startServer({ env: { ...env, NODE_NAME: 'one' } })
  // The keys of the first node, as an operator copies them.
  const dataDir = newDirectory()
  cpSync(join(one.dataDir, 'keys'), join(dataDir, 'keys'), { recursive: true })
  two = await startServer({ dataDir, env: { ...env, NODE_NAME: 'two' } })
})
afterAll(async () => {
  await cleanUp()
  await databases.stop()
})

test('no node is ready or not because of a row that another one holds', async () => {
  const other = await databases.connect(name)
  await other.send('BEGIN', [])
  await other.send('UPDATE state SET newest_write = newest_write WHERE id = 1', [])
  for (const { url } of [one, two]) expect((await fetch(`${url}/readyz`)).status).toBe(200)
  await other.end()
})

const nodesOf = async ({ dataDir }: TestServer) =>
  (await runCommand(['nodes'], { dataDir, env })).stdout

async function figuresOf({ url }: TestServer): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Object.fromEntries(
    [...text.matchAll(/^cuponera_(\w+) (\S+)$/gm)].map(([, key, value]) => [key, Number(value)]),
  )
}

test('commands and metrics tell of every node and the leader', async () => {
  await until('one leads', async () => {
    const [first, second] = [await figuresOf(one), await figuresOf(two)]
    return first.is_leader === 1 || second.is_leader === 1
  })
  const lines = (await nodesOf(two)).split('\n')
  expect(lines[0]).toMatch(/^node +role +version +schema +address +since +unread +last seen$/)
  const rest = ` +${version} +${versionOf(couponSchema)} +http://127\\.0\\.0\\.1:\\d+ +\\d{4}-\\S+ +\\d+ +`
  expect(lines[1]).toMatch(new RegExp(`^one +(leader|-)${rest}\\d s ago$`))
  expect(lines[2]).toMatch(new RegExp(`^two +(leader|-)${rest}this one$`))
  expect(lines[3]).toMatch(/ has not summed up: \d+$/)
  expect(lines.filter((line) => / leader +\d/.test(line))).toHaveLength(1)
  const status = await runCommand(['status'], { dataDir: one.dataDir, env })
  expect(status.stdout).toContain('\none of 2 node(s) on its database: see cuponera nodes\n')

  const figures = [await figuresOf(one), await figuresOf(two)]
  expect(figures.map((one) => one.nodes)).toEqual([2, 2])
  expect(figures.filter((one) => one.is_leader === 1)).toHaveLength(1)
  for (const one of figures) {
    expect(one).toMatchObject({ database_retries_total: 0, database_settlements_total: 0 })
    expect(one.database_connections).toBeGreaterThanOrEqual(0)
    expect(one.unfolded_counters).toBeGreaterThanOrEqual(0)
    expect(Math.abs(one.database_clock_ahead_seconds ?? Number.NaN)).toBeLessThan(5)
  }
})

/** A start beside the running nodes, with their keys. */
function startBeside(changed: Record<string, string>) {
  const dataDir = newDirectory()
  cpSync(join(one.dataDir, 'keys'), join(dataDir, 'keys'), { recursive: true })
  return { dataDir, env: { ...env, NODE_NAME: 'three', ...changed } }
}

test('a node with another value of what all must have does not start', async () => {
  const { pubkey } = newSigner()
  const money = { TOKENS: `ARS:2:${pubkey}`, LEDGER_PUBKEY: pubkey, GATEWAY_PUBKEY: pubkey }
  const refused: Record<string, string>[] = [
    { SESSION_JWT_SECRET: 'otro-secreto-de-las-sesiones-de-este-nodo' },
    { ...money, RELAYS: 'embedded,wss://relay.example' },
  ]
  for (const changed of refused) {
    const { code, stdout, stderr } = await runCommand(['serve'], startBeside(changed))
    expect({ changed, code, stdout }).toEqual({ changed, code: 1, stdout: '' })
    const names = Object.keys(changed).join(', ')
    expect(stderr).toContain(`cuponera: the node one on this database has another ${names}: `)
  }
  const other = await databases.connect(name)
  const { rows } = await other.send(`SELECT string_agg(settings, '') AS settings FROM nodes`, [])
  // Fingerprints alone.
  expect(rows[0]?.settings).toMatch(/^(\{("[A-Z_]+":"[0-9a-f]{64}",?)+\})+$/)
  await other.end()
})

test('a node with another value of what may differ for a while starts with a warning', async () => {
  const options = startBeside({ MERCHANTS: newSigner().pubkey, VOUCHER_SERVICES: '' })
  const three = await startServer(options)
  const told = 'MERCHANTS (node one); MERCHANTS (node two)'
  expect(three.output()).toContain(`\n  differing   ${told}\n`)
  await logged(three, '"event":"nodes.differ"')
  expect(await nodesOf(one)).toContain('\nsettings of three that differ: MERCHANTS\n')
  // A node that died differs no more.
  await three.kill()
  const other = await databases.connect(name)
  await other.send(
    `UPDATE nodes SET seen_at = seen_at - INTERVAL '1 minute' WHERE name = 'three'`,
    [],
  )
  const listed = await nodesOf(one)
  expect(listed).toMatch(/^three +silent /m)
  expect(listed).not.toContain('that differ')
  await other.send(`DELETE FROM nodes WHERE name = 'three'`, [])
  await other.end()
})

test('a demo that another node answers passes when the node that let it in dies', async () => {
  const third = startBeside({})
  const three = await startServer(third)
  // Requests go to another node; the third one is killed before the first voucher.
  const proxy = createServer((client) => {
    const upstream = connect(Number(new URL(two.url).port), '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    upstream.pipe(client)
    client.on('data', async (bytes) => {
      if (bytes.includes('POST /api/coupons/mint ')) await three.kill()
      upstream.write(bytes)
    })
    client.on('close', () => upstream.destroy())
  })
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
  const { port } = proxy.address() as AddressInfo
  const run = await runCommand(['demo', '--url', `http://127.0.0.1:${port}`], third)
  expect(run.stdout).toContain('Everything as it should be')
  const told = `cuponera: the server of ${third.dataDir} did not withdraw the demo's key, which`
  expect(run.stderr).toBe(`${told} may manage for up to 10 minutes\n`)
  expect(run.code).toBe(0)
  proxy.close()
  // The row of a dead node stays for minutes.
  const other = await databases.connect(name)
  await other.send(`DELETE FROM nodes WHERE name = 'three'`, [])
  await other.end()
})

test('the other node leads when the leader is killed, and it tells of itself without a database', async () => {
  const leads = (await figuresOf(one)).is_leader === 1
  const [dead, alive] = leads ? [one, two] : [two, one]
  await dead.kill()
  await until('the other one leads', async () => (await figuresOf(alive)).is_leader === 1)
  const other = await databases.connect(name)
  await other.send(`UPDATE nodes SET seen_at = seen_at - INTERVAL '1 minute' WHERE name = $1`, [
    leads ? 'one' : 'two',
  ])
  expect(await nodesOf(alive)).toMatch(/^(one|two) +silent .* \d\d s ago$/m)
  expect((await figuresOf(alive)).nodes).toBe(1)
  await other.end()

  // It lives, and its own figures need no database.
  await databases.server.kill()
  expect((await call(alive.url, '/livez')).status).toBe(200)
  const { nodes, database_retries_total } = await figuresOf(alive)
  expect([nodes, database_retries_total]).toEqual([Number.NaN, expect.any(Number)])
  await databases.server.start()
  await until('the node counts itself again', async () => (await figuresOf(alive)).nodes === 1)
})
