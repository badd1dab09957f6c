/** Statements of a transaction that go out together. */
import { afterAll, expect, spyOn, test } from 'bun:test'
import { Connection as Wire } from 'pg'
import { Connection } from '../../src/db/postgres/connection.ts'
import { Turn } from '../../src/db/postgres/turn.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { backendsOf, codeOf, idsIn, openRows, waitsOf } from './rows.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())
const rows = openRows(databases)

const insert = 'INSERT INTO done (id) VALUES ($1)'
const taken = '23505'
const skipped = '25P02'

/** Resolves behind the statements that are sent now, and before the server can have answered them. */
const nextTurn = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** A connection to a table with the row 1. */
async function open() {
  const { name, other } = await rows.create()
  await other.send(insert, [1])
  return { other, connection: await databases.connect(name) }
}

test('an operation waits once for all that it sends at the same time', async () => {
  const { url, other } = await rows.create()
  const waits = await waitsOf(rows.engine(url, { connections: 1 }), async (tx) => {
    await tx.count()
    tx.post(2)
    tx.post(3)
  })
  // BEGIN with the count; the writes with the proof and COMMIT.
  expect(waits).toBe(2)
  expect(await idsIn(other)).toEqual([1, 2, 3])
})

test('a statement that fails stops those behind it, and the server keeps none of them', async () => {
  const { other, connection } = await open()
  const sent = [
    ...[connection.sendWithin('BEGIN', []), connection.sendWithin(insert, [2])],
    ...[connection.sendWithin(insert, [1]), connection.sendWithin(insert, [3])],
    connection.sendWithin('COMMIT', []),
  ]
  const codes = await Promise.all(sent.map(codeOf))
  expect(codes).toEqual(['answered', 'answered', taken, skipped, skipped])
  await connection.send('ROLLBACK', [])
  expect(await idsIn(other)).toEqual([1])
})

test('a statement that the server never saw for a failure before it runs in the next transaction', async () => {
  const { other, connection } = await open()
  const count = 'SELECT count(*) AS n, $1 AS asked FROM done'
  const broken = [
    ...[connection.sendWithin('BEGIN', []), connection.sendWithin(insert, [1])],
    connection.sendWithin(count, ['first']),
  ]
  const failed = Promise.all(broken.map(codeOf))
  // Sent before anybody knows of the failure, and again after that.
  const rolledBack = connection.send('ROLLBACK', [])
  const begun = connection.sendWithin('BEGIN', [])
  const { rows: found } = await connection.sendWithin(count, ['second'])
  expect(found).toEqual([{ n: 1, asked: 'second' }])
  await Promise.all([rolledBack, begun, connection.sendWithin(insert, [2])])
  expect(await failed).toEqual(['answered', taken, skipped])
  expect((await connection.sendWithin(count, ['third'])).rows).toEqual([{ n: 2, asked: 'third' }])
  const spy = spyOn(Wire.prototype as unknown as { parse(): void }, 'parse')
  await connection.sendWithin(count, ['fourth'])
  expect(spy).toHaveBeenCalledTimes(0)
  spy.mockRestore()
  expect((await connection.sendWithin('COMMIT', [])).command).toBe('COMMIT')
  expect(await idsIn(other)).toEqual([1, 2])
})

test.each(['before', 'after'])(
  'nothing stands of a turn that is sent %s the failure of its BEGIN is known',
  async (known) => {
    const { other, connection } = await open()
    const begun = [connection.sendWithin('BEGIN BROKEN', []), connection.sendWithin(insert, [2])]
    const failed = Promise.all(begun.map(codeOf))
    if (known === 'after') await failed
    else await nextTurn()
    const sent = [connection.sendWithin(insert, [3]), connection.sendWithin('COMMIT', [])]
    const codes = Promise.all(sent.map(codeOf))
    expect([await failed, await codes]).toEqual([
      ['42601', skipped],
      [skipped, skipped],
    ])
    expect(await idsIn(other)).toEqual([1])
    // The next transaction has a BEGIN of its own, which that failure says nothing about.
    await connection.send('ROLLBACK', [])
    const whole = ['BEGIN', 'COMMIT'].map((text) => connection.sendWithin(text, []))
    expect((await Promise.all(whole)).map(({ command }) => command)).toEqual(['BEGIN', 'COMMIT'])
  },
)

test('a turn that is sent before its BEGIN was answered belongs to the transaction', async () => {
  const { other, connection } = await open()
  const sent = [connection.sendWithin('BEGIN', []), connection.sendWithin(insert, [2])]
  await nextTurn()
  sent.push(connection.sendWithin(insert, [3]))
  await Promise.all(sent)
  expect(await idsIn(other)).toEqual([1])
  expect((await connection.sendWithin('COMMIT', [])).command).toBe('COMMIT')
  expect(await idsIn(other)).toEqual([1, 2, 3])
})

test('values come back as they went, and one that cannot be read fails alone', async () => {
  const { connection } = await open()
  const [, shown, unread, last] = await Promise.all([
    connection.sendWithin('BEGIN', []),
    connection.sendWithin(
      'SELECT CAST($1 AS BIGINT) AS number, CAST($2 AS TEXT) AS text, CAST($3 AS BYTEA) AS bytes, CAST($4 AS TEXT) AS nothing',
      [2 ** 53 - 1, 'a\0b', new Uint8Array([0, 255]), null],
    ),
    connection
      .sendWithin(`SELECT CAST($1 AS BIGINT) AS number`, [2n ** 53n])
      .catch((cause) => cause),
    connection.sendWithin(`UPDATE done SET id = $1`, [5]),
  ])
  expect(shown.rows).toEqual([
    { number: 2 ** 53 - 1, text: 'a\0b', bytes: new Uint8Array([0, 255]), nothing: null },
  ])
  expect(unread).toBeInstanceOf(RangeError)
  expect([last.count, last.command]).toEqual([1, 'UPDATE'])
  await connection.send('ROLLBACK', [])
})

test('a statement without a command is answered like any other', async () => {
  const { connection } = await open()
  const sent = ['BEGIN', '-- nothing', 'SELECT 7 AS seven', 'COMMIT']
  const answers = await Promise.all(sent.map((text) => connection.sendWithin(text, [])))
  expect(answers.map(({ command, count, rows: found }) => [command, count, found])).toEqual([
    ['BEGIN', 0, []],
    ['', 0, []],
    ['SELECT', 1, [{ seven: 7 }]],
    ['COMMIT', 0, []],
  ])
})

test('a turn that cannot be written ends its connection, and the operation runs on another one', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url, { connections: 1 })
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  const wire = Wire.prototype as unknown as { bind(...message: unknown[]): void }
  const bind = spyOn(wire, 'bind')
  bind.mockImplementationOnce(() => {
    throw new Error('no memory')
  })
  try {
    await engine.transact({ roots: 'none' }, (tx) => tx.insert(2))
  } finally {
    bind.mockRestore()
  }
  expect(await idsIn(other)).toEqual([1, 2])
  await until('one session is left', async () => (await backendsOf(other)).length === 1)
})

test('a server that goes away takes along all that it had not answered', async () => {
  const { other, connection } = await open()
  const [{ rows: own }] = await Promise.all([
    connection.sendWithin('SELECT pg_backend_pid() AS pid', []),
  ])
  await other.send('BEGIN', [])
  await other.send(insert, [2])
  const sent = [
    ...[connection.sendWithin('BEGIN', []), connection.sendWithin(insert, [3])],
    ...[connection.sendWithin(insert, [2]), connection.sendWithin('COMMIT', [])],
  ].map(codeOf)
  await other.send('SELECT pg_terminate_backend($1, 10000)', [Number(own[0]?.pid)])
  const codes = await Promise.all(sent)
  expect(codes.slice(2)).toEqual(['ConnectionLost', 'ConnectionLost'])
  await other.send('ROLLBACK', [])
  expect(await idsIn(other)).toEqual([1])
})

test.each([
  [2, 'is as slow as its statements together', 'COMMIT'],
  [4, 'is slower than its caller waits', 'ConnectionLost'],
])('a turn of %d slow statements %s', async (count, _, outcome) => {
  const { url, other } = await rows.create()
  const intervals = spyOn(globalThis, 'setInterval')
  const connection = await Connection.open({ connectionString: url }, 10_000, () => undefined)
  const watch = intervals.mock.calls[0]?.[0] as () => void
  intervals.mockRestore()
  const numbers = Array.from({ length: count + 1 }, (_, number) => number)
  for (const number of numbers) await other.send('SELECT pg_advisory_lock($1::int)', [number])
  let now = performance.now()
  const clock = spyOn(performance, 'now').mockImplementation(() => now)
  const answers = spyOn(Turn.prototype, 'handleCommandComplete')
  // More than half of the wait for an answer.
  const later = async () => {
    now += 8000
    watch()
    await new Promise((resolve) => setImmediate(resolve))
  }
  try {
    // An answer that fills the buffer of the server, which it sends then with all before it.
    const slow = `SELECT pg_advisory_xact_lock($1::int), repeat('x', 20000)`
    const sent = ['BEGIN', ...numbers.map(() => slow), 'COMMIT'].map((text, at) =>
      connection.sendWithin(text, text === slow ? [at - 1] : []),
    )
    const ended = Promise.all(sent).then(
      (results) => results.at(-1)?.command,
      (cause) => cause.constructor.name,
    )
    await nextTurn()
    for (const number of numbers.slice(1)) {
      await later()
      await other.send('SELECT pg_advisory_unlock($1::int)', [number - 1])
      await until('it is answered', () => answers.mock.calls.length >= number)
    }
    await later()
    await other.send('SELECT pg_advisory_unlock($1::int)', [count])
    expect(await ended).toBe(outcome)
  } finally {
    for (const spy of [answers, clock]) spy.mockRestore()
    connection.destroy()
  }
})
