/** A database of an earlier moment that its own tools brought back, as pg_restore does. */
import { afterAll, expect, test } from 'bun:test'
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

test.each([
  ['of a clock that is ahead', 0],
  ['behind an end that is later already', 9_999_999_999],
])('sessions end by the clock of the server, also those %s', async (_, before) => {
  const name = await databases.create()
  const rows = await databases.connect(name)
  const clock = async () => {
    const { rows: looks } = await rows.send(
      'SELECT floor(extract(epoch FROM clock_timestamp())) AS now',
      [],
    )
    return Number(looks[0]?.now)
  }
  // Of one key: all of them end behind it.
  await rows.send(`INSERT INTO session_cutoffs (pubkey, ended_at) VALUES (decode($1, 'hex'), $2)`, [
    '01'.repeat(32),
    before,
  ])
  const latest = async () => Math.max(before + 1, (await clock()) + 2 * limits.clockBackSeconds)
  const begun = await latest()
  await settleBroughtBack(databases.server.url(name), couponSchema)
  const { rows: ends } = await rows.send('SELECT max(ended_at) AS at FROM session_cutoffs', [])
  expect(ends[0]?.at).toBeGreaterThanOrEqual(begun)
  expect(ends[0]?.at).toBeLessThanOrEqual((await latest()) + 1)
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
