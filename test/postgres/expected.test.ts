/** Rows that an operation takes for written before the server has told. */
import { afterAll, expect, test } from 'bun:test'
import { Refusal } from '../../src/base/refusal.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { codeOf, idsIn, openRows, waitsOf } from './rows.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())
const rows = openRows(databases)

test('a row that is taken for written goes out with the commit', async () => {
  const { url, other } = await rows.create()
  const waits = await waitsOf(rows.engine(url, { connections: 1 }), async (tx) => {
    await tx.count()
    expect(await tx.expect(1)).toBe(true)
    tx.post(2)
  })
  // BEGIN with the count; the writes with the proof and COMMIT.
  expect(waits).toBe(2)
  expect(await idsIn(other)).toEqual([1, 2])
})

test('where there was no row nothing is committed, and the operation runs again and is told', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url)
  const told: boolean[] = []
  const effects: number[] = []
  await engine.transact({ roots: 'none' }, async (tx) => {
    tx.afterCommit(() => effects.push(told.length))
    tx.post(1)
    const written = await tx.expect(7)
    told.push(written)
    if (written) tx.post(2)
  })
  expect(told).toEqual([true, false])
  expect(effects).toEqual([2])
  expect(await idsIn(other)).toEqual([1])
})

test('an operation of a node that has to wait for an upgrade is refused at once', async () => {
  const { url, other } = await rows.create()
  const engine = rows.engine(url)
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  await other.send('UPDATE schema_version SET version = version + 2', [])
  let runs = 0
  const refused = engine.transact({ roots: 'none' }, async (tx) => {
    runs++
    await tx.expect(1)
  })
  expect(await codeOf(refused)).toBe('unavailable')
  expect(runs).toBe(1)
})

test('a refusal that came of a row that was not there is decided again', async () => {
  for (const first of [undefined, async (tx: { post(id: number): void }) => tx.post(1)]) {
    const { url, other } = await rows.create()
    const operation = rows.engine(url).transact({ roots: 'none', first }, async (tx) => {
      tx.post(2)
      throw new Refusal((await tx.expect(7)) ? 'voucher-claimed' : 'voucher-expired')
    })
    expect(await codeOf(operation)).toBe('voucher-expired')
    expect(await idsIn(other)).toEqual(first ? [1] : [])
  }
})
