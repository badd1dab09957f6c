/** The service on a database of PostgreSQL: its start and the commands. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { npubOf } from '../../src/nostr/keys.ts'
import { type Run, runCommand } from '../support/cli.ts'
import { newSigner } from '../support/client.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { logged } from '../support/until.ts'

const databases = await openDatabases()
const name = await databases.create()
const password = 'clave-de-la-base'
const address = databases.server.url(name).replace('@', `:${password}@`)
let server: TestServer
const manager = new Uint8Array(32).fill(7)
const { pubkey } = newSigner(manager)
const env = {
  DATABASE_URL: address,
  COUPON_MANAGER_NSEC: manager.toHex(),
  TOKENS: `ARS:2:${pubkey}`,
  PUBLIC_URL: 'https://cupones.example',
}
beforeAll(async () => {
  server = await startServer({ env })
})
afterAll(async () => {
  await cleanUp()
  await databases.stop()
})

function command(...args: string[]): Promise<Run> {
  return runCommand(args, { dataDir: server.dataDir, env: { DATABASE_URL: address } })
}

/** Its line of refusal. A command that is done fails the test. */
async function refusalOf(args: string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, { dataDir: server.dataDir, env })
  expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' })
  return stderr
}

test('the start block names the database, its version, its durability and its standbys', () => {
  const [, line = ''] = /^ {2}database +(.*)$/m.exec(server.output()) ?? []
  const version = / \d+\.\d+,/.exec(line)?.[0] ?? ' none,'
  expect(line).toBe(`/${name}, PostgreSQL${version} synchronous_commit on, no standby`)
})

test('the password of the database is in no line of a start, nor of one that fails', async () => {
  const dataDir = join(newDirectory(), 'data')
  const away = address.replace(`/${name}`, '/nowhere')
  const failed = await runCommand(['serve'], { dataDir, env: { DATABASE_URL: away } })
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('nowhere')
  await logged(server, 'database.opened')
  for (const text of [server.output(), failed.stdout, failed.stderr]) {
    expect(text).not.toContain(password)
  }
})

test('commands go through the running server', async () => {
  const key = newSigner().pubkey
  const steps: [args: string[], told: RegExp][] = [
    [['status'], /^Cuponera .* at http/],
    [['health'], /ready/],
    [['setup'], /first merchant/],
    [['merchants', 'add', key, '--label', 'Panadería'], /./],
    [['merchants', 'list'], /Panadería/],
    [['identity', 'add', 'ana', key], /ana/],
    [['identity', 'list'], /ana/],
    [['cards', 'init', '04a1b2c3d4e5f6'], /./],
    [['cards', 'list'], /04a1b2c3d4e5f6/i],
    [['ledger', 'issue', 'ARS', key, '12.50'], /12[.]50 ARS to npub1/],
    [['sessions', 'end', '--all'], /./],
    [['relays'], /relay/],
  ]
  for (const [args, told] of steps) {
    const { code, stdout, stderr } = await command(...args)
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    expect(stdout).toMatch(told)
  }
})

test('the ledger is read beside the service, and without one', async () => {
  const customer = newSigner()
  const npub = npubOf(customer.pubkey)
  for (const amount of ['5', '2.25']) await command('ledger', 'issue', 'ARS', npub, amount)
  const told = async () => {
    const { stdout } = await command('ledger', 'statement', npub, '--token', 'ARS')
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(','))
    expect(rows.map(([, token, amount, balance]) => [token, amount, balance])).toEqual([
      ['token', 'amount', 'balance'],
      ['ARS', '5.00', '5.00'],
      ['ARS', '2.25', '7.25'],
    ])
    expect((await command('ledger', 'balances', npub)).stdout).toBe(`ARS\t7.25\t${npub}\n`)
    expect((await command('ledger', 'balances')).stdout).toContain(npubOf(pubkey))
  }
  await told()
  expect(await server.stop()).toBe(0)
  await told()
  server = await startServer({ dataDir: server.dataDir, env })
})

test('commands that need a file are refused with the way to do it', async () => {
  const file = join(newDirectory(), 'file')
  const advised =
    'such a move takes a file: "cuponera move --from postgres://… --to DIRECTORY" makes one'
  const refused: [args: string[], advice: string][] = [
    [['backup', file], 'back it up with pg_dump, or by archiving its WAL'],
    [
      ['restore', file],
      'bring it back with pg_restore or from its WAL, and run "cuponera restore --force" without a file before the start',
    ],
    [['move', 'out', file], advised],
    [['move', 'in', file], advised],
  ]
  for (const [args, advice] of refused) {
    const line = await refusalOf(args, { DATABASE_URL: address })
    expect(line).toBe(`cuponera: the database is PostgreSQL (DATABASE_URL): ${advice}\n`)
  }
  // Without the setting the server itself refuses.
  for (const [args, advice] of refused.slice(0, 1)) {
    expect(await refusalOf(args, {})).toContain(advice)
  }
})

test('a stopped service goes on with its rows, and its commands ask for it meanwhile', async () => {
  expect(await server.stop()).toBe(0)
  const line = 'start the server, and run the command beside it'
  expect(await refusalOf(['merchants', 'list'], { DATABASE_URL: address })).toContain(line)
  server = await startServer({ dataDir: server.dataDir, env })
  expect((await command('merchants', 'list')).stdout).toContain('Panadería')
})
