import { parseArgs } from 'node:util'
import { scriptOf } from './script.ts'
import { complaintOf, shrink, textOf } from './shrink.ts'
import { run } from './world.ts'

/**
 * The simulation: `npm run simulate -- --seeds 10000`, with `--seed 7` for the first seed, `--steps 150` for the
 * length of a script, and `--processes 2` to share the seeds among processes. A seed that fails is shrunk to a short
 * script, to be added to `found.ts`; with `--as-it-is` it is only told. Exits with 1 then.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '150' },
    processes: { type: 'string', default: '1' },
    'as-it-is': { type: 'boolean', default: false },
  },
})
const [seeds, first, steps, processes] = [
  Number(values.seeds),
  Number(values.seed),
  Number(values.steps),
  Number(values.processes),
]
const began = performance.now()
const { operations, failed, cpuSeconds } = processes > 1 ? await shareOut() : await runAll()
const seconds = Math.round((performance.now() - began) / 1000)
const range = `seeds ${first} to ${first + seeds - 1}`
if (!failed) {
  const took = `${seconds} s, ${Math.round(cpuSeconds)} s of CPU`
  console.log(`${operations} operations in ${seeds} worlds (${range}), ${took}: no difference`)
}
process.exit(failed ? 1 : 0)

type Result = { operations: number; failed: boolean; cpuSeconds: number }

/** Run every seed here, up to the first that fails. */
async function runAll(): Promise<Result> {
  let done = 0
  for (let seed = first; seed < first + seeds; seed++) {
    const script = scriptOf(seed, steps)
    try {
      done += (await run(script)).operations
    } catch (cause) {
      console.log(`SEED=${seed} failed: ${String((cause as Error).cause).split('\n')[0]}`)
      if (values['as-it-is']) return { operations: done, failed: true, cpuSeconds: 0 }
      const shorter = await shrink(script)
      await run(shorter).catch((again: unknown) => console.log(String(again)))
      console.log(`${shorter.steps.length} of ${script.steps.length} steps are enough:`)
      console.log(textOf(shorter, (await complaintOf(shorter)) ?? ''))
      return { operations: done, failed: true, cpuSeconds: 0 }
    }
  }
  const { user, system } = process.cpuUsage()
  return { operations: done, failed: false, cpuSeconds: (user + system) / 1e6 }
}

/** Run a part of the seeds in each process. */
async function shareOut(): Promise<Result> {
  const each = Math.ceil(seeds / processes)
  const results = Array.from({ length: processes }, async (_, at): Promise<Result> => {
    const from = at * each
    const part = ['--seed', String(first + from), '--seeds', String(Math.min(each, seeds - from))]
    const command = [process.execPath, import.meta.path, ...part, '--steps', String(steps)]
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
    const text = await new Response(child.stdout).text()
    const ran = /^(\d+) operations.* (\d+) s of CPU/m.exec(text)
    if ((await child.exited) !== 0 || !ran) console.log(text)
    return { operations: Number(ran?.[1] ?? 0), failed: !ran, cpuSeconds: Number(ran?.[2] ?? 0) }
  })
  const all = await Promise.all(results)
  return {
    operations: all.reduce((sum, one) => sum + one.operations, 0),
    cpuSeconds: all.reduce((sum, one) => sum + one.cpuSeconds, 0),
    failed: all.some((one) => one.failed),
  }
}
