/** Operations may be run again from the start: an effect outside of the database happens once all the same. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { createSql } from '../../src/db/connection.ts'
import type { AfterCommit, Database, Locking } from '../../src/db/database.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { requestNonce } from '../../src/wallet/identities/nonces.ts'
import type { Identities } from '../../src/wallet/identities/service.ts'
import { createAdmission } from '../../src/wallet/ledger/admission.ts'
import { type Ledger, settle } from '../../src/wallet/ledger/settle.ts'
import { newSigner, verifyEvent } from '../support/client.ts'

const manager = newSigner()
const at = 1_800_000_000

let connection: Sqlite
let stores: Stores

beforeEach(() => {
  connection = new Sqlite(':memory:', { strict: true })
  migrate(connection, couponSchema)
  stores = createStores(createSql(connection))
})
afterEach(() => connection.close())

/** A database that runs each operation twice: the first time nothing of it stands. */
const twice: Database<Stores> = {
  async transact<T>(
    _: unknown,
    operation: (tx: Stores & AfterCommit & Locking) => Promise<T>,
  ): Promise<T> {
    const run = async () => {
      const effects: (() => void)[] = []
      const afterCommit = (effect: () => void) => void effects.push(effect)
      const tx = { ...stores, afterCommit, lock: async () => undefined }
      return { value: await operation(tx), effects }
    }
    connection.run('BEGIN')
    await run().catch(() => undefined)
    connection.run('ROLLBACK')
    connection.run('BEGIN')
    const { value, effects } = await run().catch((cause: unknown) => {
      connection.run('ROLLBACK')
      throw cause
    })
    connection.run('COMMIT')
    for (const effect of effects) effect()
    return value
  },
  snapshot: (query) => query(stores),
}

test('a request for a nonce is counted once, also when it is refused, and no repeat of it', async () => {
  const issuer = newSigner()
  const charged: string[] = []
  const identities = {
    ...{ database: twice, verify: verifyEvent, verifyHash: () => true, now: () => at },
    ...{ manager: manager.pubkey, issuers: new Set([issuer.pubkey]) },
    ...{ requireDisk: () => undefined, newNonce: () => crypto.randomUUID() },
  } as unknown as Identities
  const nonce = 'n'.repeat(22)
  const tags = [
    ['t', 'create-nonce'],
    ['nonce', nonce],
  ]
  const [first, second] = [at, at + 1].map((created_at) =>
    issuer.sign({ kind: 1112, created_at, tags, content: '' }),
  )
  const ask = (event: unknown) => requestNonce(identities, event, (pubkey) => charged.push(pubkey))

  expect(await ask(first)).toBe(nonce)
  expect(charged).toEqual([issuer.pubkey])
  await expect(ask(first)).rejects.toThrow(new Refusal('event-repeated'))
  expect(charged).toHaveLength(1)
  await expect(ask(second)).rejects.toThrow(new Refusal('identity-nonce-taken'))
  expect(charged).toHaveLength(2)
})

test('a start event of a stranger is counted once, and not when it was answered before', async () => {
  const ledger: Ledger = {
    ...{ signer: manager, verifyHash: () => true, tokens: new Map() },
    broadcast: async () => undefined,
  }
  const parts = { ledger, database: twice, seconds: () => 1, rateLimit: true }
  const admission = createAdmission(parts)
  const start = () => {
    const tags = [
      ['p', manager.pubkey],
      ['p', newSigner().pubkey],
      ['t', 'internal-transaction-start'],
    ]
    return newSigner().sign({ kind: 1112, created_at: at, tags, content: '{"tokens":{"ARS":1}}' })
  }
  for (let count = 0; count < limits.transactionStrangerBurst; count++) {
    const event = start()
    await admission.overHttp(event)
    await twice.transact({ roots: 'none' }, (tx) => settle(ledger, tx, event, at))
    await admission.overHttp(event)
  }
  await expect(admission.overHttp(start())).rejects.toThrow(new Refusal('rate-limited'))
})
