import { expect, test } from 'bun:test'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from '../../src/db/inspect.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import type { Sql } from '../../src/db/sql.ts'
import { openConnection } from '../../src/db/sqlite.ts'
import { newDirectory } from '../support/server.ts'

test('a look shows the state from before it waited for the disk', async () => {
  const path = join(newDirectory(), 'cuponera.db')
  const service = openConnection(path)
  migrate(service, couponSchema)
  const facts = (sql: Sql) => sql.query<{ name: string }, []>('SELECT name FROM facts').all()
  const put = (name: string) => service.run('INSERT INTO facts (name, value) VALUES (?, 1)', [name])
  put('shown')
  const seen = await inspect(path, facts, async () => put('later'))
  expect(seen).toEqual([{ name: 'shown' }])
  expect(await inspect(path, facts)).toHaveLength(2)
  const failed = inspect(path, facts, () => Promise.reject(new Error('the disk failed')))
  await expect(failed).rejects.toThrow('the disk failed')
  service.close()
})

test('a look that closes last leaves the file and its WAL, which may not be on the disk', async () => {
  const path = join(newDirectory(), 'cuponera.db')
  const service = openConnection(path)
  migrate(service, couponSchema)
  service.run(`INSERT INTO facts (name, value) VALUES ('colour', 'red')`)
  // A service that was killed leaves this.
  const left = join(newDirectory(), 'cuponera.db')
  const files = ['', '-wal'].map((end) => `${left}${end}`)
  for (const file of files) copyFileSync(file.replace(left, path), file)
  service.close()
  const bytes = () => files.map((file) => Bun.hash(readFileSync(file)))
  const before = bytes()
  const query = `SELECT value FROM facts WHERE name = 'colour'`
  const rows = await inspect(left, (sql) => sql.query<{ value: string }, []>(query).all())
  expect(rows).toEqual([{ value: 'red' }])
  expect(bytes()).toEqual(before)
})
