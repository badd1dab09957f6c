import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { checkDatabase } from '../../src/db/check.ts'
import { noPause } from '../../src/db/check-report.ts'
import {
  card,
  identity,
  ledger,
  newest,
  payment,
  poster,
  sha256OfOne,
  transfer,
  wrongs,
} from '../support/check-wrongs.ts'
import { copyDirectory, createPopulated, runCommand } from '../support/cli.ts'
import { damage, describeFile } from '../support/database.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { logged } from '../support/until.ts'

let sound: string

beforeAll(async () => {
  sound = (await createPopulated()).dataDir
})
afterAll(cleanUp)

async function checkAfter(sql: string) {
  const dataDir = copyDirectory(sound)
  await damage(dataDir, sql)
  return checkDatabase(join(dataDir, 'cuponera.db'), noPause)
}

describeFile('the check finds', () => {
  test.each(wrongs)('%s', async (_, sql, problem) => {
    const { problems, found } = await checkAfter(sql)
    expect(problems.filter((line) => problem.test(line))).toHaveLength(1)
    expect(found).toBe(problems.length)
  })

  test('nothing in a sound file', async () => {
    const { problems, rows } = await checkDatabase(join(sound, 'cuponera.db'), noPause)
    expect(problems).toEqual([])
    const found = { definitions: 2, vouchers: 6, refreshes: 1, redemptions: 1, outbox: 0 }
    expect(rows).toMatchObject(found)
  })

  test('nothing where vouchers beyond a kill switch wait to be marked', async () => {
    const { problems } = await checkAfter(
      `INSERT INTO kills VALUES (1, ${newest}, 1, 0);
       UPDATE definitions SET voided = voided + 2 WHERE id = 1;
       UPDATE totals SET voided = voided + 2`,
    )
    expect(problems).toEqual([])
  })

  test('the one picture among many that changed, beyond the first slice', async () => {
    const { problems } = await checkAfter(
      `WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids
         WHERE id <= ${limits.checkSlicePictures})
       INSERT INTO pictures (id, owner, hash, type, bytes, content)
         SELECT id, randomblob(32), ${sha256OfOne}, 'image/png', 1, x'01' FROM ids;
       UPDATE pictures SET content = x'02' WHERE id = (SELECT max(id) FROM pictures)`,
    )
    expect(problems).toHaveLength(1)
    expect(problems[0]).toStartWith(`pictures row ${limits.checkSlicePictures + 1}: `)
  })

  test('nothing in a ledger whose entries agree', async () => {
    const { problems, rows } = await checkAfter(ledger)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ ledger_accounts: 2, ledger_movements: 1 })
  })

  test('nothing in an account and its nonce', async () => {
    const { problems, rows } = await checkAfter(identity)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ accounts: 1, identity_nonces: 1 })
  })

  test('nothing in a transfer that came to its end', async () => {
    const { problems, rows } = await checkAfter(transfer)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ transfers: 1, inbox: 1, transfer_intents: 0 })
  })

  test('nothing in a poster and what was taken from it', async () => {
    const { problems, rows } = await checkAfter(poster)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ posters: 1, poster_takes: 1 })
  })

  test('nothing in a card that somebody activated', async () => {
    const { problems, rows } = await checkAfter(card)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ cards: 1, card_codes: 1 })
  })

  test('nothing in a payment that waits for its ledger', async () => {
    expect((await checkAfter(payment('pending'))).problems).toEqual([])
  })

  test('nothing where maxUses was lowered below what was minted', async () => {
    const { problems } = await checkAfter('UPDATE definitions SET max_uses = 1')
    expect(problems).toEqual([])
  })

  test('one bad row among many slices, with gaps between their ids', async () => {
    const rows = limits.checkSliceRows * 2 + 100
    const { problems, rows: seen } = await checkAfter(
      `INSERT INTO vouchers (id, handle, definition_id, revision_id, minted_by, minted_at, phase, ended_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
         SELECT 1000 + i * 7, randomblob(16), 1, CASE i WHEN ${rows - 5} THEN 2 ELSE 1 END, randomblob(32), 1, 'voided', 1 FROM n;
       UPDATE definitions SET issued = issued + ${rows}, voided = voided + ${rows} WHERE id = 1;
       UPDATE totals SET issued = issued + ${rows}, voided = voided + ${rows};
       INSERT INTO hourly VALUES (1, 0, ${rows}, 0)`,
    )
    // The foreign key says so too, without naming the row.
    expect(problems).toHaveLength(2)
    expect(problems).toContain(
      `vouchers row ${1000 + (rows - 5) * 7}: its revision belongs to another definition`,
    )
    expect(seen.vouchers).toBe(6 + rows)
  })

  test('thousands of problems, and lists a hundred', async () => {
    const { problems, found } = await checkAfter(
      `INSERT INTO redemptions (voucher_id, owner)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         SELECT 1000 + i, randomblob(32) FROM n`,
    )
    expect(found).toBe(3000)
    expect(problems).toHaveLength(limits.checkProblemsMax)
  })

  test('bytes that were overwritten', async () => {
    const dataDir = copyDirectory(sound)
    const path = join(dataDir, 'cuponera.db')
    const file = openSync(path, 'r+')
    writeSync(file, new Uint8Array(statSync(path).size - 4096).fill(0x5a), 0, undefined, 4096)
    const { found } = await checkDatabase(path, noPause)
    expect(found).toBeGreaterThan(0)
  })

  test('a file that is no database', async () => {
    const dataDir = copyDirectory(sound)
    const path = join(dataDir, 'cuponera.db')
    writeFileSync(path, 'nothing of the kind'.repeat(500))
    const { problems } = await checkDatabase(path, noPause)
    expect(problems).toEqual(['the file is damaged and cannot be read on: file is not a database'])
  })
})

describeFile('cuponera check', () => {
  test('verifies a stopped database by itself', async () => {
    const { code, stdout, stderr } = await runCommand(['check'], { dataDir: sound })
    expect(stderr).toBe('')
    expect(stdout).toMatch(
      /^no problems: 2 definitions, 6 vouchers, 1 refreshes, 1 redemptions, in [\d.]+ s\n$/,
    )
    expect(code).toBe(0)
  })

  test('has a running server verify its own', async () => {
    const server = await startServer({ dataDir: copyDirectory(sound) })
    const { code, stdout } = await runCommand(['check'], server)
    expect(stdout).toStartWith('no problems: 2 definitions, 6 vouchers')
    expect(code).toBe(0)
    await logged(server, '"event":"check.passed"')
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(metrics).toContain('cuponera_check_problems 0\n')
    expect(await server.stop()).toBe(0)
  })

  test.each(['stopped', 'running'])('names problems and ends with 1 (%s)', async (how) => {
    const dataDir = copyDirectory(sound)
    await damage(dataDir, 'UPDATE totals SET refreshed = 7')
    const server = how === 'running' ? await startServer({ dataDir }) : null
    const { code, stdout } = await runCommand(['check'], { dataDir })
    expect(stdout).toStartWith('problem: totals: refreshed is 7, but the sum is 1\n1 problem(s): ')
    expect(code).toBe(1)
    await server?.stop()
  })
})

describeFile('after an unclean stop', () => {
  test('the full check runs behind the service and says that all is well', async () => {
    const dataDir = copyDirectory(sound)
    const killed = await startServer({ dataDir })
    await killed.kill()
    const server = await startServer({ dataDir })
    await lineOf(server, 'check.passed')
    expect(await gauge(server.url)).toBe(0)
    await server.stop()

    const clean = await startServer({ dataDir })
    expect(await gauge(clean.url)).toBe(-1)
    expect(clean.output()).not.toContain('check.started')
    await clean.stop()
  })

  test('the full check reports what is wrong to log and metrics, and the service goes on', async () => {
    const dataDir = copyDirectory(sound)
    await damage(dataDir, 'UPDATE totals SET refreshed = 7; UPDATE state SET clean = 0')
    const server = await startServer({ dataDir })
    const line = await lineOf(server, 'check.failed')
    expect(line.problems).toEqual(['totals: refreshed is 7, but the sum is 1'])
    expect(await gauge(server.url)).toBe(1)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.stop()
  })

  test('a stop does not wait for the end of the check', async () => {
    const dataDir = copyDirectory(sound)
    const rows = 300_000
    await damage(
      dataDir,
      `INSERT INTO vouchers (handle, definition_id, revision_id, minted_by, minted_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
         SELECT randomblob(16), 1, 1, randomblob(32), 1 FROM n;
       UPDATE definitions SET issued = issued + ${rows} WHERE id = 1;
       UPDATE totals SET issued = issued + ${rows};
       UPDATE state SET clean = 0`,
    )
    const server = await startServer({ dataDir })
    await lineOf(server, 'check.started')
    await Bun.sleep(100)
    expect(await server.stop()).toBe(0)
    expect(server.output()).toContain('"event":"check.stopped"')
    expect(server.output()).not.toContain('"event":"check.passed"')
  })
})

type Logging = { output(): string }

/** The line of the log with an event, once it is there. */
async function lineOf(server: Logging, event: string) {
  const text = `"event":"${event}"`
  await logged(server, text)
  const lines = server.output().split('\n')
  return JSON.parse(lines.find((line) => line.includes(text)) ?? 'null')
}

async function gauge(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^cuponera_check_problems (\S+)$/m.exec(text)?.[1])
}
