import type { Walk } from './check-report.ts'
import type { Sql } from './sql.ts'

/** Check that every balance is the sum of its entries, and that the balances of a token sum to zero. */
export async function checkLedger(sql: Sql, { add, pause, slices }: Walk): Promise<void> {
  // BigInt: the sums of a damaged file may exceed 64 bits.
  const sums = new Map<number, bigint>()
  const entries = sql.query<{ id: number; amount: string }, [number, number]>(
    `SELECT account_id AS id, CAST(amount AS TEXT) AS amount FROM ledger_entries
     WHERE movement_id > ? AND movement_id <= ?`,
  )
  for await (const { after, upto } of slices('ledger_movements')) {
    const started = performance.now()
    for (const { id, amount } of await entries.all(after, upto)) {
      sums.set(id, (sums.get(id) ?? 0n) + BigInt(amount))
    }
    await pause(performance.now() - started)
  }
  const tokens = new Map<string, bigint>()
  type Row = { id: number; token: string; balance: string }
  const accounts = sql.query<Row, [number, number]>(
    `SELECT id, token, CAST(balance AS TEXT) AS balance FROM ledger_accounts
     WHERE id > ? AND id <= ?`,
  )
  for await (const { after, upto } of slices('ledger_accounts')) {
    const started = performance.now()
    for (const { id, token, balance } of await accounts.all(after, upto)) {
      const sum = sums.get(id) ?? 0n
      if (BigInt(balance) !== sum) {
        add(`ledger_accounts row ${id}: its balance is ${balance}, but its entries sum to ${sum}`)
      }
      tokens.set(token, (tokens.get(token) ?? 0n) + BigInt(balance))
    }
    await pause(performance.now() - started)
  }
  for (const [token, sum] of tokens) {
    if (sum !== 0n) add(`ledger: the balances of ${token} sum to ${sum}, not to zero`)
  }
}
