import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

/** A key that may mint a merchant's coupons, in hex. `createdAt` in Unix seconds. */
export type Minter = { pubkey: string; label: string | null; createdAt: number }

type MinterRow = { pubkey: Uint8Array; label: string | null; created_at: number }

export type MinterStore = ReturnType<typeof createMinterStore>

/** Store of the minters of each merchant. */
export function createMinterStore(sql: Sql) {
  const find = sql.query<MinterRow, [Uint8Array, Uint8Array]>(
    'SELECT pubkey, label, created_at FROM minters WHERE owner = ? AND pubkey = ?',
  )
  const list = sql.query<MinterRow, [Uint8Array]>(
    'SELECT pubkey, label, created_at FROM minters WHERE owner = ? ORDER BY id DESC',
  )
  const count = sql.query<{ n: number }, [Uint8Array]>(
    'SELECT count(*) AS n FROM minters WHERE owner = ?',
  )
  const insert = sql.query<null, [Uint8Array, Uint8Array, string | null, number]>(
    'INSERT INTO minters (owner, pubkey, label, created_at) VALUES (?, ?, ?, ?)',
  )
  const relabel = sql.query<null, [string | null, Uint8Array, Uint8Array]>(
    'UPDATE minters SET label = ? WHERE owner = ? AND pubkey = ?',
  )
  const remove = sql.query<null, [Uint8Array, Uint8Array]>(
    'DELETE FROM minters WHERE owner = ? AND pubkey = ?',
  )

  return {
    async find(owner: string, pubkey: string): Promise<Minter | null> {
      const row = await find.get(bytesOf(owner), bytesOf(pubkey))
      return row && toMinter(row)
    },

    /** All minters of an owner, newest first. */
    async list(owner: string): Promise<Minter[]> {
      // No index has this order. A merchant has at most a thousand minters, so that a sort is cheap.
      return (await list.all(bytesOf(owner))).map(toMinter)
    },

    async count(owner: string): Promise<number> {
      return (await count.get(bytesOf(owner)))?.n ?? 0
    },

    async insert(owner: string, minter: Minter): Promise<void> {
      insert.run(bytesOf(owner), bytesOf(minter.pubkey), minter.label, minter.createdAt)
    },

    async relabel(owner: string, pubkey: string, label: string | null): Promise<void> {
      relabel.run(label, bytesOf(owner), bytesOf(pubkey))
    },

    /** Delete a minter. False if it was not listed. */
    async remove(owner: string, pubkey: string): Promise<boolean> {
      return (await remove.changes(bytesOf(owner), bytesOf(pubkey))) === 1
    },
  }
}

function toMinter(row: MinterRow): Minter {
  return {
    pubkey: hexOf(row.pubkey),
    label: row.label,
    createdAt: row.created_at,
  }
}
