import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

/** A key that may redeem a merchant's coupons, and with `mint` also mint them. Hex; `createdAt` in Unix seconds. */
export type Minter = { pubkey: string; label: string | null; createdAt: number; mint: boolean }

type MinterRow = {
  pubkey: Uint8Array
  label: string | null
  created_at: number
  may_mint: number
}

export type MinterStore = ReturnType<typeof createMinterStore>

/** Store of the minters of each merchant. */
export function createMinterStore(sql: Sql) {
  const find = sql.query<MinterRow, [Uint8Array, Uint8Array]>(
    'SELECT pubkey, label, created_at, may_mint FROM minters WHERE owner = ? AND pubkey = ?',
  )
  const list = sql.query<MinterRow, [Uint8Array]>(
    'SELECT pubkey, label, created_at, may_mint FROM minters WHERE owner = ? ORDER BY id DESC',
  )
  const listOf = sql.query<
    { owner: Uint8Array; label: string | null },
    [Uint8Array, number, number]
  >('SELECT owner, label FROM minters WHERE pubkey = ? AND may_mint = ? ORDER BY id LIMIT ?')
  const count = sql.query<{ n: number }, [Uint8Array]>(
    'SELECT count(*) AS n FROM minters WHERE owner = ?',
  )
  const insert = sql.query<null, [Uint8Array, Uint8Array, string | null, number, number]>(
    'INSERT INTO minters (owner, pubkey, label, created_at, may_mint) VALUES (?, ?, ?, ?, ?)',
  )
  const update = sql.query<null, [string | null, number, Uint8Array, Uint8Array]>(
    'UPDATE minters SET label = ?, may_mint = ? WHERE owner = ? AND pubkey = ?',
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

    /** Up to `most` merchants that list a key with that permission, with the label that each gave it; oldest first. */
    async listOf(pubkey: string, mint: boolean, most: number) {
      const rows = await listOf.all(bytesOf(pubkey), mint ? 1 : 0, most)
      return rows.map(({ owner, label }) => ({ owner: hexOf(owner), label }))
    },

    async count(owner: string): Promise<number> {
      return (await count.get(bytesOf(owner)))?.n ?? 0
    },

    async insert(owner: string, minter: Minter): Promise<void> {
      const { pubkey, label, createdAt, mint } = minter
      insert.run(bytesOf(owner), bytesOf(pubkey), label, createdAt, mint ? 1 : 0)
    },

    /** Write label and permission of a listed minter. */
    async update(owner: string, { pubkey, label, mint }: Minter): Promise<void> {
      update.run(label, mint ? 1 : 0, bytesOf(owner), bytesOf(pubkey))
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
    mint: row.may_mint === 1,
  }
}
