import { beforeEach, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { createLoopMonitor, type LoopMonitor } from '../../src/http/loop.ts'

let now: number
let lines: unknown[]
let loop: LoopMonitor

beforeEach(() => {
  now = 1000
  lines = []
  const nothing = () => undefined
  const warn = (event: string, fields: object = {}) => lines.push([event, fields])
  loop = createLoopMonitor({ debug: nothing, info: nothing, warn, error: nothing }, () => now)
})

/** Time passes, and the ticks in it come when they are due. */
function idle(ms: number): void {
  for (let left = ms; left > 0; left -= limits.loopTickMs) {
    now += limits.loopTickMs
    loop.tick()
  }
}

describe('a stall over 200 ms is logged with the route that was at work', () => {
  test('from the start of its work to its answer', () => {
    idle(200)
    loop.enter('/a')
    now += 400
    loop.leave('/a')
    now += 1
    loop.tick()
    expect(lines).toEqual([['loop.stalled', { route: '/a', ms: 400 }]])
  })

  test('when its answer was not ready at the end of the stall', () => {
    loop.enter('/a')
    now += 300
    loop.tick()
    expect(lines).toEqual([['loop.stalled', { route: '/a', ms: 300 }]])
  })

  test('when it continued after a wait, while other requests came', () => {
    loop.enter('/a')
    idle(100)
    loop.enter('/b')
    now += 500
    loop.leave('/a')
    loop.leave('/b')
    loop.tick()
    expect(lines).toEqual([['loop.stalled', { route: '/a', ms: 500 }]])
  })

  test('with the longest of several routes', () => {
    for (const [route, ms] of [
      ['/a', 30],
      ['/b', 250],
      ['/c', 30],
    ] as const) {
      loop.enter(route)
      now += ms
      loop.leave(route)
    }
    loop.tick()
    expect(lines).toEqual([['loop.stalled', { route: '/b', ms: 260 }]])
  })

  test('without a route, when no request was at work', () => {
    loop.enter('/a')
    loop.leave('/a')
    now += 350
    loop.tick()
    expect(lines).toEqual([['loop.stalled', { route: 'none', ms: 300 }]])
  })
})

test('waiting requests and short stalls are not logged', () => {
  loop.enter('/a')
  idle(10_000)
  loop.leave('/a')
  now += 200
  loop.tick()
  expect(lines).toEqual([])
  expect(loop.longestSeconds()).toBe(0.15)
})

test('the log has one line per ten seconds', () => {
  const stall = () => {
    now += 400
    loop.tick()
  }
  stall()
  stall()
  expect(lines).toHaveLength(1)
  idle(limits.loopLogSeconds * 1000)
  stall()
  expect(lines).toHaveLength(2)
})

test('the longest stall is shown for one to two minutes', () => {
  now += 700
  loop.tick()
  idle(limits.loopWindowSeconds * 1000)
  expect(loop.longestSeconds()).toBe(0.65)
  idle(limits.loopWindowSeconds * 1000 + 1000)
  expect(loop.longestSeconds()).toBe(0)
})
