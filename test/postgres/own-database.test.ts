/** A directory and its database belong together: an empty service would call the vouchers of the other one unknown. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../support/cli.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { origin, shopEnv } from '../support/nodes.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { administer, nameStandby } from '../support/postgres-standby.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

const databases = await openDatabases()
afterAll(async () => {
  await cleanUp()
  await databases.stop()
})
const emptyDatabase = async () => databases.server.url(await databases.createBare())

/** Mint one voucher. Resolves to its nonce. */
async function mintAt(address: string): Promise<string> {
  const token = await openSession(address, newSigner(), origin)
  return (await mintOne(address, token, await createDefinition(address, token))).nonce
}

async function started(dataDir: string, env: Record<string, string>): Promise<void> {
  const server = await startServer({ dataDir, env })
  await server.stop()
}

/** The words with which a start ends. */
async function refusalOf(dataDir: string, env: Record<string, string>): Promise<string> {
  try {
    await started(dataDir, { ...shopEnv, ...env })
    return 'it started'
  } catch (cause) {
    return String(cause)
  }
}

test('a node does not start without its DATABASE_URL, or with that of an empty database', async () => {
  const dataDir = newDirectory()
  const url = await emptyDatabase()
  const env = { ...shopEnv, DATABASE_URL: url }
  // A trial of before, which nobody used, is no reason to begin in a file.
  await started(dataDir, shopEnv)
  const node = await startServer({ dataDir, env })
  const nonce = await mintAt(node.url)
  await node.stop()
  const mark = join(dataDir, 'database-on-server')
  expect(readFileSync(mark, 'utf8')).not.toContain(url)

  const missing = `DATABASE_URL is missing: the database of ${dataDir} is on PostgreSQL\n`
  expect(await refusalOf(dataDir, {})).toContain(missing)
  const empty = { DATABASE_URL: await emptyDatabase() }
  const another = `the database of DATABASE_URL is empty, and ${dataDir} has another one on PostgreSQL\n`
  expect(await refusalOf(dataDir, empty)).toContain(another)
  for (const name of ['', '-wal', '-shm']) {
    rmSync(join(dataDir, `cuponera.db${name}`), { force: true })
  }
  expect(await refusalOf(dataDir, {})).toContain(missing)
  expect(await refusalOf(dataDir, empty)).toContain(another)
  const again = await startServer({ dataDir, env })
  expect((await call(again.url, `/api/coupons/claim?nonce=${nonce}`)).status).toBe(200)
  await again.stop()

  rmSync(mark)
  await started(dataDir, shopEnv)
})

test('a service in a file does not start on an empty database, and goes to a server and back by a move', async () => {
  const unused = newDirectory()
  await started(unused, shopEnv)
  await started(unused, { ...shopEnv, DATABASE_URL: await emptyDatabase() })

  const dataDir = newDirectory()
  const file = await startServer({ dataDir, env: shopEnv })
  const nonce = await mintAt(file.url)
  await file.stop()
  const url = await emptyDatabase()
  const used = `the database of DATABASE_URL is empty, and ${join(dataDir, 'cuponera.db')} has a service\n`
  expect(await refusalOf(dataDir, { DATABASE_URL: url })).toContain(used)
  const move = async (from: string, to: string) =>
    expect(await runCommand(['move', '--from', from, '--to', to], { dataDir })).toMatchObject({
      ...{ code: 0, stderr: '' },
    })
  await move(dataDir, url)
  expect(await refusalOf(dataDir, { DATABASE_URL: await emptyDatabase() })).toContain(used)
  const known = async (env: Record<string, string>) => {
    const server = await startServer({ dataDir, env: { ...shopEnv, ...env } })
    expect((await call(server.url, `/api/coupons/claim?nonce=${nonce}`)).status).toBe(200)
    await server.stop()
  }
  await known({ DATABASE_URL: url })
  await move(url, dataDir)
  await known({})
  expect(existsSync(join(dataDir, 'database-on-server'))).toBe(false)
})

test('the ledger is not read where a promotion could undo what the server shows', async () => {
  const manager = new Uint8Array(32).fill(7)
  const env = { DATABASE_URL: await emptyDatabase(), COUPON_MANAGER_NSEC: manager.toHex() }
  const TOKENS = `ARS:2:${newSigner(manager).pubkey}`
  const { dataDir } = await startServer({ env: { ...env, TOKENS } })
  const key = newSigner().pubkey
  const ledger = (...args: string[]) => runCommand(['ledger', ...args], { dataDir, env })
  expect((await ledger('issue', 'ARS', key, '5')).code).toBe(0)
  await nameStandby(databases.server, 'nobody')
  expect((await ledger('issue', 'ARS', key, '7')).code).toBe(1)
  // A server that starts again shows what is on its own disk alone.
  await databases.server.kill()
  await databases.server.start()
  const read = await Promise.all([ledger('balances', key), ledger('statement', key)])
  for (const { code, stdout, stderr } of read) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('waits for its standby: nothing that it shows is certain')
  }
  // A commit that was given up stays at the server, so the next command begins none.
  const administrator = await administer(databases.server)
  const waiting = async () => {
    const sessions = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' ORDER BY pid`
    return (await administrator.send(sessions, [])).rows
  }
  const left = await waiting()
  expect(left).not.toEqual([])
  expect((await ledger('balances', key)).code).toBe(1)
  expect(await waiting()).toEqual(left)
  administrator.destroy()
  await nameStandby(databases.server, '')
  expect((await ledger('balances', key)).stdout).toContain('ARS\t12.00\t')
})
