import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { newSigner, openSession } from '../support/client.ts'
import { residentMb } from '../support/process-figures.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { benchEnvironment, benchKeys } from './fixture.ts'
import { type Aim, get, kinds } from './kinds.ts'
import type { LoadJob, LoadResult, Values } from './load.ts'
import { median } from './machine.ts'
import { fileAnswers, type MadeFile, openMadeFile } from './made-file.ts'
import type { Plan } from './main.ts'
import { nonceAt } from './nonces.ts'
import { freshPayments } from './payments.ts'
import { rowOrNull, startLoader } from './processes.ts'
import { type Cell, judge, type Report, type Table } from './report.ts'
import { engineIn } from './same-engine.ts'
import { startTimes } from './start-time.ts'
import { freshTaps } from './taps.ts'

const warmSeconds = 0.5
const smallTotal = 1000
const slowerMax = 1.3
const p99TimesMax = 2
const readyMsMax = 150
/** The expected rates of the first run, with one connection and with more; later runs use measured ones. */
const perSecondGuess = { one: 4000, more: 12_000 }

type Side = { made: MadeFile; server: TestServer; token: string; aim: Aim }
type Route = {
  name: string
  job: (side: Side, count: number) => Pick<LoadJob, 'request' | 'values' | 'again' | 'status'>
}

/** Every route on a file of `total` vouchers against the same on one of a thousand. */
export async function compareFiles(
  plan: Plan,
  total: number,
): Promise<Pick<Report, 'engine' | 'tables' | 'targets'>> {
  if (!Number.isInteger(total) || total % 10 !== 0 || total <= smallTotal) {
    throw new Error(`--vouchers takes a multiple of 10 above ${smallTotal}`)
  }
  const large = await open(plan, total)
  const small = await open(plan, smallTotal)
  const loader = startLoader()
  const engine = engineIn(large.server.output())
  const wanted = routes().filter(
    ({ name }) => plan.only.length === 0 || plan.only.some((part) => name.includes(part)),
  )
  const rows: Cell[][] = []
  const targets: ReturnType<typeof judge>[] = []
  for (const connections of plan.connections) {
    for (const route of wanted) {
      plan.say(`${route.name}, ${connections} connection(s) …`)
      const results: { small: LoadResult; large: LoadResult }[] = []
      let perSecond = connections === 1 ? perSecondGuess.one : perSecondGuess.more
      const run = async (side: Side) => {
        const { url, pid } = side.server
        const time = { warmSeconds, seconds: plan.seconds, connections }
        const jobOf = (count: number) => ({ ...time, url, pid, ...route.job(side, count) })
        const count = Math.ceil(perSecond * 1.2 * (warmSeconds + plan.seconds))
        const result = await loader.runFull(jobOf, count)
        perSecond = result.perSecond
        return result
      }
      await rowOrNull(route.name, plan.say, async () => {
        while (results.length < plan.rounds) {
          results.push({ small: await run(small), large: await run(large) })
        }
      })
      const times = results.map((pair) => pair.small.perSecond / pair.large.perSecond)
      const of = (side: 'small' | 'large', name: keyof LoadResult) =>
        median(results.map((pair) => pair[side][name]))
      rows.push([
        route.name,
        String(connections),
        of('small', 'perSecond'),
        of('large', 'perSecond'),
        times.length === 0 ? 'n/a' : spread(times),
        of('small', 'p99Ms'),
        of('large', 'p99Ms'),
      ])
      const name = `${route.name}, ${connections} conn.: time against ${smallTotal} vouchers`
      const measured = median(times)
      targets.push(judge({ name, measured, limit: slowerMax, unit: '×', least: false }))
      targets.push(
        judge({
          name: `${route.name}, ${connections} conn.: p99 against ${smallTotal} vouchers`,
          measured: median(results.map((pair) => pair.large.p99Ms / pair.small.p99Ms)),
          limit: p99TimesMax,
          unit: '×',
          least: false,
        }),
      )
    }
  }
  const memory = [small, large].map(({ server }) => residentMb(server.pid).peak)
  await Promise.all([small.server.stop(), large.server.stop()])
  plan.say('time to the first answer …')
  const starts = await startRows(plan, [small, large])
  const [, readyMs = Number.NaN] = starts.map(({ ms }) => ms)
  const ready = `ready with ${total} vouchers`
  targets.push(
    judge({ name: ready, measured: readyMs, limit: readyMsMax, unit: 'ms', least: false }),
  )
  const table: Table = {
    title: `A file of ${total} vouchers against one of ${smallTotal}`,
    about: [
      'previews, claims, refreshes and voids take vouchers from all over the large file;',
      'the small one is given those to spend just before: it ends with as many as were measured',
      'time: how many times as long a request takes, median of the rounds; in brackets the least and the most',
    ],
    columns: [
      'route',
      'conn.',
      'small per s',
      'large per s',
      'time',
      'small p99 ms',
      'large p99 ms',
    ],
    rows,
  }
  const state: Table = {
    title: 'Start and memory',
    about: ['ready: from the start of the process to the first 200 on /readyz'],
    columns: ['file', '', 'ready ms', 'peak MB'],
    rows: starts.map(({ name, ms }, at) => [name, '', ms, memory[at] ?? Number.NaN]),
  }
  return { engine, tables: [table, state], targets }
}

function spread(times: readonly number[]): string {
  const [least, most] = [Math.min(...times), Math.max(...times)].map((one) => one.toFixed(2))
  return `${median(times).toFixed(2)} × (${least}–${most})`
}

/** A server on a copy of the made file. */
async function open(plan: Plan, total: number): Promise<Side> {
  plan.say(`a file of ${total} vouchers …`)
  const made = await openMadeFile(plan.kept, total)
  const dataDir = join(plan.directory, `file-${total}`)
  cpSync(made.directory, dataDir, { recursive: true })
  const server = await startServer({ dataDir, env: benchEnvironment, command: plan.command })
  if (!(await fileAnswers(server.url, nonceAt(total - 1)))) {
    throw new Error('the made file does not know its own vouchers')
  }
  const merchant = newSigner(Uint8Array.fromHex(benchKeys.merchant))
  const token = await openSession(server.url, merchant)
  const { couponId } = made
  let spent = 0
  const fromFile = (count: number): Values => {
    const start = spent
    // Seven of ten can be spent.
    spent = Math.min(total, start + Math.ceil(count / 0.7))
    if (spent === start) throw new Error('the made file is spent: fewer seconds or rounds')
    return { from: 'file', part: { total, start, count: spent - start, open: true } }
  }
  const known: Values = {
    from: 'file',
    part: { total, start: 0, count: Math.min(total, 100_000), open: false },
  }
  // Spent vouchers must not be among the first ones of the small file: it would soon have none left.
  const open = (count: number): Values =>
    total === smallTotal ? { from: 'minted', count, token, couponId } : fromFile(count)
  const taps = (count: number) => freshPayments(dataDir, count)
  const touches = (count: number) => freshTaps(dataDir, count)
  return { made, server, token, aim: { token, couponId, open, known: () => known, taps, touches } }
}

/** The kinds that are measured against the ceiling, and the lists of management. */
function routes(): Route[] {
  const authorized = ({ token }: Side) => `Authorization: Bearer ${token}\r\n`
  const read = (name: string, target: (side: Side) => string): Route => ({
    name,
    job: (side) => ({
      request: get(target(side), authorized(side)),
      values: { from: 'none' },
      again: true,
      status: 200,
    }),
  })
  return [
    ...kinds.map(({ name, job }): Route => ({ name, job: (side, count) => job(side.aim, count) })),
    {
      name: 'void',
      job: (side, count) => ({
        request: get(`/api/coupons/${side.aim.couponId}/mints/$VALUE`, authorized(side), 'DELETE'),
        values: side.aim.open(count),
        again: false,
        status: 200,
      }),
    },
    read('list definitions', () => '/api/coupons'),
    read('list mintable', () => '/api/coupons/mintable'),
    read('list redemptions', () => '/api/coupons/redemptions'),
    read('list issuances', ({ aim }) => `/api/coupons/${aim.couponId}/mints`),
  ]
}

async function startRows(plan: Plan, sides: readonly Side[]) {
  const rows: { name: string; ms: number }[] = []
  for (const { server, made } of sides) {
    const times = await startTimes(plan.command, server.dataDir, plan.starts)
    rows.push({ name: `${made.total} vouchers`, ms: median(times) })
  }
  return rows
}
