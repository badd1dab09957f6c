import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { handleOf } from '../../src/coupons/nonce.ts'
import { createSql } from '../../src/db/connection.ts'
import { createJobs } from '../../src/db/jobs.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { receive } from '../../src/wallet/transfers/receive.ts'
import type { Transfers } from '../../src/wallet/transfers/service.ts'
import { sealIntent, swap } from '../../src/wallet/transfers/swap.ts'
import { startTransferWorker } from '../../src/wallet/transfers/worker.ts'
import { newSigner, percentBenefit, verifyEvent } from '../support/client.ts'
import { alone, aloneJobs, createLeases, createTime, neverFails } from '../support/jobs.ts'
import { until } from '../support/until.ts'

const service = newSigner()
const holder = newSigner().pubkey
const owner = newSigner().pubkey
const storeKey = randomBytes(32)
const start = 1_800_000_000
const day = 24 * 60 * 60

let connection: Database
let stores: Stores
let now = start
let warned: string[] = []

beforeEach(() => {
  connection = new Database(':memory:', { strict: true })
  migrate(connection, couponSchema)
  stores = createStores(createSql(connection))
  now = start
  warned = []
})
afterEach(() => connection.close())

type Refresh = Transfers['refreshElsewhere']

const silent: Refresh = async () => ({ kind: 'unclear', why: 'timeout' })

/** The service of swaps, with the test's own clock and client. */
function createTransfers(refreshElsewhere: Refresh): Transfers {
  const tx = { ...stores, tell: () => undefined }
  const within = <T>(operation: (tx: Stores) => Promise<T>) => operation(tx)
  return {
    database: {
      snapshot: within,
      transact: <T>(_plan: unknown, operation: (tx: Stores) => Promise<T>) => within(operation),
    },
    now: () => now,
    verify: verifyEvent,
    couponService: { storeKey, signer: { pubkey: '' } },
    services: new Map([[service.pubkey, 'https://other.example/api/coupons/refresh']]),
    refreshElsewhere,
    swapping: new Map(),
    warn: (event: string) => warned.push(event),
  } as unknown as Transfers
}

function sign(nonce: string, expiresAt: number | null) {
  const content = { nonce, name: 'Té', description: '', coupon: percentBenefit, expiresAt }
  const tags = [
    ['nonce', nonce],
    ['p', owner],
    ['coupon', 'c0ffee'],
    ['phase', 'minted'],
  ]
  return service.sign({ kind: 20_402, created_at: start, tags, content: JSON.stringify(content) })
}

/** An intent that is due; `broken`: nobody can open it. */
function insert({ expiresAt = null as number | null, broken = false } = {}): Promise<number> {
  const nonce = randomBytes(16).toString('base64url')
  const ref = { service: service.pubkey, handle: handleOf(nonce), holder }
  const voucher = sign(nonce, expiresAt)
  const content = { nonce, voucher, comment: null, key: randomBytes(8).toString('hex') }
  const sealed = broken ? randomBytes(40) : sealIntent(storeKey, ref, content)
  return stores.transfers.insertIntent({ ...ref, owner, sealed, nextAt: start, createdAt: start })
}

const honest: Refresh = async () => {
  const nonce = randomBytes(16).toString('base64url')
  return { kind: 'answer', body: { nonce, voucher: sign(nonce, null) } }
}

async function nextAt(): Promise<number | undefined> {
  return (await stores.transfers.open())[0]?.nextAt
}

test('a failed attempt is repeated at growing intervals, and once a day after a month', async () => {
  const transfers = createTransfers(silent)
  const id = await insert()
  const waits: number[] = []
  for (let at = 0; at < 60; at++) {
    expect(await swap(transfers, id, false)).toBe('open')
    const next = (await nextAt()) ?? 0
    waits.push(next - now)
    now = at < 15 ? next : next + day
  }
  expect(waits[0]).toBeWithin(limits.intentRetrySeconds, 2 * limits.intentRetrySeconds)
  expect(Math.max(...waits.slice(0, 15))).toBeLessThanOrEqual(limits.intentRetrySecondsMax * 1.2)
  expect(now - start).toBeGreaterThan(45 * day)
  expect(waits.at(-1)).toBeWithin(day, 1.2 * day + 2)
})

test('an expired voucher is dropped a day later', async () => {
  const transfers = createTransfers(silent)
  const id = await insert({ expiresAt: start + 100 })
  now = start + 100 + day - 1
  expect(await swap(transfers, id, false)).toBe('open')
  now += 1
  expect(await swap(transfers, id, false)).toMatchObject({ nonceSent: true })
  expect(warned).toEqual(['transfer.postponed', 'transfer.expired'])
  expect(await stores.transfers.open()).toEqual([])
  expect(await swap(transfers, id, false)).toBe('gone')
})

test('intents that cannot be opened do not delay those behind them', async () => {
  const broken = limits.resumesMax * 3
  for (let at = 0; at < broken; at++) await insert({ broken: true })
  const good = await insert()
  const failures: unknown[] = []
  const transfers = createTransfers(honest)
  const failed = (cause: unknown) => failures.push(cause)
  const worker = startTransferWorker({ transfers, jobs: aloneJobs, failed })
  await until('the good one is done', async () => !(await stores.transfers.findIntentById(good)))
  await worker.stop()
  expect(failures).toHaveLength(broken)
  expect(await stores.inbox.list(holder, 10)).toHaveLength(1)
  expect(await stores.transfers.open()).toMatchObject([{ open: broken }])
})

test('a worker that stops during a swap does not give its lease to another node', async () => {
  await insert()
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<Awaited<ReturnType<Refresh>>>()
  const transfers = createTransfers(() => {
    asked.resolve()
    return gate.promise
  })
  const leases = createLeases()
  const jobs = createJobs(leases)
  const worker = startTransferWorker({ transfers, jobs, failed: neverFails })
  await asked.promise
  await worker.stop()
  expect(await leases.lease('transfers.resume')).toBeNull()
  gate.resolve({ kind: 'unclear', why: 'timeout' })
  await until('the swap has ended', () => warned.length === 1)
})

test('a service whose work fails is tried again after a pause', async () => {
  await insert()
  let broken = true
  const transfers = createTransfers(honest)
  const due: Stores['transfers']['due'] = async (...asked) => {
    if (broken) throw new Error('the disk is full')
    return stores.transfers.due(...asked)
  }
  const failing = { ...stores, transfers: { ...stores.transfers, due } }
  const database = {
    ...transfers.database,
    snapshot: (query: (tx: Stores) => unknown) => query(failing),
  }
  const failures: unknown[] = []
  const time = createTime()
  const worker = startTransferWorker({
    transfers: { ...transfers, database } as unknown as Transfers,
    jobs: createJobs(alone, time),
    failed: (cause) => failures.push(cause),
  })
  await time.pass(limits.jobRetrySeconds - 1)
  expect(failures).toHaveLength(1)
  broken = false
  await time.pass(1)
  expect(await stores.transfers.open()).toEqual([])
  expect(failures).toHaveLength(1)
  await worker.stop()
})

test('a caller that waits for the swap of another caller hears that it was accepted', async () => {
  const account = { uuid: crypto.randomUUID(), name: 'ana', pubkey: holder, lud16: null }
  await stores.accounts.insert({ ...account, nonceId: null, createdBy: holder, createdAt: start })
  const nonce = randomBytes(16).toString('base64url')
  const ref = { service: service.pubkey, handle: handleOf(nonce), holder }
  const times = { nextAt: start, createdAt: start }
  const id = await stores.transfers.insertIntent({
    ...ref,
    owner,
    sealed: randomBytes(9),
    ...times,
  })
  const ended = async () => {
    await stores.transfers.removeIntent(id)
    await stores.transfers.insert({ ...ref, replacement: randomBytes(16), now })
    return 'gone' as const
  }
  const transfers = {
    ...createTransfers(silent),
    arriving: () => undefined,
    swapping: { get: ended } as unknown as Transfers['swapping'],
  }
  const arrival = { nonce, voucher: sign(nonce, null), comment: null }
  expect(await receive(transfers, 'ana', arrival)).toEqual({ accepted: true })
})
