import { type Databases, openDatabases } from '../support/postgres-databases.ts'
import { shorten } from '../support/shorten.ts'
import { found } from './found.ts'
import { run, type Script, type Step, scriptOf } from './run.ts'
import { Difference } from './twins.ts'

type Campaign = {
  scripts: number
  first: number
  steps: number
  /** Begin with the scripts that differed once. */
  found: boolean
  /** A script that differs is only told, and not shortened. */
  asItIs: boolean
}

/** Run scripts on both engines. False if one of them differs. */
export async function compare(campaign: Campaign): Promise<boolean> {
  const { scripts, first, steps, found: known, asItIs } = campaign
  const databases = await openDatabases()
  const began = performance.now()
  let requests = 0
  try {
    const fresh = Array.from({ length: scripts }, (_, at) => scriptOf(first + at, steps))
    for (const script of [...(known ? found : []), ...fresh]) {
      try {
        requests += await run(databases, script)
      } catch (cause) {
        const kind = cause instanceof Difference ? cause.kind : String(cause)
        console.log(`SEED=${script.seed} differs: ${kind}\n${cause}`)
        if (!asItIs && cause instanceof Difference) await tell(databases, script, kind)
        return false
      }
    }
  } finally {
    await databases.stop()
  }
  const seconds = Math.round((performance.now() - began) / 1000)
  const seeds = `seeds ${first} to ${first + scripts - 1}`
  console.log(`${requests} requests in ${scripts} scripts (${seeds}), ${seconds} s: no difference`)
  return true
}

/** Print the shortest script that still differs in the same way. */
async function tell(databases: Databases, script: Script, kind: string): Promise<void> {
  const differs = (steps: Step[]) =>
    run(databases, { ...script, steps }).then(
      () => false,
      (cause) => cause instanceof Difference && cause.kind === kind,
    )
  const steps = await shorten(script.steps, differs, runsMax)
  await run(databases, { ...script, steps }).catch((again: unknown) => console.log(String(again)))
  console.log(`${steps.length} of ${script.steps.length} steps are enough:`)
  console.log(`  { seed: ${script.seed}, steps: [`)
  for (const step of steps) console.log(`    ${JSON.stringify(step)},`)
  console.log('  ] },')
}

/** Runs that a shortening may take. */
const runsMax = 150
