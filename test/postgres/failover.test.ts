/** Servers that die and connections that are cut while operations run: what was answered stands, once. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import type { Sql } from '../../src/db/sql.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { until } from '../support/until.ts'

const databases = await openDatabases()
afterAll(async () => {
  await databases.stop()
  await cleanUp()
})

const engines: PostgresEngine<Counting>[] = []
const proxies: Server[] = []
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close()
  for (const proxy of proxies.splice(0)) proxy.close()
})

type Counting = { add(id: number): Promise<void>; total(): Promise<number> }

/** A counter that every operation reads and writes, and a row for each operation, which may be there once. */
function createCounting(sql: Sql): Counting {
  const read = sql.query<{ n: number }, []>('SELECT n FROM counter')
  const write = sql.query<null, [number]>('UPDATE counter SET n = ?')
  const insert = sql.query<null, [number]>('INSERT INTO done (id) VALUES (?)')
  return {
    async add(id) {
      write.run(((await read.get())?.n ?? 0) + 1)
      insert.run(id)
    },
    async total() {
      return (await read.get())?.n ?? 0
    },
  }
}

/** Tells for one connection if what it sends has a COMMIT, by its text or by the name that its text was given. */
function findCommits(): (data: Buffer | string) => boolean {
  const names = new Set<string>()
  return (data) => {
    const sent = Buffer.from(data).toString('latin1')
    for (const [, name = ''] of sent.matchAll(/P[\s\S]{4}(\w+)\0COMMIT\0/g)) names.add(name)
    return sent.includes('COMMIT\0') || [...names].some((name) => sent.includes(`\0${name}\0`))
  }
}

/**
 * A server in between, which loses commits: of some it passes the question on and not the answer, of others not even
 * the question. Resolves to the address of the database behind it.
 */
async function openLossy(
  url: string,
): Promise<{ url: string; lost: { asked: number; answered: number } }> {
  const directory = newDirectory()
  const behind = join(databases.server.socket, '.s.PGSQL.5432')
  const lost = { asked: 0, answered: 0 }
  let commits = 0
  const server = createServer((client) => {
    const inner = connect(behind)
    const end = () => {
      client.destroy()
      inner.destroy()
    }
    for (const socket of [client, inner]) socket.on('error', end).on('close', end)
    let deaf = false
    const commitsIn = findCommits()
    inner.on('data', (data) => {
      if (!deaf) return void client.write(data)
      // The commit is on disk. Its answer never arrives.
      lost.answered++
      end()
    })
    client.on('data', (data) => {
      const chosen = commitsIn(data) ? commits++ % 7 : 0
      if (chosen === 3) {
        lost.asked++
        return end()
      }
      deaf ||= chosen === 6
      inner.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(join(directory, '.s.PGSQL.5432'), resolve))
  proxies.push(server)
  return { url: url.replace(/host=[^&]*/, `host=${encodeURIComponent(directory)}`), lost }
}

async function open(count: number, through = async (url: string) => url) {
  const name = await databases.create()
  const connection = await databases.connect(name)
  await connection.send('CREATE TABLE counter (n BIGINT NOT NULL)', [])
  await connection.send('INSERT INTO counter VALUES (0)', [])
  await connection.send('CREATE TABLE done (id BIGINT NOT NULL)', [])
  await connection.end()
  const url = await through(databases.server.url(name))
  const opened = Array.from(
    { length: count },
    () => new PostgresEngine({ url, now: systemClock, stores: createCounting, connections: 8 }),
  )
  engines.push(...opened)
  return { name, engines: opened }
}

/** Run operations, 16 at a time, on engines in turn. The result is what was answered. */
async function load(nodes: readonly PostgresEngine<Counting>[], operations: number) {
  const answered: number[] = []
  const unknown: number[] = []
  let next = 0
  const lane = async () => {
    for (let id = next++; id < operations; id = next++) {
      const node = nodes[id % nodes.length] as PostgresEngine<Counting>
      try {
        await node.transact({ roots: ['instance'] }, (tx) => tx.add(id))
        answered.push(id)
      } catch (cause) {
        expect(cause).toBeInstanceOf(Refusal)
        expect((cause as Refusal).code).toBe('unavailable')
        unknown.push(id)
      }
    }
  }
  await Promise.all(Array.from({ length: 16 }, lane))
  return { answered, unknown }
}

async function doneIn(name: string): Promise<{ ids: number[]; total: number }> {
  const connection = await databases.connect(name)
  const { rows } = await connection.send('SELECT id FROM done ORDER BY id', [])
  const counted = await connection.send('SELECT n FROM counter', [])
  await connection.end()
  return { ids: rows.map(({ id }) => Number(id)), total: Number(counted.rows[0]?.n) }
}

function expectOnce(
  { answered, unknown }: Awaited<ReturnType<typeof load>>,
  { ids, total }: Awaited<ReturnType<typeof doneIn>>,
): void {
  expect(new Set(ids).size).toBe(ids.length)
  expect(total).toBe(ids.length)
  const there = new Set(ids)
  expect(answered.filter((id) => !there.has(id))).toEqual([])
  const told = new Set([...answered, ...unknown])
  expect(ids.filter((id) => !told.has(id))).toEqual([])
}

test('connections that are cut lose and double nothing', async () => {
  const { name, engines: nodes } = await open(2)
  const cutter = await databases.connect('postgres')
  let cuts = 0
  let working = true
  const cutting = (async () => {
    while (working) {
      await Bun.sleep(20 + Math.random() * 60)
      await cutter.send(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND random() < 0.5',
        [name],
      )
      cuts++
    }
  })()
  const outcome = await load(nodes, 600)
  working = false
  await cutting
  await cutter.end()
  expect(cuts).toBeGreaterThan(3)
  expect(outcome.answered.length).toBeGreaterThan(300)
  expectOnce(outcome, await doneIn(name))
})

test('a server that is killed and started again has what it answered, once, and work goes on by itself', async () => {
  const { name, engines: nodes } = await open(2)
  const loading = load(nodes, 800)
  const [first] = nodes
  await until('the load is under way', async () => {
    return ((await first?.snapshot((tx) => tx.total())) ?? 0) > 50
  })
  await databases.server.kill()
  await databases.server.start()
  const outcome = await loading
  await first?.transact({ roots: ['instance'] }, (tx) => tx.add(-1))
  outcome.answered.push(-1)
  expectOnce(outcome, await doneIn(name))
})

test('a commit whose question or answer got lost is settled: its work stands, once', async () => {
  let lost = { asked: 0, answered: 0 }
  const { name, engines: nodes } = await open(2, async (url) => {
    const lossy = await openLossy(url)
    lost = lossy.lost
    return lossy.url
  })
  const outcome = await load(nodes, 300)
  expect(Math.min(lost.asked, lost.answered)).toBeGreaterThan(5)
  expect(outcome.answered.length).toBeGreaterThan(200)
  expectOnce(outcome, await doneIn(name))
})
