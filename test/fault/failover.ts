/**
 * `npm run failover -- N`: N rounds on a service of three nodes (`--nodes`) whose PostgreSQL has a synchronous standby. In
 * each one something dies under load: the primary (the standby is promoted), one of the nodes, the network between
 * them, or the way to the standby. Every answer that was given must stand, once, at every node. `--kinds primary,node` chooses, `SEED=…` repeats;
 * several campaigns may run side by side. Control: `--async`, where the standby is not waited for, must lose something. `--patroni`: three
 * servers under Patroni and etcd (`apt-get install patroni etcd-server`), whose leader dies with its disk. Writes that come back
 * too late fail a campaign, too, so that it needs a machine of its own.
 * `--namespace`: as root, the network between service and servers is one of its own, which loses every packet for a while.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { limits } from '../../src/base/limits.ts'
import { counterTables } from '../../src/db/counters.ts'
import type { Connection } from '../../src/db/postgres/connection.ts'
import { appendedCounters } from '../../src/db/postgres/counters.ts'
import { writingConnections } from '../../src/db/postgres/pool.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { call, percentBenefit } from '../support/client.ts'
import { inOwnNetwork, openNamespace } from '../support/namespace.ts'
import { type Nodes, openNodes, origin } from '../support/nodes.ts'
import type { Postgres } from '../support/postgres.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { type Host, openHost } from '../support/postgres-host.ts'
import { administer, promote, startStandby } from '../support/postgres-standby.ts'
import { cleanUp } from '../support/server.ts'
import { until } from '../support/until.ts'
import { commonInvariants, type Memory, verifyMemory, Workload } from '../support/workload.ts'
import { openPatroni } from './patroni/cluster.ts'

export const kinds = ['primary', 'node', 'cut', 'partition', 'standby'] as const
export type Kind = (typeof kinds)[number]

/** The longest time until writes are answered again, in seconds, by who promotes. */
const awayMax: Record<Servers, number> = { pair: 5, apart: 5, patroni: 30 }

export type FailoverReport = {
  rounds: Record<Kind, number>
  /** Answers under load. */
  acknowledged: number
  /** Requests under an Idempotency-Key without an answer. */
  cutOff: number
  /**
   * The longest time until writes were answered again at each node that runs, in seconds: after the promotion, and under
   * Patroni after the death.
   */
  away: Record<Kind, number>
  /** The time of all rounds, in seconds. */
  took: Record<Kind, number>
  problems: string[]
}

type Asked = {
  count: number
  kinds: readonly Kind[]
  random: Random
  /** False for the control: answers do not wait for the standby. */
  waited: boolean
  servers: Servers
  nodes: number
  progress?: (report: FailoverReport) => void
}

/** Run the rounds. It stops at the first one with problems. */
export async function failoverRounds(asked: Asked): Promise<FailoverReport> {
  const { count, random, waited } = asked
  const none = () => ({ primary: 0, node: 0, cut: 0, partition: 0, standby: 0 })
  const report: FailoverReport = {
    ...{ rounds: none(), away: none(), took: none(), acknowledged: 0, cutOff: 0, problems: [] },
  }
  const cluster = await openers[asked.servers](waited, asked.nodes)
  const { nodes } = cluster
  const older: Memory[] = []
  const verify = async (memory: Memory) => {
    for (const base of nodes.running()) report.problems.push(...(await verifyMemory(base, memory)))
  }
  try {
    for (let round = 0; round < count && report.problems.length === 0; round++) {
      const began = performance.now()
      const kind = random.pick(asked.kinds)
      const load = new Workload(nodes.running, random.below(2 ** 31), { patient: true, origin })
      await load.prepare()
      const running = load.run(kind === 'standby' ? 48 : 8)
      await load.reach(40)
      await Bun.sleep(random.below(300))
      report.problems.push(...(await happenings[kind](cluster, random, load)))
      report.away[kind] = Math.max(report.away[kind], await secondsUntilWrites(load, nodes))
      const revived = nodes.revive()
      await Bun.sleep(random.below(200))
      load.stop()
      const memory = await running
      await Promise.all([revived, cluster.repair()])
      report.rounds[kind]++
      report.acknowledged += memory.acknowledged
      report.cutOff += memory.unheard.length
      // Signatures of before such a round are too old after it.
      await verify(kind === 'standby' ? { ...memory, proofs: [] } : memory)
      report.problems.push(...(await brokenInvariants(cluster)))
      older.push(memory)
      report.took[kind] += (performance.now() - began) / 1000
      asked.progress?.(report)
    }
    // An answer stands after later rounds, too. Signatures are too old by then.
    for (const memory of older.slice(-10)) await verify({ ...memory, proofs: [] })
    return report
  } finally {
    await cluster.stop()
  }
}

/** A database with standbys, and a service that knows the way to all of them. */
type Cluster = {
  hosts: readonly Pick<Host, 'cut' | 'hold' | 'letGo'>[]
  nodes: Nodes
  /** The way from the primary to its standby. Null where it cannot be cut. */
  between: Pick<Host, 'hold' | 'letGo'> | null
  /** A connection of the superuser to the database on the server that takes writes. */
  connect(): Promise<Connection>
  /** Kill the primary. A standby takes its place. */
  failOver(stallMs: number): Promise<void>
  /** Give a promoted primary a standby of its own. */
  repair(): Promise<void>
  stop(): Promise<void>
}

/** A primary and its standby. The test itself promotes. */
async function openPair(waited: boolean, count: number): Promise<Cluster> {
  const databases = await openDatabases()
  const name = await databases.create()
  let standbys = 0
  let primary = databases.server
  const between = await openHost(primary)
  const follow = (server: Postgres) => {
    between.lead(server)
    between.letGo()
    return startStandby(server, { name: `standby${standbys++}`, waited, through: between })
  }
  let standby: Postgres | null = await follow(primary)
  const hosts: [Host, Host] = [await openHost(primary), await openHost(standby)]
  const sockets = hosts.map(({ socket }) => encodeURIComponent(socket))
  const nodes = await openNodes(`postgres://cuponera@${sockets.join(',')}/${name}`, count)
  return {
    hosts,
    nodes,
    between,
    connect: () => administer(primary, name),
    async failOver(stallMs) {
      if (standby === null) throw new Error('there is no standby')
      // The way between them fails a little earlier: what did not wait for the standby is lost.
      between.hold()
      await Bun.sleep(stallMs)
      const died = primary
      await died.kill()
      between.lead(null)
      between.cut()
      hosts[0].lead(null)
      hosts.reverse()
      await promote(standby)
      primary = standby
      standby = null
      if (died !== databases.server) await died.stop()
    },
    async repair() {
      if (standby !== null) return
      standby = await follow(primary)
      hosts[1].lead(standby)
    },
    async stop() {
      await nodes.stop()
      for (const host of [...hosts, between]) host.close()
      await standby?.stop()
      if (primary !== databases.server) await primary.stop()
      await databases.stop()
    },
  }
}

/** A primary and its standby on the other side of a network that loses packets. */
async function openApart(waited: boolean, count: number): Promise<Cluster> {
  await using opened = new AsyncDisposableStack()
  const network = openNamespace()
  opened.defer(() => network.close())
  const [ofPrimary, ofStandby] = network.addresses
  const databases = await openDatabases({ listen_addresses: ofPrimary }, network.enter)
  opened.defer(() => databases.stop())
  const primary = databases.server
  const name = await databases.create()
  appendFileSync(join(primary.data, 'pg_hba.conf'), 'host all cuponera samenet scram-sha-256\n')
  const administrator = await databases.connect(name)
  await administrator.send('SELECT pg_reload_conf()', [])
  await administrator.send(`ALTER ROLE cuponera PASSWORD 'clave'`, [])
  administrator.destroy()
  const settings = { listen_addresses: ofStandby }
  const standby = await startStandby(primary, { name: 'standby', waited, settings })
  opened.defer(() => standby.stop())
  const url = `postgres://cuponera:clave@${ofPrimary},${ofStandby}/${name}`
  const nodes = await openNodes(url, count)
  opened.defer(() => nodes.stop())
  const everything = opened.move()
  return {
    hosts: [{ hold: network.drop, letGo: network.restore, cut: () => undefined }],
    nodes,
    between: null,
    connect: () => administer(primary, name),
    async failOver() {
      throw new Error('nobody promotes here')
    },
    repair: async () => undefined,
    stop: () => everything.disposeAsync(),
  }
}

/** Three servers under Patroni, which promotes. */
async function openUnderPatroni(_: boolean, count: number): Promise<Cluster> {
  const patroni = await openPatroni()
  try {
    const administrator = await patroni.connect('postgres')
    const { password } = await patroni.leading()
    await administrator.send(`CREATE ROLE cuponera LOGIN PASSWORD '${password}'`, [])
    await administrator.send('CREATE DATABASE cuponera OWNER cuponera', [])
    administrator.destroy()
    const nodes = await openNodes(patroni.url('cuponera'), count)
    let revive: (() => void) | null = null
    return {
      hosts: [],
      nodes,
      between: null,
      connect: () => patroni.connect('cuponera'),
      async failOver() {
        revive = await patroni.killLeader()
      },
      async repair() {
        revive?.()
        revive = null
        await patroni.whole()
      },
      async stop() {
        await nodes.stop()
        patroni.stop()
      },
    }
  } catch (cause) {
    patroni.stop()
    throw cause
  }
}

type Servers = 'pair' | 'apart' | 'patroni'

const openers: Record<Servers, (waited: boolean, nodes: number) => Promise<Cluster>> = {
  pair: openPair,
  apart: openApart,
  patroni: openUnderPatroni,
}

/** Resolves to the problems of the happening itself. */
type Happening = (cluster: Cluster, random: Random, load: Workload) => Promise<string[]>

const happenings: Record<Kind, Happening> = {
  async primary(cluster, random) {
    await cluster.failOver(random.below(100))
    return []
  },
  async node({ nodes }, random) {
    await nodes.kill(random.pick(nodes.running()))
    // Nobody else answers.
    if (nodes.running().length === 0) await nodes.revive()
    return []
  },
  async cut({ hosts }, random) {
    for (let cuts = 1 + random.below(5); cuts > 0; cuts--) {
      for (const host of hosts) host.cut()
      await Bun.sleep(random.below(150))
    }
    return []
  },
  async partition({ hosts }, random, { memory }) {
    for (const host of hosts) host.hold()
    // Answers to requests that had arrived are given.
    await Bun.sleep(500)
    const before = memory.acknowledged
    // Shorter or longer than the service waits for an answer.
    await Bun.sleep(random.chance(0.5) ? random.below(1500) : 8000 + random.below(6000))
    const after = memory.acknowledged
    for (const host of hosts) {
      if (random.chance(0.5)) host.cut()
      host.letGo()
    }
    return after === before ? [] : [`${after - before} answers during a partition`]
  },
  async standby({ between, nodes, connect }, random) {
    if (between === null) throw new Error('the standby cannot be cut off here')
    between.hold()
    // Longer than a node waits for an answer.
    await Bun.sleep(12_000 + random.below(12_000))
    const connection = await connect()
    const { rows } = await connection.send(
      `SELECT count(*) AS sessions FROM pg_stat_activity
       WHERE wait_event = 'SyncRep' AND usename = 'cuponera'`,
      [],
    )
    connection.destroy()
    between.letGo()
    const sessions = Number(rows[0]?.sessions)
    const most = nodes.running().length * writingConnections(limits.databaseConnections)
    if (sessions > most) return [`${sessions} sessions wait for the standby`]
    return sessions > 0 ? [] : ['no commit waited for the standby']
  },
}

/** Seconds until writes of a client are answered by each node that runs: a new coupon, and a voucher of an older one. */
async function secondsUntilWrites({ memory }: Workload, nodes: Nodes): Promise<number> {
  const began = performance.now()
  const { token } = memory
  const [couponId] = memory.definitions
  const written = async (base: string, path: string, body: unknown) =>
    (await call(base, path, { body, token })).status < 300
  await Promise.all(
    nodes
      .running()
      .map((base) =>
        until(
          'writes are answered',
          async () =>
            (await written(base, '/api/coupons', { name: 'después', benefit: percentBenefit })) &&
            (await written(base, '/api/coupons/mint', { couponId })),
          180,
        ),
      ),
  )
  return (performance.now() - began) / 1000
}

const { number, rows: rowsOf } = appendedCounters
const sumsOf = (names: readonly string[]) => names.map((name) => `sum(${name}) AS ${name}`)
/** The counters as columns, as the schema of a file has them. */
const counterViews = [
  `CREATE TEMP VIEW definitions AS SELECT d.id, ${counterTables.definitions.numbers
    .map((name) => `${number('definitions', name, 'd')} AS ${name}`)
    .join(', ')} FROM public.definitions d`,
  `CREATE TEMP VIEW totals AS SELECT id, ${sumsOf(counterTables.totals.numbers).join(', ')}
     FROM ${rowsOf('totals')} GROUP BY id`,
]

async function brokenInvariants(cluster: Cluster): Promise<string[]> {
  const connection: Connection = await cluster.connect()
  try {
    for (const text of counterViews) await connection.send(text, [])
    const problems: string[] = []
    for (const [claim, text] of commonInvariants) {
      const { rows } = await connection.send(text, [])
      if (rows.length > 0) problems.push(`${claim}: ${JSON.stringify(rows.slice(0, 5))}`)
    }
    return problems
  } finally {
    connection.destroy()
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kinds: { type: 'string' },
      async: { type: 'boolean', default: false },
      patroni: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '3' },
      namespace: { type: 'boolean', default: false },
      inside: { type: 'boolean', default: false },
    },
  })
  const { patroni, namespace, inside } = values
  if (namespace && !inside) {
    process.exit(inOwnNetwork(process.execPath, ...process.argv.slice(1), '--inside'))
  }
  const seed = chooseSeed()
  const servers = patroni ? 'patroni' : namespace ? 'apart' : 'pair'
  const usual = { patroni: ['primary'], apart: ['partition'], pair: kinds }
  const asked = values.kinds?.split(',') ?? usual[servers]
  const chosen = kinds.filter((kind) => asked.includes(kind))
  const waited = !values.async
  console.log(`SEED=${seed}`)
  const report = await failoverRounds({
    ...{ count: Number(positionals[0] ?? 20), kinds: chosen, random: new Random(seed) },
    ...{ waited, servers, nodes: Number(values.nodes) },
    progress: ({ rounds }) => process.stderr.write(`\r${JSON.stringify(rounds)}`),
  })
  await cleanUp()
  const { acknowledged, cutOff, problems } = report
  for (const problem of problems.slice(0, 20)) console.log(problem)
  const late = chosen.filter((kind) => report.away[kind] > awayMax[servers])
  for (const kind of chosen) {
    const rounds = report.rounds[kind]
    const each = (report.took[kind] / Math.max(1, rounds)).toFixed(1)
    const away = report.away[kind].toFixed(1)
    const bound = late.includes(kind) ? `, MORE than ${awayMax[servers]} s` : ''
    console.log(
      `${kind}: ${rounds} rounds of ${each} s, writes answered again within ${away} s${bound}`,
    )
  }
  console.log(`${acknowledged} answers, ${cutOff} keyed requests cut off`)
  console.log(`${problems.length} problems${waited ? '' : ', which the control must have'}`)
  const kept = problems.length === 0 && late.length === 0
  process.exit((waited ? kept : problems.length > 0) ? 0 : 1)
}
