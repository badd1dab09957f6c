import { hash } from 'node:crypto'
import { bytesOf, hexOf } from '../../base/bytes.ts'
import type { Sql } from '../../db/sql.ts'

/** A tap that was answered with a k1, which can pay once. */
export type Scan = {
  id: number
  cardId: number
  /** The holder of the card at the tap, in hex. */
  holder: string
  form: 'standard' | 'extended'
  /** The most that it can pay, by token. */
  maxima: Map<string, bigint>
  state: 'free' | 'in-flight' | 'used'
  createdAt: number
  expiresAt: number
}

type ScanRow = {
  id: number
  card_id: number
  holder: Uint8Array
  form: Scan['form']
  maxima: string
  state: Scan['state']
  created_at: number
  expires_at: number
}

export type ScanStore = ReturnType<typeof createScanStore>

/** Scans with their k1, by its hash; on one connection. */
export function createScanStore(sql: Sql) {
  const insert = sql.query<
    null,
    [Uint8Array, number, Uint8Array, Scan['form'], string, number, number]
  >(
    `INSERT INTO card_scans (k1_hash, card_id, holder, form, maxima, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const find = sql.query<ScanRow, [Uint8Array]>(
    `SELECT id, card_id, holder, form, maxima, state, created_at, expires_at
     FROM card_scans WHERE k1_hash = ?`,
  )
  const take = sql.query<null, [number, number]>(
    "UPDATE card_scans SET state = 'in-flight' WHERE id = ? AND state = 'free' AND expires_at > ?",
  )
  const settle = sql.query<null, ['free' | 'used', number]>(
    "UPDATE card_scans SET state = ? WHERE id = ? AND state = 'in-flight'",
  )
  const prune = sql.query<null, [number, number]>(
    `DELETE FROM card_scans WHERE id IN
       (SELECT id FROM card_scans WHERE state = 'free' AND expires_at < ? ORDER BY expires_at LIMIT ?)
       AND state = 'free'`,
  )

  return {
    async insert(k1: string, scan: Omit<Scan, 'id' | 'state'>): Promise<void> {
      const { cardId, holder, form, maxima, createdAt, expiresAt } = scan
      const amounts = [...maxima].map(([token, amount]) => [token, String(amount)])
      insert.run(
        k1HashOf(k1),
        cardId,
        bytesOf(holder),
        form,
        JSON.stringify(Object.fromEntries(amounts)),
        createdAt,
        expiresAt,
      )
    },

    async find(k1: string): Promise<Scan | null> {
      const row = await find.get(k1HashOf(k1))
      if (!row) return null
      const amounts = Object.entries(JSON.parse(row.maxima) as Record<string, string>)
      return {
        id: row.id,
        cardId: row.card_id,
        holder: hexOf(row.holder),
        form: row.form,
        maxima: new Map(amounts.map(([token, amount]) => [token, BigInt(amount)])),
        state: row.state,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
      }
    },

    /** Take a free k1 that has not expired; false for any other. */
    async take(id: number, now: number): Promise<boolean> {
      return (await take.changes(id, now)) === 1
    },

    /** End the use of a k1 that was taken: `used` for ever, or `free` again after a refusal. */
    async settle(id: number, state: 'free' | 'used'): Promise<boolean> {
      return (await settle.changes(state, id)) === 1
    },

    /** Forget up to `rowsMax` that nobody paid with, and that expired before `before`. */
    async prune(rowsMax: number, before: number): Promise<number> {
      return await prune.changes(before, rowsMax)
    },
  }
}

/** The first 16 bytes of sha256(k1 as text). */
export function k1HashOf(k1: string): Uint8Array {
  return hash('sha256', k1, 'buffer').subarray(0, 16)
}
