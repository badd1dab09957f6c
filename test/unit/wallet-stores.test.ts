import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { createSql } from '../../src/db/connection.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { rememberRequest } from '../../src/wallet/request.ts'
import { type Json, newSigner } from '../support/client.ts'
import { createEvent } from '../support/events.ts'

const issuer = newSigner().pubkey
let connection: Database
let stores: Stores

beforeEach(() => {
  connection = new Database(':memory:', { strict: true })
  migrate(connection, couponSchema)
  stores = createStores(createSql(connection))
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

describe('one-time codes', () => {
  const code = randomBytes(32)
  const linked = async () => {
    const design = { uuid: crypto.randomUUID(), name: 'x' }
    const tag = { cid: '04'.repeat(7), keyVersion: 1, counter: 0, name: 'x', createdAt: 1 }
    const cardId = await stores.cards.insert({ uuid: crypto.randomUUID(), design, ...tag })
    await stores.cards.linkCode(code, { cardId, chosen: true, at: 1 })
    return cardId
  }

  test('are spent once, whoever comes later', async () => {
    const cardId = await linked()
    expect(await stores.cards.findCode(code)).toEqual({ cardId, chosen: true, used: false })
    expect([await stores.cards.spendCode(code, 5), await stores.cards.spendCode(code, 9)]).toEqual([
      true,
      false,
    ])
    const { used_at } = connection.query('SELECT used_at FROM card_codes').get() as Json
    expect(used_at).toBe(5)
    expect(await stores.cards.spendCode(randomBytes(32), 9)).toBe(false)
  })

  test('that were spent stay known when the card gets another', async () => {
    const cardId = await linked()
    await stores.cards.spendCode(code, 5)
    const next = randomBytes(32)
    await stores.cards.linkCode(next, { cardId, chosen: true, at: 6 })
    await stores.cards.unlinkCode(cardId)
    expect(await stores.cards.findCode(next)).toBeNull()
    expect(await stores.cards.findCode(code)).toEqual({ cardId, chosen: true, used: true })
  })
})

describe('the counter of a card', () => {
  test('moves up alone, and not at all while it is not known or the card is gone', async () => {
    const design = { uuid: crypto.randomUUID(), name: 'x' }
    const tag = { cid: '04'.repeat(7), keyVersion: 1, counter: 3, name: 'x', createdAt: 1 }
    const id = await stores.cards.insert({ uuid: crypto.randomUUID(), design, ...tag })
    const tapped = async (...counters: number[]) => {
      const passed: boolean[] = []
      for (const counter of counters) passed.push(await stores.cards.tapped(id, counter))
      return passed
    }
    expect(await tapped(3, 4, 4, 9, 5)).toEqual([false, true, false, true, false])
    connection.run('UPDATE cards SET counter_known = 0')
    expect(await tapped(10)).toEqual([false])
    expect(await stores.cards.confirmCounter(id, 9)).toBe(false)
    expect(await stores.cards.confirmCounter(id, 11)).toBe(true)
    expect(await tapped(11, 12)).toEqual([false, true])
    expect([await stores.cards.remove(id, 1), await stores.cards.remove(id, 2)]).toEqual([
      true,
      false,
    ])
    expect(await tapped(13)).toEqual([false])
    expect(await stores.cards.confirmCounter(id, 14)).toBe(false)
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
