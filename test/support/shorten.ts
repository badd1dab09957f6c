/**
 * The shortest list found that still fails: without each step that is not needed. It may run `fails` so often.
 */
export async function shorten<T>(
  all: readonly T[],
  fails: (fewer: T[]) => Promise<boolean>,
  runsMax: number,
): Promise<T[]> {
  let left = runsMax
  let steps = [...all]
  for (
    let size = Math.ceil(steps.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < steps.length && left > 0; ) {
      const fewer = steps.toSpliced(from, size)
      left--
      if (await fails(fewer)) steps = fewer
      else from += size
    }
  }
  return steps
}

/** The kind of a complaint: its first words without the numbers, names and values of this one case. */
export function kindOfComplaint(cause: unknown): string {
  const [line = ''] = String(cause).split('\n')
  const [words = ''] = line.split(/ but must be |["[{]/)
  return words.replaceAll(/\b\d+\b|\b[\w-]{22,}/g, '#').trim()
}
