import { parseArgs } from 'node:util'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { program } from '../support/program.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { withSlowSyncs } from '../support/slow-syncs.ts'
import { type Memory, problemsIn, startWorker, verifyMemory } from '../support/workload.ts'

/** The result of the rounds of a crash test. */
export type CrashReport = {
  rounds: number
  /** Answers that came before a kill. */
  acknowledged: number
  /** Requests under an Idempotency-Key that a kill cut off. */
  cutOff: number
  problems: string[]
}

/**
 * Kill a server (SIGKILL) in the middle of a mixed load from several processes, start it again on
 * the same file and address, and check every answer that was given before; `count` times in a row. `syncMs`: each sync
 * takes so much longer (it needs strace), so that those of commits run in another thread.
 */
export async function crashRounds(count: number, random: Random, syncMs = 0): Promise<CrashReport> {
  const dataDir = newDirectory()
  const report: CrashReport = { rounds: 0, acknowledged: 0, cutOff: 0, problems: [] }
  let server = await startCrashable(dataDir, '0', syncMs)
  for (let round = 0; round < count; round++) {
    const port = new URL(server.url).port
    const memories = await loadAndKill(server, random)
    server = await startCrashable(dataDir, port, syncMs)
    for (const memory of memories) {
      report.acknowledged += memory.acknowledged
      report.cutOff += memory.unheard.length
      report.problems.push(...(await verifyMemory(server.url, memory)))
    }
    report.problems.push(...(await problemsIn(dataDir)))
    report.rounds++
    if (report.problems.length > 0) break
  }
  if ((await server.stop()) !== 0) report.problems.push('the last server did not end well')
  report.problems.push(...(await problemsIn(dataDir)))
  return report
}

function startCrashable(dataDir: string, port: string, syncMs: number): Promise<TestServer> {
  const env = { PORT: port, RATE_LIMIT: 'off', LOG_LEVEL: 'warn' }
  const command = syncMs > 0 && { command: withSlowSyncs(program, syncMs) }
  return startServer({ dataDir, env, ...command })
}

async function loadAndKill(server: TestServer, random: Random): Promise<Memory[]> {
  const workers = Array.from({ length: 3 }, () =>
    startWorker({ base: server.url, lanes: 6, seed: random.below(2 ** 31) }),
  )
  await Promise.all(workers.map(({ started }) => started))
  await Bun.sleep(100 + random.below(400))
  await server.kill()
  return Promise.all(workers.map(({ memory }) => memory))
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '20' },
      'sync-ms': { type: 'string', default: '0' },
    },
  })
  const seed = chooseSeed()
  console.log(`SEED=${seed}`)
  const report = await crashRounds(
    Number(values.count),
    new Random(seed),
    Number(values['sync-ms']),
  )
  await cleanUp()
  for (const problem of report.problems.slice(0, 20)) console.log(problem)
  console.log(
    `${report.rounds} crashes: ${report.acknowledged} answers before them, ${report.cutOff} keyed requests cut off, ${report.problems.length} problems`,
  )
  process.exit(report.problems.length === 0 ? 0 : 1)
}
