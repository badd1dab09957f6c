import { describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { createJobs, type JobOptions, type Jobs, systemTime } from '../../src/db/jobs.ts'
import { createLeases, createTime } from '../support/jobs.ts'

describe('a job', () => {
  test('runs for the first time after its interval, and then again and again', async () => {
    const { time, runs } = start({ everySeconds: 60 })
    await time.pass(59)
    expect(runs).toEqual([])
    await time.pass(121)
    expect(runs).toEqual([60, 120, 180])
  })

  test('without an interval runs only when it is woken', async () => {
    const { time, runs, job } = start({})
    await time.pass(10_000)
    expect(runs).toEqual([])
    job.wake()
    await time.pass(0)
    await time.pass(10_000)
    expect(runs).toEqual([10_000])
  })

  test('runs soon when it is woken, and counts its interval from there', async () => {
    const { time, runs, job } = start({ everySeconds: 60 })
    await time.pass(50)
    job.wake()
    await time.pass(60)
    expect(runs).toEqual([50, 110])
  })

  test('makes one run of the wakes of one turn, and of one debounce time', async () => {
    const plain = start({})
    plain.job.wake()
    plain.job.wake()
    await plain.time.pass(1)
    expect(plain.runs).toEqual([0])

    const slow = start({ wakeSeconds: 5 })
    slow.job.wake()
    await slow.time.pass(4)
    slow.job.wake()
    await slow.time.pass(1)
    slow.job.wake()
    await slow.time.pass(20)
    expect(slow.runs).toEqual([5, 10])
  })

  test('that is woken during a run runs once more, and never twice at a time', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { time, runs, job } = start({ run: () => gate.promise })
    job.wake()
    await time.pass(1)
    job.wake()
    job.wake()
    await time.pass(1)
    expect(runs).toEqual([0])
    gate.resolve(undefined)
    await time.pass(1)
    expect(runs).toEqual([0, 2])
  })

  test('decides itself how soon it runs again, but never later than its interval', async () => {
    const waits = [2, 5000]
    const { time, runs } = start({ everySeconds: 60, run: async () => waits.shift() })
    await time.pass(122)
    expect(runs).toEqual([60, 62, 122])
  })

  test('that always has more to do lets others have their turn', async () => {
    const { time, runs, job } = start({ run: async () => 0 })
    job.wake()
    await time.pass(0.0105)
    expect(runs).toHaveLength(11)
  })

  test('waits longer after each failure, and reports only the first', async () => {
    const { time, runs, failures } = start({
      everySeconds: 1000,
      run: () => Promise.reject(new Error('no')),
    })
    await time.pass(1200)
    expect(runs).toEqual([1000, 1005, 1015, 1035, 1075, 1135, 1195])
    expect(failures).toEqual(['no'])
  })

  test('that succeeds again reports the next failure and waits little after it', async () => {
    const outcomes = ['first', 'same', 'good', 'second']
    const { time, runs, failures } = start({
      everySeconds: 100,
      run: async () => {
        const outcome = outcomes.shift() ?? 'good'
        if (outcome !== 'good') throw new Error(outcome)
        return undefined
      },
    })
    await time.pass(220)
    expect(runs).toEqual([100, 105, 115, 215, 220])
    expect(failures).toEqual(['first', 'second'])
  })

  test('that failed is woken only after its wait', async () => {
    const { time, runs, job } = start({ run: () => Promise.reject(new Error('no')) })
    job.wake()
    await time.pass(0)
    job.wake()
    await time.pass(limits.jobRetrySeconds - 1)
    job.wake()
    expect(runs).toEqual([0])
    await time.pass(1)
    expect(runs).toEqual([0, limits.jobRetrySeconds])
  })

  test('rests after a failure that is found outside of a run, and its wake waits too', async () => {
    const { time, runs, failures, job } = start({})
    job.fail(new Error('outside'))
    job.fail(new Error('again'))
    job.wake()
    await time.pass(limits.jobRetrySeconds - 1)
    expect(runs).toEqual([])
    await time.pass(1)
    expect(runs).toEqual([limits.jobRetrySeconds])
    job.wake()
    await time.pass(1)
    expect(runs).toHaveLength(2)
    expect(failures).toEqual(['outside'])
  })

  test('rests after a failure that is found during a run, once that has ended', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { time, runs, job } = start({ run: () => gate.promise })
    job.wake()
    await time.pass(1)
    job.fail(new Error('outside'))
    gate.resolve(undefined)
    await time.pass(limits.jobRetrySeconds - 1)
    expect(runs).toEqual([0])
    await time.pass(1)
    expect(runs).toEqual([0, 1 + limits.jobRetrySeconds])
  })

  test('runs again after a run that outlasts the rest of such a failure', async () => {
    for (const woken of [false, true]) {
      const gate = Promise.withResolvers<undefined>()
      const { time, runs, job } = start({ run: () => gate.promise })
      job.wake()
      await time.pass(1)
      job.fail(new Error('outside'))
      if (woken) job.wake()
      await time.pass(2 * limits.jobRetrySeconds)
      gate.resolve(undefined)
      await time.pass(1)
      expect(runs).toEqual([0, 1 + 2 * limits.jobRetrySeconds])
    }
  })

  test('waits as long after the next such failure, when the run between them succeeded', async () => {
    const { time, runs, job } = start({})
    for (let turn = 0; turn < 3; turn++) {
      job.fail(new Error('outside'))
      await time.pass(limits.jobRetrySeconds)
    }
    expect(runs).toEqual([5, 10, 15])
  })

  test('is not put off by a wake with a debounce time', async () => {
    const { time, runs, job } = start({ everySeconds: 60, wakeSeconds: 50 })
    await time.pass(59)
    job.wake()
    await time.pass(2)
    expect(runs).toEqual([60])
  })

  test('keeps a wake during a run whose timer fired a moment early', async () => {
    const gate = Promise.withResolvers<undefined>()
    let fails = true
    const early = createTime()
    const after = (seconds: number, call: () => void) => early.after(seconds * 0.999, call)
    const { runs, job } = start(
      { run: () => (fails ? Promise.reject(new Error('no')) : gate.promise) },
      createLeases(),
      { ...early, after },
    )
    job.wake()
    await early.pass(0)
    fails = false
    await early.pass(limits.jobRetrySeconds * 0.9995)
    job.wake()
    gate.resolve(undefined)
    await early.pass(1)
    expect(runs).toHaveLength(3)
  })

  test('that throws at once is a failure like any other', async () => {
    const { time, failures } = start({
      everySeconds: 1,
      run: () => {
        throw new Error('at once')
      },
    })
    await time.pass(1)
    expect(failures).toEqual(['at once'])
  })

  test('that is stopped runs no more, and its stop waits for the run under way', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { time, runs, job } = start({ everySeconds: 1, run: () => gate.promise })
    await time.pass(1)
    job.wake()
    let stopped = false
    const stopping = job.stop().then(() => {
      stopped = true
    })
    await time.pass(10)
    expect(stopped).toBe(false)
    gate.resolve(undefined)
    await stopping
    job.wake()
    await time.pass(10)
    expect(runs).toEqual([1])
  })
})

describe('a job with a lease', () => {
  test('runs only where its lease is, takes it once, and gives it back at the stop', async () => {
    const leases = createLeases()
    const here = start({ everySeconds: 1, lease: 'sweep' }, leases)
    const there = start({ everySeconds: 1, lease: 'sweep' }, leases)
    const other = start({ everySeconds: 1, lease: 'another' }, leases)
    for (const { time } of [here, there, other]) await time.pass(3)
    expect([here.runs, there.runs, other.runs]).toEqual([[1, 2, 3], [], [1, 2, 3]])
    await here.job.stop()
    await there.time.pass(1)
    expect(there.runs).toEqual([4])
    expect(leases.given).toEqual(['sweep', 'another', 'sweep'])
  })

  test('gives it back at the stop after its last work, or not at all', async () => {
    const leases = createLeases()
    const { time, job } = start({ everySeconds: 1, lease: 'sweep' }, leases)
    await time.pass(1)
    const gate = Promise.withResolvers<void>()
    const stopping = job.stop(() => gate.promise)
    await time.pass(1)
    expect(await leases.lease('sweep')).toBeNull()
    gate.resolve()
    await stopping
    const taken = await leases.lease('sweep')
    expect(taken).not.toBeNull()
    await taken?.release()
    const another = start({ everySeconds: 1, lease: 'sweep' }, leases)
    await another.time.pass(1)
    await another.job.stop(() => null)
    expect(await leases.lease('sweep')).toBeNull()
  })

  test('asks for it now and then while another node has it, however long its interval is', async () => {
    const leases = createLeases()
    await leases.lease('sweep')
    const { time, runs, job } = start({ everySeconds: 3600, lease: 'sweep' }, leases)
    job.wake()
    await time.pass(1)
    leases.lose('sweep')
    await time.pass(limits.leaseLookSeconds)
    expect(runs).toEqual([limits.leaseLookSeconds])
  })

  test('does not ask again for each wake while another node has it', async () => {
    const leases = createLeases()
    await leases.lease('sweep')
    const { time, job } = start({ lease: 'sweep' }, leases)
    job.wake()
    await time.pass(1)
    const asked = leases.asked
    for (let wake = 0; wake < 10; wake++) {
      job.wake()
      await time.pass(0.1)
    }
    expect(leases.asked).toBe(asked)
  })

  test('that is stopped while it asks for it does not run', async () => {
    const leases = createLeases()
    const { time, runs, job } = start({ lease: 'sweep' }, leases)
    job.wake()
    leases.answered = Promise.withResolvers<void>()
    await time.pass(0)
    const stopping = job.stop()
    leases.answered.resolve()
    await stopping
    expect(runs).toEqual([])
    expect(await leases.lease('sweep')).not.toBeNull()
  })

  test('that lost it does not run until it has it again', async () => {
    const leases = createLeases()
    const { time, runs, job } = start({ everySeconds: 1, lease: 'sweep' }, leases)
    await time.pass(1)
    leases.lose('sweep')
    const taken = await leases.lease('sweep')
    await time.pass(3)
    expect(runs).toEqual([1])
    await taken?.release()
    await time.pass(1)
    expect(runs).toEqual([1, 5])
    await job.stop()
    expect(await leases.lease('sweep')).not.toBeNull()
  })

  test('that cannot ask for it fails, and tries again soon, however long that lasts', async () => {
    for (const outage of [10, 200]) {
      const leases = createLeases()
      leases.broken = true
      const { time, runs, failures } = start({ everySeconds: 1, lease: 'sweep' }, leases)
      await time.pass(outage)
      leases.broken = false
      await time.pass(limits.jobOutageSeconds)
      expect(failures).toEqual(['no engine'])
      expect(runs[0]).toBeWithin(outage, outage + limits.jobOutageSeconds + 1)
    }
  })

  test('asks for it as often after many outages as after the first, and tells of each', async () => {
    const leases = createLeases()
    await leases.lease('sweep')
    const { time, runs, failures } = start({ everySeconds: 3600, lease: 'sweep' }, leases)
    for (let outage = 0; outage < 6; outage++) {
      await time.pass(3600)
      leases.broken = true
      await time.pass(limits.leaseLookSeconds)
      leases.broken = false
    }
    expect(failures).toHaveLength(6)
    await time.pass(limits.jobOutageSeconds)
    leases.lose('sweep')
    await time.pass(limits.leaseLookSeconds)
    expect(runs).toHaveLength(1)
  })

  test('tries again soon where its work finds the database away, and rests longer after other failures', async () => {
    let cause: Error = new Refusal('unavailable')
    const { time, runs, job } = start({ lease: 'sweep', run: () => Promise.reject(cause) })
    job.wake()
    await time.pass(9)
    expect(runs).toEqual([0, 2, 4, 6, 8])
    cause = new Error('no')
    await time.pass(20)
    expect(runs.slice(5)).toEqual([10, 15, 25])
  })
})

test.each([
  ['every minute', {}, [60, 120]],
  ['as often as it says', { everySeconds: 40 }, [40, 80, 120]],
])('a sweep steps at once until nothing is left, and then %s', async (_, often, later) => {
  const time = createTime()
  const steps: number[] = []
  const more = [true, true, false]
  const failed = (cause: unknown) => {
    throw cause
  }
  const jobs: Jobs = createJobs(createLeases(), time)
  jobs.sweep({
    ...often,
    failed,
    step: async () => {
      steps.push(Math.floor(time.seconds()))
      return more.shift() ?? false
    },
  })
  await time.pass(1)
  expect(steps).toEqual([0, 0, 0])
  await time.pass(2 * limits.housekeepingSeconds)
  expect(steps).toEqual([0, 0, 0, ...later])
})

test('the system time calls in the next turn or later, and never after a cancel', async () => {
  const called: string[] = []
  systemTime.after(0, () => called.push('cancelled'))()
  systemTime.after(0.001, () => called.push('cancelled later'))()
  systemTime.after(1e9, () => called.push('far away'))()
  const soon = Promise.withResolvers<void>()
  systemTime.after(0, soon.resolve)
  await soon.promise
  const later = Promise.withResolvers<void>()
  const before = systemTime.seconds()
  systemTime.after(0.01, later.resolve)
  await later.promise
  expect(systemTime.seconds()).toBeGreaterThan(before)
  expect(called).toEqual([])
})

function start(options: Partial<JobOptions>, leases = createLeases(), time = createTime()) {
  const runs: number[] = []
  const failures: string[] = []
  const job = createJobs(leases, time).start({
    failed: (cause) => failures.push((cause as Error).message),
    ...options,
    run() {
      runs.push(time.seconds())
      return options.run?.() ?? Promise.resolve(undefined)
    },
  })
  return { time, runs, failures, job }
}
