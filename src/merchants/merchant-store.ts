import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

/** A key that was let in. */
export type Merchant = {
  /** Hex. */
  pubkey: string
  label: string | null
  /** An owner came by the setup code or was named by the operator, and adds and removes others. */
  owner: boolean
  createdAt: number
  /** The end of a guest's time, in Unix seconds. Null for others. */
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

/** The merchants that were let in, and the setup code while there are none. On one connection. */
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
  // Owners wait only for coupons that can still be minted or redeemed.
  const [issued, claimed, voided] = ['issued', 'claimed', 'voided'].map((name) =>
    sql.counters.number('definitions', name, 'd'),
  )
  const waiting = sql.query<{ owner: Uint8Array; coupons: number }, [Uint8Array, number]>(
    `SELECT owner, count(*) AS coupons FROM definitions d
     WHERE owner > ? AND NOT EXISTS (
       SELECT 1 FROM merchants m WHERE m.pubkey = d.owner AND m.expires_at IS NULL)
     GROUP BY owner
     HAVING max(CASE WHEN archived_at IS NULL OR ${issued} > ${claimed} + ${voided} THEN 1 ELSE 0 END) = 1
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
    /** Includes guests, and expired ones. */
    async find(pubkey: string): Promise<Merchant | null> {
      const row = await find.get(bytesOf(pubkey))
      return row && toMerchant(row)
    },

    /** Merchants without guests, newest first. */
    async list(): Promise<Merchant[]> {
      return (await list.all()).map(toMerchant)
    },

    /** The number of merchants without guests. */
    async count(): Promise<number> {
      return (await count.get())?.n ?? 0
    },

    /** Insert or replace the merchant of a key. */
    async put({ pubkey, label, owner, createdAt, expiresAt }: Merchant): Promise<void> {
      put.run(bytesOf(pubkey), label, owner ? 1 : 0, createdAt, expiresAt)
    },

    /** False if there was none. */
    async remove(pubkey: string): Promise<boolean> {
      return (await remove.changes(bytesOf(pubkey))) === 1
    },

    /** Delete expired guests. Returns their number. */
    async prune(now: number): Promise<number> {
      return prune.changes(now)
    },

    /** Owners of coupons that were not let in, in the order of their keys, after `after` (hex). */
    async waiting(after: string, most: number): Promise<Waiting[]> {
      const rows = await waiting.all(bytesOf(after), most)
      return rows.map(({ owner, coupons }) => ({ pubkey: hexOf(owner), coupons }))
    },

    /** The salt of the setup code and the number of wrong tries. Null while there is no code. */
    async code(): Promise<{ salt: Uint8Array; tries: number } | null> {
      return salt.get()
    },

    /** Replace the code. The one before is no longer valid. */
    async setCode(newSalt: Uint8Array): Promise<void> {
      setSalt.run(newSalt)
    },

    /** Count a wrong try. */
    async countTry(): Promise<void> {
      tried.run()
    },

    /** Delete the setup code. False if there was none. */
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
