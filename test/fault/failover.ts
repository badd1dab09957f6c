/**
 * `npm run failover -- N`: N rounds on a service whose PostgreSQL has a synchronous standby. In each one something dies
 * under load: the primary (the standby is promoted), the service, or the network between them. Every answer that
 * was given must stand, once, and a second node of the service gives the same. `--kinds primary,node` chooses,
 * `SEED=…` repeats. Control: `--async`, where the standby is not waited for, must lose something. `--patroni`: three
 * servers under Patroni and etcd (`apt-get install patroni etcd-server`), whose leader dies with its disk.
 * `--namespace`: as root, the network between service and servers is one of its own, which loses every packet for a while.
 */
import { appendFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Connection } from '../../src/db/postgres/connection.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { call, percentBenefit } from '../support/client.ts'
import { inOwnNetwork, openNamespace } from '../support/namespace.ts'
import type { Postgres } from '../support/postgres.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { type Host, openHost } from '../support/postgres-host.ts'
import { administer, promote, startStandby } from '../support/postgres-standby.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { commonInvariants, type Memory, verifyMemory, Workload } from '../support/workload.ts'
import { openPatroni } from './patroni/cluster.ts'

export const kinds = ['primary', 'node', 'cut', 'partition'] as const
export type Kind = (typeof kinds)[number]

export type FailoverReport = {
  rounds: Record<Kind, number>
  /** Answers under load. */
  acknowledged: number
  /** Requests under an Idempotency-Key without an answer. */
  cutOff: number
  /** The longest time until a write was answered again, in seconds: after the promotion, and under Patroni after the death. */
  away: Record<Kind, number>
  problems: string[]
}

type Asked = {
  count: number
  kinds: readonly Kind[]
  random: Random
  /** False for the control: answers do not wait for the standby. */
  waited: boolean
  servers: Servers
  progress?: (report: FailoverReport) => void
}

/** Run the rounds. It stops at the first one with problems. */
export async function failoverRounds(asked: Asked): Promise<FailoverReport> {
  const { count, random, waited } = asked
  const none = () => ({ primary: 0, node: 0, cut: 0, partition: 0 })
  const report: FailoverReport = {
    ...{ rounds: none(), away: none(), acknowledged: 0, cutOff: 0, problems: [] },
  }
  const cluster = await openers[asked.servers](waited)
  const older: Memory[] = []
  try {
    for (let round = 0; round < count && report.problems.length === 0; round++) {
      const kind = random.pick(asked.kinds)
      const load = new Workload(cluster.service().url, random.below(2 ** 31), { patient: true })
      await load.prepare()
      const running = load.run(8)
      await load.reach(40)
      await Bun.sleep(random.below(300))
      report.problems.push(...(await happenings[kind](cluster, random, load)))
      report.away[kind] = Math.max(report.away[kind], await secondsUntilWrite(load, cluster))
      await Bun.sleep(random.below(200))
      load.stop()
      const memory = await running
      await cluster.repair()
      report.rounds[kind]++
      report.acknowledged += memory.acknowledged
      report.cutOff += memory.unheard.length
      report.problems.push(...(await verifyMemory(cluster.service().url, memory)))
      // A signature is for one address.
      const lasting = { ...memory, proofs: [] }
      report.problems.push(...(await verifyMemory(cluster.other().url, lasting)))
      report.problems.push(...(await brokenInvariants(cluster)))
      older.push(memory)
      asked.progress?.(report)
    }
    // An answer stands after later rounds, too. Signatures are too old by then.
    for (const memory of older.slice(-10)) {
      const lasting = { ...memory, proofs: [] }
      report.problems.push(...(await verifyMemory(cluster.service().url, lasting)))
    }
    return report
  } finally {
    await cluster.stop()
  }
}

/** A database with standbys, and a service that knows the way to all of them. */
type Cluster = {
  hosts: readonly Pick<Host, 'cut' | 'hold' | 'letGo'>[]
  service(): TestServer
  /** A node that nobody kills. */
  other(): TestServer
  /** A connection of the superuser to the database on the server that takes writes. */
  connect(): Promise<Connection>
  /** Kill the primary. A standby takes its place. */
  failOver(stallMs: number): Promise<void>
  /** Give a promoted primary a standby of its own. */
  repair(): Promise<void>
  killService(): Promise<void>
  stop(): Promise<void>
}

/** Start the nodes of a service, and one again after `kill` on the same address. */
async function openService(url: string) {
  const dataDir = newDirectory()
  const start = (directory: string, port: string) =>
    startServer({
      dataDir: directory,
      env: { DATABASE_URL: url, PORT: port, RATE_LIMIT: 'off', LOG_LEVEL: 'warn' },
    })
  let service = await start(dataDir, '0')
  // The second node has the keys of the first one.
  const beside = newDirectory()
  cpSync(join(dataDir, 'keys'), join(beside, 'keys'), { recursive: true })
  const other = await start(beside, '0')
  return {
    now: () => service,
    other: () => other,
    async kill(): Promise<void> {
      const { port } = new URL(service.url)
      await service.kill()
      service = await start(dataDir, port)
    },
  }
}

/** A primary and its standby. The test itself promotes. */
async function openPair(waited: boolean): Promise<Cluster> {
  const databases = await openDatabases()
  const name = await databases.create('coupons')
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
  const service = await openService(`postgres://cuponera@${sockets.join(',')}/${name}`)
  return {
    hosts,
    service: service.now,
    other: service.other,
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
    killService: service.kill,
    async stop() {
      await service.now().kill()
      await service.other().kill()
      for (const host of [...hosts, between]) host.close()
      await standby?.stop()
      if (primary !== databases.server) await primary.stop()
      await databases.stop()
    },
  }
}

/** A primary and its standby on the other side of a network that loses packets. */
async function openApart(waited: boolean): Promise<Cluster> {
  await using opened = new AsyncDisposableStack()
  const network = openNamespace()
  opened.defer(() => network.close())
  const [ofPrimary, ofStandby] = network.addresses
  const databases = await openDatabases({ listen_addresses: ofPrimary }, network.enter)
  opened.defer(() => databases.stop())
  const primary = databases.server
  const name = await databases.create('coupons')
  appendFileSync(join(primary.data, 'pg_hba.conf'), 'host all cuponera samenet scram-sha-256\n')
  const administrator = await databases.connect(name)
  await administrator.send('SELECT pg_reload_conf()', [])
  await administrator.send(`ALTER ROLE cuponera PASSWORD 'clave'`, [])
  administrator.destroy()
  const settings = { listen_addresses: ofStandby }
  const standby = await startStandby(primary, { name: 'standby', waited, settings })
  opened.defer(() => standby.stop())
  const service = await openService(`postgres://cuponera:clave@${ofPrimary},${ofStandby}/${name}`)
  opened.defer(() => service.now().kill())
  opened.defer(() => service.other().kill())
  const everything = opened.move()
  return {
    hosts: [{ hold: network.drop, letGo: network.restore, cut: () => undefined }],
    service: service.now,
    other: service.other,
    connect: () => administer(primary, name),
    async failOver() {
      throw new Error('nobody promotes here')
    },
    repair: async () => undefined,
    killService: service.kill,
    stop: () => everything.disposeAsync(),
  }
}

/** Three servers under Patroni, which promotes. */
async function openUnderPatroni(): Promise<Cluster> {
  const patroni = await openPatroni()
  try {
    const administrator = await patroni.connect('postgres')
    await administrator.send('CREATE ROLE cuponera LOGIN', [])
    await administrator.send('CREATE DATABASE coupons OWNER cuponera', [])
    administrator.destroy()
    const service = await openService(patroni.url('coupons'))
    let revive: (() => void) | null = null
    return {
      hosts: [],
      service: service.now,
      other: service.other,
      connect: () => patroni.connect('coupons'),
      async failOver() {
        revive = await patroni.killLeader()
      },
      async repair() {
        revive?.()
        revive = null
        await patroni.whole()
      },
      killService: service.kill,
      async stop() {
        await service.now().kill()
        await service.other().kill()
        patroni.stop()
      },
    }
  } catch (cause) {
    patroni.stop()
    throw cause
  }
}

type Servers = 'pair' | 'apart' | 'patroni'

const openers: Record<Servers, (waited: boolean) => Promise<Cluster>> = {
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
  async node(cluster) {
    await cluster.killService()
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
}

/** Seconds until a new write of a client is answered. */
async function secondsUntilWrite({ memory }: Workload, cluster: Cluster): Promise<number> {
  const began = performance.now()
  const body = { name: 'después', benefit: percentBenefit }
  await until(
    'a write is answered',
    async () => {
      const answer = await call(cluster.service().url, '/api/coupons', {
        body,
        token: memory.token,
      })
      return answer.status === 201
    },
    180,
  )
  return (performance.now() - began) / 1000
}

/** The counters as columns, as the schema of a file has them. */
const counterViews = [
  `CREATE TEMP VIEW counted AS SELECT counter, key1, number1, number2, number3, number4 FROM counter_changes
     UNION ALL SELECT counter, key1, number1, number2, number3, number4 FROM counter_sums`,
  `CREATE TEMP VIEW definitions AS SELECT d.*,
     (SELECT coalesce(sum(number1), 0) FROM counted WHERE counter = 'definitions' AND key1 = d.id) AS claimed,
     (SELECT coalesce(sum(number2), 0) FROM counted WHERE counter = 'definitions' AND key1 = d.id) AS voided
     FROM public.definitions d`,
  `CREATE TEMP VIEW totals AS SELECT key1 AS id, sum(number1) AS issued, sum(number2) AS claimed,
     sum(number3) AS voided, sum(number4) AS refreshed FROM counted WHERE counter = 'totals' GROUP BY key1`,
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
    ...{ waited, servers },
    progress: ({ rounds }) => process.stderr.write(`\r${JSON.stringify(rounds)}`),
  })
  await cleanUp()
  for (const problem of report.problems.slice(0, 20)) console.log(problem)
  const { acknowledged, cutOff, problems } = report
  for (const kind of chosen) {
    const away = report.away[kind].toFixed(1)
    console.log(`${kind}: ${report.rounds[kind]} rounds, writes answered again within ${away} s`)
  }
  console.log(`${acknowledged} answers, ${cutOff} keyed requests cut off`)
  console.log(`${problems.length} problems${waited ? '' : ', which the control must have'}`)
  process.exit((problems.length === 0) === waited ? 0 : 1)
}
