import { join } from 'node:path'
import { createDefinition, newSigner, openSession } from '../support/client.ts'
import { residentMb } from '../support/process-figures.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { benchDefinition, benchEnvironment, benchKeys } from './fixture.ts'
import { kinds } from './kinds.ts'
import { median } from './machine.ts'
import type { Plan } from './main.ts'
import { startLoader } from './processes.ts'
import { copyRelayFile, fileAuthor, fileAuthors, fileKinds, makeRelayFile } from './relay-file.ts'
import type { RelayJob, RelayResult } from './relay-load.ts'
import { type Cell, judge, type Report, type Table, type Target } from './report.ts'

const ingestPerSecondMin = 5000
const queryP99MsMax = 10
const publishPerSecondMin = 8000
const publishRounds = 3

type RelayPlan = Pick<Plan, 'command' | 'directory' | 'kept' | 'only' | 'say'> & { events: number }

/** The measurements of the relay that `--only` can name. */
export const relayKinds = ['ingest', 'query', 'claims', 'publish', 'subscribers']

/** How fast the embedded relay is, and what it costs the rest: ingest, queries over a large file, claims beside ingest, publish, subscribers. */
export async function compareRelay(plan: RelayPlan): Promise<Pick<Report, 'tables' | 'targets'>> {
  const rows: Cell[][] = []
  const targets: Target[] = []
  const wanted = (name: string) =>
    plan.only.length === 0 || plan.only.some((part) => name.includes(part))
  const add = (name: string, result: RelayResult, server: TestServer) =>
    rows.push([name, result.perSecond, result.p50Ms, result.p99Ms, residentMb(server.pid).peak])

  if (wanted('ingest')) {
    plan.say('ingest …')
    const server = await start(plan, 'ingest')
    const job = {
      url: server.url,
      window: 1000,
      secret: benchKeys.merchant,
      type: 'ingest',
    } as const
    await run({ ...job, count: 2000 })
    const result = await run({ ...job, count: 30_000 })
    add('ingest, 1 connection', result, server)
    targets.push({
      name: 'events a second through one connection, verified and on disk',
      measured: result.perSecond,
      limit: ingestPerSecondMin,
      unit: '/s',
      least: true,
    })
    await server.stop()
  }
  if (wanted('query')) {
    const server = await start(plan, 'query', (dataDir) =>
      copyRelayFile(makeRelayFile(plan.kept, plan.events, plan.say), dataDir),
    )
    plan.say('queries …')
    const shapes = queryShapes()
    for (const [name, filters] of shapes) {
      const result = await run({ type: 'query', url: server.url, filters })
      add(`query by ${name}`, result, server)
      if (name !== shapes[0]?.[0]) continue
      targets.push({
        name: `a query by author and kind over ${plan.events} events, p99`,
        measured: result.p99Ms,
        limit: queryP99MsMax,
        unit: 'ms',
        least: false,
      })
    }
    await server.stop()
  }
  if (wanted('publish')) {
    const rates: number[] = []
    // Other work of the machine changes a single round by a tenth.
    for (let round = 1; round <= publishRounds; round++) {
      plan.say(`publish, round ${round} …`)
      const server = await start(plan, `publish-${round}`)
      const job = { url: server.url, connections: 64, secret: benchKeys.merchant } as const
      await run({ type: 'publish', ...job, count: 3000 })
      const result = await run({ type: 'publish', ...job, count: 30_000 })
      add(`publish, 64 connections, round ${round}`, result, server)
      rates.push(result.perSecond)
      await server.stop()
    }
    targets.push({
      name: 'publish 202 at 64 connections, median of the rounds',
      measured: median(rates),
      limit: publishPerSecondMin,
      unit: '/s',
      least: true,
    })
  }
  if (wanted('subscribers')) {
    plan.say('200 subscribers …')
    const server = await start(plan, 'subscribers')
    const author = newSigner(Uint8Array.fromHex(benchKeys.merchant)).pubkey
    const count = 2000
    const listening = startRelayLoad()
    const ready = listening.ready()
    const all = listening.run({
      type: 'subscribe',
      url: server.url,
      subscribers: 200,
      author,
      count,
    })
    await ready
    await run({ type: 'ingest', url: server.url, count, window: 200, secret: benchKeys.merchant })
    add('events to 200 subscribers', await all, server)
    await server.stop()
  }
  const tables: Table[] = [
    {
      title: 'The embedded relay',
      about: ['MB: resident memory of the whole server at its peak'],
      columns: ['what', 'per second', 'p50 ms', 'p99 ms', 'MB'],
      rows,
    },
  ]
  if (rows.length === 0) tables.pop()
  if (wanted('claims')) tables.push(await claimsBesideIngest(plan))
  return { tables, targets: targets.map(judge) }
}

/**
 * Claims alone, while the same server takes events, and while another server on the same machine
 * does: the last tells how much is only the machine being shared.
 */
async function claimsBesideIngest(plan: RelayPlan): Promise<Table> {
  const server = await start(plan, 'claims')
  const other = await start(plan, 'other')
  const token = await openSession(server.url, newSigner(Uint8Array.fromHex(benchKeys.merchant)))
  const couponId = await createDefinition(server.url, token, benchDefinition)
  const claim = kinds.find(({ name }) => name === 'claim')
  if (!claim) throw new Error('there is no kind "claim"')
  const loader = startLoader()
  const claims = (seconds: number) => {
    const minted = (count: number) => ({ from: 'minted', count, token, couponId }) as const
    const aim = {
      token,
      couponId,
      open: minted,
      known: () => minted(1),
      taps: minted,
      touches: minted,
    }
    const job = claim.job(aim, 60_000)
    return loader.run({
      ...job,
      url: server.url,
      pid: server.pid,
      connections: 16,
      warmSeconds: 0.3,
      seconds,
    })
  }
  const rows: Cell[][] = []
  const measure = async (name: string, target: TestServer | null) => {
    plan.say(`claims ${name} …`)
    const load = startRelayLoad()
    let over = false
    if (target) {
      const job = { type: 'ingest', window: 1000, secret: benchKeys.merchant } as const
      const end = () => {
        over = true
      }
      load.run({ ...job, url: target.url, count: 150_000 }).then(end, end)
      await load.ready()
    }
    const result = await claims(2)
    if (over) throw new Error('the ingest ended before the claims did')
    load.end()
    const { perSecond, p50Ms, p99Ms } = result
    rows.push([name, perSecond, p50Ms, p99Ms, perSecond / Number(rows[0]?.[1] ?? perSecond)])
  }
  await claims(1)
  await measure('alone', null)
  await measure('beside ingest into the same server', server)
  await measure('beside ingest into another server', other)
  await measure('alone again', null)
  await Promise.all([server.stop(), other.stop()])
  return {
    title: 'Claims at 16 connections',
    about: ['share: of claims alone'],
    columns: ['', 'per second', 'p50 ms', 'p99 ms', 'share'],
    rows,
  }
}

/** Filters of each shape, all over the file. */
function queryShapes(): [string, unknown[]][] {
  const some = (at: number) => fileAuthor((at * 37) % fileAuthors)
  const list = (make: (at: number) => unknown) => Array.from({ length: 500 }, (_, at) => make(at))
  return [
    [
      'author and kind',
      list((at) => ({ authors: [some(at)], kinds: [fileKinds[at % 4]], limit: 100 })),
    ],
    ['author', list((at) => ({ authors: [some(at)], limit: 100 }))],
    ['tag and kind', list((at) => ({ '#p': [some(at)], kinds: [fileKinds[at % 4]], limit: 100 }))],
    [
      '20 authors',
      list((at) => ({ authors: Array.from({ length: 20 }, (_, n) => some(at + n)), limit: 100 })),
    ],
    ['kind', list((at) => ({ kinds: [fileKinds[at % 4]], limit: 100 }))],
  ]
}

function start(
  { command, directory }: RelayPlan,
  name: string,
  prepare?: (dataDir: string) => void,
): Promise<TestServer> {
  const dataDir = join(directory, name)
  prepare?.(dataDir)
  return startServer({ dataDir, command, env: benchEnvironment })
}

async function run(job: RelayJob): Promise<RelayResult> {
  const load = startRelayLoad()
  try {
    return await load.run(job)
  } finally {
    load.end()
  }
}

type Reply = { ready?: true; result?: RelayResult; error?: string }

/** The relay's load, a process of its own. */
function startRelayLoad() {
  const replies = {
    ready: Promise.withResolvers<void>(),
    result: Promise.withResolvers<RelayResult>(),
  }
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'relay-load.ts')], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc({ ready, result, error }: Reply) {
      if (ready) replies.ready.resolve()
      if (result) replies.result.resolve(result)
      if (error) replies.result.reject(new Error(error))
    },
  })
  // Nobody may be waiting: a load that is ended has done what it was for.
  replies.result.promise.catch(() => undefined)
  void child.exited.then(() => replies.result.reject(new Error('the load ended')))
  return {
    ready: () => replies.ready.promise,
    run(job: RelayJob) {
      child.send(job)
      return replies.result.promise
    },
    end: () => child.kill('SIGKILL'),
  }
}
