import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDefinition, newSigner, openSession } from '../../support/client.ts'
import { type Databases, openDatabases } from '../../support/postgres-databases.ts'
import { startStandby } from '../../support/postgres-standby.ts'
import { startServer } from '../../support/server.ts'
import { benchDefinition, benchEnvironment, benchKeys } from '../fixture.ts'
import { get, post } from '../kinds.ts'
import type { LoadJob, LoadResult } from '../load.ts'
import { median } from '../machine.ts'
import type { Plan } from '../main.ts'
import { startLoader, startWorker } from '../processes.ts'
import { type Cell, judge, percent, quotients, type Report } from '../report.ts'
import type { CommitJob } from './commits.ts'
import { startWire } from './wire.ts'

const warmSeconds = 0.5
/** A program that has just started is interpreted, and compiled while it works. */
const compiledSeconds = 30
const perSecondGuess = 2000
/** Mints of one coupon follow each other, since its row counts them. */
const manyCoupons = 64
/**
 * Two nodes and the bare commits are connected at once. A standby allows as many connections as its primary. The delay is the
 * one that docs/cluster.md advises.
 */
const settings = { max_connections: '250', commit_delay: '1000' }
/** Connections at which the targets hold. */
const targetConnections = 64
const perSecondMin = 1200
const p99MsMax = 100
const roundTripsMax = 3
const twoOfOneMin = 0.95

type Nodes = Awaited<ReturnType<typeof startNodes>>
type Request = Pick<LoadJob, 'request' | 'values' | 'again' | 'status'>
type Kind = {
  name: string
  /** It has to reach the rate and the latency of the targets. */
  judged: boolean
  job(nodes: Nodes, count: number): Promise<Request>
}
type Round = { one: LoadResult; two: LoadResult; commits: number; roundTrips: number }
type Row = { kind: Kind; standby: boolean; connections: number; rounds: Round[] }

const kinds: readonly Kind[] = [
  { name: 'mint of one coupon', judged: false, job: async (nodes) => mint(nodes, 1) },
  {
    name: `mint of ${manyCoupons} coupons`,
    judged: true,
    job: async (nodes) => mint(nodes, manyCoupons),
  },
  {
    name: 'claim',
    judged: true,
    job: async (nodes, count) => ({
      request: post('/api/coupons/claim', { nonce: '$VALUE' }),
      values: { from: 'list', list: await nodes.mint(count) },
      again: false,
      status: 200,
    }),
  },
  {
    name: 'refresh',
    judged: true,
    job: async (nodes, count) => ({
      request: post('/api/coupons/refresh', { nonce: '$VALUE' }, 'Idempotency-Key: key-$VALUE\r\n'),
      values: { from: 'list', list: await nodes.mint(count) },
      again: false,
      status: 201,
    }),
  },
  {
    name: 'preview',
    judged: false,
    job: async (nodes) => ({
      request: get('/api/coupons/claim?nonce=$VALUE'),
      values: { from: 'list', list: await nodes.mint(1000) },
      again: true,
      status: 200,
    }),
  },
]

function mint({ token, coupons }: Nodes, of: number): Request {
  const headers = `Authorization: Bearer ${token}\r\n`
  return {
    request: post('/api/coupons/mint', { couponId: '$VALUE' }, headers, 36),
    values: { from: 'list', list: coupons.slice(0, of) },
    again: true,
    status: 200,
  }
}

/**
 * One node and two on a PostgreSQL server of their own, in turns, beside the bare commits of the same server; without a
 * synchronous standby and with one. Each round trip takes `delayMs` longer, also that between the two servers.
 */
export async function compareNodes(
  plan: Plan,
  delayMs: number,
): Promise<Pick<Report, 'engine' | 'tables' | 'targets'>> {
  // On a disk: memory would make commits free.
  const databases = await openDatabases(settings, [], tmpdir())
  let standby: Awaited<ReturnType<typeof startStandby>> | null = null
  try {
    const wire = await startWire(databases.server.socket, delayMs)
    const nodes = await startNodes(plan, databases, wire.socket)
    const rows = await measure(plan, nodes, wire, false)
    const between = await startWire(databases.server.socket, delayMs)
    standby = await startStandby(databases.server, {
      name: 'second',
      waited: true,
      through: between,
      settings,
    })
    rows.push(...(await measure(plan, nodes, wire, true)))
    return { engine: nodes.engine, tables: [tableOf(rows, delayMs)], targets: targetsOf(rows) }
  } finally {
    await standby?.stop()
    await databases.stop()
  }
}

async function startNodes(plan: Plan, databases: Databases, socket: string) {
  const urlOf = (name: string) => `postgres://cuponera@/${name}?host=${encodeURIComponent(socket)}`
  const env = { ...benchEnvironment, DATABASE_URL: urlOf(await databases.create()) }
  const [one, two] = [
    await startServer({ env: { ...env, NODE_NAME: 'one' }, command: plan.command }),
    await startServer({ env: { ...env, NODE_NAME: 'two' }, command: plan.command }),
  ]
  const token = await openSession(one.url, newSigner(Uint8Array.fromHex(benchKeys.merchant)))
  const coupons: string[] = []
  while (coupons.length < manyCoupons) {
    coupons.push(await createDefinition(one.url, token, benchDefinition))
  }
  return {
    one,
    two,
    token,
    coupons,
    bare: urlOf(await databases.createBare()),
    engine: /signatures\s+(.+)/.exec(one.output())?.[1] ?? 'unknown',
    /** Nonces that can be spent. */
    async mint(count: number): Promise<string[]> {
      const nonces: string[] = []
      while (nonces.length < count) {
        const couponId = coupons[(nonces.length / 500) % manyCoupons]
        const response = await fetch(`${one.url}/api/coupons/mint`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ couponId, count: 500 }),
        })
        if (response.status !== 200) throw new Error(`minting failed: ${await response.text()}`)
        const { vouchers } = (await response.json()) as { vouchers: { nonce: string }[] }
        nonces.push(...vouchers.map(({ nonce }) => nonce))
      }
      return nonces
    },
  }
}

async function measure(
  plan: Plan,
  nodes: Nodes,
  wire: Awaited<ReturnType<typeof startWire>>,
  standby: boolean,
): Promise<Row[]> {
  const loader = startLoader()
  const bare = startWorker<CommitJob, number>(join(import.meta.dir, 'commits.ts'), [])
  const wanted = kinds.filter(
    ({ name }) => plan.only.length === 0 || plan.only.some((part) => name.includes(part)),
  )
  const rows: Row[] = []
  const { url, pid } = nodes.one
  for (const kind of wanted) {
    // Both nodes stay as they are when the standby is there.
    if (!standby) {
      plan.say(`${kind.name}, until both nodes are compiled …`)
      const job = await kind.job(nodes, perSecondGuess * compiledSeconds)
      const time = { warmSeconds, seconds: compiledSeconds, connections: targetConnections }
      await loader.run({ ...time, url, others: [nodes.two.url], pid, ...job })
    }
    for (const connections of plan.connections) {
      plan.say(`${kind.name}, ${connections} connection(s), ${standby ? 'a' : 'no'} standby …`)
      const time = { warmSeconds, seconds: plan.seconds, connections }
      let perSecond = perSecondGuess
      const load = async (others: string[]) => {
        const count = Math.ceil(perSecond * 1.3 * (warmSeconds + plan.seconds))
        const job = await kind.job(nodes, count)
        const before = await wire.roundTrips()
        const result = await loader.run({ ...time, url, others, pid, ...job })
        perSecond = result.perSecond
        return { result, roundTrips: ((await wire.roundTrips()) - before) / result.sent }
      }
      const rounds: Round[] = []
      for (let round = 0; round < plan.rounds; round++) {
        const { seconds } = plan
        const commits = await bare.run({ url: nodes.bare, connections, seconds })
        // The order changes, so that neither always comes after the other.
        const second = round % 2 === 1 ? await load([nodes.two.url]) : null
        const first = await load([])
        const { result: two } = second ?? (await load([nodes.two.url]))
        rounds.push({ one: first.result, two, commits, roundTrips: first.roundTrips })
      }
      rows.push({ kind, standby, connections, rounds })
    }
  }
  return rows
}

/** The median over the rounds of a row. */
function of({ rounds }: Row, figure: (round: Round) => number): number {
  return median(rounds.map(figure))
}

const twoOfOne = ({ one, two }: Round) => two.perSecond / one.perSecond

function tableOf(rows: readonly Row[], delayMs: number): Report['tables'][0] {
  return {
    title: `PostgreSQL, ${delayMs} ms on the wire`,
    about: [
      'commits: transactions of one row, pipelined, on as many connections, measured in turns with the rest',
      'share: median of one node / commits; two: median of two nodes / one node, with the same connections in all, in brackets the least and the most; 95 %: its bounds',
      `each kind has run for up to ${compiledSeconds} s on both nodes before, so that they are compiled; without a standby first`,
      'trips: round trips to the server an operation, with those of the upkeep and the end of a read, which nobody waits for',
    ],
    columns: [
      'kind',
      'standby',
      'conn.',
      'per s',
      'p50 ms',
      'p99 ms',
      'commits per s',
      'share',
      'two per s',
      'two p99 ms',
      'two',
      '95 %',
      'trips',
    ],
    rows: rows.map((row): Cell[] => [
      row.kind.name,
      row.standby ? 'waited for' : 'none',
      String(row.connections),
      of(row, ({ one }) => one.perSecond),
      of(row, ({ one }) => one.p50Ms),
      of(row, ({ one }) => one.p99Ms),
      of(row, ({ commits }) => commits),
      percent(of(row, ({ one, commits }) => one.perSecond / commits)),
      of(row, ({ two }) => two.perSecond),
      of(row, ({ two }) => two.p99Ms),
      ...quotients(row.rounds.map(twoOfOne)),
      of(row, ({ roundTrips }) => roundTrips),
    ]),
  }
}

function targetsOf(rows: readonly Row[]): Report['targets'] {
  const judged = rows.filter(
    ({ kind, connections }) => kind.judged && connections === targetConnections,
  )
  const each = judged.flatMap((row) => {
    const name = `${row.kind.name}, ${row.standby ? 'a' : 'no'} standby`
    const perSecond = of(row, ({ one }) => one.perSecond)
    const p99Ms = of(row, ({ one }) => one.p99Ms)
    const two = of(row, twoOfOne)
    return [
      {
        name: `${name}: rate`,
        measured: perSecond,
        limit: perSecondMin,
        unit: 'per s',
        least: true,
      },
      { name: `${name}: p99`, measured: p99Ms, limit: p99MsMax, unit: 'ms', least: false },
      { name: `${name}: two nodes`, measured: two, limit: twoOfOneMin, unit: '×', least: true },
    ]
  })
  const trips = judged.map((row) => of(row, ({ roundTrips }) => roundTrips))
  const mean = trips.reduce((sum, trip) => sum + trip, 0) / trips.length
  const name = 'round trips of an operation, mean'
  each.push({ name, measured: mean, limit: roundTripsMax, unit: '', least: false })
  return judged.length === 0 ? [] : each.map(judge)
}
