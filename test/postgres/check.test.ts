/** `cuponera check` on PostgreSQL: it finds what it finds in a file, and what only a server can have. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { noPause } from '../../src/db/check-report.ts'
import { checkSnapshot } from '../../src/db/postgres/check.ts'
import type { Connection } from '../../src/db/postgres/connection.ts'
import { foldCounters } from '../../src/db/postgres/counters.ts'
import {
  card,
  identity,
  ledger,
  payment,
  poster,
  transfer,
  wrongs,
} from '../support/check-wrongs.ts'
import { createPopulated, runCommand } from '../support/cli.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { logged } from '../support/until.ts'

const databases = await openDatabases()
const name = await databases.create()
const env = { DATABASE_URL: databases.server.url(name) }
let dataDir: string
let connection: Connection
let copied: string

beforeAll(async () => {
  ;({ dataDir } = await createPopulated({ env }))
  copied = await databases.copy(name)
  connection = await databases.connect(name)
  // Functions of SQLite that the damages use.
  for (const [signature, body] of [
    ['zeroblob(n INT) RETURNS BYTEA', "decode(repeat('00', n), 'hex')"],
    [
      'randomblob(n INT) RETURNS BYTEA',
      "substring(sha256(convert_to(random()::text, 'UTF8')) FOR n)",
    ],
    ['hex(b BYTEA) RETURNS TEXT', "upper(encode(b, 'hex'))"],
    ['unhex(t TEXT) RETURNS BYTEA', "decode(t, 'hex')"],
  ]) {
    await connection.send(`CREATE FUNCTION ${signature} LANGUAGE sql AS $$ SELECT ${body} $$`, [])
  }
})
afterEach(async () => void (await connection.send('ROLLBACK', [])))
afterAll(async () => {
  connection.destroy()
  await cleanUp()
  await databases.stop()
})

/** The report after statements that are undone behind the test. Foreign keys are not enforced. */
async function checkAfter(sql: string) {
  await connection.send('BEGIN', [])
  await connection.send('SET LOCAL session_replication_role = replica', [])
  // A rollback takes back no id.
  await connection.send(
    `SELECT setval('vouchers_id_seq', 6), setval('card_scans_id_seq', 1, false)`,
    [],
  )
  const text = sql.replace(/\bx'([0-9a-f]*)'/g, "'\\x$1'::bytea")
  for (const one of text.split(';')) if (one.trim() !== '') await connection.send(one, [])
  return checkSnapshot(connection, noPause)
}

/** Counters have tables of their own there, a file has pages, and a constraint holds where a file can be edited. */
const ofFiles =
  /PRAGMA|\b(expiries|till_hours|hourly|totals|outbox_load|request_load)\b|SET (claimed|voided) =|zeroblob\(18\)|ended_at = 5|balance = -1|name = 'Ana'/

describe('finds what it finds in a file', () => {
  test.each(wrongs.filter(([, sql]) => !ofFiles.test(sql)))('%s', async (_, sql, problem) => {
    const { problems, found } = await checkAfter(sql)
    expect(problems.filter((line) => problem.test(asInFile(line)))).toHaveLength(1)
    expect(found).toBe(problems.length)
  })
})

/** A change of a counter, as an operation appends it. */
const change = (counter: string, key1: string, key2: string, ...numbers: number[]) =>
  `INSERT INTO counter_changes (counter, key1, key2, number1, number2, number3, number4)
   VALUES ('${counter}', ${key1}, ${key2}, ${[0, 1, 2, 3].map((at) => numbers[at] ?? 0).join(', ')})`

describe('finds in the counters, which are sums and changes,', () => {
  const counters: [name: string, sql: string, problem: RegExp][] = [
    [
      'one redeemed too many',
      change('definitions', '1', '0', 1),
      /^coupon \S+: claimed is 2, but the vouchers redeemed are 1$/,
    ],
    [
      'one voided too many',
      change('definitions', '1', '0', 0, 1),
      /^coupon \S+: voided is 2, but the vouchers voided are 1$/,
    ],
    [
      'a change that is gone',
      `DELETE FROM counter_changes WHERE counter = 'totals'; DELETE FROM counter_sums WHERE counter = 'totals'`,
      /^totals: refreshed is 0, but the sum is 1$/,
    ],
    [
      'totals that are not the sums',
      change('totals', '1', '0', 0, 0, 0, 6),
      /^totals: refreshed is 7, but the sum is 1$/,
    ],
    [
      'an hour that says other than its vouchers',
      change('hourly', '1', 'floor(extract(epoch from now()) / 3600)::bigint + 5', 1),
      /^coupon \S+: hour \d+ says 1 minted and 0 redeemed, but the vouchers say 0 and 0$/,
    ],
    [
      'a till that says other than its redemptions',
      change('till_hours', '(SELECT min(id) FROM tills)', '5', 2),
      /^till [0-9a-f]{64} 0{64}: hour 5 says 2 redeemed, but the redemptions are 0$/,
    ],
    [
      'vouchers that expire',
      change('expiries', '2', '4102444800', 2),
      /^definitions row 2: 3 open vouchers expire at 4102444800, but the vouchers are 1$/,
    ],
    [
      'the load of the outbox',
      change('outbox_load', '1', '0', 3),
      /^outbox load: events is 3, but there are 0$/,
    ],
    [
      'remembered requests',
      change('request_load', '1', '0', 2),
      /^request load: rows is 2, but there are 0$/,
    ],
    [
      'one of a coupon that is gone',
      change('hourly', '77', '5', 1),
      /^hourly row 77: it points to a row of definitions that does not exist$/,
    ],
    [
      'one below zero',
      change('expiries', '2', '7', -1),
      /^integrity: CHECK constraint failed in expiries$/,
    ],
    [
      'one that nobody reads',
      change('novelties', '1', '0', 1),
      /^1 changes of counters are of none that this program knows$/,
    ],
  ]
  test.each(counters)('%s', async (_, sql, problem) => {
    const { problems } = await checkAfter(sql)
    expect(problems.filter((line) => problem.test(line))).toHaveLength(1)
  })
})

// The first redemption of a till runs twice, and no id is given out twice: row 1 of a file is row 2 here.
const notClaimed = 'redemptions row 2: its voucher is not claimed'
const asInFile = (line: string) => line.replace(/^redemptions row 2:/, 'redemptions row 1:')

describe('finds what a dump that came back with errors lacks:', () => {
  const lacks: [name: string, sql: string, problem: RegExp][] = [
    [
      'a foreign key',
      'ALTER TABLE redemptions DROP CONSTRAINT redemptions_voucher_id_fkey',
      /^1 of the foreign keys of redemptions are missing$/,
    ],
    [
      'a foreign key of a database with one that it does not need',
      `ALTER TABLE vouchers ADD FOREIGN KEY (definition_id) REFERENCES definitions (id);
       ALTER TABLE vouchers DROP CONSTRAINT vouchers_definition_id_revision_id_fkey`,
      /^1 of the foreign keys of vouchers are missing$/,
    ],
    [
      'a unique key',
      'ALTER TABLE vouchers DROP CONSTRAINT vouchers_handle_key',
      /^1 of the unique keys of vouchers are missing$/,
    ],
    [
      'a condition',
      'ALTER TABLE vouchers DROP CONSTRAINT vouchers_phase_check',
      /^1 of the constraints of vouchers are missing$/,
    ],
    [
      'NOT NULL',
      'ALTER TABLE vouchers ALTER minted_at DROP NOT NULL',
      /^the column vouchers\.minted_at NOT NULL is missing$/,
    ],
    ['a table of the engine', 'DROP TABLE commits', /^the table commits is missing$/],
    [
      'the place of a sequence',
      'ALTER SEQUENCE vouchers_id_seq RESTART WITH 3',
      /^vouchers: its sequence is behind 4 rows, and would give their ids again$/,
    ],
    [
      'its schema',
      'UPDATE schema_version SET version = 15',
      /^the database has schema 15, this program knows \d+$/,
    ],
    [
      'its schema, since programs that are much newer',
      'UPDATE schema_version SET version = version + 2',
      /^the database has schema \d+, this program knows \d+$/,
    ],
    ['everything', 'DROP TABLE schema_version', /^this is not a database of Cuponera$/],
    [
      'the bound of a value',
      `ALTER TABLE vouchers DROP CONSTRAINT vouchers_check; UPDATE vouchers SET ended_at = 5 WHERE phase = 'minted' AND id = 1; ALTER TABLE vouchers ADD CONSTRAINT vouchers_check CHECK ((phase = 'minted') = (ended_at IS NULL)) NOT VALID`,
      /^integrity: CHECK constraint failed in vouchers$/,
    ],
    [
      'a row of its index',
      `ALTER TABLE vouchers DROP CONSTRAINT vouchers_handle_key; UPDATE vouchers SET handle = (SELECT handle FROM vouchers WHERE id = 2) WHERE id = 1; CREATE INDEX vouchers_handle_key ON vouchers (handle); UPDATE pg_index SET indisunique = true WHERE indexrelid = 'vouchers_handle_key'::regclass`,
      /^integrity: non-unique entry in index vouchers_handle_key$/,
    ],
  ]
  test.each(lacks)('%s', async (_, sql, problem) => {
    const { problems } = await checkAfter(sql)
    expect(problems.filter((line) => problem.test(line))).toHaveLength(1)
  })
})

test('finds nothing in a sound database, folded or not, nor in rows of every feature', async () => {
  const sound = [
    ['', {}],
    [ledger, { ledger_accounts: 2, ledger_movements: 1 }],
    [identity, { accounts: 1, identity_nonces: 1 }],
    [transfer, { transfers: 1, inbox: 1 }],
    [poster, { posters: 1, poster_takes: 1 }],
    [card.replace('hex(zeroblob(18))', "repeat('0', 36)"), { cards: 1, card_codes: 1 }],
    [payment('pending'), { card_payments: 1, card_scans: 1 }],
    // U+FFFF is stored with a byte behind it.
    [
      `INSERT INTO outbox (id, event_id, event, bytes, accepted_at, give_up_at)
         VALUES (1, zeroblob(32), U&'a\\FFFF1', 4, 1, 2);
       INSERT INTO deliveries (outbox_id, relay, next_at, priority) VALUES (1, 'embedded', 1, 1);
       ${change('outbox_load', '1', '0', 1, 4)}`,
      { outbox: 1 },
    ],
  ] as const
  for (const [sql, rows] of sound) {
    const report = await checkAfter(`${sql};
      SELECT setval(pg_get_serial_sequence(one, 'id'), nextval(pg_get_serial_sequence(one, 'id')) + 9)
        FROM unnest('{ledger_accounts,ledger_movements,accounts,identity_nonces,transfers,posters,cards,card_codes,card_payments,card_scans,outbox}'::text[]) AS one`)
    expect(report.problems).toEqual([])
    expect(report.rows).toMatchObject({ definitions: 2, vouchers: 6, redemptions: 1, ...rows })
    await connection.send('ROLLBACK', [])
  }
  await connection.send('BEGIN', [])
  expect(await foldCounters(connection, 1000)).toBeGreaterThan(0)
  expect((await checkSnapshot(connection, noPause)).problems).toEqual([])
})

test('a schema that a newer program has upgraded by one version is said and is no problem, and rows are checked', async () => {
  const upgraded = 'UPDATE schema_version SET version = version + 1'
  const { problems, notes } = await checkAfter(`${upgraded}; DROP TABLE guesses`)
  expect([problems, notes]).toEqual([
    [],
    [expect.stringMatching(/^a newer program has upgraded the schema to \d+, and this one knows/)],
  ])
  await connection.send('ROLLBACK', [])
  const wrong = await checkAfter(`${upgraded}; UPDATE vouchers SET phase = 'minted', ended_at = NULL
    WHERE phase = 'claimed'`)
  expect(wrong.problems).toContain(notClaimed)
})

test('the command tells as it does with a file, with a service or without one, and of a copy', async () => {
  const sound =
    /^no problems: 2 definitions, 6 vouchers, 1 refreshes, 1 redemptions, in [\d.]+ s\n$/
  const other = await databases.connect(copied)
  const copy = { DATABASE_URL: databases.server.url(copied) }
  const run = (env: Record<string, string>) => runCommand(['check'], { dataDir, env })
  expect(await run(env)).toEqual({ code: 0, stdout: expect.stringMatching(sound), stderr: '' })
  const server = await startServer({ dataDir, env })
  expect((await run(env)).stdout).toMatch(sound)
  // Without the setting the service itself reads.
  expect((await run({})).stdout).toMatch(sound)
  await logged(server, '"event":"check.passed"')
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toContain('cuponera_check_problems 0\n')
  await server.stop()
  expect((await run(copy)).code).toBe(0)
  await other.send('UPDATE schema_version SET version = version + 1', [])
  const noted = /^note: a newer program has upgraded [^\n]+\nno problems: /
  expect(await run(copy)).toMatchObject({ code: 0, stdout: expect.stringMatching(noted) })
  expect((await runCommand(['ledger', 'balances'], { dataDir, env: copy })).code).toBe(0)
  await other.send('UPDATE schema_version SET version = version - 1', [])
  await other.send(
    `UPDATE vouchers SET phase = 'minted', ended_at = NULL WHERE phase = 'claimed'`,
    [],
  )
  await other.end()
  expect(await run(copy)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`problem: ${notClaimed}\n`),
  })
  const away = { DATABASE_URL: databases.server.url('nowhere') }
  const { code, stderr } = await runCommand(['check'], { dataDir: newDirectory(), env: away })
  expect([code, stderr]).toEqual([1, expect.stringContaining('cannot use the database')])
})

test('a role that may not read the tables gets a line, as after a pg_restore with --no-owner', async () => {
  await connection.send('CREATE ROLE guest LOGIN', [])
  const guest = { DATABASE_URL: databases.server.url(name).replace('cuponera@', 'guest@') }
  for (const command of [['check'], ['ledger', 'balances']]) {
    expect(await runCommand(command, { dataDir, env: guest })).toEqual({
      ...{ code: 1, stdout: '' },
      stderr:
        'cuponera: the server refused a statement (42501): permission denied for table schema_version\n',
    })
  }
})
