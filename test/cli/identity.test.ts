import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npubOf } from '../../src/nostr/keys.ts'
import { runCommand } from '../support/cli.ts'
import { call, newSigner } from '../support/client.ts'
import { describeFile, testOfFile } from '../support/database.ts'
import { identityEvent, managerEnv, managerSecret, walletObject } from '../support/identities.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

afterAll(cleanUp)

const manager = newSigner(managerSecret)

/** A directory with a database in it, and no server. */
async function newDatabase(): Promise<string> {
  const server = await startServer({ env: managerEnv })
  await server.stop()
  return server.dataDir
}

/** The same commands with a server and without one. */
const ways: [name: string, directory: () => Promise<string>][] = [
  ['through the running server', async () => (await startServer({ env: managerEnv })).dataDir],
  ['on the database, without a server', newDatabase],
]

const testCommands = (_: string, open: () => Promise<string>) => {
  test('make a nonce and store its hash alone', async () => {
    const dataDir = await open()
    const { code, stdout } = await runCommand(['nonce'], { dataDir })
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^[\w-]{22}\n$/) })
    const rows = (await readRows(dataDir)).identity_nonces
    expect(rows).toMatchObject([{ issuer: new Uint8Array(Buffer.from(manager.pubkey, 'hex')) }])
    expect(JSON.stringify(rows)).not.toContain(stdout.trim())
  })

  test('add, list and remove identities by the same rules as the routes', async () => {
    const dataDir = await open()
    const run = (...args: string[]) => runCommand(args, { dataDir })
    const npub = npubOf(newSigner().pubkey)
    const other = newSigner().pubkey
    const wallet = join(newDirectory(), 'wallet.json')
    writeFileSync(wallet, JSON.stringify(walletObject()))

    expect(await run('identity', 'add', 'Ana', npub, wallet)).toMatchObject({
      code: 0,
      stdout: `ana is ${npub}\n`,
    })
    const refusals: [string, string[]][] = [
      ['Name already taken', ['ana', other]],
      ['Pubkey already assigned to an existing account', ['eva', npub]],
      ['Name not valid', ['e va', other]],
      ['Pubkey not valid', ['eva', 'x']],
      ['Name is reserved', ['soporte', other]],
      ['Name is reserved', ['_', other, '--force']],
    ]
    for (const [reason, args] of refusals) {
      const refused = { code: 1, stdout: '', stderr: `cuponera: ${reason}\n` }
      expect(await run('identity', 'add', ...args)).toEqual(refused)
    }
    writeFileSync(wallet, '{"tag":"payRequest"}')
    expect((await run('identity', 'add', 'eva', other, wallet)).stderr).toContain('Lud16 not valid')
    for (const text of ['{', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`]) {
      writeFileSync(wallet, text)
      expect((await run('identity', 'add', 'eva', other, wallet)).stderr).toContain('is not JSON')
    }
    expect((await run('identity', 'add', 'eva', other, `${wallet}x`)).stderr).toContain('be read')

    expect((await run('identity', 'add', 'soporte', other, '--force')).code).toBe(0)
    const { stdout } = await run('identity', 'list')
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^name {5,}key +since +takes$/),
      expect.stringMatching(new RegExp(`^ana +${npub} +\\d{4}-\\S+Z +payments, vouchers$`)),
      expect.stringMatching(new RegExp(`^soporte +${npubOf(other)} +\\d{4}-\\S+Z +vouchers$`)),
    ])

    expect(await run('identity', 'remove', 'ANA')).toMatchObject({
      code: 0,
      stdout: 'ana is free\n',
    })
    expect((await run('identity', 'remove', 'ana')).stderr).toBe('cuponera: Not found\n')
    expect((await readRows(dataDir)).accounts).toMatchObject([{ name: 'soporte' }])
    expect((await run('check')).code).toBe(0)
  })
}
describe.each(ways.slice(0, 1))('the operator’s commands %s', testCommands)
describeFile.each(ways.slice(1))('the operator’s commands %s', testCommands)

test('a nonce of the operator registers an identity, and stays burned when that is removed', async () => {
  const server = await startServer({ env: { ...managerEnv, IDENTITY_SELF_SIGNUP: 'on' } })
  const nonce = (await runCommand(['nonce'], server)).stdout.trim()
  const holder = newSigner()
  const body = identityEvent(holder, nonce, { name: 'ana' })
  const register = () => call(server.url, '/api/identity', { body })
  expect((await register()).status).toBe(200)
  expect((await runCommand(['identity', 'remove', 'ana'], server)).code).toBe(0)
  expect((await register()).json.code).toBe('identity-nonce-burned')
  const asked = await call(server.url, `/api/nonce/${nonce}`)
  expect([asked.status, asked.json.code]).toEqual([410, 'nonce-burned'])
  expect(await readRows(server.dataDir)).toMatchObject({ accounts: [], identity_nonces: [{}] })
  expect((await runCommand(['check'], server)).code).toBe(0)
})

testOfFile('the commands report a directory where no server ever ran', async () => {
  const dataDir = newDirectory()
  const { code, stderr } = await runCommand(['nonce'], { dataDir })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('no database in') })
})
