import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openForReading, openUnchanged } from '../../src/db/inspect.ts'
import { openConnection } from '../../src/db/sqlite.ts'
import { newDirectory } from '../support/server.ts'

test.each([
  ['a reader', openForReading],
  ['a reader that changes nothing', openUnchanged],
  ['a writer', openConnection],
])('%s leaves the WAL of a file that it cannot read', (_, open) => {
  const path = join(newDirectory(), 'cuponera.db')
  writeFileSync(path, 'nothing of the kind'.repeat(500))
  writeFileSync(`${path}-wal`, 'what was written last')
  expect(() => open(path)).toThrow('file is not a database')
  // A connection that was only forgotten is closed here.
  Bun.gc(true)
  expect(existsSync(`${path}-wal`)).toBe(true)
})
