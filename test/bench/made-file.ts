import { Database } from 'bun:sqlite'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, createDefinition, newSigner, openSession } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { startServer } from '../support/server.ts'
import { benchDefinition, benchEnvironment, benchKeys } from './fixture.ts'
import { handleAt, phaseAt } from './nonces.ts'

/** A data directory with that many vouchers of one definition. */
export type MadeFile = { directory: string; couponId: string; total: number }

/** The made file of that size, made once for each schema and kept under `root`. `total` is a multiple of 10. */
export async function openMadeFile(root: string, total: number): Promise<MadeFile> {
  const sources = ['../../schema.sql', 'made-file.ts', 'nonces.ts', 'fixture.ts']
  const recipe = createHash('sha256')
  for (const source of sources) recipe.update(readFileSync(join(import.meta.dir, source)))
  const name = `vouchers-${total}-${recipe.digest('hex').slice(0, 12)}`
  const directory = join(root, name)
  if (!existsSync(directory)) await make(directory, total)
  const couponId = readFileSync(join(directory, 'coupon-id.txt'), 'utf8').trim()
  return { directory, couponId, total }
}

/** The schema, the pinned keys and the definition come from the product; the vouchers straight from SQL. */
async function make(directory: string, total: number): Promise<void> {
  const unfinished = `${directory}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const server = await startServer({ dataDir: unfinished, env: benchEnvironment })
  const merchant = newSigner(Uint8Array.fromHex(benchKeys.merchant))
  const token = await openSession(server.url, merchant)
  const couponId = await createDefinition(server.url, token, benchDefinition)
  await server.stop()
  const database = new Database(join(unfinished, 'cuponera.db'), { strict: true })
  fill(database, total, Uint8Array.fromHex(merchant.pubkey))
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  writeFileSync(join(unfinished, 'coupon-id.txt'), couponId)
  renameSync(unfinished, directory)
}

function fill(database: Database, total: number, owner: Uint8Array): void {
  // Only this once: a file that was lost half made is made again.
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -1000000')
  database.run('BEGIN')
  const voucher = database.query(
    `INSERT INTO vouchers (id, handle, definition_id, revision_id, root_id, minted_by, minted_at, phase, ended_at)
     SELECT ?, ?, id, revision_id, ?, ?, ?, ?, ? FROM definitions`,
  )
  const redemption = database.query('INSERT INTO redemptions (voucher_id, owner) VALUES (?, ?)')
  const refresh = database.query(
    'INSERT INTO refreshes (id, voucher_id, key_mac, sealed) VALUES (?, ?, ?, ?)',
  )
  const newest = secondsNow()
  // As long as the sealed answer of this definition.
  const sealed = randomBytes(900)
  for (let index = 0; index < total; index++) {
    const id = index + 1
    const phase = phaseAt(index)
    const successor = index > 0 && phaseAt(index - 1) === 'refreshed'
    const mintedAt = newest - total + index
    const endedAt = phase === 'minted' ? null : mintedAt
    const root = successor ? id - 1 : null
    voucher.run(id, handleAt(index), root, owner, mintedAt, phase, endedAt)
    if (phase === 'claimed') redemption.run(id, owner)
    if (successor) refresh.run(id, id - 1, randomBytes(32), sealed)
  }
  const [tenth, ninth] = [total / 10, (total * 9) / 10]
  database.run('UPDATE definitions SET issued = ?, claimed = ?', [ninth, tenth])
  database.run('UPDATE totals SET issued = ?, claimed = ?, refreshed = ?', [ninth, tenth, tenth])
  // Nobody's till redeemed them: 32 zero bytes stand for that.
  database.run('INSERT INTO tills (owner, pubkey) VALUES (?, zeroblob(32))', [owner])
  database.run(
    `INSERT INTO till_hours (till_id, hour, claimed) SELECT tills.id, ended_at / 3600, count(*)
     FROM vouchers, tills WHERE phase = 'claimed' GROUP BY tills.id, ended_at / 3600`,
  )
  database.run(
    `INSERT INTO hourly (definition_id, hour, minted, claimed)
     SELECT definition_id, hour, sum(minted), sum(claimed) FROM (
       SELECT definition_id, minted_at / 3600 AS hour, 1 AS minted, 0 AS claimed
       FROM vouchers WHERE root_id IS NULL
       UNION ALL
       SELECT definition_id, ended_at / 3600, 0, 1 FROM vouchers WHERE phase = 'claimed'
     ) GROUP BY definition_id, hour`,
  )
  database.run('COMMIT')
  const strays = database.query('PRAGMA foreign_key_check').all()
  if (strays.length > 0) throw new Error('the made file has rows that point to nothing')
}

/** True when the product accepts a nonce of the file: it was made for the schema and keys of today. */
export async function fileAnswers(url: string, nonce: string): Promise<boolean> {
  return (await call(url, '/api/coupons/preview', { body: { nonce } })).status === 200
}
