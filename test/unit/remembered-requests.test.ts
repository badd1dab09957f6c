import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { createSql } from '../../src/db/connection.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { rememberRequest } from '../../src/wallet/request.ts'
import { requestSweep } from '../../src/wallet/worker.ts'
import { createEvent } from '../support/events.ts'

let connection: Database
let stores: Stores

beforeEach(() => {
  connection = new Database(':memory:', { strict: true })
  migrate(connection, couponSchema)
  stores = createStores(createSql(connection))
})
afterEach(() => connection.close())

describe('requests that were granted', () => {
  const request = (createdAt: number) => {
    const event = createEvent({ createdAt })
    return { event, author: event.pubkey, content: null }
  }

  test('are remembered with their answer while they could come again', async () => {
    const first = request(1000)
    const second = request(2000)
    await rememberRequest(stores.requests, first, Buffer.from('answer'))
    await rememberRequest(stores.requests, second)
    const { answer } = (await stores.requests.find(first.event.id)) ?? {}
    expect(Buffer.from(answer ?? []).toString()).toBe('answer')
    expect(await stores.requests.find(second.event.id)).toEqual({ answer: null })
    await expect(rememberRequest(stores.requests, first)).rejects.toThrow('event-repeated')
    expect(await stores.requests.prune(10, 1000 + limits.requestWindowSeconds)).toBe(0)
    expect(await stores.requests.prune(10, 1001 + limits.requestWindowSeconds)).toBe(1)
    expect(await stores.requests.find(first.event.id)).toBeNull()
  })

  test('are remembered while a node with another clock still takes them', async () => {
    const asked = request(1000)
    await rememberRequest(stores.requests, asked)
    const sweep = (now: number) =>
      requestSweep.prune({ ...stores, lock: async () => undefined }, now)
    const ended = 1000 + limits.requestWindowSeconds
    await sweep(ended + 2 * limits.clockBackSeconds)
    await expect(rememberRequest(stores.requests, asked)).rejects.toThrow('event-repeated')
    await sweep(ended + 100)
    expect(await stores.requests.find(asked.event.id)).toBeNull()
  })

  test('are so many at most', async () => {
    expect(await stores.requests.load()).toBe(0)
    await rememberRequest(stores.requests, request(1))
    await rememberRequest(stores.requests, request(2))
    expect(await stores.requests.load()).toBe(2)
    connection.run(`UPDATE request_load SET rows = ${limits.requestsMax}`)
    await expect(rememberRequest(stores.requests, request(3))).rejects.toThrow('overloaded')
    expect(await stores.requests.prune(1, Number.MAX_SAFE_INTEGER)).toBe(1)
    await rememberRequest(stores.requests, request(3))
    expect(await stores.requests.load()).toBe(limits.requestsMax)
  })
})
