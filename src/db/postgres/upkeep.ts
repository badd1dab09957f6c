import { limits } from '../../base/limits.ts'
import type { Upkeep } from '../database.ts'
import type { Connection } from './connection.ts'
import { foldCounters } from './counters.ts'
import { forgetGuesses } from './guesses.ts'
import { forgetNews } from './news.ts'
import { forgetNodes } from './nodes.ts'

type Administer = <T>(run: (connection: Connection) => Promise<T>) => Promise<T>

/** The work of the leader for the engine. Two nodes may do it at the same moment. */
export function upkeepOf(administer: Administer): readonly Upkeep[] {
  const most = limits.foldedCountersMax
  /** A step by rows: `run` resolves to their number. */
  const by = (run: (connection: Connection, most: number) => Promise<number>) => async () =>
    (await administer((connection) => run(connection, most))) === most
  return [
    // A mint within a limit adds up all that waits, and the next one waits for it.
    { step: by(foldCounters), everySeconds: limits.foldSeconds },
    { step: by(forgetCommits) },
    { step: by(forgetNews) },
    { step: by(forgetGuesses) },
    {
      async step() {
        await administer(dateWrites)
        await administer(forgetNodes)
        return false
      },
    },
  ]
}

/** Delete the marks of commits whose fate nobody asks for any more. Resolves to their number. */
async function forgetCommits(connection: Connection, most: number): Promise<number> {
  const { count } = await connection.send(
    `DELETE FROM commits WHERE id IN (
       SELECT id FROM commits WHERE at < now() - make_interval(secs => $1) ORDER BY id LIMIT $2)`,
    [limits.commitsKeptSeconds, most],
  )
  return count
}

/** Record the clock of the server as that of the newest write, for a move to the embedded engine. */
async function dateWrites(connection: Connection): Promise<void> {
  await connection.send(
    `UPDATE state SET newest_write = greatest(newest_write,
       CAST(floor(extract(epoch FROM clock_timestamp())) AS BIGINT)) WHERE id = 1`,
    [],
  )
}
