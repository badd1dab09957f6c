import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startSessions } from '../../src/app/sessions.ts'
import { createStores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import type { NewsListener } from '../../src/db/news.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

afterAll(cleanUp)

const ana = 'ab'.repeat(32)

test('a session is not good before the cut-offs that were missed are read', async () => {
  const path = join(newDirectory(), 'cuponera.db')
  const engine = new SqliteEngine({
    ...{ path, schema: couponSchema, now: systemClock, stores: createStores },
  })
  const refused = new Refusal('unavailable', { retryAfter: 2 })
  const state = { deaf: false, away: false, missed: (): void => undefined }
  const { sessions, stop } = await startSessions({
    secret: 's'.repeat(32),
    database: {
      transact: (plan, operation) => engine.transact(plan, operation),
      async snapshot(query) {
        if (state.away) throw refused
        return engine.snapshot(query)
      },
      look: (query) => engine.look(query),
      listen(_, listener: NewsListener<never>) {
        state.missed = listener.missed
      },
      tell: async () => undefined,
      async requireNews() {
        if (state.deaf) throw refused
      },
    },
    // A job that has not had its turn yet.
    jobs: {
      start: () => ({ wake: () => undefined, fail: () => undefined, stop: async () => undefined }),
      sweep: () => expect.unreachable(),
      after: () => expect.unreachable(),
    },
    now: systemClock,
    ended: () => undefined,
    log: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const { token } = await sessions.create(ana)
  const ask = () =>
    sessions.verify(token).then(
      () => 'good',
      (cause) => cause.code,
    )
  expect(await ask()).toBe('good')
  state.deaf = true
  expect(await ask()).toBe('unavailable')
  state.deaf = false
  const endedAt = systemClock() + 60
  await engine.transact({ roots: ['instance'] }, (tx) => tx.cutoffs.set({ pubkey: ana, endedAt }))
  state.missed()
  state.away = true
  expect(await ask()).toBe('unavailable')
  state.away = false
  expect(await ask()).toBe('auth-session-expired')
  await stop()
  await engine.close()
})
