/** Operations may be run again from the start: an effect outside of the database happens once all the same. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { createSql } from '../../src/db/connection.ts'
import type { Database, Operation, Plan } from '../../src/db/database.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { publish } from '../../src/gateway/publish.ts'
import type { Gateway } from '../../src/gateway/service.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { createWriteQuotas } from '../../src/relay/quotas.ts'
import { payFor } from '../../src/session/pay-for.ts'
import { requestNonce } from '../../src/wallet/identities/nonces.ts'
import type { Identities } from '../../src/wallet/identities/service.ts'
import { createAdmission } from '../../src/wallet/ledger/admission.ts'
import { type Ledger, settle } from '../../src/wallet/ledger/settle.ts'
import { newSigner, verifyEvent } from '../support/client.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const manager = newSigner()
const at = 1_800_000_000

let connection: Sqlite
let stores: Stores
let embedded: SqliteEngine<Stores> | null = null

beforeEach(() => {
  connection = new Sqlite(':memory:', { strict: true })
  migrate(connection, couponSchema)
  stores = createStores(createSql(connection))
})
afterEach(async () => {
  connection.close()
  await embedded?.close()
  embedded = null
})
afterAll(cleanUp)

/** A database that runs each operation twice: the first time nothing of it stands. */
const twice: Database<Stores> = {
  async transact<T>({ first }: Plan<Stores>, operation: Operation<Stores, T>): Promise<T> {
    const run = async () => {
      const effects: (() => void)[] = []
      const afterCommit = (effect: () => void) => void effects.push(effect)
      const nothing = () => undefined
      const steps: (() => void)[] = []
      const beforeCommit = (step: () => void) => void steps.push(step)
      const lock = async () => undefined
      const tx = { ...stores, afterCommit, beforeCommit, tell: nothing, lock }
      await first?.(tx)
      const value = await operation(tx)
      for (const step of steps) step()
      return { value, effects }
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
  look: (query) => query(stores),
}

/** The embedded engine on a new file, where operations of one turn share a commit. */
function openEmbedded(): Database<Stores> {
  const path = join(newDirectory(), 'coupons.db')
  embedded = new SqliteEngine({ path, schema: couponSchema, now: () => at, stores: createStores })
  return embedded
}

function createNonces(database: Database<Stores>) {
  const issuer = newSigner()
  const charged: string[] = []
  const identities = {
    ...{ database, verify: verifyEvent, verifyHash: () => true, now: () => at },
    ...{ manager: manager.pubkey, issuers: new Set([issuer.pubkey]) },
    ...{ requireDisk: () => undefined, newNonce: () => crypto.randomUUID() },
  } as unknown as Identities
  const nonce = 'n'.repeat(22)
  const tags = [
    ['t', 'create-nonce'],
    ['nonce', nonce],
  ]
  const request = (createdAt: number) =>
    issuer.sign({ kind: 1112, created_at: createdAt, tags, content: '' })
  const ask = (event: unknown) => requestNonce(identities, event, (pubkey) => charged.push(pubkey))
  return { issuer, nonce, charged, request, ask }
}

test('a request for a nonce is counted once, also when it is refused, and no repeat of it', async () => {
  const { issuer, nonce, charged, request, ask } = createNonces(twice)
  const [first, second] = [request(at), request(at + 1)]

  expect(await ask(first)).toBe(nonce)
  expect(charged).toEqual([issuer.pubkey])
  await expect(ask(first)).rejects.toThrow(new Refusal('event-repeated'))
  expect(charged).toHaveLength(1)
  await expect(ask(second)).rejects.toThrow(new Refusal('identity-nonce-taken'))
  expect(charged).toHaveLength(2)
})

test('repeats of a request for a nonce that arrive at once are counted once', async () => {
  const { issuer, charged, request, ask } = createNonces(openEmbedded())
  const event = request(at)
  const settled = await Promise.allSettled(Array.from({ length: 50 }, () => ask(event)))
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(charged).toEqual([issuer.pubkey])
})

test('a request for a nonce that finds the queue full is not counted', async () => {
  const overloaded = new Refusal('overloaded', { retryAfter: 1 })
  const { charged, request, ask } = createNonces({
    ...twice,
    transact: () => Promise.reject(overloaded),
  })
  await expect(ask(request(at))).rejects.toThrow(overloaded)
  expect(charged).toEqual([])
})

function createStrangers(database: Database<Stores>) {
  const ledger: Ledger = {
    ...{ signer: manager, verifyHash: () => true, tokens: new Map() },
    broadcast: async () => undefined,
  }
  const admission = createAdmission({ ledger, database, seconds: () => 1, rateLimit: true })
  const start = () => {
    const tags = [
      ['p', manager.pubkey],
      ['p', newSigner().pubkey],
      ['t', 'internal-transaction-start'],
    ]
    return newSigner().sign({ kind: 1112, created_at: at, tags, content: '{"tokens":{"ARS":1}}' })
  }
  const send = (event: NostrEvent) => {
    const admit = admission.overHttp(event)
    return database.transact({ roots: [{ event: event.id }] }, async (tx) => {
      await admit(tx)
      await settle(ledger, tx, event, at)
    })
  }
  return { start, send }
}

test('a start event of a stranger is counted once, and not when it was answered before', async () => {
  const { start, send } = createStrangers(twice)
  for (let count = 0; count < limits.transactionStrangerBurst; count++) {
    const event = start()
    await send(event)
    await send(event)
  }
  await expect(send(start())).rejects.toThrow(new Refusal('rate-limited'))
})

test('repeats of a start event that arrive at once are counted once', async () => {
  const { start, send } = createStrangers(openEmbedded())
  const event = start()
  await Promise.all(Array.from({ length: limits.transactionStrangerBurst * 2 }, () => send(event)))
  for (let count = 1; count < limits.transactionStrangerBurst; count++) await send(start())
  await expect(send(start())).rejects.toThrow(new Refusal('rate-limited'))
})

test('a mint of many vouchers is charged once for the signature that it spends', async () => {
  const id = 'a'.repeat(64)
  const paid: string[] = []
  const spend = async (tx: Pick<Stores, 'proofs'>) => {
    if (!(await tx.proofs.use(id, at + 60))) throw new Refusal('auth-replay')
  }
  const mint = () => {
    const caller = payFor({ pubkey: manager.pubkey, beganAt: at, until: at, spend }, () => {
      paid.push(manager.pubkey)
    })
    return twice.transact({ roots: 'none', first: caller.spend }, async () => 'minted')
  }
  expect(await mint()).toBe('minted')
  expect(paid).toHaveLength(1)
  await expect(mint()).rejects.toThrow(new Refusal('auth-replay'))
  expect(paid).toHaveLength(1)
})

test('a charge that was refused stays refused when the operation runs again', async () => {
  const limited = new Refusal('rate-limited', { retryAfter: 1 })
  let asked = 0
  const caller = payFor(
    { pubkey: manager.pubkey, beganAt: at, until: at, spend: async () => undefined },
    () => {
      if (asked++ === 0) throw limited
    },
  )
  const plan = { roots: 'none', first: caller.spend } as const
  await expect(twice.transact(plan, async () => 'minted')).rejects.toBe(limited)
  expect(asked).toBe(1)
})

test('an event of remote signing by a stranger is counted once', async () => {
  const strangers: string[] = []
  const gateway = {
    ...{ database: twice, verify: verifyEvent, verifyHash: () => true, now: () => at },
    ...{ requireDisk: () => undefined, keeps: async () => false },
    ...{
      outside: [],
      embeddedUrl: () => null,
      accepting: () => ({ accept: async () => undefined }),
    },
    quotas: {
      ...createWriteQuotas({ rateLimit: true, seconds: () => 1 }),
      stranger(address: string) {
        strangers.push(address)
        return 0
      },
    },
  } as unknown as Gateway
  const tags = [['p', manager.pubkey]]
  const event = newSigner().sign({ kind: 24133, created_at: at, tags, content: 'x' })
  const sent = await publish(gateway, event, { address: '203.0.113.5', bytes: 300, asked: null })
  expect(sent.event.id).toBe(event.id)
  expect(strangers).toEqual(['203.0.113.5'])
})
