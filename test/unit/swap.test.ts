import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
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
    expect(await swap(transfers, { id, service: service.pubkey, fresh: at === 0 })).toBe('open')
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
  expect(await swap(transfers, { id, service: service.pubkey, fresh: false })).toBe('open')
  now += 1
  expect(await swap(transfers, { id, service: service.pubkey, fresh: false })).toMatchObject({
    nonceSent: true,
  })
  expect(warned).toEqual(['transfer.postponed', 'transfer.expired'])
  expect(await stores.transfers.open()).toEqual([])
  expect(await swap(transfers, { id, service: service.pubkey, fresh: false })).toBe('gone')
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

/** An account of the holder, and a voucher that is sent to it. */
async function openAccount() {
  const account = { uuid: crypto.randomUUID(), name: 'ana', pubkey: holder, lud16: null }
  await stores.accounts.insert({ ...account, nonceId: null, createdBy: holder, createdAt: start })
  const nonce = randomBytes(16).toString('base64url')
  return { nonce, voucher: sign(nonce, null), comment: null }
}

type Outcome = Awaited<ReturnType<Refresh>>

const uncertain = { kind: 'refused', code: 'voucher-unknown', certain: false } satisfies Outcome
const unsent: Outcome = { kind: 'unsent', why: 'ECONNREFUSED' }

/** A node whose request to the other service is under way until `answer`. */
function createNode() {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<Outcome>()
  let calls = 0
  const transfers = {
    ...createTransfers(async () => {
      asked.resolve()
      // Another key than that of the first request gets no answer.
      return calls++ === 0 ? answered.promise : { ...uncertain, certain: true }
    }),
    ...{ arriving: () => undefined, requireDisk: () => undefined, newKey: () => 'one-key' },
  }
  return { transfers, asked: asked.promise, answer: answered.resolve }
}

describe('a voucher that is sent again to another node while the first attempt is under way', () => {
  const begin = async () => {
    const arrival = await openAccount()
    const [first, second] = [createNode(), createNode()]
    const answers = [receive(first.transfers, 'ana', arrival)]
    await first.asked
    answers.push(receive(second.transfers, 'ana', arrival))
    await second.asked
    return { first, second, answers, answer: await honest('', { nonce: '', key: '' }) }
  }
  const held = async () => (await stores.inbox.list(holder, 10)).length

  test.each([unsent, uncertain])('the first attempt ends with %j, then it arrives', async (bad) => {
    const { first, second, answers, answer } = await begin()
    first.answer(bad)
    // It speaks for itself alone: the other one may have reached the service.
    expect(await answers[0]).toMatchObject({
      refusal: { code: 'transfer-pending' },
      nonceSent: true,
    })
    second.answer(answer)
    expect(await answers[1]).toEqual({ accepted: true })
    expect([await held(), await stores.transfers.open()]).toEqual([1, []])
  })

  test.each([
    unsent,
    uncertain,
    { kind: 'unclear', why: 'timeout' } satisfies Outcome,
    { kind: 'refused', code: 'voucher-refreshed', certain: true } satisfies Outcome,
  ])('it arrives, then the first attempt ends with %j', async (bad) => {
    const { first, second, answers, answer } = await begin()
    second.answer(answer)
    expect(await answers[1]).toEqual({ accepted: true })
    first.answer(bad)
    expect(await answers[0]).toEqual({ accepted: true })
    expect([await held(), await stores.transfers.open()]).toEqual([1, []])
    expect(warned).toEqual([])
  })

  test('both get the answer of the service', async () => {
    const { first, second, answers, answer } = await begin()
    for (const [at, node] of [first, second].entries()) {
      node.answer(answer)
      expect(await answers[at]).toEqual({ accepted: true })
    }
    expect([await held(), await stores.transfers.open()]).toEqual([1, []])
  })

  test('neither arrives: the intent stays until it is known what became of it', async () => {
    const { first, second, answers } = await begin()
    for (const node of [second, first]) node.answer(unsent)
    const pending = { accepted: false, nonceSent: true, refusal: { code: 'transfer-pending' } }
    expect(await Promise.all(answers)).toMatchObject([pending, pending])
    expect(await stores.transfers.open()).toMatchObject([{ open: 1 }])
  })

  test('an answer that comes after the end of its intent is stored', async () => {
    const { first, second, answers, answer } = await begin()
    first.answer({ kind: 'refused', code: 'voucher-refreshed', certain: true })
    expect(await answers[0]).toMatchObject({ refusal: { code: 'voucher-refreshed' } })
    second.answer(answer)
    expect(await answers[1]).toEqual({ accepted: true })
    expect([await held(), await stores.transfers.open()]).toEqual([1, []])
  })
})

test('two requests of one node share an attempt, which decides for both', async () => {
  const arrival = await openAccount()
  const { transfers, asked, answer } = createNode()
  const answers = [receive(transfers, 'ana', arrival)]
  await asked
  answers.push(receive(transfers, 'ana', arrival))
  answer(unsent)
  const silence = { accepted: false, nonceSent: false, refusal: { code: 'service-silent' } }
  expect(await Promise.all(answers)).toMatchObject([silence, silence])
  expect(await stores.transfers.open()).toEqual([])
})

test('a caller that waits for the swap of another caller hears that it was accepted', async () => {
  const arrival = await openAccount()
  const ref = { service: service.pubkey, handle: handleOf(arrival.nonce), holder }
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
  expect(await receive(transfers, 'ana', arrival)).toEqual({ accepted: true })
})
