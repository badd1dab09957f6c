import { kindOfComplaint, shorten } from '../support/shorten.ts'
import { run, type Script, type Step } from './world.ts'

/** Runs that a shrinking may take. */
const runsMax = 400

/** The shortest script found that fails with the same kind of complaint, with one step after the other. */
export async function shrink(script: Script): Promise<Script> {
  let left = runsMax
  const complaint = await complaintOf(script)
  if (complaint === null) throw new Error('a script that does not fail cannot be shrunk')
  const fails = async (steps: Step[]) =>
    left-- > 0 && (await complaintOf({ ...script, steps })) === complaint
  let steps = await shorten(script.steps, fails, left)
  for (const [at, step] of steps.entries()) {
    if (step.turns === null) continue
    const calmer = steps.with(at, { ...step, turns: null })
    if (await fails(calmer)) steps = calmer
  }
  return { ...script, steps }
}

/** The kind of complaint with which a script fails, or null. */
export function complaintOf(script: Script): Promise<string | null> {
  return run(script).then(
    () => null,
    (cause: unknown) => kindOfComplaint((cause as Error).cause),
  )
}

/** A script as it stands in the list of scripts that found something. */
export function textOf({ seed, machines, steps }: Script, complaint: string): string {
  const lines = steps.map((step) => `    ${JSON.stringify(step)},`)
  return [
    '  {',
    `    found: ${JSON.stringify(complaint)},`,
    `    seed: ${seed}, machines: ${machines}, steps: [`,
    ...lines,
    '    ],',
    '  },',
  ].join('\n')
}
