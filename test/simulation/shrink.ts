import { shorten } from '../support/shorten.ts'
import { run, type Script, type Step } from './world.ts'

/** Runs that a shrinking may take. */
const runsMax = 400

/** The shortest script found that still fails, with one step after the other. */
export async function shrink(script: Script): Promise<Script> {
  let left = runsMax
  const fails = async (steps: Step[]) =>
    left-- > 0 &&
    run({ ...script, steps }).then(
      () => false,
      () => true,
    )
  let steps = await shorten(script.steps, fails, left)
  for (const [at, step] of steps.entries()) {
    if (step.turns === null) continue
    const calmer = steps.with(at, { ...step, turns: null })
    if (await fails(calmer)) steps = calmer
  }
  return { ...script, steps }
}

/** A script as it stands in the list of scripts that found something. */
export function textOf({ seed, machines, steps }: Script): string {
  const lines = steps.map((step) => `    ${JSON.stringify(step)},`)
  return [
    '  {',
    `    seed: ${seed}, machines: ${machines}, steps: [`,
    ...lines,
    '    ],',
    '  },',
  ].join('\n')
}
