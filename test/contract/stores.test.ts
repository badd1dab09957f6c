/** The contract of every store, on the embedded engine. */
import { SQLiteError, Database as Sqlite } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/open.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { at } from './fixtures.ts'
import { type Engine, type Kind, schemas } from './harness.ts'
import { couponSuites, describeStores, relaySuites } from './stores.ts'

const directory = newDirectory()
afterAll(cleanUp)
let files = 0

const embedded: Engine = {
  name: 'the embedded engine',
  reopens: false,
  async create(kind) {
    const path = join(directory, `${kind}-${files++}.db`)
    // A copy of an empty file: each new one would wait for the disk several times.
    copyFileSync(empty[kind], path)
    return path
  },
  open: (kind, path, stores) =>
    openDatabase({ path, schema: schemas[kind], now: () => at, stores }),
  refusedRow: (cause) =>
    cause instanceof SQLiteError && (cause.code ?? '').startsWith('SQLITE_CONSTRAINT'),
}
const empty: Record<Kind, string> = { coupons: newFile('coupons'), relay: newFile('relay') }
const engines = [
  embedded,
  { ...embedded, name: 'the embedded engine, opened again before each read', reopens: true },
]

function newFile(kind: Kind): string {
  const path = join(directory, `${kind}.db`)
  using file = new Sqlite(path)
  file.run(schemas[kind].text)
  return path
}

for (const engine of engines) describeStores(engine)

/** It opens the database of the relay's stores, and has no statement. */
const opening = 'relay/open-store.ts'

test('every store of src has a contract', () => {
  const src = join(import.meta.dir, '../../src')
  const stores = [...new Bun.Glob('**/{store,*-store}.ts').scanSync(src)]
  expect(stores.splice(stores.indexOf(opening), 1)).toEqual([opening])
  expect([...Object.keys(couponSuites), ...Object.keys(relaySuites)].sort()).toEqual(stores.sort())
})
