/** Terms of a token that change while the first account of the token is opened. */
import { afterAll, expect, test } from 'bun:test'
import { createStores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import type { Root } from '../../src/db/roots.ts'
import { declareTokens } from '../../src/wallet/ledger/declare.ts'
import { key } from '../contract/fixtures.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { settledOrWaiting } from '../support/waiting.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())

test('the terms of a token stay for an account that another operation is opening', async () => {
  const name = await databases.create()
  const url = databases.server.url(name)
  const looking = await databases.connect(name)
  const engine = new PostgresEngine({ url, now: systemClock, stores: createStores })
  const declare = (decimals: number) =>
    declareTokens(engine, new Map([['ARS', { name: 'ARS', decimals, issuer: key(1) }]]))
  await declare(2)
  const inside = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  const roots: Root[] = [
    { terms: 'ARS', mode: 'shared' },
    { balance: key(2), token: 'ARS' },
  ]
  const opening = engine.transact({ roots }, async (tx) => {
    await tx.ledger.open('ARS', key(2))
    inside.resolve()
    await open.promise
  })
  await inside.promise
  const declaring = declare(3).then(
    () => 'declared',
    (refused: Error) => refused.message,
  )
  await settledOrWaiting(looking, declaring)
  open.resolve()
  await opening
  expect(await declaring).toContain('ARS has accounts with other decimals')
  expect(await engine.snapshot((tx) => tx.ledger.tokens())).toMatchObject([{ decimals: 2 }])
  await looking.end()
  await engine.close()
})
