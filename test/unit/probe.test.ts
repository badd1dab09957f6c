import { expect, test } from 'bun:test'
import { createProbe } from '../../src/http/probe.ts'

const outcomeOf = (promise: Promise<void>) => promise.then(() => 'fine', String)

/** A probe whose runs end when the test says so. */
function createHeld(parts: { everySeconds: number; answerSeconds: number }) {
  const runs: PromiseWithResolvers<void>[] = []
  const check = () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  }
  const ask = createProbe(check, { ...parts, late: () => new Error('late') })
  return { runs, ask: () => outcomeOf(ask()) }
}

test('a check that hangs is told to all as late, and no other one begins until it has ended', async () => {
  const { runs, ask } = createHeld({ everySeconds: 0, answerSeconds: 0.05 })
  expect(await Promise.all([ask(), ask()])).toEqual(['Error: late', 'Error: late'])
  expect([await ask(), runs.length]).toEqual(['Error: late', 1])
  runs[0]?.resolve()
  await Bun.sleep(1)
  const next = ask()
  runs[1]?.resolve()
  expect([await next, runs.length]).toEqual(['fine', 2])
})

test('all who ask within its interval share a run, also one that failed', async () => {
  const { runs, ask } = createHeld({ everySeconds: 60, answerSeconds: 60 })
  const asked = [ask(), ask()]
  runs[0]?.reject(new Error('refused'))
  const refused = 'Error: refused'
  expect(await Promise.all([...asked, ask()])).toEqual([refused, refused, refused])
  expect(runs).toHaveLength(1)
})
