import type { Device, Fault } from './disk-device.ts'

/** The result of a workload on a failing disk. */
export type DiskReport = {
  /** The number of runs in which a call failed. */
  faults: number
  /** The calls by name and file, with the number of runs in which this one failed first. */
  calls: Map<string, number>
  /** Outcomes by name: refused operations, commands that stopped, … */
  outcomes: Map<string, number>
  problems: string[]
}

export function newReport(): DiskReport {
  return { faults: 0, calls: new Map(), outcomes: new Map(), problems: [] }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

export function countOutcome({ outcomes }: DiskReport, name: string): void {
  add(outcomes, name)
}

/** Count the fault of a run by the first call that failed. Files are named without their random parts. */
export function countFault(report: DiskReport, told: string): void {
  report.faults++
  const [call = '', path = ''] = told.split(' ')
  const name = path.replace(/^.*\//, '').replace(/[0-9a-f]{8}/, '…')
  add(report.calls, `${call} ${name}`)
}

export function showReport({ faults, calls, outcomes, problems }: DiskReport): string {
  const list = (counts: Map<string, number>) =>
    [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
  return `${faults} faults, ${list(outcomes)}, ${problems.length} problems\n  failed: ${list(calls)}`
}

/** Every fault at the n-th call and for how long: once, or from there on. */
const kinds = [
  { error: 'EIO', lasts: 'once' },
  { error: 'EIO', lasts: 'on' },
  { error: 'ENOSPC', lasts: 'once' },
  { error: 'ENOSPC', lasts: 'on' },
] as const

/** Where a run with large steps begins: a first start makes its key files then. */
const firstOfMany = 12

/** Beyond every call. */
const never = Number.MAX_SAFE_INTEGER

/** The calls that fail: each `every`-th. `part` of `parts`, from 0: only a share of them, so that several runs try all. */
export type Numbers = { every: number; part?: number; parts?: number }

/**
 * Run a workload once without a fault, and then with faults at the n-th of its calls: for every n each kind of fault, and
 * with a step above 1, one kind after the other.
 */
export async function atEach(
  device: Device,
  { every, part = 0, parts = 1 }: Numbers,
  run: (fault: Fault, name: string) => Promise<void>,
): Promise<void> {
  await run({ error: 'EIO', first: never, last: never }, 'no fault')
  const calls = device.counted
  let turn = 0
  for (let first = Math.min(every, firstOfMany); first <= calls; first += every) {
    const chosen = every === 1 ? kinds : kinds.slice(turn % kinds.length).slice(0, 1)
    if (turn++ % parts !== part) continue
    for (const { error, lasts } of chosen) {
      // A full disk takes half of a write first, so its fault has two calls.
      const once = error === 'ENOSPC' ? first + 1 : first
      const last = lasts === 'once' ? once : never
      await run({ error, first, last }, `${error} ${lasts} at call ${first}`)
    }
  }
}

/** Traces of a program in its output. */
export function findTraces(output: string): string[] {
  return /^\s+at |^\w*Error:|^error:/m.test(output) ? [`a trace: ${shorten(output)}`] : []
}

/** The output without the lines of the log and those of a trace. */
function shorten(output: string): string {
  const lines = output.split('\n').filter((line) => line !== '' && !/^[{\d]|^\s+at /.test(line))
  return lines.map((line) => line.slice(0, 200)).join('\n')
}

/** The reasons why the output of a program that stopped is no clear line for its operator. */
export function findUnclear(output: string): string[] {
  const line = /^cuponera: .+/m.test(output) ? [] : [`no line says why: ${shorten(output)}`]
  return [...line, ...findTraces(output)]
}
