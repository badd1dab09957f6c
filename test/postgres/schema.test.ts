/** The catalogues of both engines, whose one text is schema.sql, and those of the relay. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { couponSchema, relaySchema } from '../../src/db/migrations.ts'
import { openDatabase } from '../../src/db/open.ts'
import type { Connection } from '../../src/db/postgres/connection.ts'
import { openPostgres } from '../../src/db/postgres/open.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { differences, type Form, type Lines } from './schema/form.ts'
import { readPostgres } from './schema/postgres-form.ts'
import { readSqlite } from './schema/sqlite-form.ts'

const directory = mkdtempSync(join(tmpdir(), 'cuponera-schema-'))
const databases = await openDatabases()
afterAll(async () => {
  await connection.end()
  await databases.stop()
  rmSync(directory, { recursive: true })
})
const stores = () => ({})
let connection: Connection
let coupons: Form
let relay: Form
let onFile: Form
let onServer: Form
beforeAll(async () => {
  const name = await databases.createBare()
  connection = await databases.connect(name)
  const url = databases.server.url(name)
  const options = { url, schema: couponSchema, now: systemClock, stores }
  const { database } = await openPostgres(options)
  await database.close()
  coupons = await readFile('coupons.db', couponSchema)
  relay = await readFile('relay.db', relaySchema)
  onFile = { ...relay, ...coupons }
  onServer = await readPostgres(connection)
})

async function readFile(name: string, schema: typeof couponSchema) {
  const path = join(directory, name)
  await openDatabase({ path, schema, now: systemClock, stores }).close()
  return readSqlite(path, connection)
}

/** Differences, each with its reason. */
const meant: Record<string, string[]> = {
  // Operations overlap there: they append their counts (db/postgres/counters.ts), and no row is changed by all of them.
  ...only('-', ['totals', 'hourly', 'expiries', 'till_hours', 'outbox_load', 'request_load']),
  ...only('+', ['counter_changes', 'counter_sums']),
  definitions: [
    '- claimed bigint NOT NULL DEFAULT 0',
    '- voided bigint NOT NULL DEFAULT 0',
    '- CHECK ((claimed >= 0))',
    '- CHECK ((voided >= 0))',
    '- CHECK (((claimed + voided) <= issued))',
  ],
  // The last ids of AUTOINCREMENT; the version of a file stands in its head.
  ...only('-', ['sqlite_sequence']),
  ...only('+', ['schema_version']),
  // Between nodes: news, rows of the nodes, and guesses, which one node has in its memory; commits whose answer was lost.
  ...only('+', ['changes', 'changes_forgotten', 'nodes', 'guesses', 'commits']),
  // It follows from the reference to the revision.
  vouchers: ['- FOREIGN KEY (definition_id) REFERENCES definitions(id)'],
  // A row of an index has at most 2704 bytes there, so that long texts have their digest in it.
  events: [
    '- CREATE UNIQUE INDEX events_by_address ON events USING btree (pubkey, kind, d) WHERE (d IS NOT NULL)',
    `+ CREATE UNIQUE INDEX events_by_address ON events USING btree (pubkey, kind, ${digestOf('d')}) WHERE (d IS NOT NULL)`,
  ],
  deletions: [
    '- PRIMARY KEY (pubkey, target)',
    `+ CREATE UNIQUE INDEX deletions_key ON deletions USING btree (pubkey, ${digestOf('target')})`,
  ],
}

function only(sign: '-' | '+', tables: readonly string[]): Record<string, string[]> {
  return Object.fromEntries(tables.map((table) => [table, [`${sign} table`]]))
}

function digestOf(column: string): string {
  return String.raw`sha256((replace(${column}, '\'::text, '\\'::text))::bytea)`
}

test('both engines have the same tables, columns, keys, references, conditions and indexes', () => {
  expect(differences(onFile, onServer)).toEqual(meant)
})

test('the state of the relay, which has a file of its own, is that of the coupons', () => {
  expect(relay.state).toEqual(coupons.state as Lines)
  expect(Object.keys(relay).filter((table) => table in coupons)).toEqual(['state'])
})

/** Changes of the tables on the server, and the differences that they make. */
const changes: [change: string, table: string, lines: string[]][] = [
  [
    'ALTER TABLE refreshes ALTER sealed DROP NOT NULL',
    'refreshes',
    ['- sealed bytea NOT NULL', '+ sealed bytea'],
  ],
  [
    'ALTER TABLE shops ALTER name SET NOT NULL',
    'shops',
    ['- name text COLLATE C', '+ name text COLLATE C NOT NULL'],
  ],
  [
    'ALTER TABLE minters ALTER may_mint DROP DEFAULT',
    'minters',
    ['- may_mint bigint NOT NULL DEFAULT 1', '+ may_mint bigint NOT NULL'],
  ],
  [
    `ALTER TABLE vouchers ALTER phase SET DEFAULT 'voided'`,
    'vouchers',
    [
      `- phase text COLLATE C NOT NULL DEFAULT 'minted'`,
      `+ phase text COLLATE C NOT NULL DEFAULT 'voided'`,
      ...(meant.vouchers ?? []),
    ],
  ],
  [
    'ALTER TABLE tills ALTER pubkey TYPE TEXT USING NULL',
    'tills',
    ['- pubkey bytea NOT NULL', '+ pubkey text COLLATE default NOT NULL'],
  ],
  [
    'ALTER TABLE proofs ALTER accepted_until TYPE INTEGER',
    'proofs',
    ['- accepted_until bigint NOT NULL', '+ accepted_until integer NOT NULL'],
  ],
  [
    'ALTER TABLE announcements DROP created_at; ALTER TABLE announcements ADD created_at BIGINT NOT NULL',
    'announcements',
    ['+ order owner,event_id,event,created_at'],
  ],
  ['ALTER TABLE images ADD at BIGINT', 'images', ['+ at bigint']],
  ['ALTER TABLE inbox DROP comment', 'inbox', ['- comment text COLLATE C']],
  [
    'ALTER TABLE posters ALTER id DROP IDENTITY',
    'posters',
    ['- id bigint NOT NULL GIVES IDS', '+ id bigint NOT NULL'],
  ],
  [
    'ALTER TABLE outbox ALTER id SET CACHE 32',
    'outbox',
    ['- id bigint NOT NULL GIVES IDS', '+ id bigint NOT NULL'],
  ],
  [
    'ALTER TABLE kills DROP CONSTRAINT kills_pkey; ALTER TABLE kills ADD PRIMARY KEY (upto_voucher_id, definition_id)',
    'kills',
    [
      '- PRIMARY KEY (definition_id, upto_voucher_id)',
      '+ PRIMARY KEY (upto_voucher_id, definition_id)',
    ],
  ],
  [
    'ALTER TABLE transfers DROP CONSTRAINT transfers_replacement_service_key',
    'transfers',
    ['- UNIQUE (replacement, service)'],
  ],
  [
    'ALTER TABLE batches DROP CONSTRAINT batches_definition_id_fkey',
    'batches',
    ['- FOREIGN KEY (definition_id) REFERENCES definitions(id)'],
  ],
  [
    `ALTER TABLE deliveries DROP CONSTRAINT deliveries_outbox_id_fkey;
     ALTER TABLE deliveries ADD FOREIGN KEY (outbox_id) REFERENCES outbox (id)`,
    'deliveries',
    [
      '- FOREIGN KEY (outbox_id) REFERENCES outbox(id) ON DELETE CASCADE',
      '+ FOREIGN KEY (outbox_id) REFERENCES outbox(id)',
    ],
  ],
  [
    'ALTER TABLE definitions ALTER CONSTRAINT definitions_id_revision_id_fkey NOT DEFERRABLE',
    'definitions',
    [
      '- FOREIGN KEY (id, revision_id) REFERENCES revisions(definition_id, id) DEFERRABLE INITIALLY DEFERRED',
      '+ FOREIGN KEY (id, revision_id) REFERENCES revisions(definition_id, id)',
      ...(meant.definitions ?? []),
    ],
  ],
  [
    `ALTER TABLE cards DROP CONSTRAINT cards_key_version_check;
     ALTER TABLE cards ADD CHECK (key_version BETWEEN 1 AND 256)`,
    'cards',
    [
      '- CHECK (((key_version >= 1) AND (key_version <= 255)))',
      '+ CHECK (((key_version >= 1) AND (key_version <= 256)))',
    ],
  ],
  [
    'ALTER TABLE accounts DROP CONSTRAINT accounts_name_check',
    'accounts',
    [
      `- CHECK ((((length(name) >= 1) AND (length(name) <= 64)) AND (name !~ '[^a-z0-9._-]'::text)))`,
    ],
  ],
  [
    `ALTER TABLE ledger_movements DROP CONSTRAINT ledger_movements_check;
     ALTER TABLE ledger_movements ADD CHECK (sender <> receiver) NOT VALID`,
    'ledger_movements',
    ['- CHECK ((sender <> receiver))', '+ CHECK ((sender <> receiver)) NOT VALID'],
  ],
  [
    `DROP INDEX card_codes_open; CREATE UNIQUE INDEX card_codes_open ON card_codes (card_id)`,
    'card_codes',
    [
      '- CREATE UNIQUE INDEX card_codes_open ON card_codes USING btree (card_id) WHERE (used_at IS NULL)',
      '+ CREATE UNIQUE INDEX card_codes_open ON card_codes USING btree (card_id)',
    ],
  ],
  [
    `DROP INDEX card_notices_owed; CREATE INDEX card_notices_owed ON card_notices (told_at) WHERE told <= changes`,
    'card_notices',
    [
      '- CREATE INDEX card_notices_owed ON card_notices USING btree (told_at) WHERE (told < changes)',
      '+ CREATE INDEX card_notices_owed ON card_notices USING btree (told_at) WHERE (told <= changes)',
    ],
  ],
  [
    `DROP INDEX card_payments_in_flight;
     CREATE INDEX card_payments_in_flight ON card_payments (k1_hash) WHERE state = 'pending'`,
    'card_payments',
    [
      `- CREATE UNIQUE INDEX card_payments_in_flight ON card_payments USING btree (k1_hash) WHERE (state = 'pending'::text)`,
      `+ CREATE INDEX card_payments_in_flight ON card_payments USING btree (k1_hash) WHERE (state = 'pending'::text)`,
    ],
  ],
  [
    'DROP INDEX tags_by_event; CREATE INDEX tags_by_event ON tags (id DESC)',
    'tags',
    [
      '- CREATE INDEX tags_by_event ON tags USING btree (id)',
      '+ CREATE INDEX tags_by_event ON tags USING btree (id DESC)',
    ],
  ],
  ['ALTER TABLE answers SET UNLOGGED', 'answers', ['+ kind ru']],
  ['CREATE VIEW of_shops AS SELECT * FROM shops', 'of_shops', ['+ table']],
  ['CREATE RULE deaf AS ON INSERT TO facts DO INSTEAD NOTHING', 'facts', ['+ rule deaf']],
  ['DROP TABLE named_keys', 'named_keys', ['- table']],
]

for (const [change, table, lines] of changes) {
  test(`the comparison sees ${change.replaceAll(/\s+/g, ' ')}`, async () => {
    await connection.send(`BEGIN; ${change}`, [])
    const changed = await readPostgres(connection)
    await connection.send('ROLLBACK', [])
    const found = differences(onFile, changed)
    expect(found).toEqual({ ...meant, [table]: expect.arrayContaining(lines) })
    expect(found[table]).toHaveLength(lines.length)
  })
}
