import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createDefinition, newSigner, openSession } from '../support/client.ts'
import { forgetPeak, residentMb } from '../support/process-figures.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { benchDefinition, benchEnvironment, benchKeys } from './fixture.ts'
import { type Aim, get, type Kind, kinds } from './kinds.ts'
import type { LoadJob, LoadResult, Values } from './load.ts'
import { median } from './machine.ts'
import type { Plan } from './main.ts'
import { freshPayments } from './payments.ts'
import { type Listening, rowOrNull, startCeiling, startLoader } from './processes.ts'
import { type Cell, judge, percent, type Report, type Table } from './report.ts'
import { engineIn, requireSameEngine } from './same-engine.ts'
import { firstStartMs, startTimes } from './start-time.ts'
import { freshTaps } from './taps.ts'

const warmSeconds = 0.5
/** The expected rates of the first run; later runs use measured ones. */
const perSecondGuess = 30_000
/** Connections at which the targets hold. */
const targetConnections = 64
const residentMbMax = 120
const readyMsMax = 150

type Loader = ReturnType<typeof startLoader>
type Product = { server: TestServer; token: string; couponId: string }
type Row = {
  kind: Kind
  connections: number
  product: LoadResult
  ceiling: LoadResult
  share: number
  shares: number[]
}

/** Each kind of request against its ceiling, at each number of connections; memory; time to start. */
export async function compareCeilings(
  plan: Plan,
): Promise<Pick<Report, 'engine' | 'tables' | 'targets'>> {
  const loader = startLoader()
  const [stack, bare, raw] = await Promise.all([
    startCeiling('stack'),
    startCeiling('bare'),
    startCeiling('raw'),
  ])
  const ceilings = { stack, bare }
  const own = await limitOfLoader(plan, loader, raw, bare)
  const rows: Row[] = []
  let peakMb = 0
  const wanted = kinds.filter(
    ({ name }) => plan.only.length === 0 || plan.only.some((part) => name.includes(part)),
  )
  for (const kind of wanted) {
    // Each kind begins with an empty file.
    const product = await startProduct(plan, kind.name)
    const program = engineIn(product.server.output())
    requireSameEngine(plan.command, { program, ceiling: stack.engine })
    for (const connections of plan.connections) {
      plan.say(`${kind.name}, ${connections} connection(s) …`)
      const measured = () =>
        compare(plan, loader, kind, connections, product, ceilings[kind.ceiling])
      rows.push((await rowOrNull(kind.name, plan.say, measured)) ?? missing(kind, connections))
    }
    peakMb = Math.max(peakMb, residentMb(product.server.pid).peak)
    await product.server.stop()
  }
  plan.say('memory under everything at once …')
  const memory = await mixedMemory(plan, loader, wanted)
  plan.say('time to the first answer …')
  const starts = await startTable(plan)
  const engine = memory.engine
  return {
    engine,
    tables: [own, rateTable(rows), memory.table, starts.table],
    targets: [
      ...rows.filter(({ connections }) => connections === targetConnections).flatMap(rateTargets),
      judge({
        name: 'resident memory under load, peak',
        measured: Math.max(peakMb, memory.peakMb),
        limit: residentMbMax,
        unit: 'MB',
        least: false,
      }),
      ...starts.targets,
    ],
  }
}

async function startProduct(plan: Plan, name: string): Promise<Product> {
  const dataDir = join(plan.directory, name.replace(/\W+/g, '-'))
  mkdirSync(dataDir, { recursive: true })
  const server = await startServer({ dataDir, env: benchEnvironment, command: plan.command })
  const merchant = newSigner(Uint8Array.fromHex(benchKeys.merchant))
  const token = await openSession(server.url, merchant)
  const couponId = await createDefinition(server.url, token, benchDefinition)
  return { server, token, couponId }
}

function aimAt({ token, couponId, server }: Product): Aim {
  const minted = (count: number): Values => ({ from: 'minted', count, token, couponId })
  const taps = (count: number) => freshPayments(server.dataDir, count)
  const touches = (count: number) => freshTaps(server.dataDir, count)
  return { token, couponId, open: minted, known: () => minted(5000), taps, touches }
}

/** Ceiling and product in turns, close in time, so that a machine that drifts drifts for both. */
async function compare(
  plan: Plan,
  loader: Loader,
  kind: Kind,
  connections: number,
  product: Product,
  ceiling: Listening,
): Promise<Row> {
  const { seconds } = plan
  const time = { warmSeconds, seconds, connections }
  const aim = aimAt(product)
  // Nobody looks these up.
  const anyNonces = (count: number): Values => ({ from: 'random', count })
  const anyTaps = (count: number): Values => ({ from: 'payments', first: 0, count })
  const anyTouches = (count: number): Values => ({ from: 'taps', first: 0, count })
  const blind: Aim = {
    ...aim,
    open: anyNonces,
    known: () => anyNonces(5000),
    taps: anyTaps,
    touches: anyTouches,
  }
  const results: { a: LoadResult; b: LoadResult }[] = []
  let perSecond = perSecondGuess
  const run = async (server: Listening, of: Aim) => {
    const { url, pid } = server
    const jobOf = (count: number) => ({ ...time, url, pid, ...kind.job(of, count) })
    const count = Math.ceil(perSecond * 1.1 * (warmSeconds + seconds))
    const result = await loader.runFull(jobOf, count)
    perSecond = result.perSecond
    return result
  }
  for (let round = 0; round < plan.rounds; round++) {
    results.push({ a: await run(ceiling, blind), b: await run(product.server, aim) })
  }
  const shares = results.map(({ a, b }) => b.perSecond / a.perSecond)
  return {
    kind,
    connections,
    ceiling: middle(results.map(({ a }) => a)),
    product: middle(results.map(({ b }) => b)),
    share: median(shares),
    shares,
  }
}

/** The row of a measurement that failed. */
function missing(kind: Kind, connections: number): Row {
  const none = middle([])
  return { kind, connections, product: none, ceiling: none, share: Number.NaN, shares: [] }
}

/** Each figure's median. */
function middle(results: readonly LoadResult[]): LoadResult {
  const of = (name: keyof LoadResult) => median(results.map((result) => result[name]))
  return {
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    seconds: of('seconds'),
    answers: of('answers'),
    sent: of('sent'),
    serverCpu: of('serverCpu'),
    clientCpu: of('clientCpu'),
  }
}

function rateTable(rows: readonly Row[]): Table {
  const cpuMicros = ({ serverCpu, perSecond }: LoadResult) => (serverCpu / perSecond) * 1e6
  return {
    title: 'Requests',
    about: [
      'stack: the product’s own edge, authentication, schema, signature and answer; no database, no sealing',
      'bare: Elysia alone with the schema and a constant answer',
      'share: median of product / ceiling, measured in turns; in brackets the least and the most',
      'µs: processor time of the server for one request, all its threads',
    ],
    columns: [
      'kind',
      'ceiling',
      'conn.',
      'per s',
      'p50 ms',
      'p99 ms',
      'ceiling per s',
      'share',
      'µs',
      'ceiling µs',
      'load gen. cpu',
    ],
    rows: rows.map(({ kind, connections, product, ceiling, share, shares }): Cell[] => [
      kind.name,
      kind.ceiling,
      String(connections),
      product.perSecond,
      product.p50Ms,
      product.p99Ms,
      ceiling.perSecond,
      shares.length === 0
        ? 'n/a'
        : `${percent(share)} (${percent(Math.min(...shares))}–${percent(Math.max(...shares))})`,
      cpuMicros(product),
      cpuMicros(ceiling),
      `${percent(product.clientCpu)}`,
    ]),
  }
}

function rateTargets({ kind, product, share }: Row) {
  const against = kind.ceiling === 'stack' ? 'the ceiling' : 'bare Elysia'
  const targets = [
    judge({
      name: `${kind.name}: share of ${against}`,
      measured: share * 100,
      limit: kind.share * 100,
      unit: '%',
      least: true,
    }),
  ]
  if (kind.perSecond !== undefined) {
    const limit = kind.perSecond
    const name = `${kind.name}: rate`
    const measured = product.perSecond
    targets.push(judge({ name, measured, limit, unit: 'per s', least: true }))
  }
  if (kind.p99Ms !== undefined) {
    const limit = kind.p99Ms
    const name = `${kind.name}: p99`
    targets.push(judge({ name, measured: product.p99Ms, limit, unit: 'ms', least: false }))
  }
  return targets
}

/** The maximum rate of the load generator, and its cost at that rate. */
async function limitOfLoader(
  plan: Plan,
  loader: Loader,
  raw: Listening,
  bare: Listening,
): Promise<Table> {
  const job: Omit<LoadJob, 'connections' | 'url' | 'pid'> = {
    request: get('/api/coupons/claim?nonce=0123456789012345678901'),
    values: { from: 'none' },
    again: true,
    status: 200,
    warmSeconds,
    seconds: plan.seconds,
  }
  const rows: Cell[][] = []
  for (const connections of plan.connections) {
    const a = await loader.run({ ...job, ...raw, connections })
    const b = await loader.run({ ...job, ...bare, connections })
    const cpu = percent(a.clientCpu)
    rows.push([String(connections), 'GET', a.perSecond, b.perSecond, cpu, percent(a.serverCpu)])
  }
  return {
    title: 'The load generator’s own limit',
    about: [
      'against Bun.serve with a constant answer; while its cpu is below 100 % the server is what is measured',
    ],
    columns: ['conn.', '', 'Bun.serve per s', 'bare Elysia per s', 'load gen. cpu', 'server cpu'],
    rows,
  }
}

/** One process that takes every kind after the other: what it holds before, at the peak of each, and after. */
async function mixedMemory(plan: Plan, loader: Loader, wanted: readonly Kind[]) {
  const product = await startProduct(plan, 'memory')
  const { url, pid } = product.server
  const rows: Cell[][] = [['at rest', '', residentMb(pid).now]]
  let peakMb = 0
  for (const kind of wanted) {
    forgetPeak(pid)
    const time = { warmSeconds, seconds: plan.seconds, connections: targetConnections }
    const count = Math.ceil(perSecondGuess * (warmSeconds + plan.seconds))
    const job = { ...time, url, pid, ...kind.job(aimAt(product), count) }
    const peak = await rowOrNull(kind.name, plan.say, async () => {
      await loader.run(job)
      return residentMb(pid).peak
    })
    peakMb = Math.max(peakMb, peak ?? Number.NaN)
    rows.push([kind.name, 'peak', peak ?? Number.NaN])
  }
  rows.push(['afterwards', '', residentMb(pid).now])
  const engine = engineIn(product.server.output())
  await product.server.stop()
  const table: Table = {
    title: 'Resident memory of one process under every kind, 64 connections',
    about: [],
    columns: ['', '', 'MB'],
    rows,
  }
  return { peakMb, engine, table }
}

async function startTable(plan: Plan) {
  const programs: [string, string[]][] = [['as measured', plan.command]]
  if (plan.binary !== null && plan.command[0] !== plan.binary)
    programs.push(['binary', [plan.binary]])
  const rows: Cell[][] = []
  const targets: ReturnType<typeof judge>[] = []
  for (const [name, command] of programs) {
    const dataDir = join(plan.directory, `start-${name.replace(' ', '-')}`)
    const [, ...times] = await startTimes(command, dataDir, plan.starts + 1)
    const first = await firstStartMs(command, plan.directory, plan.starts)
    rows.push([name, '', median(times), Math.min(...times), Math.max(...times), first])
    const measured = median(times)
    targets.push(
      judge({ name: `ready (${name})`, measured, limit: readyMsMax, unit: 'ms', least: false }),
    )
  }
  const table: Table = {
    title: 'Milliseconds from the start of the process to the first 200 on /readyz',
    about: ['first start: in an empty directory, keys and schema are made'],
    columns: ['program', '', 'median', 'least', 'most', 'first start'],
    rows,
  }
  return { table, targets }
}
