/** Two services on one database. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabases } from '../support/postgres-databases.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'

const databases = await openDatabases()
const name = await databases.create('coupons')
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
