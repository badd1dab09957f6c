import { parseArgs } from 'node:util'
import { scriptOf } from './script.ts'
import { shrink, textOf } from './shrink.ts'
import { run } from './world.ts'

/**
 * The simulation: `npm run simulate -- --seeds 10000`, with `--seed 7` for the first seed and `--steps 120` for the
 * length of a script. A seed that fails is shrunk to a short script, to be added to `found.ts`. Exits with 1 then.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '120' },
  },
})
const first = Number(values.seed)
const began = performance.now()
let operations = 0
let done = 0
for (; done < Number(values.seeds); done++) {
  const script = scriptOf(first + done, Number(values.steps))
  try {
    operations += (await run(script)).operations
  } catch (cause) {
    console.log(`SEED=${script.seed} failed: ${String(cause).split('\n').at(-1)}`)
    const shorter = await shrink(script)
    await run(shorter).catch((again: unknown) => console.log(String(again)))
    console.log(
      `${shorter.steps.length} of ${script.steps.length} steps are enough:\n${textOf(shorter)}`,
    )
    process.exit(1)
  }
}
const seconds = (performance.now() - began) / 1000
const cpu = process.cpuUsage()
console.log(
  `${operations} operations over ${done} seeds (${first} to ${first + done - 1}) in ${seconds.toFixed(0)} s, ` +
    `${((cpu.user + cpu.system) / 1e6).toFixed(0)} s of CPU: nothing was lost, doubled or contradicted`,
)
