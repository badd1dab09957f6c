/** One pass over the HTTP API on PostgreSQL: files of test/http as they are. `npm run test:postgres` runs all of them. */
import { afterAll } from 'bun:test'
import { openDatabases } from '../support/postgres-databases.ts'

const databases = await openDatabases()
process.env.TEST_POSTGRES = databases.server.url('postgres')
try {
  await import('../http/definitions.test.ts')
  await import('../http/vouchers.test.ts')
  await import('../http/strange-texts.test.ts')
} finally {
  delete process.env.TEST_POSTGRES
}
// The servers of these files are ended by hooks of their own, which come first.
afterAll(() => databases.stop())
