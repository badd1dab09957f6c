/** The shell blocks of docs/cluster.md, as printed, but for the address of the server. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection } from '../../src/db/postgres/connection.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { createPopulated } from '../support/cli.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { managerSecret } from '../support/identities.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { blockWith, metricsOf, namesIn, openDesk, readText } from '../support/printed.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { openUnit } from '../support/units.ts'

const page = 'docs/cluster.md'
const printed = 'postgres://cuponera:secret@db.example/cuponera'
let server: Postgres
let superuser: Connection

beforeAll(async () => {
  const started = await startPostgres()
  if (started === null) throw new Error('this machine has no PostgreSQL')
  server = started
  const connectionString = server.url('postgres', 'postgres')
  superuser = await Connection.open({ connectionString }, 10_000, () => undefined)
})
afterAll(async () => {
  superuser.destroy()
  await cleanUp()
  await server.stop()
})

test('prepare the servers of the compose file, once and again', async () => {
  type Prepare = { services: { prepare: { command: string[]; environment: { PGUSER: string } } } }
  const compose = Bun.YAML.parse(readText('docs/cluster/compose.yaml')) as Prepare
  const { command, environment } = compose.services.prepare
  const [script = ''] = command
  // The image has psql. Without it here, its statements are sent.
  const statements = [...script.matchAll(/psql -c (["'])(.*)\1/g)].map(([, , sql = '']) => sql)
  expect(statements).toHaveLength(3)
  if (Bun.which('psql') === null) {
    for (const sql of statements) await superuser.send(sql, [])
  } else {
    const { desk, run } = openDesk({ ...environment, PGHOST: server.socket })
    writeFileSync(join(desk, 'prepare'), script)
    // As its entrypoint does: a statement that fails the second time does not end it.
    await run('sh prepare && sh prepare')
  }
  const { rows } = await superuser.send(
    `SELECT rolname, rolcanlogin, pg_encoding_to_char(encoding) AS encoding
     FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba WHERE datname = 'cuponera'`,
    [],
  )
  expect(rows).toEqual([{ rolname: 'cuponera', rolcanlogin: true, encoding: 'UTF8' }])
  await superuser.send('DROP DATABASE cuponera', [])
  await superuser.send('DROP ROLE cuponera', [])
})

test('make the role and its database, in which a first start makes the tables', async () => {
  const [making = '', serving = ''] = blockWith(page, 'createuser --pwprompt').split('\n')
  const { run } = openDesk({ PGHOST: server.socket, PGUSER: 'postgres' })
  const [user = '', database = ''] = making.split(' && ')
  if (Bun.which('createuser') === null) {
    await superuser.send('CREATE ROLE cuponera LOGIN', [])
    await superuser.send('CREATE DATABASE cuponera OWNER cuponera', [])
  } else {
    // Without a terminal it reads the password from its input.
    await run(`printf 'secret\\nsecret\\n' | setsid -w ${user} && ${database}`)
  }
  const said = await run(serving, [printed, () => server.url('cuponera')])
  expect(said).toMatch(/^ {2}database +.*cuponera/m)
})

test('the tables of metrics are those of a service on PostgreSQL', async () => {
  await superuser.send('CREATE DATABASE measured OWNER cuponera TEMPLATE template0', [])
  const service = await startServer({ env: { DATABASE_URL: server.url('measured') } })
  // The age of a backup belongs to a file.
  const everywhere = namesIn(readText('docs/monitoring.md'), 'metric').filter(
    (name) => name !== 'cuponera_backup_age_seconds',
  )
  const listed = [...everywhere, ...namesIn(readText(page), 'metric')]
  expect([...(await metricsOf(service.url)).keys()].toSorted()).toEqual(listed.toSorted())
})

test('move a service to PostgreSQL and back', async () => {
  await superuser.send('CREATE DATABASE moved OWNER cuponera TEMPLATE template0', [])
  const { dataDir } = await createPopulated()
  const { desk, run } = openDesk({})
  cpSync(dataDir, join(desk, 'data'), { recursive: true })
  await run(blockWith(page, 'cuponera move --from ./data'), [printed, () => server.url('moved')])
  expect(await run('cuponera check --data-dir ./data')).toContain('6 vouchers')
})

test('start a node by its unit, with keys and address as credentials, and again after a crash', async () => {
  await superuser.send('CREATE DATABASE clustered OWNER cuponera TEMPLATE template0', [])
  const [manager, merchant] = [newSigner(managerSecret), newSigner()]
  const node = openUnit(readText('docs/cluster/cuponera.service'), {
    '/etc/cuponera/settings': `PUBLIC_URL=https://cupones.example\nMERCHANTS=${merchant.pubkey}\n`,
    '/etc/cuponera/database': server.url('clustered'),
    '/etc/cuponera/manager.nsec': managerSecret.toString('hex'),
    '/etc/cuponera/store.key': '8'.repeat(64),
    '/etc/cuponera/session.secret': 'only-to-try-'.repeat(3),
    '/etc/cuponera/card.key': '9'.repeat(32),
  })
  try {
    const url = await node.start()
    expect(node.output()).toContain(npubOf(manager.pubkey))
    expect(node.output()).toMatch(/^ {2}database +.*clustered/m)
    expect(node.output()).toMatch(/^ {2}address +http:\/\/0\.0\.0\.0:/m)
    const token = await openSession(url, merchant, 'https://cupones.example')
    const { nonce } = await mintOne(url, token, await createDefinition(url, token))
    // Each key came as a credential: it has made none.
    expect(existsSync(join(node.env.DATA_DIR ?? '', 'keys'))).toBe(false)
    const again = await node.kill()
    const claimed = await call(again, '/api/coupons/claim', { body: { nonce } })
    expect(claimed).toMatchObject({ status: 200 })
    expect(await node.stop()).toBe(0)
  } finally {
    await node.end()
  }
})
