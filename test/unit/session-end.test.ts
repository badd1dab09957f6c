import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { type Cutoff, createCutoffs, everyKey, sessionsEnded } from '../../src/session/cutoffs.ts'
import { endSessions } from '../../src/session/end.ts'
import { createSessions } from '../../src/session/session.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const start = 1_800_000_000
const ana = 'ab'.repeat(32)
const eva = 'cd'.repeat(32)
let engine: SqliteEngine<Stores> | null = null

afterEach(async () => {
  await engine?.close()
  engine = null
  await cleanUp()
})

/** The end of a session lies so far ahead. */
const margin = 2 * limits.clockBackSeconds

/** Sessions and their ends within one second, on a real database. */
function open() {
  const clock = { ahead: 0 }
  const now = () => start
  const path = join(newDirectory(), 'cuponera.db')
  const database = new SqliteEngine({ path, schema: couponSchema, now, stores: createStores })
  engine = database
  const cutoffs = createCutoffs([])
  const sessions = createSessions('s'.repeat(32), () => start + clock.ahead, cutoffs)
  const told: Cutoff[] = []
  const ended = (cutoff: Cutoff) => {
    cutoffs.set(cutoff)
    told.push(cutoff)
  }
  database.listen(sessionsEnded, { told: ended, missed: () => undefined })
  return {
    clock,
    database,
    told,
    end: (key: string | null) => endSessions({ database, now }, key),
    token: async (pubkey: string) => (await sessions.create(pubkey)).token,
    good: async (token: string) => {
      try {
        await sessions.verify(token)
        return true
      } catch (refused) {
        if (!(refused instanceof Refusal)) throw refused
        return false
      }
    },
  }
}

test('every end within a second ends the sessions since the one before', async () => {
  const { end, token, good } = open()
  for (const key of [ana, ana, null, ana, null, null]) {
    const mine = await token(ana)
    expect(await good(mine)).toBe(true)
    await end(key)
    expect(await good(mine)).toBe(false)
  }
})

test('the end of one key leaves the others, and the end of all leaves none', async () => {
  const { end, token, good } = open()
  for (let times = 0; times < 3; times++) await end(eva)
  const [mine, hers] = [await token(ana), await token(eva)]
  await end(ana)
  expect([await good(mine), await good(hers)]).toEqual([false, true])
  await end(null)
  expect(await good(hers)).toBe(false)
})

test('an end covers the sessions of a node whose clock is ahead, and those opened after it are good everywhere', async () => {
  const { clock, end, token, good } = open()
  // One node ahead of the server as far as may be, and the other one behind.
  clock.ahead = margin
  const before = await token(ana)
  await end(ana)
  expect(await good(before)).toBe(false)
  for (const ahead of [0, margin]) {
    clock.ahead = ahead
    const after = await token(ana)
    for (const other of [0, margin]) {
      clock.ahead = other
      expect(await good(after)).toBe(true)
    }
    await end(ana)
    expect(await good(after)).toBe(false)
  }
})

test('the reported end is the stored one', async () => {
  const { database, told, end } = open()
  expect(await end(ana)).toEqual({ pubkey: ana, endedAt: start + margin })
  await end(ana)
  await end(null)
  const all = { pubkey: everyKey, endedAt: start + margin + 2 }
  expect(told.at(-1)).toEqual(all)
  const written = await database.snapshot((tx) => tx.cutoffs.list())
  expect(written).toHaveLength(2)
  expect(written).toContainEqual(all)
  expect(written).toContainEqual({ pubkey: ana, endedAt: start + margin + 1 })
})
