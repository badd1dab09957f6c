import { bytesOf, hexOf } from '../../base/bytes.ts'
import type { Sql } from '../../db/sql.ts'

/** An identity of this service. */
export type Account = {
  id: number
  uuid: string
  /** Lower case. */
  name: string
  pubkey: string
  /** The LUD-16 object of the holder's own wallet; null: no payments. */
  lud16: Record<string, unknown> | null
  allowVouchers: boolean
  createdAt: number
}

type AccountRow = {
  id: number
  uuid: string
  name: string
  pubkey: Uint8Array
  lud16: string | null
  allow_vouchers: number
  created_at: number
}

/** `nonceId`: the nonce that it burned, null when the operator added it; `createdBy`: the signer. */
type NewAccount = Omit<Account, 'id' | 'allowVouchers'> & {
  nonceId: number | null
  createdBy: string
}

const columns = 'id, uuid, name, pubkey, lud16, allow_vouchers, created_at'

export type AccountStore = ReturnType<typeof createAccountStore>

/** Identities; on one connection. */
export function createAccountStore(sql: Sql) {
  const byName = sql.query<AccountRow, [string]>(`SELECT ${columns} FROM accounts WHERE name = ?`)
  const byKey = sql.query<AccountRow, [Uint8Array]>(
    `SELECT ${columns} FROM accounts WHERE pubkey = ?`,
  )
  const page = sql.query<AccountRow, [string, number]>(
    `SELECT ${columns} FROM accounts WHERE name > ? ORDER BY name LIMIT ?`,
  )
  const insert = sql.query<
    null,
    [string, string, Uint8Array, string | null, number | null, Uint8Array, number]
  >(
    `INSERT INTO accounts (uuid, name, pubkey, lud16, nonce_id, created_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const allowVouchers = sql.query<null, [number, Uint8Array]>(
    'UPDATE accounts SET allow_vouchers = ? WHERE pubkey = ?',
  )
  const remove = sql.query<null, [number]>('DELETE FROM accounts WHERE id = ?')

  return {
    async findByName(name: string): Promise<Account | null> {
      const row = await byName.get(name)
      return row && toAccount(row)
    },

    async findByKey(pubkey: string): Promise<Account | null> {
      const row = await byKey.get(bytesOf(pubkey))
      return row && toAccount(row)
    },

    /** Up to `most` whose names come after `after`, in the order of their names. */
    async page(after: string, most: number): Promise<Account[]> {
      return (await page.all(after, most)).map(toAccount)
    },

    /** Name and key must be free: the schema refuses a second one. */
    async insert(account: NewAccount): Promise<void> {
      const { uuid, name, pubkey, lud16, nonceId, createdBy, createdAt } = account
      const text = lud16 && JSON.stringify(lud16)
      insert.run(uuid, name, bytesOf(pubkey), text, nonceId, bytesOf(createdBy), createdAt)
    },

    /** Set whether the account of a key takes vouchers; false when it has no account. */
    async allowVouchers(pubkey: string, allowed: boolean): Promise<boolean> {
      return (await allowVouchers.changes(allowed ? 1 : 0, bytesOf(pubkey))) === 1
    },

    async remove(id: number): Promise<void> {
      remove.run(id)
    },
  }
}

function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    uuid: row.uuid,
    name: row.name,
    pubkey: hexOf(row.pubkey),
    lud16: row.lud16 === null ? null : (JSON.parse(row.lud16) as Record<string, unknown>),
    allowVouchers: row.allow_vouchers === 1,
    createdAt: row.created_at,
  }
}
