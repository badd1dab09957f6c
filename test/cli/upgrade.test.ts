/** A database of the last release, upgraded in place by the start of the server. */

import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, beforeAll, expect } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { handleOf } from '../../src/coupons/nonce.ts'
import { checkDatabase } from '../../src/db/check.ts'
import { noPause } from '../../src/db/check-report.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import {
  call,
  createDefinition,
  type Json,
  newKey,
  newSigner,
  openSession,
} from '../support/client.ts'
import { onFile, testOfFile } from '../support/database.ts'
import { readRows } from '../support/refusals.ts'
import oldestSchema from '../support/schema-15.sql' with { type: 'text' }
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const owner = newSigner()
const till = newSigner()
const holder = newSigner()
const uuid = '01a1fe7c-2d92-7144-beaa-b9a2d400f9c4'
/** The nonce of each voucher, by its row. */
const [open, claimed, refreshed, successor, voided, old, lapsed] = Array.from({ length: 7 }, () =>
  newKey().slice(0, 22),
) as [string, string, string, string, string, string, string]
const expiresAt = 4_102_444_800
/** An hour of the first of June 2026. */
const hour = Date.UTC(2026, 5, 1, 12) / 3_600_000
const at = hour * 3600

let server: TestServer
let token: string

beforeAll(async () => {
  if (!onFile) return
  // The keys, and the facts that tie a database to them.
  const first = await startServer()
  const { dataDir } = first
  await first.stop()
  const path = join(dataDir, 'cuponera.db')
  const { facts } = await readRows(dataDir)
  rmSync(path)
  const database = new Sqlite(path, { strict: true })
  database.run(oldestSchema)
  for (let version = 15; version < 20; version++) database.run(couponSchema.steps[version] ?? '')
  database.run('PRAGMA user_version = 20')
  for (const { name, value } of facts as { name: string; value: string }[]) {
    database.run('INSERT INTO facts VALUES (?, ?)', [name, value])
  }
  fill(database)
  database.close()
  server = await startServer({ dataDir, checkRoots: true })
  token = await openSession(server.url, owner)
})
afterAll(cleanUp)

/** One coupon in three revisions; vouchers in each phase, and open ones of the former revisions. */
function fill(database: Sqlite): void {
  const key = `x'${owner.pubkey}'`
  database.transaction(() => {
    database.run(`INSERT INTO definitions VALUES (1, '${uuid}', ${key}, 3, 9, 6, 1, 1, NULL, 1, 1)`)
    const revision = (id: number, issued: number, ends: number | string) =>
      database.run(`INSERT INTO revisions VALUES (${id}, 1, ${issued}, 'Café ${id}', '', NULL,
        '{"type":"percent","percent":10}', ${ends})`)
    revision(1, 0, at + 60)
    revision(2, 1, expiresAt)
    revision(3, 2, 'NULL')
    const voucher = (
      id: number,
      nonce: string,
      phase: string,
      more = { revision: 3, root: 'NULL' },
    ) =>
      database.run(
        `INSERT INTO vouchers VALUES (${id}, ?, 1, ${more.revision}, ${more.root}, ${key}, ${at}, '${phase}',
          ${phase === 'minted' ? 'NULL' : at + 60})`,
        [handleOf(nonce)],
      )
    voucher(1, lapsed, 'minted', { revision: 1, root: 'NULL' })
    voucher(2, old, 'minted', { revision: 2, root: 'NULL' })
    voucher(3, open, 'minted')
    voucher(4, claimed, 'claimed')
    voucher(5, refreshed, 'refreshed')
    voucher(6, successor, 'minted', { revision: 3, root: '5' })
    voucher(7, voided, 'voided')
    database.run('INSERT INTO refreshes VALUES (6, 5, randomblob(32), randomblob(90))')
    database.run(`INSERT INTO redemptions VALUES (1, 4, ${key}, NULL, NULL, NULL)`)
    database.run('UPDATE totals SET issued = 6, claimed = 1, voided = 1, refreshed = 1')
    database.run(`INSERT INTO hourly VALUES (1, ${hour}, 6, 1)`)
    database.run(`INSERT INTO minters VALUES (1, ${key}, x'${till.pubkey}', 'Caja', 1)`)
    database.run(`INSERT INTO cards VALUES (1, '${uuid}', x'04aabbccddeeff', 1, 0, 1, '${uuid}', 'Luna', 'Luna', '', 1, 0,
      x'${holder.pubkey}', x'00', 1, 1, NULL)`)
    database.run('INSERT INTO card_codes VALUES (1, randomblob(32), 1, 0, 1, 1)')
    database.run(`INSERT INTO merchants VALUES (${key}, 'Café', 1, 1, NULL)`)
  })()
}

const ask = async (path: string): Promise<Json> => {
  const { status, json } = await call(server.url, `/api/coupons${path}`, { token })
  expect(status).toBe(200)
  return json
}
const preview = async (nonce: string): Promise<Json> =>
  (await call(server.url, '/api/coupons/preview', { body: { nonce } })).json

testOfFile('the coupon, its vouchers and its redemptions are as they were', async () => {
  const { coupons } = await ask('')
  const [definition] = coupons
  expect(definition).toMatchObject({
    id: uuid,
    name: 'Café 3',
    minted: 5,
    claimed: 1,
    expiresAt: null,
  })
  expect(definition).not.toHaveProperty('rules')
  const seen = []
  for (const nonce of [lapsed, old, open, claimed, refreshed, successor, voided])
    seen.push(await preview(nonce))
  expect(seen.map(({ status }) => status)).toEqual([
    ...['expired', 'minted', 'minted', 'claimed', 'refreshed', 'minted', 'voided'],
  ])
  expect(seen[1]).toMatchObject({ name: 'Café 2', expiresAt, npub: npubOf(owner.pubkey) })
  const { redemptions } = await ask('/redemptions')
  expect(redemptions).toMatchObject([{ claimedBy: null, claimedByLabel: null }])
  expect((await ask('/minters')).minters).toMatchObject([{ label: 'Caja', pubkey: till.pubkey }])
})

testOfFile('wallets are told of the cards that were activated before', async () => {
  const body = { kinds: [31_111], '#d': [`${holder.pubkey}:card-data`] }
  await until(
    'told',
    async () => (await call(server.url, '/nostr/fetch', { body })).json.length === 1,
  )
})

testOfFile('its figures count the vouchers of before', async () => {
  const day = '?from=2026-06-01&to=2026-06-01&offset=0'
  const { coupons } = await ask(`/stats${day}`)
  expect(coupons).toEqual([
    {
      couponId: uuid,
      days: [{ day: '2026-06-01', minted: 6, claimed: 1 }],
      figures: { issued: 6, open: 3, expired: 1, claimed: 1, voided: 1 },
    },
  ])
  expect((await ask(`/stats/tills${day}`)).tills).toEqual([
    { pubkey: null, npub: null, label: null, days: [{ day: '2026-06-01', claimed: 1 }] },
  ])
})

testOfFile(
  'its vouchers are redeemed, refreshed and voided, and what is new works beside them',
  async () => {
    const { url } = server
    const session = await openSession(url, till)
    const claim = await call(url, '/api/coupons/claim', { body: { nonce: old }, token: session })
    expect(claim.json.status).toBe('success')
    expect((await ask('/redemptions')).redemptions).toMatchObject([
      { name: 'Café 2', claimedByLabel: 'Caja' },
      { name: 'Café 3', claimedBy: null },
    ])
    const body = { nonce: successor }
    const headers = { 'Idempotency-Key': newKey() }
    expect((await call(url, '/api/coupons/refresh', { body, headers })).status).toBe(201)
    const gone = await call(url, `/api/coupons/${uuid}/mints/${open}`, { method: 'DELETE', token })
    expect(gone.status).toBe(200)
    await createDefinition(url, token, { rules: { conditions: 'Uno por mesa.' } })
    expect(await server.stop()).toBe(0)
    const { problems, rows } = await checkDatabase(join(server.dataDir, 'cuponera.db'), noPause)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ definitions: 2, vouchers: 8, refreshes: 2, redemptions: 2 })
  },
)
