import { afterAll, expect, test } from 'bun:test'
import { readConfig } from '../../src/app/config.ts'
import { openManagement } from '../../src/app/management.ts'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { OpenDatabase } from '../../src/db/database.ts'
import { createJobs } from '../../src/db/jobs.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

afterAll(cleanUp)

test('a node that starts while another one is exposed is closed, too', async () => {
  const path = `${newDirectory()}/cuponera.db`
  const now = systemClock
  const engine = new SqliteEngine({ path, schema: couponSchema, now, stores: createStores })
  let exposed = false
  const database: Pick<
    OpenDatabase<Stores>,
    'snapshot' | 'look' | 'transact' | 'listen' | 'tell'
  > = {
    transact: (plan, operation) => engine.transact(plan, operation),
    listen: (topic, listener) => engine.listen(topic, listener),
    tell: (topic, body) => engine.tell(topic, body),
    look: (query) => engine.look(query),
    // The other one tells it when this one has just read.
    async snapshot(query) {
      const found = await engine.snapshot(query)
      if (!exposed) {
        exposed = true
        await engine.transact({ roots: ['instance'] }, async (tx) => {
          await tx.facts.pin('exposed', '1')
          tx.tell({ name: 'service.exposed' }, null)
        })
      }
      return found
    },
  }
  const { config } = readConfig(new Map(), { HOST: '127.0.0.1' }, false)
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const management = await openManagement(config, {
    ...{ database, log, jobs: createJobs(engine) },
    ...{ storeKey: new Uint8Array(32), steady: () => performance.now() },
  })
  expect(management.private()).toBe(false)
  await management.stop()
  await engine.close()
})
