import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { nsecOf } from '../../src/nostr/keys.ts'
import {
  activateCard,
  cardEnv,
  cardEvent,
  newCard,
  newHolder,
  newUid,
  scanPath,
} from '../support/cards.ts'
import { runCommand } from '../support/cli.ts'
import { call } from '../support/client.ts'
import { describeFile, testOfFile } from '../support/database.ts'
import { publish } from '../support/ledger.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

afterAll(cleanUp)

const testCards = (how: string) => {
  test('writes, lists, stops and ends cards by the same rules as the routes', async () => {
    const server = await startServer({ env: cardEnv })
    const { dataDir } = server
    const { uid, uuid, holder } = await newCard(server)
    if (how === 'stopped') await server.stop()
    const run = (...args: string[]) => runCommand(['cards', ...args], { dataDir, env: cardEnv })
    const lines = async (...args: string[]) => {
      const { code, stdout } = await run(...args)
      expect({ args, code }).toEqual({ args, code: 0 })
      return stdout.trim().split('\n')
    }
    const fails = async (why: RegExp, ...args: string[]) => {
      const { code, stderr, stdout } = await run(...args)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(why)
    }
    const blank = newUid()
    const written = await lines('init', blank)
    expect(written.map((line) => line.split(/\s+/)[0])).toEqual([
      ...['cid', 'k0', 'k1', 'k2', 'k3', 'k4', 'designUuid', 'counter', 'code'],
    ])
    expect((await lines('keys', blank)).slice(0, 6)).toEqual(written.slice(0, 6))
    expect((await lines('keys', newUid(), '--key-version', '2')).at(-1)).toMatch(/^version +2$/)
    const table = (await lines('list')).map((line) => line.split(/ {2,}/))
    expect(table[0]).toEqual(['uid', 'card', 'state', 'counter', 'holder', 'name'])
    expect(table[1]?.slice(0, 4)).toEqual([uid, uuid, 'active', '0'])
    expect(table[2]?.slice(2, 5)).toEqual(['new', '0', '-'])
    expect(await lines('disable', uid)).toEqual([`${uid} is disabled`])
    expect((await lines('list'))[1]).toContain('disabled')
    expect(await lines('enable', uuid)).toEqual([`${uid} is active`])
    expect(await lines('otc', uid, 'otra mano más')).toEqual([
      `${uid} is activated with otra mano más`,
    ])
    expect((await lines('otc', blank))[0]).toMatch(/ with [0-9a-f]{18}$/)
    await fails(/otro|otra/, 'otc', blank, 'otra mano más')
    await fails(/at least 12 characters/, 'otc', blank, 'otra manito')
    await fails(/tarjeta no es/, 'disable', newUid())
    await fails(/tarjeta no es/, 'keys', newUid())
    await fails(/contenido/, 'init', 'x')
    await fails(/contador/, 'init', newUid(), '--key-version', '3')
    expect((await run('init', blank, '--counter', 'x')).code).toBe(2)

    const again = how === 'stopped' ? await startServer({ dataDir, env: cardEnv }) : server
    const heir = newHolder()
    expect((await activateCard(again, heir, 'otra mano más')).status).toBe(201)
    const whose = ((await readRows(dataDir)).cards as { holder: Uint8Array }[])[0]?.holder.toHex()
    expect([whose, whose === holder.pubkey]).toEqual([heir.pubkey, false])
    expect((await lines('delete', uid)).slice(0, 2)[0]).toMatch(new RegExp(`^cid +${uid}$`))
    expect((await call(again.url, scanPath(uid, 1))).json.code).toBe('card-unknown')
    await fails(/tarjeta no es/, 'otc', uid)
  })
}
describe.each(['running'])('cuponera cards, with the server %s', testCards)
describeFile.each(['stopped'])('cuponera cards, with the server %s', testCards)

test('the list of cards shows the name that a holder chose on one line, without control characters', async () => {
  const server = await startServer({ env: cardEnv })
  const { uuid, holder } = await newCard(server)
  const cards = { [uuid]: { name: '\u001b[2J\nfalsa  activa' } }
  const change = cardEvent('card-config-change', { cards }, { signer: holder, kind: 1112 })
  expect((await publish(server.url, change)).status).toBe(202)
  const options = { dataDir: server.dataDir, env: cardEnv }
  const { stdout } = await runCommand(['cards', 'list'], options)
  expect(stdout.trim().split('\n')).toHaveLength(2)
  expect(stdout).toContain('[2J falsa')
  expect(stdout).not.toContain('\u001b')
})

test('cuponera card-sim makes a card that taps, with a new holder or with an existing one', async () => {
  const server = await startServer({ env: cardEnv })
  const { dataDir, url } = server
  const run = (...args: string[]) =>
    runCommand(['card-sim', ...args, '--url', url], { dataDir, env: cardEnv })
  const made = await run('new')
  expect({ code: made.code, stderr: made.stderr }).toMatchObject({ code: 0 })
  const [, uid = ''] = /^uid +(\w{14})$/m.exec(made.stdout) ?? []
  const [, tap = ''] = /^tap +(\S+)$/m.exec(made.stdout) ?? []
  expect(made.stdout).toMatch(/^holder +npub1\w+\n +nsec1\w+$/m)
  expect((await fetch(tap)).status).toBe(200)
  expect((await fetch(tap)).status).toBe(400)
  const next = (await run('tap', uid)).stdout.trim()
  expect((await fetch(next)).status).toBe(200)
  expect((await run('tap', newUid())).stderr).toMatch(/tarjeta no es/)

  const [, npub = ''] = /^holder +(\S+)$/m.exec(made.stdout) ?? []
  expect((await run('pay', uid, 'PESO', '1.50')).stderr).toMatch(/alcanza/)
  const issue = ['ledger', 'issue', 'PESO', npub, '20']
  expect((await runCommand(issue, { dataDir, env: cardEnv })).code).toBe(0)
  const paid = await run('pay', uid, 'PESO', '1.50', '--to', newHolder().pubkey)
  expect([paid.code, paid.stdout]).toEqual([0, expect.stringMatching(/^OK: 1.50 PESO to npub1/)])
  expect((await run('pay', uid, 'PESO', '0.001')).stderr).toMatch(/is no amount of PESO/)
  expect((await run('pay', uid, 'USD', '1')).stderr).toMatch(/TOKENS does not name USD/)
  expect((await run('tap', uid, '--counter', '16777215')).code).toBe(0)

  const holder = join(newDirectory(), 'holder.nsec')
  const kept = await run('new', '--holder', holder)
  const nsec = (await Bun.file(holder).text()).trim()
  expect(nsec).toMatch(/^nsec1/)
  expect(kept.stdout).not.toContain(nsec)
  const [, code = ''] = /^code +(\S+)$/m.exec(kept.stdout) ?? []
  expect((await run('activate', code, '--holder', holder)).code).toBe(0)
  const options = { dataDir, env: cardEnv }
  for (const chosen of [
    ['-QvS0UrFjEsWBlU9nWmXkQ'],
    ['--x0UrFjEsWBlU9nWmXkQg'],
    ['--', '-feria-2026-01'],
  ]) {
    expect((await runCommand(['cards', 'otc', uid, ...chosen], options)).code).toBe(0)
    const activate = ['card-sim', 'activate', '--url', url, '--holder', holder, ...chosen]
    expect((await runCommand(activate, options)).code).toBe(0)
  }
  const stranger = join(newDirectory(), 'other.nsec')
  expect((await run('activate', code, '--holder', stranger)).stderr).toMatch(/código de activación/)
  await Bun.write(stranger, nsecOf(new Uint8Array(32).fill(1)).slice(1))
  expect((await run('activate', code, '--holder', stranger)).stderr).toMatch(
    /does not hold an nsec/,
  )
  await server.stop()
  expect((await run('new')).stderr).toMatch(/does not answer|start the server/)
})

testOfFile('a restore leaves every card waiting for a confirmed counter', async () => {
  const server = await startServer({ env: cardEnv })
  const { dataDir } = server
  const { uid } = await newCard(server)
  expect((await call(server.url, scanPath(uid, 3))).status).toBe(200)
  const file = join(newDirectory(), 'copy.db')
  const options = { dataDir, env: cardEnv }
  expect((await runCommand(['backup', file], options)).code).toBe(0)
  // The restored database cannot know the taps after the backup.
  expect((await call(server.url, scanPath(uid, 4))).status).toBe(200)
  await server.stop()
  const { code, stdout } = await runCommand(['restore', file, '--force'], options)
  expect({ code, told: stdout.includes('Cards wait until a writer confirms') }).toEqual({
    code: 0,
    told: true,
  })
  const again = await startServer(options)
  expect((await call(again.url, scanPath(uid, 4))).json.code).toBe('card-unconfirmed')
  expect((await runCommand(['cards', 'list'], options)).stdout).toContain('unconfirmed')
  expect((await runCommand(['cards', 'init', uid, '--counter', '3'], options)).code).toBe(1)
  expect((await runCommand(['cards', 'init', uid, '--counter', '4'], options)).code).toBe(0)
  expect((await call(again.url, scanPath(uid, 4))).json.code).toBe('tap-used')
  expect((await call(again.url, scanPath(uid, 5))).status).toBe(200)
  const blank = newUid()
  expect((await runCommand(['cards', 'init', blank], options)).stderr).toMatch(/contador/)
  expect((await runCommand(['cards', 'init', blank, '--counter', '0'], options)).code).toBe(0)
})
