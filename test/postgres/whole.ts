/**
 * `npm run test:postgres`: test/postgres, then the suites of the service with every server on a database of PostgreSQL.
 * Tests about the file of the embedded engine are left out, counted and listed at the end. Arguments are run in place
 * of all: `npm run test:postgres -- test/http/mint.test.ts`.
 */
import { join } from 'node:path'
import { openDatabases } from '../support/postgres-databases.ts'

const project = join(import.meta.dir, '../..')
const suites = [
  'http',
  'wallet',
  'gateway',
  'relay',
  'conformance',
  'cli',
  'client',
  'fuzz',
  'fault/crash.test.ts',
  'fault/crowds.test.ts',
  'fault/identities.test.ts',
  'fault/outbound-allowance.test.ts',
  'fault/pay-crash.test.ts',
  'fault/shutdown.test.ts',
  'fault/slow-clients.test.ts',
  'fault/transfer-crash.test.ts',
  'unit/model.test.ts',
  'unit/ledger-model.test.ts',
]
const skipped = new Set<string>()

async function run(paths: readonly string[], env: Record<string, string>): Promise<boolean> {
  const options = ['--isolate', '--no-orphans', '--timeout=60000']
  const child = Bun.spawn([process.execPath, 'test', ...options, ...paths], {
    cwd: project,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  let output = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk)
    output += decoder.decode(chunk, { stream: true })
  }
  for (const [, name = ''] of output.matchAll(/^\(skip\) (.*)$/gm)) skipped.add(name)
  return (await child.exited) === 0
}

const asked = process.argv.slice(2)
const engine = asked.length > 0 || (await run(['--parallel=3', './test/postgres'], {}))
const databases = await openDatabases({ max_connections: '1200' })
const paths = asked.length > 0 ? asked : suites.map((name) => `./test/${name}`)
const service = await run(paths, { TEST_POSTGRES: databases.server.url('postgres') })
await databases.stop()
console.log(`\n${[...skipped, `${skipped.size} left out`].join('\n')}`)
process.exit(engine && service ? 0 : 1)
