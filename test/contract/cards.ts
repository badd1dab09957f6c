import { expect } from 'bun:test'
import { at, bytes, count, event, found, key, most, succeeds, uuid } from './fixtures.ts'
import type { CouponTx, It, Stores } from './harness.ts'

const cid = '04'.repeat(7)
const design = { uuid: uuid(500), name: 'Azul' }

/** A card that was just written; its id. */
export function written(tx: CouponTx, number: number, parts: object = {}): Promise<number> {
  const tag = { cid, keyVersion: number, counter: 0, name: 'Ñandú', createdAt: at }
  return tx.cards.insert({ uuid: uuid(number), design, ...tag, ...parts })
}

/** A card beside the one that a test writes to; nothing that happens there may touch it. */
async function neighbour(stores: Stores<CouponTx>) {
  const id = await stores.write(async (tx) => {
    const id = await written(tx, 99, { cid: '99'.repeat(7) })
    await tx.cards.activate(id, given(1))
    await tx.cards.linkCode(bytes(32, 99), { cardId: id, chosen: false, at })
    return id
  })
  const look = () =>
    stores.read(async (tx) => [
      await tx.cards.findById(id),
      await tx.cards.findCode(bytes(32, 99)),
      await tx.cards.openCode(id),
    ])
  const before = await look()
  return async () => expect(await look()).toEqual(before)
}

function given(number: number, parts: object = {}) {
  return { holder: key(number), delegation: bytes(60, number), name: 'mía', at: at + 1, ...parts }
}

export function cards(it: It<CouponTx>): void {
  it('a card is stored as it was initialised, and found by id, by uuid and by its tag', async (stores) => {
    const id = await stores.write((tx) => written(tx, 1, { counter: 16_777_215 }))
    await stores.read(async (tx) => {
      const card = found(await tx.cards.findById(id))
      expect(card).toEqual({
        id,
        uuid: uuid(1),
        cid,
        keyVersion: 1,
        counter: 16_777_215,
        counterKnown: true,
        design,
        name: 'Ñandú',
        description: '',
        enabled: true,
        blocked: false,
        holder: null,
        delegation: null,
        createdAt: at,
        activatedAt: null,
        deletedAt: null,
      })
      expect(await tx.cards.find(uuid(1))).toEqual(card)
      expect(await tx.cards.findByCid(cid)).toEqual(card)
      expect(await tx.cards.findById(id + 1)).toBeNull()
      expect(await tx.cards.find(uuid(2))).toBeNull()
      expect(await tx.cards.findByCid('05'.repeat(7))).toBeNull()
    })
  })

  it('a tag has one living card, and each version of its keys once', async (stores) => {
    const insert = (number: number) => succeeds(stores.write((tx) => written(tx, number)))
    expect(count(await Promise.all([insert(1), insert(2)]))).toBe(1)
    const alive = found(await stores.read((tx) => tx.cards.findByCid(cid)))
    await stores.write((tx) => tx.cards.remove(alive.id, at))
    await stores.refuses((tx) => written(tx, 3, { keyVersion: alive.keyVersion }))
    await stores.write((tx) => written(tx, 4))
    expect(await stores.read((tx) => tx.cards.findByCid(cid))).toMatchObject({ keyVersion: 4 })
  })

  it('an impossible counter, version or tag is refused', async (stores) => {
    for (const parts of [
      { counter: -1 },
      { counter: 16_777_216 },
      { keyVersion: 0 },
      { keyVersion: 256 },
      { cid: '04' },
      { uuid: 'x' },
    ]) {
      await stores.refuses((tx) => written(tx, 1, parts))
    }
  })

  it('the newest card of a tag is found, deleted or not', async (stores) => {
    await stores.write(async (tx) => {
      await tx.cards.remove(await written(tx, 1), at)
      await tx.cards.remove(await written(tx, 3), at)
    })
    expect(await stores.read((tx) => tx.cards.findByCid(cid))).toMatchObject({ keyVersion: 3 })
  })

  it('of simultaneous taps with one counter one passes, and the counter only increases', async (stores) => {
    const untouched = await neighbour(stores)
    const id = await stores.write((tx) => written(tx, 1, { counter: 3 }))
    const tapped = (counter: number) => stores.write((tx) => tx.cards.tapped(id, counter))
    expect(count(await Promise.all([tapped(4), tapped(4), tapped(4)]))).toBe(1)
    expect([await tapped(3), await tapped(9), await tapped(5)]).toEqual([false, true, false])
    expect(await stores.read((tx) => tx.cards.findById(id))).toMatchObject({ counter: 9 })
    await untouched()
  })

  it('no tap passes while the counter is unknown, until a higher one is confirmed', async (stores) => {
    const untouched = await neighbour(stores)
    const id = await stores.write(async (tx) => {
      const id = await written(tx, 1, { counter: 9 })
      tx.sql.query<null, [number]>('UPDATE cards SET counter_known = 0 WHERE id = ?').run(id)
      return id
    })
    const tapped = (counter: number) => stores.write((tx) => tx.cards.tapped(id, counter))
    const confirm = (counter: number) => stores.write((tx) => tx.cards.confirmCounter(id, counter))
    expect([await tapped(10), await confirm(9), await confirm(11)]).toEqual([false, false, true])
    expect([await tapped(11), await tapped(12)]).toEqual([false, true])
    await untouched()
  })

  it('a card is deleted once, and does not change afterwards', async (stores) => {
    const id = await stores.write(async (tx) => {
      const id = await written(tx, 1)
      await tx.cards.activate(id, given(1))
      return id
    })
    const remove = () => stores.write((tx) => tx.cards.remove(id, at + 5))
    expect(count(await Promise.all([remove(), remove()]))).toBe(1)
    const before = await stores.read((tx) => tx.cards.findById(id))
    const outcomes = await stores.write(async (tx) => {
      await tx.cards.redesign(id, { uuid: uuid(7), name: 'Rojo' })
      await tx.cards.describe(id, { name: 'x', description: 'y', enabled: false })
      await tx.cards.block(id, true)
      return [
        await tx.cards.tapped(id, 1),
        await tx.cards.confirmCounter(id, 1),
        await tx.cards.activate(id, given(2)),
        await tx.cards.renew(id, key(1), bytes(5, 1)),
      ]
    })
    expect(outcomes).toEqual([false, false, false, false])
    expect(await stores.read((tx) => tx.cards.findById(id))).toEqual(before)
  })

  it('a card that gets a holder is like a new one, with that holder', async (stores) => {
    const id = await stores.write(async (tx) => {
      const id = await written(tx, 1)
      await tx.cards.describe(id, { name: 'x', description: 'y', enabled: false })
      expect(await tx.cards.activate(id, given(1))).toBe(true)
      return id
    })
    expect(await stores.read((tx) => tx.cards.findById(id))).toMatchObject({
      holder: key(1),
      delegation: bytes(60, 1),
      name: 'mía',
      description: '',
      enabled: true,
      activatedAt: at + 1,
    })
  })

  it('the delegation of a card is renewed by its holder alone', async (stores) => {
    const untouched = await neighbour(stores)
    const id = await stores.write(async (tx) => {
      const id = await written(tx, 1)
      await tx.cards.activate(id, given(1))
      return id
    })
    const renew = (number: number) =>
      stores.write((tx) => tx.cards.renew(id, key(number), bytes(5, number)))
    expect([await renew(2), await renew(1)]).toEqual([false, true])
    const card = await stores.read((tx) => tx.cards.findById(id))
    expect(card?.delegation).toEqual(bytes(5, 1))
    await untouched()
  })

  it('the texts, the block and the design of a card are overwritten', async (stores) => {
    const untouched = await neighbour(stores)
    const id = await stores.write(async (tx) => {
      const id = await written(tx, 1)
      await tx.cards.describe(id, { name: 'Ñ', description: '100 %', enabled: false })
      await tx.cards.block(id, true)
      await tx.cards.redesign(id, { uuid: uuid(7), name: 'Rojo' })
      return id
    })
    const words = { name: 'Ñ', description: '100 %', enabled: false, blocked: true }
    expect(await stores.read((tx) => tx.cards.findById(id))).toMatchObject({
      ...words,
      design: { uuid: uuid(7), name: 'Rojo' },
    })
    await untouched()
  })

  it("a holder's cards come oldest first without deleted ones, all cards by id with them", async (stores) => {
    const ids = await stores.write(async (tx) => {
      const rows: number[] = []
      for (const number of [1, 2, 3, 4]) {
        rows.push(await written(tx, number, { cid: bytes(7, number).toHex() }))
        await tx.cards.activate(found(rows.at(-1)), given(number === 4 ? 2 : 1))
      }
      await tx.cards.remove(found(rows[1]), at)
      return rows
    })
    const [one = 0, two = 0, three = 0, four = 0] = ids
    const idsOf = (list: { id: number }[]) => list.map(({ id }) => id)
    await stores.read(async (tx) => {
      expect(idsOf(await tx.cards.listOf(key(1), 10))).toEqual([one, three])
      expect(idsOf(await tx.cards.listOf(key(1), 1))).toEqual([one])
      expect(idsOf(await tx.cards.listOf(key(9), 10))).toEqual([])
      expect(idsOf(await tx.cards.list(0, 10))).toEqual(ids)
      expect(idsOf(await tx.cards.list(one, 2))).toEqual([two, three])
      expect(idsOf(await tx.cards.list(four, 2))).toEqual([])
    })
  })

  it('a one-time code is spent once, also by simultaneous writers', async (stores) => {
    const untouched = await neighbour(stores)
    const cardId = await stores.write((tx) => written(tx, 1))
    await stores.write((tx) => tx.cards.linkCode(bytes(32, 1), { cardId, chosen: true, at }))
    const code = () => stores.read((tx) => tx.cards.findCode(bytes(32, 1)))
    expect(await code()).toEqual({ cardId, chosen: true, used: false })
    const spend = (number: number) =>
      stores.write((tx) => tx.cards.spendCode(bytes(32, number), at))
    expect(count(await Promise.all([spend(1), spend(1)]))).toBe(1)
    expect(await spend(2)).toBe(false)
    expect(await code()).toEqual({ cardId, chosen: true, used: true })
    await untouched()
  })

  it('a card has one open code: the next replaces it, and a spent one stays known', async (stores) => {
    const untouched = await neighbour(stores)
    const cardId = await stores.write((tx) => written(tx, 1))
    const link = (number: number, chosen: boolean) =>
      stores.write((tx) => tx.cards.linkCode(bytes(32, number), { cardId, chosen, at }))
    const open = () => stores.read((tx) => tx.cards.openCode(cardId))
    expect(await open()).toBeNull()
    await link(1, false)
    await stores.write((tx) => tx.cards.spendCode(bytes(32, 1), at))
    await link(2, false)
    expect(await open()).toEqual({ chosen: false })
    await link(3, true)
    expect(await open()).toEqual({ chosen: true })
    expect(await stores.read((tx) => tx.cards.findCode(bytes(32, 2)))).toBeNull()
    await stores.write((tx) => tx.cards.unlinkCode(cardId))
    expect(await open()).toBeNull()
    expect(await stores.read((tx) => tx.cards.findCode(bytes(32, 3)))).toBeNull()
    expect(await stores.read((tx) => tx.cards.findCode(bytes(32, 1)))).toMatchObject({ used: true })
    await untouched()
  })

  it('a present or former code is linked to no other card', async (stores) => {
    const other = await stores.write(async (tx) => {
      const cardId = await written(tx, 1)
      await tx.cards.linkCode(bytes(32, 1), { cardId, chosen: true, at })
      await tx.cards.spendCode(bytes(32, 1), at)
      return written(tx, 2, { cid: '05'.repeat(7) })
    })
    const link = { cardId: other, chosen: true, at }
    await stores.refuses((tx) => tx.cards.linkCode(bytes(32, 1), link))
    await stores.refuses((tx) => tx.cards.linkCode(bytes(31, 1), link))
    await stores.refuses((tx) => tx.cards.linkCode(bytes(32, 2), { ...link, cardId: 999 }))
  })

  it('an undone transaction leaves nothing', (stores) =>
    stores.undone(async (tx) => {
      const id = await written(tx, 1)
      await tx.cards.activate(id, given(1))
      await tx.cards.linkCode(bytes(32, 1), { cardId: id, chosen: true, at })
      await tx.cards.tapped(id, 5)
    }))
}

export function holders(it: It<CouponTx>): void {
  const limit = (number: number, amount: bigint) => ({
    name: `ñ ${number}`,
    description: '',
    token: 'ARS',
    amount,
    delta: number,
  })

  it('the limits of a card keep their order, with any amounts', async (stores) => {
    const rows = [limit(3, 0n), limit(1, 9_223_372_036_854_775_807n), limit(2, BigInt(most) + 2n)]
    const [one, two] = await stores.write(async (tx) => {
      const ids = [await written(tx, 1), await written(tx, 2, { cid: '05'.repeat(7) })]
      for (const id of ids) await tx.holders.setLimits(id, [limit(9, 9n)])
      await tx.holders.setLimits(found(ids[0]), rows)
      return ids
    })
    await stores.read(async (tx) => {
      expect(await tx.holders.limitsOf(found(one))).toEqual(rows)
      expect(await tx.holders.limitsOf(found(two))).toEqual([limit(9, 9n)])
      expect(await tx.holders.limitsOf(999)).toEqual([])
    })
    await stores.write((tx) => tx.holders.setLimits(found(one), []))
    expect(await stores.read((tx) => tx.holders.limitsOf(found(one)))).toEqual([])
  })

  it('a limit below zero, or of a missing card, is refused, and the earlier limits stay', async (stores) => {
    const id = await stores.write(async (tx) => {
      const id = await written(tx, 1)
      await tx.holders.setLimits(id, [limit(1, 5n)])
      return id
    })
    await stores.refuses((tx) => tx.holders.setLimits(id, [limit(1, 1n), limit(1, -1n)]))
    await stores.refuses((tx) => tx.holders.setLimits(id, [{ ...limit(1, 1n), delta: -1 }]))
    await stores.refuses((tx) => tx.holders.setLimits(999, [limit(1, 1n)]))
  })

  it('a holder without a list pays everywhere, and one with a list pays its merchants only', async (stores) => {
    const trusts = (merchant: number) =>
      stores.read((tx) => tx.holders.trusts(key(1), key(merchant)))
    expect(await trusts(5)).toBe(true)
    await stores.write((tx) => tx.holders.setMerchants(key(1), [key(7), key(5), key(7)]))
    await stores.write((tx) => tx.holders.setMerchants(key(2), [key(6)]))
    expect([await trusts(5), await trusts(6)]).toEqual([true, false])
    expect(await stores.read((tx) => tx.holders.merchantsOf(key(1)))).toEqual([key(5), key(7)])
    await stores.write((tx) => tx.holders.setMerchants(key(1), []))
    expect(await trusts(6)).toBe(true)
    expect(await stores.read((tx) => tx.holders.merchantsOf(key(2)))).toEqual([key(6)])
    await stores.refuses((tx) => tx.holders.setMerchants(key(1), [key(5), 'ab']))
  })

  it("a holder's change is made once, also several of one second, and none after a newer one", async (stores) => {
    const change = (number: number, created_at: number, holder = 1) =>
      stores.write(
        (tx) => tx.holders.change(key(holder), { id: event(number).id, created_at }),
        [{ holder: key(holder) }],
      )
    expect(count(await Promise.all([change(1, at), change(1, at)]))).toBe(1)
    expect([await change(2, at), await change(1, at), await change(3, at - 1)]).toEqual([
      true,
      false,
      false,
    ])
    expect([await change(4, at + 1), await change(2, at)]).toEqual([true, false])
    expect([await change(5, at - 9, 2), await change(6, at + 2)]).toEqual([true, true])
    expect(await change(5, at - 9, 2)).toBe(false)
    const kept = await stores.read(({ sql }) => sql.query('SELECT id FROM card_changes').all())
    expect(kept).toHaveLength(2)
  })

  it('a holder is owed a notice until one tells of the last change, and gets one in a second', async (stores) => {
    const owe = (...holders: number[]) =>
      stores.write(async (tx) => {
        for (const holder of holders) tx.holders.owe(key(holder))
      })
    const told = (holder: number, changes: number, second: number) =>
      stores.write(async (tx) => tx.holders.told(key(holder), { changes, at: second }))
    const owed = (now: number, most = 9) => stores.read((tx) => tx.holders.owed(now, most))
    const owedTo = (holder: number, now: number) =>
      stores.read((tx) => tx.holders.owedTo(key(holder), now))
    expect(await owed(at)).toEqual([])
    await Promise.all([owe(1, 2), owe(2)])
    expect((await owed(at)).sort()).toEqual([key(1), key(2)].sort())
    expect([await owedTo(1, at), await owedTo(2, at), await owedTo(3, at)]).toEqual([1, 2, null])
    expect(await owed(at, 1)).toHaveLength(1)
    await told(2, 2, at)
    expect([await owed(at + 1), await owedTo(2, at + 1)]).toEqual([[key(1)], null])
    // A change that came while a notice was made is owed still, from the next second on.
    await owe(2)
    await told(2, 2, at)
    await told(1, 1, at)
    expect([await owed(at), await owedTo(2, at)]).toEqual([[], null])
    expect([await owed(at + 1), await owedTo(2, at + 1)]).toEqual([[key(2)], 3])
    await stores.refuses(async (tx) => tx.holders.told(key(2), { changes: 4, at }))
  })

  it('an undone transaction leaves nothing', (stores) =>
    stores.undone(async (tx) => {
      tx.holders.owe(key(1))
      await tx.holders.setMerchants(key(1), [key(5)])
      await tx.holders.change(key(1), { id: event(1).id, created_at: at })
    }))
}
