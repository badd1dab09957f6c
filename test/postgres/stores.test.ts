/** The contract of every store, on PostgreSQL. */
import { afterAll } from 'bun:test'
import { systemClock } from '../../src/base/clock.ts'
import { counterTables } from '../../src/db/counters.ts'
import { StatementFailed } from '../../src/db/postgres/connection.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import { describeStores } from '../contract/stores.ts'
import { openDatabases } from '../support/postgres-databases.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())

let last: string | null = null
const counterOnly = Object.keys(counterTables).filter((table) => table !== 'definitions')

describeStores({
  name: 'PostgreSQL',
  reopens: false,
  tables: {
    replaced: [...counterOnly, 'claimed', 'voided'],
    own: ['counter_changes', 'counter_sums'],
  },
  async create() {
    if (last !== null) await databases.drop(last)
    last = await databases.create()
    return last
  },
  open: (_kind, name, stores) =>
    new PostgresEngine({ url: databases.server.url(name), now: systemClock, stores }),
  refusedRow: (cause) => cause instanceof StatementFailed && cause.code.startsWith('23'),
})
