import type { SharedBucket, SharedBuckets } from '../../base/guesses.ts'
import type { Connection, Result } from './connection.ts'

/** Token buckets, one row each. The name is a digest: it is made of client addresses and handles. */
export const guessSchema = [
  `CREATE TABLE guesses (
     name BYTEA PRIMARY KEY,
     burst DOUBLE PRECISION NOT NULL,
     per_second DOUBLE PRECISION NOT NULL,
     tokens DOUBLE PRECISION NOT NULL,
     -- True if the last one who asked took a token.
     taken BOOLEAN NOT NULL DEFAULT TRUE,
     at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
   )`,
]

/** The tokens of a row at a time. Clocks may be set back. */
const tokensAt = (row: string, at: string) =>
  `least(${row}.burst, ${row}.tokens
     + ${row}.per_second * greatest(0, CAST(extract(epoch FROM ${at} - ${row}.at) AS DOUBLE PRECISION)))`

const asked = `json_to_recordset(CAST($1 AS json))
  AS asked (name TEXT, burst DOUBLE PRECISION, "perSecond" DOUBLE PRECISION)`
const digest = `decode(asked.name, 'hex')`

type Send = (send: (connection: Connection) => Promise<Result>) => Promise<Result>

/** Create the buckets. Each call is one statement, outside of any operation: a refusal must not undo it. */
export function createSharedBuckets(send: Send): SharedBuckets {
  const run = (text: string, buckets: readonly SharedBucket[]) => {
    // The server reads no NUL and no half of a surrogate pair from JSON.
    const named = buckets.map((bucket) => ({ ...bucket, name: digestOf(bucket.name) }))
    return send((connection) => connection.send(text, [JSON.stringify(named)]))
  }
  const give = async (buckets: readonly SharedBucket[]) => {
    await run(
      `UPDATE guesses AS row SET tokens = least(row.burst, row.tokens + 1)
       FROM ${asked} WHERE row.name = ${digest}`,
      buckets,
    )
  }
  const wait = async (buckets: readonly SharedBucket[]) => {
    const { rows } = await run(
      `SELECT row.per_second, ${tokensAt('row', 'clock_timestamp()')} AS tokens
       FROM guesses AS row JOIN ${asked} ON row.name = ${digest}`,
      buckets,
    )
    return Math.max(0, ...rows.map(secondsOf))
  }
  return {
    give,
    wait,

    async take(buckets) {
      // A flood of refused guesses only reads.
      const before = await wait(buckets)
      if (before > 0) return before
      // In the order of names, so that two nodes never wait for each other.
      const { rows } = await run(
        `INSERT INTO guesses AS row (name, burst, per_second, tokens)
         SELECT ${digest}, asked.burst, asked."perSecond", asked.burst - 1 FROM ${asked} ORDER BY 1
         ON CONFLICT (name) DO UPDATE SET
           tokens = ${tokensAt('row', 'excluded.at')}
             - CASE WHEN ${tokensAt('row', 'excluded.at')} >= 1 THEN 1 ELSE 0 END,
           taken = ${tokensAt('row', 'excluded.at')} >= 1,
           at = greatest(row.at, excluded.at)
         RETURNING name, per_second, tokens, taken`,
        buckets,
      )
      const empty = rows.filter(({ taken }) => taken !== true)
      if (empty.length === 0) return 0
      const names = new Set(empty.map(({ name }) => (name as Uint8Array).toHex()))
      await give(buckets.filter(({ name }) => !names.has(digestOf(name))))
      return Math.max(...empty.map(secondsOf))
    },
  }
}

/** Seconds until the bucket has a token. */
function secondsOf({ tokens, per_second }: Record<string, unknown>): number {
  return Math.max(0, (1 - Number(tokens)) / Number(per_second))
}

function digestOf(name: string): string {
  return new Bun.CryptoHasher('sha256').update(name).digest('hex')
}

/** Delete up to `most` buckets that are full again. Resolves to their number. */
export async function forgetGuesses(connection: Connection, most: number): Promise<number> {
  const { count } = await connection.send(
    `DELETE FROM guesses WHERE name IN (
       SELECT name FROM guesses AS row WHERE ${tokensAt('row', 'clock_timestamp()')} >= row.burst
       LIMIT $1 FOR UPDATE SKIP LOCKED)`,
    [most],
  )
  return count
}
