/** Machines without PostgreSQL count the tests of test/postgres: .tools/test.mjs. */
import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

test('every file of test/postgres loads without a server, so that its tests can be counted', () => {
  const preload = join(import.meta.dir, '../support/no-server.ts')
  const args = ['test', '--isolate', '--preload', preload, '--test-name-pattern', '(?!)']
  const { stdout, stderr } = spawnSync(process.execPath, [...args, './test/postgres'], {
    cwd: join(import.meta.dir, '../..'),
    encoding: 'utf8',
  })
  // A file that does not load has another line.
  expect(stdout + stderr).toMatch(/matched 0 tests\. Searched \d+ files \(skipping \d{3,} tests\)/)
})
