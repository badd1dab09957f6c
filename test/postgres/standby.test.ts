/** A synchronous standby that is away: writes are refused at once, reads are answered, and the server keeps its sessions. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import type { OperatorError } from '../../src/base/operator-error.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { type Connection, ConnectionLost } from '../../src/db/postgres/connection.ts'
import { thisMoment } from '../../src/db/postgres/elapsed.ts'
import type { PostgresEngine } from '../../src/db/postgres/engine.ts'
import { openPostgres } from '../../src/db/postgres/open.ts'
import { CommitUnknown, Settlement } from '../../src/db/postgres/settlement.ts'
import type { Verdict } from '../../src/db/postgres/standby-watch.ts'
import {
  call,
  createDefinition,
  mintOne,
  newSigner,
  openSession,
  withKey,
} from '../support/client.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { openHost } from '../support/postgres-host.ts'
import { nameStandby, promote, startStandby } from '../support/postgres-standby.ts'
import { main } from '../support/program.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { shortSilence } from '../support/short-silence.ts'
import { logged, until } from '../support/until.ts'
import { backendsOf, codeOf, idsIn, openRows, type Rows } from './rows.ts'

const databases = await openDatabases()
const rows = openRows(databases)
let named = false
Object.assign(limits, shortSilence)
const usual = { ...limits }
afterEach(async () => {
  Object.assign(limits, usual)
  if (named) await waitFor('')
})
afterAll(async () => {
  await cleanUp()
  await databases.stop()
})

async function waitFor(standby: 'nobody' | ''): Promise<void> {
  named = standby !== ''
  await nameStandby(databases.server, standby)
}

const waiting = (connection: Connection, query = '%') =>
  backendsOf(connection, `wait_event = 'SyncRep' AND query LIKE '${query}'`)

/** An engine that tells the verdicts of its watch. */
function openEngine(url: string) {
  const told: Verdict[] = []
  const ignored = () => undefined
  const watched = (verdict: Verdict) => void told.push(verdict)
  const events = { committed: ignored, failed: ignored, watched }
  const node = { name: 'one', version: '9.9' }
  return { engine: rows.engine(url, { events, node, connections: 8 }), told }
}

/** Callers that write one row after the other until they are told to stop. */
function startCallers(nodes: readonly PostgresEngine<Rows>[], count: number) {
  const answered: number[] = []
  const refused: Refusal[] = []
  let next = 0
  let working = true
  const lane = async (node: PostgresEngine<Rows>) => {
    while (working) {
      const id = next++
      try {
        await node.transact({ roots: 'none' }, (tx) => tx.insert(id))
        answered.push(id)
      } catch (cause) {
        if (!(cause instanceof Refusal)) throw cause
        refused.push(cause)
        await Bun.sleep(5)
      }
    }
  }
  const lanes = Array.from({ length: count }, (_, at) => lane(nodes[at % nodes.length] as never))
  return {
    ...{ answered, refused },
    async stop() {
      working = false
      await Promise.all(lanes)
    },
  }
}

test('while it is away, two nodes under load leave no more sessions waiting than they may write with', async () => {
  const { url, other } = await rows.create()
  await other.send('SET synchronous_commit = local', [])
  const nodes = [openEngine(url), openEngine(url)]
  const engines = nodes.map(({ engine }) => engine)
  // One of eight connections is kept for reads.
  const most = 2 * 7
  const callers = startCallers(engines, 60)
  await until('rows are written', () => callers.answered.length > 100)
  await waitFor('nobody')
  await until('both nodes know it', () => nodes.every(({ told }) => told.includes('waiting')))
  const before = callers.refused.length
  await until('many are refused', async () => {
    expect((await waiting(other)).length).toBeLessThanOrEqual(most)
    return callers.refused.length > before + 5000
  })
  const sessions = await waiting(other)
  expect(sessions.length).toBeGreaterThan(0)
  const { detail, words } = callers.refused.at(-1) as Refusal
  expect([detail.retryAfter, words]).toEqual([5, expect.stringContaining('copia')])
  const written = callers.answered.length
  for (const engine of engines) {
    const guess = [{ name: 'code', burst: 1, perSecond: 1 }]
    const writes = [() => engine.buckets.take(guess), ...engine.upkeep.map(({ step }) => step)]
    for (const write of writes) expect(await codeOf(write())).toBe('unavailable')
    expect(await engine.snapshot((tx) => tx.count())).toBe(written)
    expect((await engine.lease(`work ${engines.indexOf(engine)}`))?.held()).toBe(true)
  }
  // Nobody asked for the fate of a commit: the question would wait, too.
  expect(await waiting(other, '%fence%')).toEqual([])
  expect((await waiting(other)).length).toBe(sessions.length)

  await waitFor('')
  await until('writes are answered', () => callers.answered.length > written + 100)
  await until('both nodes say so', () => nodes.every(({ told }) => told.includes('free')))
  await callers.stop()
  expect(nodes.map(({ told }) => told)).toEqual(Array(2).fill(['waiting', 'free']))
  // Those that were given up stand, too.
  const there = new Set(await idsIn(other))
  expect(callers.answered.filter((id) => !there.has(id))).toEqual([])
  expect(there.size).toBe(callers.answered.length + sessions.length)
})

test('a login that acts as another role finds its sessions, and one that may not look goes on writing', async () => {
  Object.assign(limits, { databaseSettleSeconds: 1 })
  const { url, other } = await rows.create()
  await other.send('CREATE ROLE acting LOGIN IN ROLE cuponera', [])
  await other.send('ALTER ROLE acting SET role = cuponera', [])
  const { engine, told } = openEngine(url.replace('//cuponera@', '//acting@'))
  const insert = (id: number) => codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(id)))
  expect(await insert(1)).toBe('answered')
  await waitFor('nobody')
  expect([await insert(2), told]).toEqual(['unavailable', ['waiting']])
  await waitFor('')
  await until('writes are answered', async () => (await insert(3)) === 'answered')
  expect(told).toEqual(['waiting', 'free'])
  await other.send('REVOKE SELECT ON pg_stat_activity FROM PUBLIC', [])
  expect([await engine.commitsWait(), await insert(4)]).toEqual([false, 'answered'])
  expect(told.slice(2)).toEqual(['forbidden'])
  expect(engine.nodes?.figures()).toMatchObject({ standbyUnwatched: true, standbyLost: false })
  expect(await idsIn(other)).toEqual([1, 2, 3, 4])
})

test('behind a balancer a node finds the promoted server, while the old one still answers', async () => {
  const { url, other } = await rows.create()
  const between = await openHost(databases.server)
  named = true
  const following = { name: 'standby', waited: true, through: between }
  const standby = await startStandby(databases.server, following)
  const balancer = await openHost(databases.server)
  const through = url.replace(/host=[^&]*/, `host=${encodeURIComponent(balancer.socket)}`)
  const { engine, told } = openEngine(through)
  const insert = (id: number) => codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(id)))
  const count = () => engine.snapshot((tx) => tx.count())
  expect(await insert(1)).toBe('answered')
  between.hold()
  // The reads keep their connection to the old server.
  expect([await insert(2), told, await count()]).toEqual(['unavailable', ['waiting'], 1])
  await promote(standby)
  balancer.lead(standby)
  await until('writes are answered', async () => (await insert(3)) === 'answered')
  expect([await count(), told]).toEqual([2, ['waiting', 'free']])
  expect((await waiting(other)).length).toBeGreaterThan(0)
  await engine.close()
  for (const host of [balancer, between]) host.close()
  await standby.stop()
})

test('a server that answers nothing counts as away from its standby, until it says otherwise', async () => {
  Object.assign(limits, { databaseAnswerSeconds: 1, databaseConnectSeconds: 1 })
  const { url, other } = await rows.create()
  const host = await openHost(databases.server)
  const through = url.replace(/host=[^&]*/, `host=${encodeURIComponent(host.socket)}`)
  const { engine, told } = openEngine(through)
  const insert = (id: number) => codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(id)))
  expect(await insert(1)).toBe('answered')
  host.hold()
  const held = insert(2)
  await until('it is refused', async () => (await insert(3)) === 'unavailable')
  expect([engine.away, told]).toEqual([true, ['unreachable']])
  expect(engine.nodes?.figures().unreachable).toBe(true)
  host.cut()
  host.letGo()
  await until('it is answered', async () => (await insert(4)) === 'answered')
  expect([await held, engine.away]).toEqual(['unavailable', false])
  expect(told).toEqual(['unreachable', 'free'])
  expect(engine.nodes?.figures().unreachable).toBe(false)
  expect(await idsIn(other)).toEqual([1, 4])
  host.close()
})

test('no more than some wait to learn the fate of a commit, and none for longer than they should', async () => {
  Object.assign(limits, { databaseSettleSeconds: 0.3 })
  const asked: PromiseWithResolvers<never>[] = []
  const connect = () => {
    asked.push(Promise.withResolvers())
    return (asked.at(-1) as PromiseWithResolvers<never>).promise
  }
  const settlement = new Settlement(connect, { verdict: async () => 'free' })
  const { databaseSettlementsMax, databaseSettlementsWaitingMax } = limits
  const count = databaseSettlementsMax + databaseSettlementsWaitingMax
  const fates = Array.from({ length: count + 1 }, (_, id) =>
    settlement.stands(String(id), thisMoment()).catch((cause: unknown) => cause),
  )
  expect(await fates[count]).toBeInstanceOf(CommitUnknown)
  // Nobody of those who ask gets an answer.
  const others = await Promise.all(fates.slice(databaseSettlementsMax, count))
  expect(others.every((fate) => fate instanceof CommitUnknown)).toBe(true)
  expect(asked).toHaveLength(databaseSettlementsMax)
  settlement.stop()
  for (const { reject } of asked) reject(new ConnectionLost('the test ends'))
  const first = await Promise.all(fates.slice(0, databaseSettlementsMax))
  expect(first.every((fate) => fate instanceof CommitUnknown)).toBe(true)
})

test('a commit without a mark is unknown once its mark may be deleted', async () => {
  const fate = (outcome: 'work' | 'fence', secondsAgo: number) => {
    const answer = { rows: [{ outcome }] }
    const connection = {
      takeWarning: () => false,
      send: async () => answer,
      destroy: () => undefined,
    }
    const connect = async () => connection as unknown as Connection
    const settlement = new Settlement(connect, { verdict: async () => 'free' })
    // The machine was suspended: its steady clock stood still.
    const { steadyMs, upSeconds } = thisMoment()
    const began = { steadyMs, upSeconds: upSeconds - secondsAgo }
    return settlement.stands('one', began).catch((cause: unknown) => cause)
  }
  const kept = limits.commitsKeptSeconds
  expect([await fate('fence', 10), await fate('work', 10), await fate('work', kept)]).toEqual([
    false,
    true,
    true,
  ])
  expect(await fate('fence', kept)).toBeInstanceOf(CommitUnknown)
})

/** The line that a start ends with. */
async function startOn(url: string, watched = (_: Verdict): void => undefined): Promise<string> {
  const ignored = () => undefined
  const events = { committed: ignored, failed: ignored, watched }
  const now = () => Date.now() / 1000
  const options = { url, schema: couponSchema, now, stores: () => ({}), events }
  return openPostgres(options).then(
    async ({ database }) => {
      await database.close()
      return 'started'
    },
    (cause: OperatorError) => cause.message,
  )
}

test.each(['new', 'used'])(
  'no node starts on a %s database without it, and each says why',
  async (state) => {
    const name = await (state === 'new' ? databases.createBare() : databases.create())
    const url = databases.server.url(name)
    const other = await databases.connect(name)
    await waitFor('nobody')
    const starts = await Promise.all([startOn(url), startOn(url)])
    for (const line of [...starts, await startOn(url)]) expect(line).toContain('wait for a standby')
    // The first commit of each, at most: the tables are made by one of them.
    expect((await waiting(other)).length).toBeLessThanOrEqual(2)
    await waitFor('')
    await until('no commit waits', async () => (await waiting(other)).length === 0)
    expect(await startOn(url)).toBe('started')
  },
)

test('a start waits for a standby that is connected and lags', async () => {
  const { url, other } = await rows.create()
  const between = await openHost(databases.server)
  named = true
  const following = { name: 'standby', waited: true, through: between }
  const standby = await startStandby(databases.server, following)
  Object.assign(limits, { databaseAnswerSeconds: 60 })
  const { engine } = openEngine(url)
  const insert = (id: number) => codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(id)))
  expect(await insert(1)).toBe('answered')
  between.hold()
  const held = insert(2)
  await until('its commit waits', async () => (await waiting(other)).length > 0)
  // Without a connected standby the first look would end it.
  Object.assign(limits, { standbyAwaySeconds: 0 })
  const told: Verdict[] = []
  const started = startOn(url, (verdict) => void told.push(verdict))
  await until('the start waits, too', () => told.includes('waiting'))
  between.letGo()
  expect([await started, await held]).toEqual(['started', 'answered'])
  await engine.close()
  between.close()
  await standby.stop()
})

/** Kills the server, or one of its processes, after which it recovers by itself. */
const deaths = {
  server: async () => {
    await databases.server.kill()
    await databases.server.start()
  },
  process: async (other: Connection) => {
    process.kill((await backendsOf(other))[0] as number, 'SIGKILL')
    await until('the others end', () => !other.open)
  },
}

test.each(Object.keys(deaths) as (keyof typeof deaths)[])(
  'after the death of a %s nothing is read that the standby may not have',
  async (died) => {
    const { url, name, other } = await rows.create()
    const between = await openHost(databases.server)
    named = true
    const following = { name: 'standby', waited: true, through: between }
    const standby = await startStandby(databases.server, following)
    const { engine, told } = openEngine(url)
    await engine.follow()
    const insert = (id: number) => codeOf(engine.transact({ roots: 'none' }, (tx) => tx.insert(id)))
    const count = () => engine.snapshot((tx) => tx.count())
    expect(await insert(1)).toBe('answered')
    between.hold()
    expect([await insert(2), told, await count()]).toEqual(['unavailable', ['waiting'], 1])
    await deaths[died](other)
    await until('the server recovers', async () => {
      const connection = await databases.connect(name).catch(() => null)
      connection?.destroy()
      return connection !== null
    })
    const after = await databases.connect(name)
    expect(await idsIn(after)).toEqual([1, 2])
    await until('the watch is free', () => told.includes('free'))
    // No later look helps: the commit that the standby confirms does.
    Object.assign(limits, { standbyLookSeconds: 3600 })
    const refused = await count().catch((cause: unknown) => cause)
    expect(refused).toMatchObject({
      code: 'unavailable',
      words: expect.stringContaining('responder con certeza'),
    })
    // Many that ask leave one session at the server.
    const asked = Array.from({ length: 30 }, () => codeOf(count()))
    expect(await Promise.all(asked)).toEqual(Array(30).fill('unavailable'))
    expect((await waiting(after)).length).toBeLessThanOrEqual(2)
    between.letGo()
    await until('reads are answered', async () => (await codeOf(count())) === 'answered')
    expect([await count(), await insert(3), await count()]).toEqual([2, 'answered', 3])
    await engine.close()
    between.close()
    await standby.stop()
  },
)

/** A node with short limits, with the keys of the first one. */
function startNode(url: string, keys?: string): Promise<TestServer> {
  const dataDir = newDirectory()
  if (keys !== undefined) cpSync(keys, join(dataDir, 'keys'), { recursive: true })
  const preload = join(import.meta.dir, '../support/short-silence.ts')
  return startServer({
    dataDir,
    command: [process.execPath, '--preload', preload, main],
    env: { DATABASE_URL: url, RATE_LIMIT: 'off', MERCHANTS: 'open' },
  })
}

test('a refused request that stands after all is repeated, and no node is ready or starts meanwhile', async () => {
  const name = await databases.create()
  const url = databases.server.url(name)
  const one = await startNode(url)
  const two = await startNode(url, join(one.dataDir, 'keys'))
  const nodes = [one, two]
  const token = await openSession(one.url, newSigner())
  const couponId = await createDefinition(one.url, token)
  const vouchers = []
  for (let count = 0; count < 8; count++) vouchers.push(await mintOne(one.url, token, couponId))
  await waitFor('nobody')
  const requests = vouchers.map(({ nonce }, at) => {
    const node = nodes[at % 2] as TestServer
    const options = { body: { nonce }, ...withKey() }
    return { node, other: nodes[(at + 1) % 2] as TestServer, options }
  })
  const refresh = ({ url }: TestServer, options: object) =>
    call(url, '/api/coupons/refresh', options)
  const given = await Promise.all(requests.map(({ node, options }) => refresh(node, options)))
  expect(given.map(({ status }) => status)).toEqual(Array(8).fill(503))
  for (const node of nodes) {
    const { json, status, headers } = await call(node.url, '/readyz')
    expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '5'])
    expect(json.error).toContain('copia')
    expect((await call(node.url, '/api/coupons', { token })).status).toBe(200)
    const { text } = await call(node.url, '/metrics')
    expect(text).toContain('\ncuponera_database_standby_lost 1\n')
    expect(text).toContain('\ncuponera_nodes 2\n')
    await logged(node, 'standby.lost')
  }
  expect(await startOn(url)).toContain('wait for a standby')

  await waitFor('')
  for (const node of nodes) {
    await until('it is ready', async () => (await call(node.url, '/readyz')).status === 200)
    await logged(node, 'database.back')
  }
  for (const { node, other, options } of requests) {
    const again = await refresh(node, options)
    const elsewhere = await refresh(other, options)
    expect([again.status, elsewhere.status, elsewhere.text]).toEqual([200, 200, again.text])
    expect((await refresh(node, { ...options, ...withKey() })).json.code).toBe('voucher-refreshed')
  }
})
