/** The choice of a server: settings, roles, hosts and histories. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createStores } from '../../src/app/stores.ts'
import { OperatorError } from '../../src/base/operator-error.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { addressesOf, shownAddress } from '../../src/db/postgres/address.ts'
import { openPostgres } from '../../src/db/postgres/open.ts'
import { startPooler } from '../support/pooler.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { until } from '../support/until.ts'
import { codeOf, idsIn, openRows } from './rows.ts'

const databases = await openDatabases()
const administrator = await databases.connect('postgres')
afterAll(async () => {
  administrator.destroy()
  await databases.stop()
  await cleanUp()
})
const rows = openRows(databases)
const proxies: Server[] = []
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close()
})

/** The line that a start ends with, or null if it went on. */
async function startOn(url: string): Promise<string | null> {
  const now = () => Date.now() / 1000
  try {
    const options = { url, now, schema: couponSchema, stores: createStores }
    const { database } = await openPostgres(options)
    await database.close()
    return null
  } catch (cause) {
    expect(cause).toBeInstanceOf(OperatorError)
    return (cause as OperatorError).message
  }
}

test('settings of the role or the database do not reach the sessions of a node', async () => {
  const { name, url, other } = await rows.create()
  for (const setting of [
    `bytea_output = 'escape'`,
    'statement_timeout = 500',
    `synchronous_commit = 'local'`,
  ]) {
    await other.send(`ALTER DATABASE ${name} SET ${setting}`, [])
  }
  const engine = rows.engine(url)
  const seen = await engine.administer(async (connection) => {
    const { rows: found } = await connection.send(
      `SELECT '\\x01'::bytea AS bytes, current_setting('synchronous_commit') AS durability
       FROM pg_sleep(1)`,
      [],
    )
    return found[0]
  })
  expect(seen).toEqual({ bytes: new Uint8Array([1]), durability: 'on' })
})

test('a database that could lose or change what it is given is refused at the start', async () => {
  const { name, url, other } = await rows.create()
  await other.send(`ALTER DATABASE ${name} SET synchronous_commit = off`, [])
  expect(await startOn(url)).toContain('synchronous_commit = off')
  await administrator.send(
    `CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`,
    [],
  )
  expect(await startOn(databases.server.url('latin'))).toContain('LATIN1')
})

test('a server that is started again without fsync gets no writes', async () => {
  const fast = await openDatabases({ fsync: 'off' })
  try {
    const name = await fast.create()
    expect(await startOn(fast.server.url(name))).toContain('fsync = off')
    const engine = rows.engine(fast.server.url(name))
    expect(await codeOf(engine.snapshot((tx) => tx.count()))).toBe('unavailable')
  } finally {
    await fast.stop()
  }
})

/** A server in between that can be away, and show another history. */
async function openHost(change: (text: string) => string = (text) => text) {
  const directory = newDirectory()
  const state = { away: false }
  const server = createServer((client) => {
    if (state.away) return void client.destroy()
    const inner = connect(join(databases.server.socket, '.s.PGSQL.5432'))
    const end = () => {
      client.destroy()
      inner.destroy()
    }
    for (const socket of [client, inner]) socket.on('error', end).on('close', end)
    client.on('data', (data) => inner.write(data))
    inner.on('data', (data) => {
      if (state.away) return end()
      client.write(Buffer.from(change(data.toString('latin1')), 'latin1'))
    })
  })
  await new Promise<void>((resolve) => server.listen(join(directory, '.s.PGSQL.5432'), resolve))
  proxies.push(server)
  return { state, host: encodeURIComponent(directory), server }
}

test('a primary that was replaced and comes back gets no writes', async () => {
  const { name, other } = await rows.create()
  const old = await openHost((text) => text.replace('00000001', '00000000'))
  const promoted = await openHost()
  const engine = rows.engine(`postgres://cuponera@${old.host},${promoted.host}/${name}`)
  const insert = (id: number) => codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(id)))
  const alone = (away: typeof old, there: typeof old) => {
    away.state.away = true
    there.state.away = false
  }
  alone(promoted, old)
  expect(await insert(1)).toBe('answered')
  alone(old, promoted)
  expect(await insert(2)).toBe('answered')
  alone(promoted, old)
  expect(await insert(3)).toBe('unavailable')
  alone(old, promoted)
  expect([await insert(4), await idsIn(other)]).toEqual(['answered', [1, 2, 4]])
})

test('nothing of a node stays on a primary that was replaced and answers on', async () => {
  const { name, url } = await rows.create()
  const old = await openHost((text) => text.replace('00000001', '00000000'))
  const promoted = await openHost()
  promoted.state.away = true
  const node = rows.engine(`postgres://cuponera@${old.host},${promoted.host}/${name}`)
  const heard: string[] = []
  node.listen(
    { name: 'noted' },
    { told: () => heard.push('told'), missed: () => heard.push('missed') },
  )
  await node.follow()
  const lease = await node.lease('sweep')
  // It takes no new connection, and those that there are live on.
  old.server.close()
  promoted.state.away = false
  expect(lease?.held()).toBe(true)
  await node.administer(async () => undefined)
  expect(lease?.held()).toBe(false)
  const other = rows.engine(url)
  await until('the work is free', async () => (await other.lease('sweep')) !== null)
  await until('the node reads anew', () => heard.includes('missed'))
})

test('a server of another installation gets no writes', async () => {
  const { name } = await rows.create()
  const strange = await openDatabases()
  try {
    await strange.create()
    const own = await openHost()
    const host = encodeURIComponent(strange.server.socket)
    const engine = rows.engine(`postgres://cuponera@${own.host},${host}/${name}`)
    await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
    own.state.away = true
    const refused = codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(2)))
    expect(await refused).toBe('unavailable')
  } finally {
    await strange.stop()
  }
})

test('a start that reaches no server names each with its reason, and no password', async () => {
  const message = await startOn('postgres://shop:geheim@127.0.0.1:1,127.0.0.1:2/coupons')
  expect(message).toContain('127.0.0.1:1/coupons: ')
  expect(message).toContain('127.0.0.1:2/coupons: ')
  expect(message).not.toContain('geheim')
  const stranger = databases.server.url('postgres').replace('cuponera@', 'stranger:geheim@')
  expect(await startOn(stranger)).toContain('role "stranger" does not exist')
})

test('a role that may not make the schema is told so', async () => {
  await administrator.send('CREATE ROLE guest LOGIN', [])
  await administrator.send('CREATE DATABASE bare', [])
  const guest = databases.server.url('bare').replace('cuponera@', 'guest@')
  expect(await startOn(guest)).toContain('permission denied for schema public')
})

test('an address that is none is told without its password', () => {
  for (const url of [
    'postgres://shop:ge/heim@db/coupons',
    'postgres://shop:ge?heim@db/coupons',
    'postgres://shop:ge#heim@db/coupons',
    'postgres://shop:geheim@db:port/coupons',
    'postgres://shop:ge%zzheim@db/coupons',
    'mysql://shop:geheim@db/coupons',
  ]) {
    let told: unknown
    try {
      addressesOf(url)
    } catch (cause) {
      told = cause
    }
    expect(told).toBeInstanceOf(OperatorError)
    expect(`${(told as Error).message} ${shownAddress(url)}`).not.toContain('heim')
  }
})

test('an address is shown with its hosts and its name alone', () => {
  const url = 'postgres://shop:ge%2Fheim@one:1,two:2/coupons?sslmode=require'
  expect(shownAddress(url)).toBe('one:1,two:2/coupons')
  expect(addressesOf(url)).toEqual([
    'postgres://shop:ge%2Fheim@one:1/coupons?sslmode=require',
    'postgres://shop:ge%2Fheim@two:2/coupons?sslmode=require',
  ])
})

test.each(['sslrootcert', 'sslkey'])(
  'a start says that the file of %s cannot be read',
  async (name) => {
    const url = databases.server.url(await databases.create())
    const line = await startOn(`${url}&${name}=${encodeURIComponent('/nowhere/file.pem')}`)
    expect(line).toContain('cannot use the database of DATABASE_URL')
    expect(line).toContain('/nowhere/file.pem')
  },
)

test('a pooler in transaction mode is refused at the start, and one in session mode is used', async () => {
  const name = await databases.create()
  for (const mode of ['session', 'transaction'] as const) {
    const pooler = startPooler(databases.server.socket, mode)
    const url = `postgres://cuponera@/${name}?host=${encodeURIComponent(pooler.socket)}`
    const refused = await startOn(url)
    if (mode === 'session') expect(refused).toBeNull()
    else expect(refused).toContain('DATABASE_URL names a pooler in transaction mode')
    pooler.stop()
  }
})
