/** The ceiling on PostgreSQL, as a process of its own: transactions of one row, pipelined, on many connections. */
import { Connection } from '../../../src/db/postgres/connection.ts'

export type CommitJob = { url: string; connections: number; seconds: number }

process.on('message', (job: CommitJob) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit(0))

/** Resolves to the number of commits a second. */
async function run({ url, connections, seconds }: CommitJob): Promise<number> {
  const opened = await Promise.all(
    Array.from({ length: connections }, () =>
      Connection.open({ connectionString: url }, 10_000, () => undefined),
    ),
  )
  const [first] = opened
  await first?.send(
    'CREATE TABLE IF NOT EXISTS bare (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text TEXT)',
    [],
  )
  let commits = 0
  const started = performance.now()
  const until = started + seconds * 1000
  const loop = async (connection: Connection) => {
    while (performance.now() < until) {
      await Promise.all([
        connection.send('BEGIN', []),
        connection.send('INSERT INTO bare (text) VALUES ($1)', ['a row of some length']),
        connection.send('COMMIT', []),
      ])
      commits++
    }
  }
  await Promise.all(opened.map(loop))
  const perSecond = commits / ((performance.now() - started) / 1000)
  for (const connection of opened) connection.destroy()
  return perSecond
}
