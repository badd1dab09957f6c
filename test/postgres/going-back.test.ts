/** A database of an earlier moment that its own tools brought back, as pg_restore does. */
import { afterAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/base/clock.ts'
import { limits } from '../../src/base/limits.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { settleBroughtBack } from '../../src/db/postgres/move/going-back.ts'
import { cardEnv, newCard, scanPath } from '../support/cards.ts'
import { runCommand } from '../support/cli.ts'
import { call, createDefinition, newSigner, openSession } from '../support/client.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

const databases = await openDatabases()
afterAll(async () => {
  await cleanUp()
  await databases.stop()
})

const envOf = (name: string) => ({ ...cardEnv, DATABASE_URL: databases.server.url(name) })

test('once it is settled, no later tap passes, and sessions and the setup code have ended', async () => {
  const name = await databases.create()
  let server = await startServer({ env: envOf(name) })
  const { dataDir } = server
  const token = await openSession(server.url, newSigner())
  await createDefinition(server.url, token)
  const { uid } = await newCard(server)
  expect((await call(server.url, scanPath(uid, 3))).status).toBe(200)
  await server.stop()
  const earlier = await databases.copy(name)
  const rows = await databases.connect(earlier)
  await rows.send(
    `INSERT INTO setup_code (id, salt, tries) VALUES (1, decode(repeat('00', 16), 'hex'), 0)
     ON CONFLICT (id) DO NOTHING`,
    [],
  )

  // The copy cannot know this tap.
  server = await startServer({ dataDir, env: envOf(name) })
  expect((await call(server.url, scanPath(uid, 4))).status).toBe(200)
  await server.stop()

  const restore = (...args: string[]) =>
    runCommand(['restore', ...args], { dataDir, env: envOf(earlier) })
  const asked = await restore()
  expect([asked.code, asked.stdout]).toEqual([1, ''])
  expect(asked.stderr).toMatch(
    /^cuponera: --force ends all sessions [^\n]+\ncuponera: A restore goes back/,
  )
  const settled = async () =>
    (await rows.send(`SELECT 1 FROM facts WHERE name = 'restored'`, [])).count
  await rows.send('UPDATE schema_version SET version = version + 1', [])
  const newer = await restore('--force')
  expect([newer.code, newer.stderr]).toEqual([1, expect.stringContaining('a newer program')])
  await rows.send('UPDATE schema_version SET version = version - 1', [])
  expect(await settled()).toBe(0)

  const done = await restore('--force')
  expect(done).toMatchObject({ code: 0, stderr: '' })
  expect(done.stdout).toMatch(/: brought back, checked: 1 definitions, 0 vouchers/)
  expect(done.stdout).toContain('Cards wait until a writer confirms')
  expect([await settled(), (await rows.send('SELECT 1 FROM setup_code', [])).count]).toEqual([1, 0])
  await rows.end()

  const again = await startServer({ dataDir, env: envOf(earlier) })
  expect((await call(again.url, '/api/coupons', { token })).json.code).toBe('auth-session-expired')
  expect((await call(again.url, scanPath(uid, 4))).json.code).toBe('card-unconfirmed')
  const init = (...args: string[]) =>
    runCommand(['cards', 'init', uid, ...args], { dataDir, env: envOf(earlier) })
  expect((await init('--counter', '4')).code).toBe(0)
  expect((await call(again.url, scanPath(uid, 4))).json.code).toBe('tap-used')
  expect((await call(again.url, scanPath(uid, 5))).status).toBe(200)
})

test('sessions end that began by a clock that is ahead, or behind an end that is known', async () => {
  const name = await databases.create()
  const rows = await databases.connect(name)
  const [everybody, one] = ['00'.repeat(32), '01'.repeat(32)]
  const end = (pubkey: string, at: number) =>
    rows.send(`INSERT INTO session_cutoffs (pubkey, ended_at) VALUES (decode($1, 'hex'), $2)`, [
      pubkey,
      at,
    ])
  const ends = async () => {
    const { rows: found } = await rows.send(
      `SELECT encode(pubkey, 'hex') AS pubkey, ended_at FROM session_cutoffs`,
      [],
    )
    return Object.fromEntries(found.map(({ pubkey, ended_at }) => [pubkey, ended_at]))
  }
  await end(one, 9_999_999_999)
  await end(everybody, 5)
  const settle = async (now: number) =>
    settleBroughtBack(databases.server.url(name), couponSchema, now)
  const now = systemClock()
  for (const apart of [-3600, 3600]) {
    await expect(settle(now + apart)).rejects.toThrow('the clocks of this computer')
  }
  expect(await ends()).toEqual({ [everybody]: 5, [one]: 9_999_999_999 })
  await settle(now)
  const first = { [everybody]: now + 4 * limits.clockBackSeconds + 1, [one]: 10_000_000_000 }
  expect(await ends()).toEqual(first)
  // Once more, by a clock that is a little behind: no end is moved back.
  await settle(now - 5)
  expect(await ends()).toEqual({ [everybody]: Number(first[everybody]) + 1, [one]: 10_000_000_001 })
  await rows.end()
})

test('a damaged one, one that was moved away and an empty one are refused, and nothing is settled', async () => {
  const name = await databases.create()
  const rows = await databases.connect(name)
  const refusal = async () => {
    const options = { dataDir: newDirectory(), env: envOf(name) }
    const { code, stderr } = await runCommand(['restore', '--force'], options)
    expect([code, (await rows.send('SELECT 1 FROM session_cutoffs', [])).count]).toEqual([1, 0])
    return stderr
  }
  await rows.send(`INSERT INTO facts (name, value) VALUES ('moved', '1')`, [])
  expect(await refusal()).toContain('is closed by "cuponera move"')
  await rows.send(`DELETE FROM facts WHERE name = 'moved'`, [])
  await rows.send('DROP INDEX transfer_intents_due', [])
  expect(await refusal()).toContain(' does not pass the check: ')
  await rows.end()
  const env = envOf(await databases.createBare())
  const { stderr } = await runCommand(['restore', '--force'], { dataDir: newDirectory(), env })
  expect(stderr).toContain('is none of Cuponera: bring it back first')
})
