import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

/** A key that was let in. */
export type Merchant = {
  /** Hex. */
  pubkey: string
  label: string | null
  /** Came by the setup code or was named by the operator: it adds and removes others. */
  owner: boolean
  createdAt: number
  /** When a guest has to leave; null: it stays. */
  expiresAt: number | null
}

/** A key that has coupons here and was not let in. */
export type Waiting = { pubkey: string; coupons: number }

type MerchantRow = {
  pubkey: Uint8Array
  label: string | null
  owner: number
  created_at: number
  expires_at: number | null
}

export type MerchantStore = ReturnType<typeof createMerchantStore>

/** The merchants that were let in, and the setup code while there is none; on one connection. */
export function createMerchantStore(sql: Sql) {
  const columns = 'pubkey, label, owner, created_at, expires_at'
  const find = sql.query<MerchantRow, [Uint8Array]>(
    `SELECT ${columns} FROM merchants WHERE pubkey = ?`,
  )
  const list = sql.query<MerchantRow, []>(
    `SELECT ${columns} FROM merchants WHERE expires_at IS NULL AND created_at > 0
     ORDER BY created_at DESC, pubkey`,
  )
  const count = sql.query<{ n: number }, []>(
    'SELECT count(*) AS n FROM merchants WHERE expires_at IS NULL AND created_at > 0',
  )
  const put = sql.query<null, [Uint8Array, string | null, number, number, number | null]>(
    `INSERT INTO merchants (${columns}) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (pubkey) DO UPDATE SET label = excluded.label, owner = excluded.owner,
       created_at = excluded.created_at, expires_at = excluded.expires_at`,
  )
  const remove = sql.query<null, [Uint8Array]>('DELETE FROM merchants WHERE pubkey = ?')
  const prune = sql.query<null, [number]>('DELETE FROM merchants WHERE expires_at <= ?')
  // Coupons that nobody can mint or redeem any more keep nobody waiting.
  const waiting = sql.query<{ owner: Uint8Array; coupons: number }, [Uint8Array, number]>(
    `SELECT owner, count(*) AS coupons FROM definitions d
     WHERE owner > ? AND NOT EXISTS (
       SELECT 1 FROM merchants m WHERE m.pubkey = d.owner AND m.expires_at IS NULL)
     GROUP BY owner
     HAVING max(CASE WHEN archived_at IS NULL OR issued > claimed + voided THEN 1 ELSE 0 END) = 1
     ORDER BY owner LIMIT ?`,
  )
  const salt = sql.query<{ salt: Uint8Array; tries: number }, []>(
    'SELECT salt, tries FROM setup_code WHERE id = 1',
  )
  const setSalt = sql.query<null, [Uint8Array]>(
    `INSERT INTO setup_code (id, salt, tries) VALUES (1, ?, 0)
     ON CONFLICT (id) DO UPDATE SET salt = excluded.salt, tries = 0`,
  )
  const tried = sql.query<null, []>('UPDATE setup_code SET tries = tries + 1 WHERE id = 1')
  const burn = sql.query<null, []>('DELETE FROM setup_code WHERE id = 1')

  return {
    /** Guests, too, and those whose time is over. */
    async find(pubkey: string): Promise<Merchant | null> {
      const row = await find.get(bytesOf(pubkey))
      return row && toMerchant(row)
    },

    /** Those who stay, newest first. */
    async list(): Promise<Merchant[]> {
      return (await list.all()).map(toMerchant)
    },

    /** Those who stay. */
    async count(): Promise<number> {
      return (await count.get())?.n ?? 0
    },

    /** Write one down in place of what was known of that key. */
    async put({ pubkey, label, owner, createdAt, expiresAt }: Merchant): Promise<void> {
      put.run(bytesOf(pubkey), label, owner ? 1 : 0, createdAt, expiresAt)
    },

    /** False when it was not there. */
    async remove(pubkey: string): Promise<boolean> {
      return (await remove.changes(bytesOf(pubkey))) === 1
    },

    /** Delete guests whose time is over; how many there were. */
    async prune(now: number): Promise<number> {
      return prune.changes(now)
    },

    /** Owners of coupons that were not let in, in the order of their keys, behind `after` (hex). */
    async waiting(after: string, most: number): Promise<Waiting[]> {
      const rows = await waiting.all(bytesOf(after), most)
      return rows.map(({ owner, coupons }) => ({ pubkey: hexOf(owner), coupons }))
    },

    /** The salt of the setup code and how often somebody was wrong; null while there is no code. */
    async code(): Promise<{ salt: Uint8Array; tries: number } | null> {
      return salt.get()
    },

    /** Make another code; the one before is good for nothing any more. */
    async setCode(newSalt: Uint8Array): Promise<void> {
      setSalt.run(newSalt)
    },

    /** Somebody was wrong. */
    async countTry(): Promise<void> {
      tried.run()
    },

    /** End the setup code; false when there was none. */
    async burnCode(): Promise<boolean> {
      return (await burn.changes()) === 1
    },
  }
}

function toMerchant({ pubkey, label, owner, created_at, expires_at }: MerchantRow): Merchant {
  return {
    pubkey: hexOf(pubkey),
    label,
    owner: owner === 1,
    createdAt: created_at,
    expiresAt: expires_at,
  }
}
