import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanUp } from '../support/server.ts'
import { measureCosts } from './cost.ts'
import { fuzzHttp, memoryGrowthMax } from './http.ts'
import { runLedger } from './ledger.ts'
import { runModel } from './model.ts'
import { fuzzParser, parsers } from './parsers.ts'
import { chooseSeed, Random } from './random.ts'

/**
 * The long run of every fuzzer: `npm run fuzz -- --seconds 60`, with `--only model`, `ledger`, `parsers`,
 * `http` or `cost` for one of them, and `--operations 100000` for so many operations of a ledger; `SEED=…`
 * starts from that seed. `--program dist/cuponera` measures a built program (`cost`). All attempts of `cost`
 * take half an hour. Exits with 1 when something was found.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    only: { type: 'string' },
    operations: { type: 'string', default: '10000' },
    program: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
let seed = chooseSeed()
let found = 0

/** Run with one seed after the other until the time is up; a thrown error is a finding. */
async function repeat(name: string, run: (random: Random) => Promise<number> | number) {
  if (values.only !== undefined && values.only !== name) return
  const started = performance.now()
  const until = started + seconds * 1000
  let done = 0
  for (; performance.now() < until && found === 0; seed++) {
    try {
      done += await run(new Random(seed))
    } catch (cause) {
      found++
      console.log(`SEED=${seed} ${name}`, cause)
    }
  }
  console.log(`${name}: ${done} in ${Math.round((performance.now() - started) / 1000)} s`)
}

console.log(`SEED=${seed}`)
await repeat('parsers', async (random) => {
  for (const name of Object.keys(parsers)) await fuzzParser(name, random, 1000)
  return Object.keys(parsers).length * 1000
})
await repeat('model', async (random) => (await runModel(random, 500)).operations)
await repeat('ledger', async (random) => {
  const { settled, operations } = await runLedger(random, Number(values.operations))
  console.log(`of ${operations} transactions ${settled} were settled`)
  return operations
})
await repeat('http', async (random) => {
  const report = await fuzzHttp(random, Math.min(seconds, 60))
  const { warm, end } = report.memory
  const megabytes = [warm, end].map((bytes) => Math.round(bytes / 2 ** 20))
  console.log(JSON.stringify(report.statuses), `resident ${megabytes.join(' to ')} MB`)
  if (end - warm > memoryGrowthMax) report.problems.push('memory grows')
  if (report.problems.length > 0) throw new Error(report.problems.join('\n'))
  return report.requests
})
await repeat('cost', async (random) => {
  const command = values.program === undefined ? undefined : [resolve(values.program)]
  const untilMs = performance.now() + seconds * 1000
  const { attempts, problems, notes, worst } = await measureCosts(random, { command, untilMs })
  for (const note of notes) console.log(note)
  console.log('others wait, ms | peak grows, MB | what')
  for (const { name, waitMs, grownMb } of worst) {
    console.log(`${waitMs.toFixed(0).padStart(15)} | ${grownMb.toFixed(0).padStart(14)} | ${name}`)
  }
  await cleanUp()
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return attempts
})
await cleanUp()
process.exit(found === 0 ? 0 : 1)
