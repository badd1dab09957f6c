import { call } from '../support/client.ts'
import { cpuSeconds, forgetPeak, residentMb } from '../support/process-figures.ts'
import { sendBytes } from '../support/raw.ts'
import { startServer } from '../support/server.ts'
import { type Attempt, collectAttempts, costEnv, parts } from './cost-attempts.ts'
import type { Random } from './random.ts'

/** Bounds of a short run: processor time, also as a multiple of that of a harmless request of the same length. */
const cpuMsMax = 500
const cpuRatioMax = 20
/** Bound of a long run: the delay of others by one request. */
const waitMsMax = 50
/** The most that one request may add to the peak of resident memory. */
const grownMbMax = 32
/** An attempt that breaks a bound of time is repeated: another process may have been at work. */
const tries = 3
/** Longer than the worst that was ever measured. */
const answerMs = 60_000
/** A run ends after so many: one cause shows in a hundred places, and each takes seconds. */
const problemsMax = 5

const notes =
  process.platform === 'linux'
    ? []
    : ['neither processor time nor memory was measured: that needs the /proc of Linux']

type CostReport = { attempts: number; accepted: number; problems: string[]; notes: string[] }

/**
 * Send the known attempts, and so many of the others as the seed chooses, to a server of its own. Each is
 * judged by the processor time of the server, which neighbours on the machine hardly change.
 */
export async function fuzzCost(random: Random, others: number): Promise<CostReport> {
  const bench = await openBench()
  const all = await collectAttempts(bench.server)
  const groups = parts.map((part) => all.filter((one) => !one.known && one.part === part))
  const chosen = Array.from({ length: others }, () => random.pick(random.pick(groups)))
  const report: CostReport = { attempts: 0, accepted: 0, problems: [], notes }
  for (const attempt of [...all.filter(({ known }) => known), ...chosen]) {
    if (report.problems.length >= problemsMax) break
    report.attempts++
    const problem = await judgeCpu(bench, attempt)
    if (problem) report.problems.push(`SEED=${random.seed} ${attempt.name}: ${problem}`)
  }
  return { ...report, accepted: bench.accepted() }
}

/** The bound that an attempt breaks three times in a row, in words; null when it breaks none. */
async function judgeCpu(
  bench: Bench,
  { name, hostile, harmless, part }: Attempt,
): Promise<string | null> {
  let problem: string | null = null
  for (let left = tries; left > 0; left--) {
    const { fault, cpuMs, ...measured } = await bench.measure(part, hostile())
    problem = fault
    const grownMb = await grownAnew(measured.grownMb, name)
    if (grownMb > grownMbMax) return `${Math.round(grownMb)} MB more at its peak`
    if (cpuMs > cpuMsMax) {
      const plain = await bench.measure(part, harmless())
      const times = cpuMs / Math.max(1, plain.cpuMs)
      if (times > cpuRatioMax) problem = `${cpuMs} ms, a harmless one ${plain.cpuMs} ms`
    }
    if (problem === null) return null
  }
  return problem
}

/**
 * The growth of the peak, MB; where it is beyond the bound, that of the same attempt on a new server if it
 * is less: an older server keeps memory of earlier requests.
 */
async function grownAnew(grownMb: number, name: string, command?: string[]): Promise<number> {
  if (grownMb <= grownMbMax) return grownMb
  const bench = await openBench(command)
  const attempts = await collectAttempts(bench.server)
  const same = attempts.find((attempt) => attempt.name === name)
  if (!same) throw new Error(`there is no attempt ${name}`)
  await bench.measure(same.part, same.harmless())
  const again = await bench.measure(same.part, same.hostile())
  await bench.server.stop()
  return Math.min(grownMb, again.grownMb)
}

/** How long others waited, milliseconds, the best of three, and what the peak grew by, MB. */
export type Cost = { name: string; waitMs: number; grownMb: number }

/**
 * Send every attempt to a server while others ask it all the time, until the steady clock says so;
 * `command`: a built program in place of the source.
 */
export async function measureCosts(
  random: Random,
  { command, untilMs }: { command: string[] | undefined; untilMs: number },
): Promise<CostReport & { worst: Cost[] }> {
  const bench = await openBench(command)
  const attempts = shuffled(random, await collectAttempts(bench.server))
  const report: CostReport = { attempts: 0, accepted: 0, problems: [], notes }
  let worst: Cost[] = []
  for (const attempt of attempts) {
    if (performance.now() > untilMs) {
      const left = attempts.length - report.attempts
      report.notes = [...notes, `${left} of ${attempts.length} attempts were not reached in time`]
      break
    }
    report.attempts++
    const { fault, ...cost } = await bestOf(bench, attempt, command)
    worst = worstOf([...worst, cost])
    const told = (problem: string) => report.problems.push(`${cost.name}: ${problem}`)
    if (fault) told(fault)
    if (cost.waitMs > waitMsMax) told(`others waited ${Math.round(cost.waitMs)} ms`)
    if (cost.grownMb > grownMbMax) told(`${Math.round(cost.grownMb)} MB more at its peak`)
  }
  return { ...report, accepted: bench.accepted(), worst }
}

/** The ten that made others wait longest, and the ten that took the most memory. */
function worstOf(costs: readonly Cost[]): Cost[] {
  const slowest = costs.toSorted((a, b) => b.waitMs - a.waitMs).slice(0, 10)
  const largest = costs.toSorted((a, b) => b.grownMb - a.grownMb).slice(0, 10)
  return [...new Set([...slowest, ...largest])]
}

async function bestOf(
  bench: Bench,
  { name, part, hostile }: Attempt,
  command: string[] | undefined,
): Promise<Cost & { fault: string | null }> {
  const best = { name, waitMs: Number.POSITIVE_INFINITY, grownMb: 0 }
  let fault: string | null = null
  for (let left = tries; left > 0; left--) {
    const bytes = hostile()
    const { measured, waitMs } = await bench.measureWaits(part, bytes)
    best.waitMs = Math.min(best.waitMs, waitMs)
    if (left === tries) best.grownMb = await grownAnew(measured.grownMb, name, command)
    fault = measured.fault
    if (best.waitMs <= waitMsMax && fault === null) break
  }
  return { ...best, fault }
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const keyed = items.map((item) => [random.next(), item] as const)
  return keyed.sort(([a], [b]) => a - b).map(([, item]) => item)
}

type Measured = { cpuMs: number; grownMb: number; fault: string | null }
type Bench = Awaited<ReturnType<typeof openBench>>

/** A server, and what an attempt costs it. */
async function openBench(command?: string[]) {
  const server = await startServer({ env: costEnv, ...(command && { command }) })
  let line: RelayLine | null = null
  let accepted = 0

  const sendFrame = async (bytes: Uint8Array): Promise<string | null> => {
    line ??= await openLine(server.url)
    if (!(await line.ask(Buffer.from(bytes).toString('latin1')))) line = null
    return null
  }

  const sendRequest = async (bytes: Uint8Array): Promise<string | null> => {
    try {
      const { status } = await sendBytes(server.url, bytes, { milliseconds: answerMs })
      if (status < 300) accepted++
      return status >= 500 && status !== 501 ? `answered with ${status}` : null
    } catch (cause) {
      // Bytes that are no HTTP may be answered by closing the connection, but not by silence.
      const closed = cause instanceof Error && cause.message.includes('ended without')
      return closed ? null : String(cause)
    }
  }

  const measure = async (part: Attempt['part'], bytes: Uint8Array): Promise<Measured> => {
    const { pid } = server
    const anew = forgetPeak(pid)
    const before = residentMb(pid)
    const cpu = cpuSeconds(pid)
    const fault = part === 'frame' ? await sendFrame(bytes) : await sendRequest(bytes)
    const cpuMs = Math.round((cpuSeconds(pid) - cpu) * 1000)
    const grownMb = residentMb(pid).peak - (anew ? before.now : before.peak)
    return { cpuMs, grownMb: Number.isNaN(grownMb) ? 0 : grownMb, fault }
  }

  const isAlive = async () => {
    const { status } = await call(server.url, '/livez')
    if (status !== 200) throw new Error(`/livez says ${status}`)
  }

  return {
    server,
    measure,
    /** Requests that were granted. */
    accepted: () => accepted,

    /** The same while somebody else asks without pause: the longest of his waits. */
    async measureWaits(part: Attempt['part'], bytes: Uint8Array) {
      const other = part === 'frame' ? await openLine(server.url) : null
      const ask = other ? () => other.ask('["CLOSE","nothing"]') : isAlive
      await ask()
      let working = true
      let waitMs = 0
      const asking = (async () => {
        while (working) {
          const started = performance.now()
          await ask()
          waitMs = Math.max(waitMs, performance.now() - started)
        }
      })()
      const measured = await measure(part, bytes)
      working = false
      await asking
      other?.close()
      return { measured, waitMs }
    },
  }
}

type RelayLine = {
  /** Send a frame and wait until the relay has dealt with it; false when it closed the connection. */
  ask(text: string): Promise<boolean>
  close(): void
}

async function openLine(base: string): Promise<RelayLine> {
  const socket = new WebSocket(`${base.replace('http', 'ws')}/relay`)
  let settle: (open: boolean) => void = () => undefined
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new Error('the relay does not answer'))
  })
  socket.onmessage = ({ data }) => {
    if (String(data) === '["EOSE","end"]') settle(true)
  }
  socket.onclose = () => settle(false)
  return {
    ask(text) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      settle = resolve
      socket.send(text)
      // Frames of one connection are dealt with in order.
      socket.send(`["REQ","end",{"ids":["${'0'.repeat(64)}"],"limit":1}]`)
      return promise
    },
    close: () => socket.close(),
  }
}
