import { bytesOf, hexOf } from '../../base/bytes.ts'
import type { Sql } from '../../db/sql.ts'

/** The most that a card may spend of a token within `delta` seconds; with 0, in one payment. */
export type CardLimit = {
  name: string
  description: string
  token: string
  amount: bigint
  delta: number
}

type LimitRow = {
  name: string
  description: string
  token: string
  amount: string
  delta_seconds: number
}

export type HolderStore = ReturnType<typeof createHolderStore>

/** Limits of cards and the merchants that holders trust; on one connection. */
export function createHolderStore(sql: Sql) {
  // Amounts cross as text: a double has 53 bits.
  const limits = sql.query<LimitRow, [number]>(
    `SELECT name, description, token, CAST(amount AS TEXT) AS amount, delta_seconds
     FROM card_limits WHERE card_id = ? ORDER BY id`,
  )
  const dropLimits = sql.query<null, [number]>('DELETE FROM card_limits WHERE card_id = ?')
  const insertLimit = sql.query<null, [number, string, string, string, bigint, number]>(
    `INSERT INTO card_limits (card_id, name, description, token, amount, delta_seconds)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const merchants = sql.query<{ merchant: Uint8Array }, [Uint8Array]>(
    'SELECT merchant FROM trusted_merchants WHERE holder = ? ORDER BY merchant',
  )
  const trust = sql.query<{ listed: number; trusted: number }, [Uint8Array, Uint8Array]>(
    `SELECT count(*) AS listed, count(CASE WHEN merchant = ?2 THEN 1 END) AS trusted
     FROM trusted_merchants WHERE holder = ?1`,
  )
  const dropMerchants = sql.query<null, [Uint8Array]>(
    'DELETE FROM trusted_merchants WHERE holder = ?',
  )
  const insertMerchant = sql.query<null, [Uint8Array, Uint8Array]>(
    `INSERT INTO trusted_merchants (holder, merchant) VALUES (?, ?)
     ON CONFLICT (holder, merchant) DO NOTHING`,
  )
  const newest = sql.query<{ at: number | null }, [Uint8Array]>(
    'SELECT max(created_at) AS at FROM card_changes WHERE holder = ?',
  )
  const dropChanges = sql.query<null, [Uint8Array, number]>(
    'DELETE FROM card_changes WHERE holder = ? AND created_at < ?',
  )
  const insertChange = sql.query<null, [Uint8Array, Uint8Array, number]>(
    `INSERT INTO card_changes (event_id, holder, created_at) VALUES (?, ?, ?)
     ON CONFLICT (event_id) DO NOTHING`,
  )
  const owe = sql.query<null, [Uint8Array]>(
    `INSERT INTO card_notices (holder, changes) VALUES (?, 1)
     ON CONFLICT (holder) DO UPDATE SET changes = card_notices.changes + 1`,
  )
  const owed = sql.query<{ holder: Uint8Array }, [number, number]>(
    `SELECT holder FROM card_notices WHERE told < changes AND told_at < ?
     ORDER BY told_at LIMIT ?`,
  )
  const owedTo = sql.query<{ changes: number }, [Uint8Array, number]>(
    'SELECT changes FROM card_notices WHERE holder = ? AND told < changes AND told_at < ?',
  )
  const told = sql.query<null, [number, number, Uint8Array]>(
    'UPDATE card_notices SET told = ?, told_at = ? WHERE holder = ?',
  )

  return {
    async limitsOf(cardId: number): Promise<CardLimit[]> {
      return (await limits.all(cardId)).map(({ amount, delta_seconds: delta, ...words }) => ({
        ...words,
        amount: BigInt(amount),
        delta,
      }))
    },

    async setLimits(cardId: number, rows: readonly CardLimit[]): Promise<void> {
      dropLimits.run(cardId)
      for (const { name, description, token, amount, delta } of rows) {
        insertLimit.run(cardId, name, description, token, amount, delta)
      }
    },

    async merchantsOf(holder: string): Promise<string[]> {
      const rows = await merchants.all(bytesOf(holder))
      return rows.map(({ merchant }) => hexOf(merchant))
    },

    /** True when the holder's cards pay that merchant: it is listed, or the list is empty. */
    async trusts(holder: string, merchant: string): Promise<boolean> {
      const found = await trust.get(bytesOf(holder), bytesOf(merchant))
      return found?.listed === 0 || found?.trusted === 1
    },

    async setMerchants(holder: string, pubkeys: readonly string[]): Promise<void> {
      dropMerchants.run(bytesOf(holder))
      for (const pubkey of pubkeys) insertMerchant.run(bytesOf(holder), bytesOf(pubkey))
    },

    /** The wallet of a holder has to be told of a change of its cards. */
    owe(holder: string): void {
      owe.run(bytesOf(holder))
    },

    /** Up to `most` holders that are owed a notice and got none in this second or later; the longest silent first. */
    async owed(now: number, most: number): Promise<string[]> {
      return (await owed.all(now, most)).map(({ holder }) => hexOf(holder))
    },

    /** The number of changes so far of a holder that `owed` would list; null of another one. */
    async owedTo(holder: string, now: number): Promise<number | null> {
      return (await owedTo.get(bytesOf(holder), now))?.changes ?? null
    },

    /** A notice tells of that many changes. */
    told(holder: string, { changes, at }: { changes: number; at: number }): void {
      told.run(changes, at, bytesOf(holder))
    },

    /** Record that a holder's event takes effect; false when it, or a newer one, did before. */
    async change(holder: string, event: { id: string; created_at: number }): Promise<boolean> {
      const last = (await newest.get(bytesOf(holder)))?.at ?? null
      if (last !== null && last > event.created_at) return false
      dropChanges.run(bytesOf(holder), event.created_at)
      return (
        (await insertChange.changes(bytesOf(event.id), bytesOf(holder), event.created_at)) === 1
      )
    },
  }
}
