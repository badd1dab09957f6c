/**
 * One member of the cluster of docs/cluster.md: patroni.yml, its block for the environment and the command of the unit, as
 * printed but for places, under Patroni itself. How a leader is replaced is for `npm run failover -- --patroni`.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Connection } from '../../src/db/postgres/connection.ts'
import { hasPatroni, openPatroni } from '../fault/patroni/cluster.ts'
import { readText } from '../support/printed.ts'
import { until } from '../support/until.ts'

if (!hasPatroni)
  console.log('left out: a member under Patroni (patroni and etcd are not installed)')
/** Less than three starts on a busy machine take. */
const startMs = 180_000
let opened: Awaited<ReturnType<typeof openPatroni>> | null = null
beforeAll(async () => {
  if (hasPatroni) opened = await openPatroni(1)
}, startMs)
afterAll(() => opened?.stop())

test('leads in strict synchronous mode, lets the service in by its password, and stops its server', async () => {
  if (opened === null) return
  const superuser = await opened.connect('postgres')
  const shown = async (name: string) =>
    Object.values((await superuser.send(`SHOW ${name}`, [])).rows[0] ?? {})[0]
  // Without a standby no commit is answered.
  await until('commits wait', async () => (await shown('synchronous_standby_names')) === '*')
  const settings = {
    max_connections: '350',
    wal_log_hints: 'on',
    data_checksums: 'on',
    commit_delay: '1000',
    server_encoding: 'UTF8',
  }
  const found = Object.keys(settings).map(async (name) => [name, await shown(name)])
  expect(Object.fromEntries(await Promise.all(found))).toEqual(settings)
  await superuser.send('SET synchronous_commit = local', [])
  await superuser.send(`CREATE ROLE cuponera LOGIN PASSWORD 'secret'`, [])
  await superuser.send('CREATE DATABASE cuponera OWNER cuponera', [])
  superuser.destroy()

  const { port, data, patroni } = await opened.leading()
  const connectAs = (user: string, password: string, database: string) =>
    Connection.open({ host: '127.0.0.1', port, user, password, database }, 10_000, () => undefined)
  const service = await connectAs('cuponera', 'secret', 'cuponera')
  expect((await service.send('SELECT current_user', [])).rows).toEqual([
    { current_user: 'cuponera' },
  ])
  service.destroy()
  await expect(connectAs('cuponera', 'wrong', 'cuponera')).rejects.toThrow(
    'password authentication',
  )
  await expect(connectAs('cuponera', 'secret', 'postgres')).rejects.toThrow('no pg_hba.conf entry')

  // The manager ends Patroni alone, and that ends its server.
  expect(readText('docs/cluster/patroni.service')).toContain('\nKillMode=process\n')
  patroni?.kill('SIGTERM')
  await until('Patroni has ended', () => patroni?.exitCode !== null)
  expect(patroni?.exitCode).toBe(0)
  expect(existsSync(join(data, 'postmaster.pid'))).toBe(false)
})
