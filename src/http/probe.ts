type Run = { at: number; outcome: Promise<void>; ended: boolean }

/**
 * Share a check among all who ask for it: one run at a time, and no new one within `everySeconds`. It rejects with `late()`
 * while a run takes longer than `answerSeconds`, since one that hangs would be followed by others that hang, too.
 */
export function createProbe(
  check: () => Promise<void>,
  parts: { everySeconds: number; answerSeconds: number; late: () => Error },
): () => Promise<void> {
  const { everySeconds, answerSeconds, late } = parts
  let last: Run | null = null
  return async () => {
    const now = performance.now()
    if (last === null || (last.ended && now - last.at > everySeconds * 1000)) last = begin(check)
    const { promise, reject } = Promise.withResolvers<never>()
    const leftMs = last.at + answerSeconds * 1000 - now
    const timer = setTimeout(() => reject(late()), Math.max(0, leftMs))
    try {
      await Promise.race([last.outcome, promise])
    } finally {
      clearTimeout(timer)
    }
  }
}

function begin(check: () => Promise<void>): Run {
  const run: Run = { at: performance.now(), outcome: check(), ended: false }
  const end = () => {
    run.ended = true
  }
  run.outcome.then(end, end)
  return run
}
