/** A directory and its database belong together: an empty service would call the vouchers of the other one unknown. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../support/cli.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { origin, shopEnv } from '../support/nodes.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { nameStandby } from '../support/postgres-standby.ts'
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

/** The words with which a start ends. */
async function refusalOf(dataDir: string, env: Record<string, string>): Promise<string> {
  try {
    const server = await startServer({ dataDir, env: { ...shopEnv, ...env } })
    await server.stop()
    return 'it started'
  } catch (cause) {
    return String(cause)
  }
}

test('a node does not start without its DATABASE_URL, and no other service is hindered', async () => {
  const dataDir = newDirectory()
  const url = await emptyDatabase()
  const env = { ...shopEnv, DATABASE_URL: url }
  const node = await startServer({ dataDir, env })
  const nonce = await mintAt(node.url)
  await node.stop()
  const mark = join(dataDir, 'postgresql')
  expect(readFileSync(mark, 'utf8')).not.toContain(url)

  expect(await refusalOf(dataDir, {})).toContain(
    `DATABASE_URL is missing: the database of ${dataDir} is on PostgreSQL\n`,
  )
  expect(existsSync(join(dataDir, 'cuponera.db'))).toBe(false)
  const again = await startServer({ dataDir, env })
  expect((await call(again.url, `/api/coupons/claim?nonce=${nonce}`)).status).toBe(200)
  await again.stop()

  // Somebody who wants a file here deletes the mark.
  rmSync(mark)
  const file = await startServer({ dataDir, env: shopEnv })
  await file.stop()
  // From then on the database is the file, until a start on a server is accepted.
  const back = await startServer({ dataDir, env })
  await back.stop()
  expect(existsSync(mark)).toBe(true)
  const fileAgain = await startServer({ dataDir, env: shopEnv })
  expect(existsSync(mark)).toBe(false)
  await fileAgain.stop()
})

test('a service in a file does not start on an empty database, but once it was moved', async () => {
  const dataDir = newDirectory()
  const unused = await startServer({ dataDir, env: shopEnv })
  await unused.stop()
  // Nobody used it: nothing would be missed.
  const elsewhere = await startServer({
    ...{ dataDir, env: { ...shopEnv, DATABASE_URL: await emptyDatabase() } },
  })
  await elsewhere.stop()

  const file = await startServer({ dataDir, env: shopEnv })
  const nonce = await mintAt(file.url)
  await file.stop()
  const url = await emptyDatabase()
  expect(await refusalOf(dataDir, { DATABASE_URL: url })).toContain(
    `the database of DATABASE_URL is empty, and ${join(dataDir, 'cuponera.db')} has a service\n`,
  )
  const moved = await runCommand(['move', '--from', dataDir, '--to', url], { dataDir })
  expect(moved).toMatchObject({ code: 0, stderr: '' })
  const server = await startServer({ dataDir, env: { ...shopEnv, DATABASE_URL: url } })
  expect((await call(server.url, `/api/coupons/claim?nonce=${nonce}`)).status).toBe(200)
  await server.stop()
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
  await nameStandby(databases.server, '')
  expect((await ledger('balances', key)).stdout).toContain('ARS\t12.00\t')
})
