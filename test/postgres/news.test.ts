/** News between two nodes on one database. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { createStores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import type { OpenDatabase } from '../../src/db/database.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { Listeners, type Topic } from '../../src/db/news.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { NewsLine } from '../../src/db/postgres/news.ts'
import { openPostgres } from '../../src/db/postgres/open.ts'
import { createSchema } from '../../src/db/postgres/schema.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { backendsOf, openRows, type Rows } from './rows.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())
const rows = openRows(databases)

const byText = (one: string, other: string) => (one < other ? -1 : 1)

type Note = { text: string; bytes: Uint8Array }
const noted: Topic<Note> = { name: 'noted' }
const bytes = new Uint8Array([0, 127, 255])

function hear(database: Pick<OpenDatabase<unknown>, 'listen'>): string[] {
  const heard: string[] = []
  const missed = () => void heard.push('missed')
  database.listen(noted, {
    told(note) {
      expect(note.bytes).toEqual(bytes)
      heard.push(note.text)
    },
    missed,
  })
  return heard
}

/** Two nodes that follow each other, and what each has heard. */
async function openTwo() {
  const { name, url, other } = await rows.create()
  const one = rows.engine(url)
  await one.follow()
  const before = await backendsOf(other)
  const two = rows.engine(url)
  await two.follow()
  const line = (await backendsOf(other)).filter((id) => !before.includes(id))
  const heard = { one: hear(one), two: hear(two) }
  const tell = (from: OpenDatabase<Rows>, text: string) => from.tell(noted, { text, bytes })
  return { name, url, other, one, two, heard, tell, line }
}

/** News in a transaction that stays open. */
async function tellLate(url: string, text: string): Promise<Connection> {
  const late = await Connection.open({ connectionString: url }, 10_000, () => undefined)
  await late.send('BEGIN', [])
  await tellIn(late, text)
  return late
}

/** News of some other node in the transaction of a connection. */
async function tellIn(connection: Connection, text: string): Promise<void> {
  const body = JSON.stringify({ text, bytes: { '': bytes.toHex() } })
  await connection.send(
    `INSERT INTO changes (channel, node, topic, body)
     VALUES ('cuponera_service', gen_random_uuid(), 'noted', $1)`,
    [body],
  )
}

const frozen: number[] = []
const bounds: { databaseAnswerSeconds: number } = limits
const usual = { ...bounds }
afterEach(() => {
  Object.assign(bounds, usual)
  for (const id of frozen.splice(0)) spawnSync('kill', ['-CONT', String(id)])
})

test('each node hears of each commit once, and never of an operation that was refused', async () => {
  const { one, two, heard, tell } = await openTwo()
  const refused = one.transact({ roots: 'none' }, async (tx) => {
    tx.tell(noted, { text: 'refused', bytes })
    throw new Refusal('coupon-exhausted')
  })
  await expect(refused).rejects.toThrow(Refusal)
  const texts = Array.from({ length: 250 }, (_, at) => `note ${at}`)
  await Promise.all(texts.map((text, at) => tell(at % 2 === 0 ? one : two, text)))
  for (const list of [heard.one, heard.two]) {
    await until('every note is heard', () => list.length >= texts.length)
    expect(list.toSorted(byText)).toEqual(texts.toSorted(byText))
  }
})

test('the news of one operation are heard in their order', async () => {
  const { one, heard } = await openTwo()
  const texts = ['first', 'second', 'third']
  await one.transact({ roots: 'none' }, async (tx) => {
    for (const text of texts) tx.tell(noted, { text, bytes })
  })
  await until('all are heard', () => heard.two.length >= texts.length)
  expect([heard.one, heard.two]).toEqual([texts, texts])
})

test('the news of a first part go out, and those of the operation that was refused after it do not', async () => {
  const { one, heard, tell } = await openTwo()
  const refused = one.transact(
    { roots: 'none', first: async (tx) => tx.tell(noted, { text: 'first', bytes }) },
    async (tx) => {
      tx.tell(noted, { text: 'refused', bytes })
      throw new Refusal('coupon-exhausted')
    },
  )
  await expect(refused).rejects.toThrow(Refusal)
  await tell(one, 'last')
  for (const list of [heard.one, heard.two]) {
    await until('the last one is heard', () => list.includes('last'))
    expect(list).toEqual(['first', 'last'])
  }
})

test('a transaction that commits late is heard, and holds up nobody', async () => {
  const { url, one, heard, tell } = await openTwo()
  const late = await tellLate(url, 'late')
  await tell(one, 'early')
  await until('the early one is heard', () => heard.two.includes('early'))
  await late.send('COMMIT', [])
  await until('the late one is heard', () => heard.two.includes('late'))
  await tell(one, 'last')
  await until('the last one is heard', () => heard.two.includes('last'))
  expect(heard.two).toEqual(['early', 'late', 'last'])
  await late.end()
})

test('behind a transaction that stays open all is heard once, and nobody reads anew', async () => {
  const { url, one, two, heard, tell } = await openTwo()
  const late = await tellLate(url, 'late')
  const texts = Array.from({ length: 2 * limits.newsPageRows + 50 }, (_, at) => `note ${at}`)
  for (const text of texts) await tell(one, text)
  await until('every note is heard', () => heard.two.length >= texts.length)
  // Each of its own is read in a look of its own: the older ones would be told again.
  for (const text of ['one more', 'and another']) {
    await tell(one, text)
    await until(`${text} is heard`, () => heard.two.includes(text))
  }
  await late.send('COMMIT', [])
  await until('the late one is heard', () => heard.two.includes('late'))
  await tell(two, 'its own')
  expect(heard.two).toEqual([...texts, 'one more', 'and another', 'late', 'its own'])
  await late.end()
})

test('a read that is cut off goes on where it was', async () => {
  const { url, one, tell } = await openTwo()
  const listeners = new Listeners()
  const heard = hear(listeners)
  let pages = 0
  const line = new NewsLine({
    channel: 'cuponera_service',
    async connect(onEnd) {
      const connection = await Connection.open({ connectionString: url }, 10_000, onEnd)
      const send = connection.send.bind(connection)
      connection.send = (text, params) => {
        // Behind the first page that has rows.
        if (heard.length > 0 && text.includes('pg_visible_in_snapshot') && ++pages === 1)
          connection.destroy()
        return send(text, params)
      }
      return connection
    },
    start: () => 'first',
    listeners,
    failed: (cause) => expect(cause).toBeNull(),
  })
  await line.follow()
  const late = await Connection.open({ connectionString: url }, 10_000, () => undefined)
  const texts = Array.from({ length: 2 * limits.newsPageRows + 50 }, (_, at) => `note ${at}`)
  await late.send('BEGIN', [])
  for (const text of texts) await tellIn(late, text)
  await late.send('COMMIT', [])
  await late.end()
  await until('every note is heard', () => heard.length >= texts.length)
  await tell(one, 'last')
  await until('the last one is heard', () => heard.includes('last'))
  expect([pages > 1, heard]).toEqual([true, [...texts, 'last']])
  await line.close()
})

test('a node that was silent for longer than news are kept is told to read anew', async () => {
  // Else it takes another connection, and hears the news that it shall miss.
  bounds.databaseAnswerSeconds = 600
  const { url, other, one, heard, tell, line } = await openTwo()
  const forget = async () => {
    for (const { step } of one.upkeep) await step()
  }
  // A node hears its own news at once, and reads past them later: when it has heard of others behind them, twice.
  const readPast = async (listeners: string[][]) => {
    for (const text of ['elsewhere', 'elsewhere again']) {
      const elsewhere = await tellLate(url, text)
      await elsewhere.send('COMMIT', [])
      await elsewhere.end()
      await until(`all heard it ${text}`, () => listeners.every((one) => one.includes(text)))
    }
    for (const one of listeners) one.splice(one.indexOf('elsewhere'), 2)
  }
  const age = () => other.send(`UPDATE changes SET at = at - interval '2 minutes'`, [])
  const left = async () => (await other.send('SELECT id FROM changes', [])).count
  // Heard in time: nothing is missed when it is deleted.
  await tell(one, 'before')
  await readPast([heard.one, heard.two])
  await age()
  await forget()
  expect(await left()).toBe(0)
  frozen.push(...line)
  for (const id of line) process.kill(id, 'SIGSTOP')
  await tell(one, 'unheard')
  await readPast([heard.one])
  await age()
  await forget()
  expect(await left()).toBe(0)
  for (const id of frozen.splice(0)) process.kill(id, 'SIGCONT')
  await until('it is told', () => heard.two.includes('missed'))
  await tell(one, 'after')
  await until('it hears again', () => heard.two.includes('after'))
  expect([heard.one, heard.two]).toEqual([
    ['before', 'unheard', 'after'],
    ['before', 'missed', 'after'],
  ])
})

test('a node that was silent is told to read anew when the news of an older transaction were deleted', async () => {
  bounds.databaseAnswerSeconds = 600
  const { url, other, one, heard, tell, line } = await openTwo()
  const late = await tellLate(url, 'late')
  await tell(one, 'early')
  await until('the early one is heard', () => heard.two.includes('early'))
  frozen.push(...line)
  for (const id of line) process.kill(id, 'SIGSTOP')
  await late.send('COMMIT', [])
  await late.end()
  await other.send(`UPDATE changes SET at = at - interval '2 minutes'`, [])
  for (const { step } of one.upkeep) await step()
  expect((await other.send('SELECT id FROM changes', [])).count).toBe(0)
  for (const id of frozen.splice(0)) process.kill(id, 'SIGCONT')
  await until('it is told', () => heard.two.includes('missed'))
  await tell(one, 'after')
  await until('it hears again', () => heard.two.includes('after'))
  expect(heard.two).toEqual(['early', 'missed', 'after'])
})

test('news of the server that a dump was made of are forgotten by a start', async () => {
  const { name, other, one, heard, tell } = await openTwo()
  await other.send(`UPDATE changes_forgotten SET newest = '99999999999'`, [])
  await other.send(
    `INSERT INTO changes (xid, channel, node, topic, body)
     VALUES ('99999999999', 'cuponera_service', gen_random_uuid(), 'noted', 'null')`,
    [],
  )
  const start = await databases.connect(name)
  await createSchema(start, couponSchema)
  await tell(one, 'kept')
  const { rows: left } = await other.send(
    'SELECT (SELECT count(*) FROM changes) AS kept, newest::text AS newest FROM changes_forgotten',
    [],
  )
  expect(left).toEqual([{ kept: 1, newest: '0' }])
  await until('it is heard', () => heard.two.includes('kept'))
})

test('a database of one node gets the tables of several', async () => {
  const { url, other } = await rows.create()
  await other.send('DROP TABLE changes, changes_forgotten, guesses, nodes', [])
  const options = { url, now: systemClock, schema: couponSchema, stores: createStores }
  const { database } = await openPostgres(options)
  const heard = hear(database)
  await database.tell(noted, { text: 'told', bytes })
  expect([heard, (await other.send('SELECT 1 FROM changes', [])).count]).toEqual([['told'], 1])
  await database.close()
  await other.end()
})

test('a server that started again gives numbers of transactions again, so that its nodes read anew', async () => {
  const { url } = await rows.create()
  const listeners = new Listeners()
  const heard = hear(listeners)
  let start = 'first'
  const line = new NewsLine({
    channel: 'cuponera_service',
    connect: (onEnd) => Connection.open({ connectionString: url }, 10_000, onEnd),
    start: () => start,
    listeners,
    failed: (cause) => expect(cause).toBeNull(),
  })
  await line.follow()
  start = 'second'
  await until('it is told', () => heard.includes('missed'))
  await line.close()
  expect(heard).toEqual(['missed'])
})

test('after a crash of the server its nodes read anew', async () => {
  const { one, heard, tell } = await openTwo()
  await tell(one, 'before')
  await until('it is heard', () => heard.two.includes('before'))
  await databases.server.kill()
  await databases.server.start()
  await until('it reads anew', () => heard.two.includes('missed'))
})
