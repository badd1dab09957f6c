import { bytesOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

/** The growth of a merchant in a day. `refreshes` counts how often its vouchers changed hands. */
export type Added = { vouchers: number; bytes: number; refreshes: number }

export type QuotaStore = ReturnType<typeof createQuotaStore>

/** Growth of merchants by day, on a service for any key. On one connection. */
export function createQuotaStore(sql: Sql) {
  const find = sql.query<Added, [number, Uint8Array]>(
    'SELECT vouchers, bytes, refreshes FROM merchant_days WHERE day = ? AND owner = ?',
  )
  const add = sql.query<null, [number, Uint8Array, number, number, number]>(
    `INSERT INTO merchant_days (day, owner, vouchers, bytes, refreshes) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (day, owner) DO UPDATE SET vouchers = merchant_days.vouchers + excluded.vouchers,
       bytes = merchant_days.bytes + excluded.bytes,
       refreshes = merchant_days.refreshes + excluded.refreshes`,
  )
  const prune = sql.query<null, [number]>('DELETE FROM merchant_days WHERE day < ?')

  return {
    /** `day` counts days since 1970. */
    async find(day: number, owner: string): Promise<Added> {
      return (await find.get(day, bytesOf(owner))) ?? { vouchers: 0, bytes: 0, refreshes: 0 }
    },

    async add(day: number, owner: string, { vouchers, bytes, refreshes }: Added): Promise<void> {
      add.run(day, bytesOf(owner), vouchers, bytes, refreshes)
    },

    /** Delete the days before `day`. */
    async prune(day: number): Promise<void> {
      prune.run(day)
    },
  }
}
