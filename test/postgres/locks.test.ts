/** Roots as locks: operations with a common root wait for each other, whichever its kind. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/base/clock.ts'
import type { Connection } from '../../src/db/postgres/connection.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import type { Root } from '../../src/db/roots.ts'
import type { Sql } from '../../src/db/sql.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { countWaiting } from '../support/waiting.ts'

const databases = await openDatabases()
const bytes = (length: number, value: number) => new Uint8Array(length).fill(value)
const uuid = (number: number) => `00000000-0000-4000-8000-00000000000${number}`
const rows: [string, unknown[]][] = [
  ['CREATE TABLE counter (n BIGINT NOT NULL)', []],
  ['INSERT INTO counter VALUES (0)', []],
  ['SET session_replication_role = replica', []],
  [
    `INSERT INTO definitions (id, uuid, owner, revision_id, created_at, updated_at)
     VALUES (1, $1, $2, 1, 1, 1)`,
    [uuid(1), bytes(32, 1)],
  ],
  [
    `INSERT INTO vouchers (id, handle, definition_id, revision_id, root_id, minted_by, minted_at,
       phase, ended_at)
     VALUES (1, $1, 1, 1, NULL, $3, 1, 'refreshed', 2), (2, $2, 1, 1, 1, $3, 1, 'minted', NULL)`,
    [bytes(16, 1), bytes(16, 2), bytes(32, 1)],
  ],
  [
    `INSERT INTO outbox (id, event_id, event, bytes, accepted_at, give_up_at)
     VALUES (1, $1, '{}', 2, 1, 1)`,
    [bytes(32, 7)],
  ],
  [
    `INSERT INTO cards (id, uuid, cid, key_version, counter, design_uuid, design_name, name, created_at)
     VALUES (1, $1, $2, 1, 0, $1, 'x', 'x', 1)`,
    [uuid(2), bytes(7, 9)],
  ],
  [
    `INSERT INTO card_scans (k1_hash, card_id, holder, form, maxima, created_at, expires_at)
     VALUES ($1, 1, $2, 'standard', '{}', 1, 1)`,
    [new Bun.CryptoHasher('sha256').update('scanned').digest().subarray(0, 16), bytes(32, 1)],
  ],
  [
    `INSERT INTO card_payments (id, k1_hash, request, card_id, recipient, amounts, state, start_id,
       ledger, created_at, expires_at)
     VALUES (1, $1, $2, 1, $2, '{}', 'pending', $2, $2, 1, 1)`,
    [bytes(16, 1), bytes(32, 1)],
  ],
]
type Counting = { add(): Promise<void>; total(): Promise<number> }
function createCounter(sql: Sql): Counting {
  const read = sql.query<{ n: number }, []>('SELECT n FROM counter')
  const write = sql.query<null, [number]>('UPDATE counter SET n = ?')
  const total = async () => (await read.get())?.n ?? 0
  return {
    total,
    async add() {
      const before = await total()
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      write.run(before + 1)
    },
  }
}

let name: string
let setUp: Connection
let engine: PostgresEngine<Counting>
beforeAll(async () => {
  name = await databases.create()
  setUp = await databases.connect(name)
  for (const [text, params] of rows) await setUp.send(text, params as never)
  const url = databases.server.url(name)
  engine = new PostgresEngine({ url, now: systemClock, stores: createCounter })
})
afterAll(async () => {
  await engine.close()
  await databases.stop()
})

/** An operation that has its roots until `end`. */
function holding(roots: Root[], end: Promise<void>) {
  const { promise: inside, resolve } = Promise.withResolvers<void>()
  const done = engine.transact({ roots }, async (tx) => {
    await tx.total()
    resolve()
    await end
  })
  return { inside, done }
}

/** Roots that name the same rows, so that operations on them wait for each other. */
const common: Record<string, Root[]> = {
  instance: ['instance'],
  roster: ['roster'],
  'a kept answer': [{ answer: 'aa' }],
  'a definition that is changed': [{ definition: uuid(1), mode: 'changed' }],
  'two vouchers of a chain': [{ voucher: bytes(16, 1) }, { voucher: bytes(16, 2) }],
  'a voucher and the change of its definition': [
    { voucher: bytes(16, 1) },
    { definition: uuid(1), mode: 'changed' },
  ],
  merchant: [{ merchant: 'aa' }],
  'an event and its row in the outbox': [{ event: '07'.repeat(32) }, { queued: 1 }],
  issuer: [{ issuer: 'aa' }],
  nonce: [{ nonce: bytes(32, 1) }],
  holder: [{ holder: 'aa' }],
  service: [{ service: 'aa' }],
  'a scan, a payment and their card': [
    { scan: 'scanned' },
    { payment: 1 },
    { card: '09'.repeat(7) },
  ],
  invoice: [{ invoice: 'aa' }],
  'terms that are changed': [{ terms: 'ARS', mode: 'changed' }],
  balance: [{ balance: 'aa', token: 'ARS' }],
  quota: [{ quota: 'aa' }],
  'the URL of an image': [{ image: 'https://example.com/a.png' }],
  author: [{ author: 'aa' }],
}
for (const [kind, roots] of Object.entries(common)) {
  test(`operations that share ${kind} run one after the other`, async () => {
    await setUp.send('UPDATE counter SET n = 0', [])
    const running = Array.from({ length: 40 }, (_, at) =>
      engine.transact({ roots: [roots[at % roots.length] as Root] }, (tx) => tx.add()),
    )
    await Promise.all(running)
    expect(await engine.snapshot((tx) => tx.total())).toBe(40)
  })
}

test('operations without a common root do not wait for each other', async () => {
  const inside = Promise.withResolvers<void>()
  const roots: Root[][] = [
    [{ merchant: 'aa' }],
    [{ merchant: 'bb' }],
    [{ definition: uuid(1), mode: 'shared' }],
    [{ voucher: bytes(16, 1) }],
  ]
  let running = 0
  const meeting = roots.map((own) =>
    engine.transact({ roots: own }, async (tx) => {
      await tx.total()
      if (++running === roots.length) inside.resolve()
      await inside.promise
    }),
  )
  await Promise.all(meeting)
  expect(running).toBe(roots.length)
})

for (const [kind, sharing] of Object.entries({
  'share the definition': { definition: uuid(1), mode: 'shared' },
  'have a voucher of it': { voucher: bytes(16, 1) },
} satisfies Record<string, Root>)) {
  test(`the change of a definition comes before operations that ${kind} and ask later`, async () => {
    const ended: string[] = []
    // An answer of the server comes after the locks. That of a commit may come after the next one has them.
    const reaching = (name: string) => async (tx: { total(): Promise<number> }) => {
      await tx.total()
      ended.push(name)
    }
    const end = Promise.withResolvers<void>()
    const before = holding([{ definition: uuid(1), mode: 'shared' }], end.promise)
    await before.inside
    const change = engine.transact(
      { roots: [{ definition: uuid(1), mode: 'changed' }] },
      reaching('change'),
    )
    await until('the change waits', async () => (await countWaiting(setUp)) === 1)
    const later = engine.transact({ roots: [sharing] }, reaching('later'))
    await until(
      'the later one waits',
      async () => (await countWaiting(setUp)) === 2 || ended.length > 0,
    )
    end.resolve()
    await Promise.all([before.done, change, later])
    expect(ended).toEqual(['change', 'later'])
  })
}

test('an operation on a voucher that waits for its definition does not hold its chain', async () => {
  const end = Promise.withResolvers<void>()
  const change = holding([{ definition: uuid(1), mode: 'changed' }], end.promise)
  await change.inside
  const later = holding([{ voucher: bytes(16, 2) }], Promise.resolve())
  await until('the later one waits', async () => (await countWaiting(setUp)) === 1)
  const free = setUp.send('SELECT id FROM vouchers ORDER BY id FOR UPDATE SKIP LOCKED', [])
  expect((await free).rows).toEqual([{ id: 1 }, { id: 2 }])
  end.resolve()
  await Promise.all([change.done, later.done])
})

test('operations that name the same roots in any order end, without a deadlock', async () => {
  const pair: Root[] = [
    { merchant: 'aa' },
    { card: 'bb' },
    { author: 'cc' },
    { voucher: bytes(16, 1) },
  ]
  await setUp.send('UPDATE counter SET n = 0', [])
  await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      engine.transact({ roots: at % 2 ? pair : pair.toReversed() }, (tx) => tx.add()),
    ),
  )
  expect(await engine.snapshot((tx) => tx.total())).toBe(40)
})
