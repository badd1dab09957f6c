import { expect } from 'bun:test'
import { at, count, event, found, key, most, succeeds } from './fixtures.ts'
import type { CouponTx, It, Stores } from './harness.ts'
import { modelLedger } from './ledger-model.ts'

const maximum = 8_000_000_000_000_000_000n
const ars = { name: 'ARS', decimals: 2, issuer: key(9) }

function movement(number: number, parts: object = {}) {
  return {
    eventId: event(number).id,
    answerId: event(5000 + number).id,
    sender: key(9),
    receiver: key(1),
    memo: null,
    now: at,
    ...parts,
  }
}

/** The issuer gives an amount to a key. */
async function give(tx: CouponTx, number: number, receiver: string, amount: bigint): Promise<void> {
  const id = await tx.ledger.settle(movement(number, { receiver }))
  const from = await tx.ledger.open('ARS', key(9))
  const to = await tx.ledger.open('ARS', receiver)
  found(await tx.ledger.add(id, from.id, -amount))
  found(await tx.ledger.add(id, to.id, amount))
}

export function ledger(it: It<CouponTx>): void {
  const declared = (stores: Stores<CouponTx>) => stores.write((tx) => tx.ledger.declare(ars))
  const balance = (stores: Stores<CouponTx>, number: number) =>
    stores.read((tx) => tx.ledger.balance('ARS', key(number)))

  it('the terms of a token may change until it has accounts', async (stores) => {
    const declare = (parts: object) => stores.write((tx) => tx.ledger.declare({ ...ars, ...parts }))
    expect(await declare({})).toBe(true)
    expect([await declare({ decimals: 0 }), await declare({ issuer: key(8) })]).toEqual([
      true,
      true,
    ])
    expect(await declare({})).toBe(true)
    await stores.write((tx) => tx.ledger.open('ARS', key(1)))
    expect([await declare({ decimals: 3 }), await declare({ issuer: key(8) })]).toEqual([
      false,
      false,
    ])
    expect(await declare({})).toBe(true)
    expect(await stores.read((tx) => tx.ledger.tokens())).toEqual([ars])
  })

  it('tokens are listed by name, and one with invalid terms is refused', async (stores) => {
    expect(await stores.read((tx) => tx.ledger.tokens())).toEqual([])
    await stores.write(async (tx) => {
      for (const name of ['b', 'a', 'B']) await tx.ledger.declare({ ...ars, name })
    })
    const names = await stores.read(async (tx) =>
      (await tx.ledger.tokens()).map(({ name }) => name),
    )
    expect(names).toEqual(['B', 'a', 'b'])
    await stores.refuses((tx) => tx.ledger.declare({ ...ars, decimals: 19 }))
    await stores.refuses((tx) => tx.ledger.declare({ ...ars, name: 'x'.repeat(17) }))
  })

  it('an account is created once, also by simultaneous writers, and starts with zero', async (stores) => {
    await declared(stores)
    const open = () => stores.write((tx) => tx.ledger.open('ARS', key(1)))
    const [one, two] = await Promise.all([open(), open()])
    expect(one).toEqual(two)
    expect(one).toMatchObject({ token: 'ARS', pubkey: key(1), balance: 0n, publishedAt: 0 })
    const bug = stores.write((tx) => tx.ledger.open('USD', key(1))).catch((cause) => cause)
    expect(await bug).toBeInstanceOf(Error)
    expect(await balance(stores, 7)).toBe(0n)
  })

  it('only the issuer has a negative balance', async (stores) => {
    await declared(stores)
    await stores.write((tx) => give(tx, 1, key(1), 100n))
    const take = (number: number, amount: bigint) =>
      stores.write(async (tx) => {
        const id = await tx.ledger.settle(
          movement(50 + number, { sender: key(number), receiver: key(8) }),
        )
        return tx.ledger.add(id, (await tx.ledger.open('ARS', key(number))).id, -amount)
      })
    expect(await take(1, 101n)).toBeNull()
    expect(await take(2, 1n)).toBeNull()
    expect([await balance(stores, 1), await balance(stores, 9)]).toEqual([100n, -100n])
  })

  it('of simultaneous writers that take the same money one gets it', async (stores) => {
    await declared(stores)
    await stores.write((tx) => give(tx, 1, key(1), 100n))
    const take = (number: number) =>
      stores.write(async (tx) => {
        const parts = { sender: key(1), receiver: key(2) }
        const id = await tx.ledger.settle(movement(number, parts))
        const from = await tx.ledger.open('ARS', key(1))
        return (await tx.ledger.add(id, from.id, -60n)) !== null
      })
    expect(count(await Promise.all([take(2), take(3), take(4)]))).toBe(1)
    expect(await balance(stores, 1)).toBe(40n)
  })

  it('amounts beyond 53 bits are exact up to the bound, and nothing goes beyond it', async (stores) => {
    await declared(stores)
    await stores.write((tx) => give(tx, 1, key(1), maximum - 1n))
    expect([await balance(stores, 1), await balance(stores, 9)]).toEqual([
      maximum - 1n,
      1n - maximum,
    ])
    const add = (number: number, amount: bigint) =>
      stores.write(async (tx) => {
        const id = await tx.ledger.settle(movement(number, { sender: key(3), receiver: key(4) }))
        return tx.ledger.add(id, (await tx.ledger.open('ARS', key(1))).id, amount)
      })
    expect(await add(2, 2n)).toBeNull()
    expect(await add(3, 9_223_372_036_854_775_807n)).toBeNull()
    expect((await add(4, 1n))?.balance).toBe(maximum)
  })

  it('a start event is settled once, also by simultaneous writers', async (stores) => {
    const settle = () => succeeds(stores.write((tx) => tx.ledger.settle(movement(1))))
    expect(count(await Promise.all([settle(), settle()]))).toBe(1)
    await stores.refuses((tx) => tx.ledger.settle(movement(1)))
    await stores.refuses((tx) => tx.ledger.settle(movement(2, { sender: key(1) })))
    expect(await stores.read((tx) => tx.ledger.outcome(event(1).id))).toEqual({
      state: 'ok',
      answerId: event(5001).id,
    })
  })

  it('an entry of zero, without a movement or without an account is refused', async (stores) => {
    await declared(stores)
    const [id, account] = await stores.write(async (tx) => [
      await tx.ledger.settle(movement(1)),
      (await tx.ledger.open('ARS', key(1))).id,
    ])
    await stores.refuses((tx) => tx.ledger.add(found(id), found(account), 0n))
    await stores.refuses((tx) => tx.ledger.add(999, found(account), 1n))
    expect(await stores.write((tx) => tx.ledger.add(found(id), 999, 1n))).toBeNull()
    await stores.refuses(async (tx) => {
      await tx.ledger.add(found(id), found(account), 1n)
      await tx.ledger.add(found(id), found(account), 1n)
    })
  })

  it('a refusal is stored with its text until it could not be repeated', async (stores) => {
    const refuse = (number: number, forgetAt: number) =>
      stores.write((tx) =>
        tx.ledger.refuse(event(number).id, {
          answerId: event(5000 + number).id,
          messages: ['No alcanza «ñ»', ''],
          forgetAt,
        }),
      )
    for (const number of [1, 2, 3]) await refuse(number, at + number)
    expect(await stores.read((tx) => tx.ledger.outcome(event(2).id))).toEqual({
      state: 'error',
      answerId: event(5002).id,
      messages: ['No alcanza «ñ»', ''],
    })
    const prune = (rowsMax: number, before: number) =>
      stores.write((tx) => tx.ledger.prune(rowsMax, before))
    const known = () =>
      stores.read(async (tx) => {
        const outcomes = [1, 2, 3].map((number) => tx.ledger.outcome(event(number).id))
        return (await Promise.all(outcomes)).map((outcome) => outcome !== null)
      })
    expect([await prune(9, at + 1), await prune(1, at + 3)]).toEqual([0, 1])
    expect(await known()).toEqual([false, true, true])
    expect(await prune(9, at + 3)).toBe(1)
    expect(await known()).toEqual([false, false, true])
    await stores.refuses((tx) =>
      tx.ledger.refuse(event(3).id, { answerId: event(1).id, messages: [], forgetAt: most }),
    )
  })

  it('accounts are listed by token for a key, and by id for a token, up to a maximum', async (stores) => {
    const ids = await stores.write(async (tx) => {
      for (const name of ['USD', 'ARS']) await tx.ledger.declare({ ...ars, name })
      const rows: number[] = []
      for (const number of [3, 1, 2]) rows.push((await tx.ledger.open('ARS', key(number))).id)
      await tx.ledger.open('USD', key(1))
      return rows
    })
    await stores.read(async (tx) => {
      const own = await tx.ledger.accountsOf(key(1))
      expect(own.map(({ token }) => token)).toEqual(['ARS', 'USD'])
      expect(await tx.ledger.accountsOf(key(3))).toMatchObject([{ token: 'ARS' }])
      expect(await tx.ledger.accountsOf(key(7))).toEqual([])
      const page = async (after: number, most: number) =>
        (await tx.ledger.accountsOfToken('ARS', after, most)).map(({ id }) => id)
      expect(await page(0, 10)).toEqual(ids)
      expect(await page(found(ids[0]), 1)).toEqual([found(ids[1])])
      expect(await page(found(ids[2]), 1)).toEqual([])
    })
  })

  it('a balance event is owed until one is published, the longest owed first, up to a maximum', async (stores) => {
    await declared(stores)
    const ids = await stores.write(async (tx) => {
      const rows: number[] = []
      for (const [index, publishedAt] of [at - 1, at - 3, at - 2, at].entries()) {
        const { id } = await tx.ledger.open('ARS', key(index))
        await tx.ledger.published(id, publishedAt)
        await tx.ledger.postpone(id, event(index).id)
        rows.push(id)
      }
      return rows
    })
    const stale = (now: number, most: number) =>
      stores.read(async (tx) => (await tx.ledger.stale(now, most)).map(({ id }) => ids.indexOf(id)))
    expect([await stale(at, 10), await stale(at, 2), await stale(at + 1, 10)]).toEqual([
      [1, 2, 0],
      [1, 2],
      [1, 2, 0, 3],
    ])
    const [first] = await stores.read((tx) => tx.ledger.stale(at, 1))
    expect(first).toMatchObject({ cause: event(1).id, publishedAt: at - 3 })
    await stores.write((tx) => tx.ledger.published(found(ids[1]), at))
    expect(await stale(at + 1, 10)).toEqual([2, 0, 3])
  })

  it('the movements of an account come newest first, before one, as its owner sees them', async (stores) => {
    await declared(stores)
    const account = await stores.write(async (tx) => {
      await give(tx, 1, key(1), 100n)
      await give(tx, 2, key(1), 5n)
      const id = await tx.ledger.settle(
        movement(3, { sender: key(1), receiver: key(2), memo: 'ñ', now: at + 1 }),
      )
      const own = await tx.ledger.open('ARS', key(1))
      await tx.ledger.add(id, own.id, -30n)
      await tx.ledger.add(id, (await tx.ledger.open('ARS', key(2))).id, 30n)
      return own
    })
    const page = (before: number, most: number) =>
      stores.read((tx) => tx.ledger.movements(account, before, most))
    const [last, middle, ...others] = await page(most, 2)
    expect(others).toEqual([])
    expect(last).toMatchObject({
      eventId: event(3).id,
      token: 'ARS',
      amount: -30n,
      counterparty: key(2),
      memo: 'ñ',
      at: at + 1,
    })
    expect(middle).toMatchObject({ amount: 5n, counterparty: key(9), memo: null })
    expect(await page(found(middle).id, 9)).toMatchObject([{ amount: 100n }])
  })

  it('an undone transaction leaves nothing', async (stores) => {
    await declared(stores)
    await stores.undone((tx) => give(tx, 1, key(1), 7n))
    expect(await balance(stores, 1)).toBe(0n)
  })

  modelLedger(it)
}
