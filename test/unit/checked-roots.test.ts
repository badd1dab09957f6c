import '../support/checked-roots.ts'
import { afterAll, afterEach, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import type { Roots } from '../../src/db/roots.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const engine = new SqliteEngine<Stores>({
  path: join(newDirectory(), 'cuponera.db'),
  schema: couponSchema,
  now: () => 1_800_000_000,
  stores: createStores,
})
const told = spyOn(console, 'error').mockImplementation(() => undefined)
afterEach(() => told.mockClear())
afterAll(async () => {
  told.mockRestore()
  await engine.close()
  await cleanUp()
})

const owner = 'a1'.repeat(32)
const minter = { pubkey: 'b2'.repeat(32), label: null, createdAt: 1, mint: true }
const insert = (roots: Roots) =>
  engine.transact({ roots }, (tx) => tx.minters.insert(owner, minter))

test('a write that none of the roots covers fails, and is undone', async () => {
  const other: Roots = [{ merchant: 'c3'.repeat(32) }, { holder: owner }]
  for (const roots of ['none', other] as const) {
    await expect(insert(roots)).rejects.toThrow(`INSERT ON minters: merchant ${owner} is none of`)
  }
  expect(await engine.snapshot((tx) => tx.minters.count(owner))).toBe(0)
  await insert([{ merchant: owner }])
  expect(await engine.snapshot((tx) => tx.minters.count(owner))).toBe(1)
})

test('a root that is locked later covers a write, and stands behind the first ones', async () => {
  const remove = (roots: Roots) =>
    engine.transact({ roots }, async (tx) => {
      await tx.lock({ merchant: owner })
      return tx.minters.remove(owner, minter.pubkey)
    })
  await expect(remove([{ holder: owner }])).rejects.toThrow('out of order')
  expect(await remove([{ definition: 'unknown', mode: 'shared' }])).toBe(true)
})

test('a definition that is only shared cannot be changed', async () => {
  const terms = {
    name: 'Café',
    description: '',
    image: null,
    expiresAt: null,
    rules: null,
    picture: null,
    maxUses: 5,
  }
  const input = { ...terms, benefit: { type: 'percent', percent: 10 } as const }
  await engine.transact({ roots: [{ merchant: owner }] }, (tx) =>
    tx.definitions.insert('d'.repeat(36), owner, input, 1),
  )
  const edit = (mode: 'shared' | 'changed') =>
    engine.transact({ roots: [{ definition: 'd'.repeat(36), mode }] }, async (tx) => {
      const [definition] = await tx.definitions.list(owner)
      if (definition) await tx.definitions.update({ ...definition, maxUses: 6 }, false)
      return definition?.maxUses
    })
  await expect(edit('shared')).rejects.toThrow('UPDATE OF max_uses')
  expect(await edit('changed')).toBe(5)
})
