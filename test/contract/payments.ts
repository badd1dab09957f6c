import { expect } from 'bun:test'
import { written } from './cards.ts'
import { at, count, event, found, key, most, succeeds } from './fixtures.ts'
import type { CouponTx, It, Stores } from './harness.ts'
import { modelPayments } from './payments-model.ts'

const ledger = key(60)

export function scanned(cardId: number, parts: object = {}) {
  return {
    cardId,
    holder: key(1),
    form: 'extended' as const,
    maxima: new Map([['ARS', 100n]]),
    createdAt: at,
    expiresAt: at + 60,
    ...parts,
  }
}

export function scans(it: It<CouponTx>): void {
  const scan = (stores: Stores<CouponTx>, k1: string, parts: object = {}) =>
    stores.write(async (tx) => {
      const card = await tx.cards.findByCid('04'.repeat(7))
      await tx.scans.insert(k1, scanned(card?.id ?? (await written(tx, 1)), parts))
      return found(await tx.scans.find(k1))
    })

  it('a tap is found by its k1, with amounts of any size', async (stores) => {
    const maxima = new Map([
      ['ARS', 10n ** 30n],
      ['Ñ', 0n],
    ])
    const one = await scan(stores, 'k1', { maxima, form: 'standard', expiresAt: most })
    await stores.read(async (tx) => {
      expect(await tx.scans.find('k1')).toEqual({
        ...scanned(one.cardId, { maxima, form: 'standard', expiresAt: most }),
        id: one.id,
        state: 'free',
      })
      expect(await tx.scans.find('k2')).toBeNull()
    })
  })

  it('a k1 is written once', async (stores) => {
    const { cardId } = await scan(stores, 'k1')
    await stores.refuses((tx) => tx.scans.insert('k1', scanned(cardId)))
    await stores.refuses((tx) => tx.scans.insert('k2', scanned(999)))
    await stores.refuses((tx) => tx.scans.insert('k2', scanned(cardId, { form: 'other' })))
  })

  it('a k1 is taken once, also by simultaneous writers, and not after its expiry', async (stores) => {
    const { id } = await scan(stores, 'k1')
    const take = (now: number) => stores.write((tx) => tx.scans.take(id, now))
    expect(await take(at + 60)).toBe(false)
    expect(count(await Promise.all([take(at + 59), take(at + 59), take(at)]))).toBe(1)
    expect(await stores.read((tx) => tx.scans.find('k1'))).toMatchObject({ state: 'in-flight' })
  })

  it('a taken k1 is used up or freed, and an untaken one stays as it is', async (stores) => {
    const other = await scan(stores, 'k2')
    await stores.write((tx) => tx.scans.take(other.id, at))
    const { id } = await scan(stores, 'k1')
    const settle = (state: 'free' | 'used') => stores.write((tx) => tx.scans.settle(id, state))
    const take = () => stores.write((tx) => tx.scans.take(id, at))
    expect(await settle('used')).toBe(false)
    expect([await take(), await settle('free'), await take(), await settle('used')]).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect([await take(), await settle('free')]).toEqual([false, false])
    expect(await stores.read((tx) => tx.scans.find('k2'))).toMatchObject({ state: 'in-flight' })
    expect(await stores.read((tx) => tx.scans.find('k1'))).toMatchObject({ state: 'used' })
  })

  it('unpaid taps are deleted after their time, a bounded number at a time', async (stores) => {
    for (const number of [1, 2, 3, 4]) {
      await scan(stores, `k${number}`, { expiresAt: at + 10 - number })
    }
    const { id } = await scan(stores, 'taken', { expiresAt: at + 1 })
    await stores.write((tx) => tx.scans.take(id, at))
    const prune = (rowsMax: number) => stores.write((tx) => tx.scans.prune(rowsMax, at + 9))
    expect(await prune(2)).toBe(2)
    await stores.read(async (tx) => {
      expect([await tx.scans.find('k4'), await tx.scans.find('k3')]).toEqual([null, null])
      expect(await tx.scans.find('k2')).not.toBeNull()
    })
    expect([await prune(2), await prune(2)]).toEqual([1, 0])
    await stores.read(async (tx) => {
      expect(await tx.scans.find('taken')).not.toBeNull()
      expect(await tx.scans.find('k1')).not.toBeNull()
    })
  })

  it('an undone transaction leaves nothing', async (stores) => {
    const { id, cardId } = await scan(stores, 'k1')
    await stores.undone(async (tx) => {
      await tx.scans.insert('k2', scanned(cardId))
      await tx.scans.take(id, at)
      await tx.scans.prune(1, most)
    })
  })
}

function start(number: number, expiresAt = at + 60) {
  return { id: event(number).id, ledger, expiresAt }
}

export function payments(it: It<CouponTx>): void {
  const pending = { state: 'pending', now: at } as const
  const asked = (number: number, parts: object = {}) => ({
    k1: 'k1',
    request: key(number),
    cardId: 1,
    holder: key(1),
    recipient: key(2),
    amounts: new Map([['ARS', 10n]]),
    paymentHash: null,
    ...parts,
  })
  const outcome = (state: 'settled' | 'refused' | 'released', parts: object = {}) => ({
    state,
    code: null,
    message: null,
    late: false,
    ...parts,
  })
  const refused = outcome('refused', { code: 'ledger-refused', message: 'No alcanza «ñ»' })
  /** A card whose k1 was taken. */
  const prepared = (stores: Stores<CouponTx>, k1 = 'k1') =>
    stores.write(async (tx) => {
      const card = await tx.cards.findByCid('04'.repeat(7))
      await tx.scans.insert(k1, scanned(card?.id ?? (await written(tx, 1))))
      await tx.scans.take(found(await tx.scans.find(k1)).id, at)
    })
  const insert = (stores: Stores<CouponTx>, number: number, parts: object = {}) =>
    stores.write((tx) => tx.payments.insert(asked(number, parts), start(number), pending))
  const stateOf = (stores: Stores<CouponTx>, k1 = 'k1') =>
    stores.read(async (tx) => (await tx.scans.find(k1))?.state)
  const spent = (stores: Stores<CouponTx>, parts: object = {}) =>
    stores.read((tx) =>
      tx.payments.spent({ cardId: 1, holder: key(1), token: 'ARS', since: at - 1, ...parts }),
    )

  it('a reservation comes back by its request, its k1, its start event and its id', async (stores) => {
    await prepared(stores, 'k0')
    await insert(stores, 5, { k1: 'k0' })
    await prepared(stores)
    const amounts = new Map([
      ['ARS', 9_223_372_036_854_775_807n],
      ['Ñ', 1n],
    ])
    const payment = await insert(stores, 1, { amounts, paymentHash: key(7) })
    expect(payment).toEqual({
      id: payment.id,
      cardId: 1,
      recipient: key(2),
      amounts,
      startId: event(1).id,
      state: 'pending',
      code: null,
      message: null,
      late: false,
      createdAt: at,
      expiresAt: at + 60,
      endedAt: null,
    })
    await stores.read(async (tx) => {
      expect(await tx.payments.find('k1', key(1))).toEqual(payment)
      expect(await tx.payments.findByK1('k1')).toEqual(payment)
      expect(await tx.payments.findByStart(event(1).id, ledger)).toEqual(payment)
      expect(await tx.payments.findById(payment.id)).toEqual(payment)
      expect(await tx.payments.find('k1', key(9))).toBeNull()
      expect(await tx.payments.findByK1('k2')).toBeNull()
      expect(await tx.payments.findByStart(event(1).id, key(9))).toBeNull()
      expect(await tx.payments.invoiceTaken(key(7))).toBe(true)
      expect(await tx.payments.invoiceTaken(key(8))).toBe(false)
      expect(await tx.payments.open(10)).toEqual([event(5).id, event(1).id])
    })
  })

  it('a missing payment is a bug, not an answer', async (stores) => {
    const outcome = await stores.read((tx) => tx.payments.findById(99).catch((cause) => cause))
    expect(outcome).toBeInstanceOf(Error)
  })

  it('of simultaneous reservations with one k1 one is written, and each request once', async (stores) => {
    await prepared(stores)
    const one = (number: number) => succeeds(insert(stores, number))
    expect(count(await Promise.all([one(1), one(2), one(1)]))).toBe(1)
    const { id } = found(await stores.read((tx) => tx.payments.findByK1('k1')))
    await stores.write((tx) => tx.payments.end(id, refused, at))
    const request = found(await stores.read((tx) => tx.payments.findByK1('k1'))).startId
    const number = request === event(1).id ? 1 : 2
    await stores.refuses((tx) => tx.payments.insert(asked(number), start(9), pending))
    await stores.refuses((tx) => tx.payments.insert(asked(8), start(number), pending))
  })

  it('an amount of zero and a missing card are refused', async (stores) => {
    await prepared(stores)
    const add = (parts: object) =>
      stores.refuses((tx) => tx.payments.insert(asked(1, parts), start(1), pending))
    await add({ amounts: new Map([['ARS', 0n]]) })
    await add({ amounts: new Map([['ARS', -1n]]) })
    await add({ cardId: 999 })
    await add({ recipient: 'ab' })
  })

  it('a reservation counts towards the limits until it is released, a settled payment for ever', async (stores) => {
    await prepared(stores)
    const { id } = await insert(stores, 1)
    expect(await spent(stores)).toBe(10n)
    expect(await stores.write((tx) => tx.payments.end(id, refused, at + 5))).toMatchObject({
      ...refused,
      endedAt: at + 5,
    })
    expect([await spent(stores), await stateOf(stores)]).toEqual([0n, 'free'])
    // The answer of a ledger that came late settles it all the same.
    const late = outcome('settled', { late: true })
    expect(await stores.write((tx) => tx.payments.end(id, late, at + 9))).toMatchObject(late)
    expect([await spent(stores), await stateOf(stores)]).toEqual([10n, 'used'])
  })

  it('spending is counted by card, holder, token and time', async (stores) => {
    await prepared(stores)
    await insert(stores, 1)
    expect(await spent(stores, { holder: key(5) })).toBe(0n)
    expect(await spent(stores, { token: 'USD' })).toBe(0n)
    expect(await spent(stores, { cardId: 2 })).toBe(0n)
    expect([await spent(stores, { since: at }), await spent(stores, { since: 0 })]).toEqual([
      0n,
      10n,
    ])
  })

  it('the sum of many large amounts is exact', async (stores) => {
    const large = 9_223_372_036_854_775_807n
    for (const number of [1, 2, 3]) {
      await prepared(stores, `k${number}`)
      await insert(stores, number, { k1: `k${number}`, amounts: new Map([['ARS', large - 1n]]) })
    }
    expect(await spent(stores)).toBe(3n * (large - 1n))
  })

  it('a payment that is settled in its own transaction has ended', async (stores) => {
    await prepared(stores)
    const settled = { state: 'settled', now: at } as const
    const payment = await stores.write((tx) => tx.payments.insert(asked(1), start(1), settled))
    expect(payment).toMatchObject({ state: 'settled', endedAt: at })
    expect(await stores.read((tx) => tx.payments.open(10))).toEqual([])
  })

  it('refusals are counted by k1, and a payment that holds money hides them', async (stores) => {
    await prepared(stores)
    const why = { code: 'ledger-refused', message: null, now: at } as const
    await stores.write((tx) => tx.payments.insertRefused(asked(1), why))
    await stores.write((tx) => tx.payments.insertRefused(asked(2), why))
    const shown = () => stores.read((tx) => tx.payments.findByK1('k1'))
    expect(await shown()).toMatchObject({ state: 'refused', startId: null, endedAt: at })
    expect((await shown())?.id).toBe(
      (await stores.read((tx) => tx.payments.find('k1', key(2))))?.id,
    )
    const { id } = await insert(stores, 3)
    await stores.write((tx) => tx.payments.insertRefused(asked(4), why))
    expect((await shown())?.id).toBe(id)
    await stores.write((tx) => tx.payments.end(id, outcome('settled'), at))
    expect((await shown())?.id).toBe(id)
    await stores.read(async (tx) => {
      expect([await tx.payments.refusals('k1'), await tx.payments.refusals('k2')]).toEqual([3, 0])
    })
    expect(await spent(stores)).toBe(10n)
  })

  it('an invoice is taken while a payment holds it or has paid it', async (stores) => {
    await prepared(stores)
    const { id } = await insert(stores, 1, { paymentHash: key(7) })
    const taken = () => stores.read((tx) => tx.payments.invoiceTaken(key(7)))
    const end = (state: 'released' | 'settled') =>
      stores.write((tx) => tx.payments.end(id, outcome(state), at))
    expect(await taken()).toBe(true)
    await end('released')
    expect(await taken()).toBe(false)
    await end('settled')
    expect(await taken()).toBe(true)
  })

  it('a payment that ended without a refusal has no code, and a refused one has', async (stores) => {
    await prepared(stores)
    const { id } = await insert(stores, 1)
    await stores.refuses((tx) => tx.payments.end(id, outcome('refused'), at))
    await stores.refuses((tx) => tx.payments.end(id, { ...refused, state: 'settled' }, at))
  })

  it('an answer that comes late does not free a k1 that another payment used', async (stores) => {
    await prepared(stores)
    const first = await insert(stores, 1)
    await stores.write((tx) => tx.payments.end(first.id, outcome('released'), at))
    await stores.write(async (tx) => tx.scans.take(found(await tx.scans.find('k1')).id, at))
    const second = await insert(stores, 2)
    await stores.write((tx) => tx.payments.end(first.id, outcome('settled', { late: true }), at))
    expect(await stateOf(stores)).toBe('used')
    await stores.write((tx) => tx.payments.end(second.id, refused, at))
    expect(await stateOf(stores)).toBe('used')
  })

  it('reservations are overdue from their last second on, the longest first, a bounded number at a time', async (stores) => {
    const ids: number[] = []
    for (const [index, expiresAt] of [at + 3, at + 1, at + 2].entries()) {
      const k1 = `k${index}`
      await prepared(stores, k1)
      const { id } = await stores.write((tx) =>
        tx.payments.insert(asked(index, { k1 }), start(index, expiresAt), pending),
      )
      ids.push(id)
    }
    const overdue = (before: number, most: number) =>
      stores.read((tx) => tx.payments.overdue(before, most))
    expect(await overdue(at + 2, 10)).toEqual([found(ids[1]), found(ids[2])])
    expect(await overdue(at + 3, 1)).toEqual([found(ids[1])])
    expect(await overdue(at, 10)).toEqual([])
    expect(await stores.read((tx) => tx.payments.open(2))).toEqual([event(1).id, event(2).id])
    await stores.write((tx) => tx.payments.end(found(ids[1]), outcome('settled'), at))
    expect(await overdue(at + 2, 10)).toEqual([found(ids[2])])
  })

  it('an undone transaction leaves nothing', async (stores) => {
    await prepared(stores)
    await stores.undone(async (tx) => {
      const { id } = await tx.payments.insert(asked(1), start(1), pending)
      await tx.payments.end(id, outcome('settled'), at)
    })
  })

  modelPayments(it)
}
