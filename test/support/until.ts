/** Less than a test has in all (60 s), so that a wait in vain is told by its own words. */
export const patienceSeconds = 50

/**
 * Wait until a state is there; fails with the name of the state. It is looked for every few milliseconds,
 * and more seldom in a long wait, so that requests stay within their rate limit. The patience is for a busy
 * machine: no test asserts with it how long something takes.
 */
export async function until(
  state: string,
  isThere: () => boolean | Promise<boolean>,
  seconds = patienceSeconds,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  for (let pauseMs = 5; !(await isThere()); pauseMs = Math.min(pauseMs * 1.1, 100)) {
    if (performance.now() > end) throw new Error(`this did not happen: ${state}`)
    await Bun.sleep(pauseMs)
  }
}

/** Wait for a text in what a server writes: a line may be read after the answer that it is about. */
export function logged({ output }: { output(): string }, text: string): Promise<void> {
  return until(`a line with ${text}`, () => output().includes(text))
}
