import { bytesOf } from '../../base/bytes.ts'
import type { Sql } from '../../db/sql.ts'

type NonceRow = { id: number; burned_at: number | null }

export type NonceStore = ReturnType<typeof createNonceStore>

/** Nonces of identities, by the sha256 of each; on one connection. */
export function createNonceStore(sql: Sql) {
  const find = sql.query<NonceRow, [Uint8Array]>(
    'SELECT id, burned_at FROM identity_nonces WHERE hash = ?',
  )
  const insert = sql.query<null, [Uint8Array, Uint8Array, number]>(
    `INSERT INTO identity_nonces (hash, issuer, created_at) VALUES (?, ?, ?)
     ON CONFLICT (hash) DO NOTHING`,
  )
  const burn = sql.query<null, [number, number]>(
    'UPDATE identity_nonces SET burned_at = ? WHERE id = ? AND burned_at IS NULL',
  )
  const countOpen = sql.query<{ n: number }, [Uint8Array]>(
    'SELECT count(*) AS n FROM identity_nonces WHERE issuer = ? AND burned_at IS NULL',
  )
  const prune = sql.query<null, [number, number]>(
    `DELETE FROM identity_nonces WHERE id IN
       (SELECT id FROM identity_nonces WHERE burned_at IS NULL AND created_at < ?2
        ORDER BY created_at LIMIT ?1) AND burned_at IS NULL`,
  )
  const pruneOf = sql.query<null, [number, number, Uint8Array]>(
    `DELETE FROM identity_nonces WHERE id IN
       (SELECT id FROM identity_nonces WHERE issuer = ?3 AND burned_at IS NULL AND created_at < ?2
        LIMIT ?1) AND burned_at IS NULL`,
  )

  return {
    async find(hash: Uint8Array): Promise<{ id: number; burned: boolean } | null> {
      const row = await find.get(hash)
      return row && { id: row.id, burned: row.burned_at !== null }
    },

    /** False when the same nonce exists, burned or not. */
    async insert(hash: Uint8Array, issuer: string, now: number): Promise<boolean> {
      return (await insert.changes(hash, bytesOf(issuer), now)) === 1
    },

    /** False when it was burned before. */
    async burn(id: number, now: number): Promise<boolean> {
      return (await burn.changes(now, id)) === 1
    },

    /** The number of an issuer's unused nonces; an issuer has at most `openNoncesMax`. */
    async countOpen(issuer: string): Promise<number> {
      return (await countOpen.get(bytesOf(issuer)))?.n ?? 0
    },

    /** Delete up to `rowsMax` unused ones that were made before `before`; the result is their number. */
    async prune(rowsMax: number, before: number): Promise<number> {
      return await prune.changes(rowsMax, before)
    },

    /** The same for those of one issuer. */
    async pruneOf(issuer: string, rowsMax: number, before: number): Promise<number> {
      return await pruneOf.changes(rowsMax, before, bytesOf(issuer))
    },
  }
}
