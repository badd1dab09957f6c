/** Keys of several nodes: all have those that the database is bound to, and a new node makes none. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { realStatFs } from '../../src/app/disk.ts'
import { keyNames, keyPath, type LoadedKeys, writeKey } from '../../src/app/keyring.ts'
import { pinKeys, settleCardKey } from '../../src/app/keys.ts'
import { openRuntime } from '../../src/app/runtime.ts'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import type { Database } from '../../src/db/database.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import { openDatabases } from '../support/postgres-databases.ts'

const databases = await openDatabases()
const directory = mkdtempSync(join(tmpdir(), 'cuponera-keys-'))
afterAll(async () => {
  await databases.stop()
  rmSync(directory, { recursive: true, force: true })
})

const keysOf = (number: number, card: number | null = null): LoadedKeys => ({
  managerSecret: new Uint8Array(32).fill(number),
  storeKey: new Uint8Array(32).fill(number),
  sessionSecret: 'x'.repeat(32),
  cardMasterKey: card === null ? null : new Uint8Array(16).fill(card),
})

/** Nodes of a new database. Each has read it before one of them writes. */
async function startingTogether(number: number) {
  const url = databases.server.url(await databases.create())
  const allRead = Promise.withResolvers<void>()
  let reading = number
  const nodes = Array.from({ length: number }, () => {
    const engine = new PostgresEngine({ url, now: systemClock, stores: createStores })
    const database: Database<Stores> = {
      transact: (plan, operation) => engine.transact(plan, operation),
      async snapshot(query) {
        const result = await engine.snapshot(query)
        if (--reading === 0) allRead.resolve()
        await allRead.promise
        return result
      },
      look: (query) => engine.look(query),
    }
    return { engine, database }
  })
  return {
    nodes,
    read: (name: 'manager' | 'store-key' | 'card-key') =>
      nodes[0]?.engine.snapshot((tx) => tx.facts.find(name)),
    close: () => Promise.all(nodes.map(({ engine }) => engine.close())),
  }
}

const started = (results: PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length

test('of nodes with different keys that start at once on a new database, one starts', async () => {
  const { nodes, read, close } = await startingTogether(3)
  const managers = ['11', '22', '33'].map((byte) => byte.repeat(32))
  const results = await Promise.allSettled(
    nodes.map(({ database }, at) => pinKeys(database, keysOf(at + 1), managers[at] ?? '')),
  )
  expect(started(results)).toBe(1)
  const winner = results.findIndex(({ status }) => status === 'fulfilled')
  expect(await read('manager')).toBe(managers[winner] ?? '')
  const refused = results.filter((result) => result.status === 'rejected')
  for (const { reason } of refused) expect(reason.message).toContain('belongs to the manager key')
  await close()
})

test('of nodes with different keys for the cards that start at once, one starts', async () => {
  const { nodes, read, close } = await startingTogether(3)
  const results = await Promise.allSettled(
    nodes.map(({ database }, at) =>
      settleCardKey(database, keysOf(1, at + 1), { dataDir: directory, shared: true }),
    ),
  )
  expect(started(results)).toBe(1)
  expect(await read('card-key')).not.toBeNull()
  await close()
})

/** Start and stop a node with a data directory. Resolves to the key of its cards. */
async function startNode(dataDir: string, url: string): Promise<string> {
  const env = { DATA_DIR: dataDir, DATABASE_URL: url }
  const { config } = readConfig(new Map(), env, false)
  await using opened = new AsyncDisposableStack()
  const log = createLog('error', 'json')
  const runtime = await openRuntime(config, log, { statFs: realStatFs, opened })
  return runtime.cardMasterKey.toHex()
}

test('a new node makes no key on a database that is bound to keys', async () => {
  const url = databases.server.url(await databases.create())
  const [first, second] = [join(directory, 'first'), join(directory, 'second')]
  const card = await startNode(first, url)
  await expect(startNode(second, url)).rejects.toThrow('manager.nsec is missing')
  for (const key of keyNames) {
    expect(existsSync(keyPath(second, key))).toBe(false)
  }
  expect(await startNode(first, url)).toBe(card)
  rmSync(keyPath(first, 'sessionSecret'))
  await expect(startNode(first, url)).rejects.toThrow('session.secret is missing, and all nodes')
  expect(existsSync(keyPath(first, 'sessionSecret'))).toBe(false)
  writeKey(first, 'sessionSecret', 'x'.repeat(32))
  rmSync(keyPath(first, 'cardMasterKey'))
  await expect(startNode(first, url)).rejects.toThrow('(keys/card.key) is missing')
  expect(existsSync(keyPath(first, 'cardMasterKey'))).toBe(false)
})
