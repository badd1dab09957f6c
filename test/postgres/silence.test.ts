/** A node that may have missed something: news that it cannot read, stalls, commits that were given up, a move. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import type { Refusal } from '../../src/base/refusal.ts'
import { Listeners, type Topic } from '../../src/db/news.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import type { PostgresEngine } from '../../src/db/postgres/engine.ts'
import { NewsLine } from '../../src/db/postgres/news.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { openHost } from '../support/postgres-host.ts'
import { nameStandby } from '../support/postgres-standby.ts'
import { until } from '../support/until.ts'
import { backendsOf, codeOf, holdCommits, idsIn, openRows, type Rows } from './rows.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())
const rows = openRows(databases)

const noted: Topic<string> = { name: 'noted' }

// In a file of its own, so that other tests keep theirs.
const bounds: {
  newsSilenceSeconds: number
  leaseSilenceSeconds: number
  databaseAnswerSeconds: number
  databaseSettleSeconds: number
  databaseCallerSeconds: number
} = limits
const usual = { ...bounds }
afterEach(() => void Object.assign(bounds, usual))

function hear(database: Pick<PostgresEngine<Rows>, 'listen'>): string[] {
  const heard: string[] = []
  database.listen(noted, {
    told: (text) => void heard.push(text),
    missed: () => void heard.push('missed'),
  })
  return heard
}

async function tellFromElsewhere(connection: Connection, text: string): Promise<void> {
  await connection.send(
    `INSERT INTO changes (channel, node, topic, body)
     VALUES ('cuponera_service', gen_random_uuid(), 'noted', $1)`,
    [JSON.stringify(text)],
  )
}

test('a node that cannot read the news of others refuses operations and reads, until it can', async () => {
  bounds.newsSilenceSeconds = 2
  const { url, other } = await rows.create()
  const unread: unknown[] = []
  const ignored = () => undefined
  const events = {
    committed: ignored,
    failed: ignored,
    unread: (cause: unknown) => unread.push(cause),
  }
  const node = rows.engine(url, { events })
  const alone = rows.engine(url)
  await node.follow()
  const heard = hear(node)
  const asked = () => [
    node.transact({ roots: 'none' }, async () => undefined),
    node.snapshot((tx) => tx.count()),
    node.buckets.wait([{ name: 'code', burst: 1, perSecond: 1 }]),
    node.requireNews(),
  ]
  await other.send('ALTER TABLE changes RENAME TO hidden', [])
  await until('it is refused', async () => (await codeOf(node.requireNews())) === 'unavailable')
  expect(await Promise.all(asked().map(codeOf))).toEqual(Array(4).fill('unavailable'))
  const refusal = (await node.requireNews().catch((cause: unknown) => cause)) as Refusal
  expect([refusal.detail.retryAfter, refusal.words]).toEqual([2, expect.stringContaining('otros')])
  await until('it is told', () => unread.length > 0)
  // An engine that follows nobody knows nothing that others change.
  expect(await codeOf(alone.snapshot((tx) => tx.count()))).toBe('answered')
  await other.send('ALTER TABLE hidden RENAME TO changes', [])
  await tellFromElsewhere(other, 'meanwhile')
  expect(await Promise.all(asked().map(codeOf))).toEqual(Array(4).fill('answered'))
  expect([heard, unread.length]).toEqual([['meanwhile'], 1])
})

test('after a stall a node reads the news before it answers, and refuses nothing', async () => {
  bounds.newsSilenceSeconds = 2
  const { url, other } = await rows.create()
  const node = rows.engine(url)
  await node.follow()
  const heard = hear(node)
  for (const round of [1, 2]) {
    await tellFromElsewhere(other, `round ${round}`)
    // As if the process was stopped; its connection ends meanwhile.
    const ended = backendsOf(other, `query LIKE '%changes_forgotten%' OR query LIKE 'LISTEN%'`)
    if (round === 2) {
      for (const id of await ended) await other.send('SELECT pg_terminate_backend($1::int)', [id])
    }
    Bun.sleepSync(2500)
    expect(await node.snapshot(async () => heard.at(-1))).toBe(`round ${round}`)
  }
})

test('a node that stood still for long holds no lease, though nothing told it so', async () => {
  bounds.leaseSilenceSeconds = 2
  const { url } = await rows.create()
  const lease = await rows.engine(url).lease('sweep')
  expect(lease?.held()).toBe(true)
  Bun.sleepSync(2500)
  // No timer has run since. Only the time of the last answer says it.
  expect(lease?.held()).toBe(false)
})

test('without a server a node refuses, and it answers again by itself', async () => {
  bounds.newsSilenceSeconds = 2
  const { url } = await rows.create()
  const node = rows.engine(url)
  await node.follow()
  await databases.server.kill()
  try {
    await until('it is refused', async () => (await codeOf(node.requireNews())) === 'unavailable')
  } finally {
    await databases.server.start()
  }
  await until('it answers', async () => (await codeOf(node.requireNews())) === 'answered')
  expect(await node.snapshot((tx) => tx.count())).toBe(0)
})

test('a commit that was given up is read anew by its own node when its transaction has ended', async () => {
  const { url, other } = await rows.create()
  const listeners = new Listeners()
  const heard = hear({ listen: (topic, listener) => listeners.listen(topic, listener) })
  const line = new NewsLine({
    channel: 'cuponera_service',
    connect: (onEnd) => Connection.open({ connectionString: url }, 10_000, onEnd),
    start: () => 'first',
    listeners,
    failed: (cause) => expect(cause).toBeNull(),
  })
  await line.follow()
  const late = await Connection.open({ connectionString: url }, 10_000, () => undefined)
  await late.send('BEGIN', [])
  await tellFromElsewhere(late, 'late')
  line.doubt()
  const told = async (text: string) => {
    await tellFromElsewhere(other, text)
    await until(`${text} is heard`, () => heard.includes(text))
  }
  for (const text of ['one', 'two', 'three']) await told(text)
  await late.send('COMMIT', [])
  await until('it is read anew', () => heard.includes('missed'))
  await told('after')
  await line.close()
  await late.end()
  expect(heard.filter((text) => text === 'missed')).toHaveLength(1)
  expect(heard.indexOf('missed')).toBeGreaterThan(heard.indexOf('three'))
})

test('an operation without a known end is heard at its own node, once it stands', async () => {
  Object.assign(bounds, { databaseAnswerSeconds: 1, databaseSettleSeconds: 0 })
  const { url, other } = await rows.create()
  await other.send('SET synchronous_commit = local', [])
  const node = rows.engine(url, { connections: 2 })
  await node.follow()
  const heard = hear(node)
  await nameStandby(databases.server, 'nobody')
  try {
    const given = node.transact({ roots: 'none' }, async (tx) => {
      await tx.insert(1)
      tx.tell(noted, 'told')
    })
    expect(await codeOf(given)).toBe('unavailable')
    expect([await idsIn(other), heard]).toEqual([[], []])
  } finally {
    await nameStandby(databases.server, '')
  }
  await until('it is read anew', () => heard.includes('missed'))
  expect([await idsIn(other), heard]).toEqual([[1], ['missed']])
})

test.each(['stands', 'was undone'])(
  'a caller is told in time that nobody knows, and a commit that %s is settled behind him',
  async (fate) => {
    Object.assign(bounds, { databaseCallerSeconds: 0.5, databaseSettleSeconds: 60 })
    const { url, other } = await rows.create()
    await holdCommits(other)
    const host = await openHost(databases.server)
    const engine = rows.engine(url.replace(/host=[^&]*/, `host=${encodeURIComponent(host.socket)}`))
    let runs = 0
    let effects = 0
    let told = ''
    const asked = codeOf(
      engine.transact({ roots: 'none' }, async (tx) => {
        runs++
        tx.afterCommit(() => effects++)
        await tx.insert(1)
      }),
    )
    void asked.then((code) => {
      told = code
    })
    const inCommit = () => backendsOf(other, `query = 'COMMIT' AND state = 'active'`)
    await until('the commit waits', async () => (await inCommit()).length === 1)
    const [backend = 0] = await inCommit()
    host.lead(null)
    host.cut()
    await until('its caller is told', () => told !== '')
    expect([told, effects]).toEqual(['unavailable', 0])
    if (fate === 'was undone') await other.send('SELECT pg_terminate_backend($1::int)', [backend])
    await other.send('SELECT pg_advisory_unlock(7)', [])
    await until('its transaction has ended', async () => (await inCommit()).length === 0)
    host.lead(databases.server)
    await until('its fate is asked for', async () => {
      const { rows: found } = await other.send('SELECT outcome FROM commits', [])
      return fate === 'stands' ? effects === 1 : found.some(({ outcome }) => outcome === 'fence')
    })
    await engine.close()
    host.close()
    expect([runs, effects, await idsIn(other)]).toEqual(
      fate === 'stands' ? [1, 1, [1]] : [1, 0, []],
    )
  },
)

test('nothing of an operation stands when its caller was told before its commit', async () => {
  Object.assign(bounds, { databaseCallerSeconds: 0.2 })
  const { url, other } = await rows.create()
  const engine = rows.engine(url, { connections: 1 })
  const gate = Promise.withResolvers<void>()
  const begun: number[] = []
  const write = (id: number, until?: Promise<void>) =>
    engine.transact({ roots: 'none' }, async (tx) => {
      begun.push(id)
      await tx.insert(id)
      await until
    })
  // The second one waits for the only connection.
  const told = [write(1, gate.promise), write(2)].map(codeOf)
  expect(await Promise.all(told)).toEqual(['unavailable', 'unavailable'])
  Object.assign(bounds, usual)
  gate.resolve()
  await write(3)
  expect([begun, await idsIn(other)]).toEqual([[1, 3], [3]])
})

test('a node that comes back after the service was moved away says so, also to reads', async () => {
  const { url, other } = await rows.create()
  const moved: string[] = []
  const ignored = () => undefined
  const events = { committed: ignored, failed: ignored, moved: () => moved.push('moved') }
  const node = rows.engine(url, { events })
  await node.follow()
  const heard = hear(node)
  await other.send(
    `INSERT INTO facts (name, value) VALUES ('moved', '7'), ('moved-to', 'file')`,
    [],
  )
  const read = () => codeOf(node.snapshot((tx) => tx.count()))
  await until('it is refused', async () => (await read()) === 'moved')
  expect(await codeOf(node.requireNews())).toBe('moved')
  // Live streams end, so that their clients ask elsewhere.
  expect([heard, moved]).toEqual([['missed'], ['moved']])
  // A start on that database shows that it was moved, and can open it again.
  const started = rows.engine(url)
  await started.follow()
  expect(await codeOf(started.snapshot((tx) => tx.count()))).toBe('answered')
  await other.send(`DELETE FROM facts WHERE name LIKE 'moved%'`, [])
  await until('it goes on', async () => (await read()) === 'answered')
})
