import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { createStores, type Stores } from '../../src/db/stores.ts'
import { limits } from '../../src/limits.ts'
import { rememberRequest } from '../../src/wallet/request.ts'
import { newSigner } from '../support/client.ts'
import { createEvent } from '../support/events.ts'

const issuer = newSigner().pubkey
let connection: Database
let stores: Stores

beforeEach(() => {
  connection = new Database(':memory:', { strict: true })
  migrate(connection, couponSchema)
  stores = createStores(connection)
})
afterEach(() => connection.close())

describe('nonces', () => {
  const made = async (at: number) => {
    const hash = randomBytes(32)
    expect(await stores.nonces.insert(hash, issuer, at)).toBe(true)
    const found = await stores.nonces.find(hash)
    if (!found) throw new Error('it was not written')
    return { hash, id: found.id }
  }

  test('are burned once, whoever asks again', async () => {
    const { hash, id } = await made(1)
    expect(await stores.nonces.burn(id, 2)).toBe(true)
    expect(await stores.nonces.burn(id, 3)).toBe(false)
    expect(await stores.nonces.find(hash)).toEqual({ id, burned: true })
    expect(await stores.nonces.insert(hash, issuer, 4)).toBe(false)
  })

  test('are forgotten from the oldest on, unless they are burned', async () => {
    const burned = await Promise.all([made(1), made(2), made(3)])
    for (const { id } of burned) await stores.nonces.burn(id, 4)
    const old = await Promise.all([made(7), made(5), made(6)])
    const fresh = await made(10)
    expect(await stores.nonces.prune(2, 10)).toBe(2)
    expect(await stores.nonces.find(old[0]?.hash as Uint8Array)).not.toBeNull()
    expect(await stores.nonces.prune(2, 10)).toBe(1)
    expect(await stores.nonces.prune(2, 10)).toBe(0)
    for (const { hash } of [...burned, fresh]) expect(await stores.nonces.find(hash)).toBeTruthy()
    expect(await stores.nonces.countOpen(issuer)).toBe(1)
  })
})

describe('requests', () => {
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

  test('are so many at most', async () => {
    expect(await stores.requests.load()).toBe(0)
    connection.run(
      `INSERT INTO requests VALUES (1, randomblob(32), NULL, 1), (${limits.requestsMax}, randomblob(32), NULL, 1)`,
    )
    await expect(rememberRequest(stores.requests, request(1))).rejects.toThrow('overloaded')
    await stores.requests.prune(1, 10)
    await rememberRequest(stores.requests, request(1))
  })
})
