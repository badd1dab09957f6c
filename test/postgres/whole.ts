/**
 * `npm run test:postgres`: test/postgres, then test/http and test/wallet with every server on a database of PostgreSQL.
 * Arguments are run in place of those two: `npm run test:postgres -- test/http/mint.test.ts`.
 */
import { join } from 'node:path'
import { openDatabases } from '../support/postgres-databases.ts'

const project = join(import.meta.dir, '../..')

async function run(paths: readonly string[], env: Record<string, string>): Promise<boolean> {
  const options = ['--isolate', '--no-orphans', '--timeout=60000']
  const child = Bun.spawn([process.execPath, 'test', ...options, ...paths], {
    cwd: project,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return (await child.exited) === 0
}

const asked = process.argv.slice(2)
const engine = asked.length > 0 || (await run(['--parallel=3', './test/postgres'], {}))
const databases = await openDatabases({ max_connections: '400' })
const paths = asked.length > 0 ? asked : ['./test/http', './test/wallet']
const service = await run(paths, { TEST_POSTGRES: databases.server.url('postgres') })
await databases.stop()
process.exit(engine && service ? 0 : 1)
