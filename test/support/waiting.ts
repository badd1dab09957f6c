import type { Connection } from '../../src/db/postgres/connection.ts'
import { until } from './until.ts'

/** The number of transactions of a PostgreSQL server that wait for a lock. */
export async function countWaiting(connection: Connection): Promise<number> {
  const text = 'SELECT count(DISTINCT pid) AS n FROM pg_locks WHERE NOT granted'
  return (await connection.send(text, [])).rows[0]?.n as number
}

/** Resolves when an operation of the server has ended or waits for another one. */
export async function settledOrWaiting(
  connection: Connection,
  operation: Promise<unknown>,
): Promise<void> {
  let ended = false
  const end = () => {
    ended = true
  }
  operation.then(end, end)
  await until(
    'the operation has ended or waits',
    async () => ended || (await countWaiting(connection)) > 0,
  )
}
