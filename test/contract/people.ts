import { expect } from 'bun:test'
import { at, bytes, count, defined, event, found, issued, key, most, uuid } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

/** The key that stands for all in the cut-offs. */
const everyone = '0'.repeat(64)

export function proofs(it: It<CouponTx>): void {
  it('an event is used once, also by writers at the same time', async (stores) => {
    const use = (number: number) => stores.write((tx) => tx.proofs.use(event(number).id, at))
    expect(count(await Promise.all([use(1), use(1), use(1)]))).toBe(1)
    expect([await use(1), await use(2)]).toEqual([false, true])
  })

  it('an event that could be repeated stays; others are deleted, the oldest first, a bounded number at a time', async (stores) => {
    const use = (number: number, until: number) =>
      stores.write((tx) => tx.proofs.use(event(number).id, until))
    for (const number of [1, 2, 3, 4]) await use(number, at + number)
    const prune = (rowsMax: number, before: number) =>
      stores.write((tx) => tx.proofs.prune(rowsMax, before))
    expect([await prune(10, at + 1), await prune(2, at + 4), await prune(2, at + 4)]).toEqual([
      0, 2, 1,
    ])
    expect([await use(4, at), await use(3, at)]).toEqual([false, true])
  })

  it('an id that is no sha256 is refused, and an undone transaction leaves nothing', async (stores) => {
    await stores.refuses((tx) => tx.proofs.use('ab', at))
    await stores.undone((tx) => tx.proofs.use(event(1).id, most))
  })
}

export function cutoffs(it: It<CouponTx>): void {
  const set = (pubkey: string, endedAt: number) => (tx: CouponTx) =>
    tx.cutoffs.set({ pubkey, endedAt })

  it('the sessions of a key end with its own cut-off or with that of all, whichever is later', async (stores) => {
    const last = (pubkey: string) => stores.read((tx) => tx.cutoffs.last(pubkey))
    expect(await last(key(1))).toBe(0)
    await stores.write(set(key(1), at + 5))
    await stores.write(set(key(2), at + 1))
    await stores.write(set(everyone, at + 3))
    expect([await last(key(1)), await last(key(2)), await last(key(3))]).toEqual([
      at + 5,
      at + 3,
      at + 3,
    ])
  })

  it('a cut-off of all begins after the newest of any key', async (stores) => {
    for (const number of [3, 5, 1]) await stores.write(set(key(number), at + number))
    expect(await stores.read((tx) => tx.cutoffs.last(everyone))).toBe(at + 5)
  })

  it('a key has one cut-off, which the next replaces', async (stores) => {
    await stores.write(set(key(1), at))
    await stores.write(set(key(1), at + 1))
    expect(await stores.read((tx) => tx.cutoffs.list())).toEqual([
      { pubkey: key(1), endedAt: at + 1 },
    ])
  })

  it('cut-offs from before a time are deleted', async (stores) => {
    for (const number of [1, 2, 3]) await stores.write(set(key(number), at + number))
    expect(await stores.write((tx) => tx.cutoffs.prune(at + 3))).toBe(2)
    const left = await stores.read((tx) => tx.cutoffs.list())
    expect(left).toEqual([{ pubkey: key(3), endedAt: at + 3 }])
  })

  it('a key of another length is refused, and writes that are undone leave nothing', async (stores) => {
    await stores.refuses(set('abcd', at))
    await stores.undone(set(key(1), most))
  })
}

export function merchants(it: It<CouponTx>): void {
  const merchant = (number: number, parts: object = {}) => ({
    pubkey: key(number),
    label: null,
    owner: false,
    createdAt: at + number,
    expiresAt: null,
    ...parts,
  })

  it('merchants that stay are listed newest first, then by key, and counted; guests are found only', async (stores) => {
    const rows = [
      merchant(1, { label: 'Ñoquis', owner: true }),
      merchant(3, { createdAt: at }),
      merchant(2, { createdAt: at }),
      merchant(4, { expiresAt: at }),
    ]
    await stores.write(async (tx) => {
      for (const row of rows) await tx.merchants.put(row)
    })
    await stores.read(async (tx) => {
      expect(await tx.merchants.list()).toEqual([rows[0], rows[2], rows[1]] as never)
      expect(await tx.merchants.count()).toBe(3)
      expect(await tx.merchants.find(key(4))).toEqual(merchant(4, { expiresAt: at }))
      expect(await tx.merchants.find(key(5))).toBeNull()
    })
  })

  it('a merchant that is added again has the last values', async (stores) => {
    await stores.write((tx) => tx.merchants.put(merchant(1, { expiresAt: most })))
    await stores.write((tx) => tx.merchants.put(merchant(1, { label: 'x', owner: true })))
    const listed = await stores.read((tx) => tx.merchants.list())
    expect(listed).toEqual([merchant(1, { label: 'x', owner: true })])
  })

  it('a guest that may add others, and one without an expiry, are refused', async (stores) => {
    await stores.refuses((tx) => tx.merchants.put(merchant(1, { owner: true, expiresAt: at })))
    await stores.refuses((tx) => tx.merchants.put(merchant(1, { createdAt: 0 })))
  })

  it('a merchant is removed once', async (stores) => {
    for (const number of [1, 2]) await stores.write((tx) => tx.merchants.put(merchant(number)))
    const remove = () => stores.write((tx) => tx.merchants.remove(key(1)))
    expect(count(await Promise.all([remove(), remove()]))).toBe(1)
    expect(await stores.read((tx) => tx.merchants.list())).toEqual([merchant(2)])
  })

  it('expired guests are deleted, and no other merchant', async (stores) => {
    await stores.write(async (tx) => {
      await tx.merchants.put(merchant(1))
      for (const number of [2, 3, 4]) {
        await tx.merchants.put(merchant(number, { expiresAt: at + number }))
      }
    })
    expect(await stores.write((tx) => tx.merchants.prune(at + 3))).toBe(2)
    await stores.read(async (tx) => {
      expect(await tx.merchants.find(key(1))).not.toBeNull()
      expect(await tx.merchants.find(key(3))).toBeNull()
      expect(await tx.merchants.find(key(4))).not.toBeNull()
    })
  })

  it('owners of coupons that were not let in are listed by key, unless all of theirs is unusable', async (stores) => {
    await stores.write(async (tx) => {
      const archive = async (number: number) => {
        const definition = found(await tx.definitions.find(uuid(number)))
        await tx.definitions.update({ ...definition, archivedAt: at }, false)
      }
      await defined(tx, 1, { owner: key(5) })
      await defined(tx, 2, { owner: key(5) })
      await defined(tx, 3, { owner: key(4) })
      await tx.merchants.put(merchant(4))
      await defined(tx, 4, { owner: key(3) })
      await tx.merchants.put(merchant(3, { expiresAt: most }))
      await defined(tx, 5, { owner: key(2) })
      await archive(5)
      await issued(tx, await defined(tx, 6, { owner: key(1) }), [1])
      await archive(6)
      await defined(tx, 7, { owner: key(1) })
      await defined(tx, 8, { owner: key(1) })
      await archive(8)
    })
    const waiting = (after: string, most: number) =>
      stores.read((tx) => tx.merchants.waiting(after, most))
    expect(await waiting('', 10)).toEqual([
      { pubkey: key(1), coupons: 3 },
      { pubkey: key(3), coupons: 1 },
      { pubkey: key(5), coupons: 2 },
    ])
    expect(await waiting(key(1), 1)).toEqual([{ pubkey: key(3), coupons: 1 }])
    expect(await waiting(key(5), 10)).toEqual([])
  })

  it('there is one setup code at a time, its wrong tries are counted, and it ends once', async (stores) => {
    const code = () => stores.read((tx) => tx.merchants.code())
    expect(await code()).toBeNull()
    await stores.write((tx) => tx.merchants.setCode(bytes(16, 1)))
    await Promise.all([1, 2, 3].map(() => stores.write((tx) => tx.merchants.countTry())))
    expect(await code()).toEqual({ salt: bytes(16, 1), tries: 3 })
    await stores.write((tx) => tx.merchants.setCode(bytes(16, 2)))
    expect(await code()).toEqual({ salt: bytes(16, 2), tries: 0 })
    const burn = () => stores.write((tx) => tx.merchants.burnCode())
    expect(count(await Promise.all([burn(), burn()]))).toBe(1)
    await stores.write((tx) => tx.merchants.countTry())
    expect(await code()).toBeNull()
    await stores.refuses((tx) => tx.merchants.setCode(bytes(15, 1)))
  })

  it('an undone transaction leaves nothing', async (stores) => {
    await stores.write((tx) => tx.merchants.put(merchant(1, { expiresAt: at })))
    await stores.undone(async (tx) => {
      await tx.merchants.prune(at)
      await tx.merchants.put(merchant(2))
      await tx.merchants.setCode(bytes(16, 1))
    })
  })
}

export function quotas(it: It<CouponTx>): void {
  const none = { vouchers: 0, bytes: 0, refreshes: 0 }

  it('the growth of a day is summed for each merchant, also by writers at the same time', async (stores) => {
    const add = (owner: number, day = 20_000) =>
      stores.write((tx) =>
        tx.quotas.add(day, key(owner), { vouchers: 2, bytes: 300, refreshes: 1 }),
      )
    await Promise.all([add(1), add(1), add(1), add(2), add(1, 20_001)])
    await stores.read(async (tx) => {
      const three = { vouchers: 6, bytes: 900, refreshes: 3 }
      expect(await tx.quotas.find(20_000, key(1))).toEqual(three)
      expect(await tx.quotas.find(20_000, key(2))).toMatchObject({ bytes: 300 })
      expect(await tx.quotas.find(19_999, key(1))).toEqual(none)
      expect(await tx.quotas.find(20_000, key(3))).toEqual(none)
    })
  })

  it('the largest number of bytes is stored exactly, and a negative growth is refused', async (stores) => {
    const large = { vouchers: 0, bytes: most, refreshes: 0 }
    await stores.write((tx) => tx.quotas.add(1, key(1), large))
    expect(await stores.read((tx) => tx.quotas.find(1, key(1)))).toEqual(large)
    await stores.refuses((tx) => tx.quotas.add(1, key(2), { ...none, vouchers: -1 }))
  })

  it('past days are deleted, and an undone transaction leaves nothing', async (stores) => {
    const one = { vouchers: 1, bytes: 1, refreshes: 1 }
    for (const day of [1, 2, 3]) await stores.write((tx) => tx.quotas.add(day, key(1), one))
    await stores.undone(async (tx) => {
      await tx.quotas.prune(3)
      await tx.quotas.add(3, key(1), one)
    })
    await stores.write((tx) => tx.quotas.prune(3))
    await stores.read(async (tx) => {
      expect(await tx.quotas.find(2, key(1))).toEqual(none)
      expect(await tx.quotas.find(3, key(1))).toEqual(one)
    })
  })
}

export function shops(it: It<CouponTx>): void {
  const unset = { name: null, color: null, picture: null, onlyAuthorizedTills: false }
  const shop = (number: number) => (tx: CouponTx) => tx.shops.find(key(number))

  it('a shop has the last settings that were stored, and unset ones before', async (stores) => {
    expect(await stores.read(shop(1))).toEqual(unset)
    await stores.write((tx) =>
      tx.shops.put(
        key(1),
        { ...unset, name: 'Ñoquis', color: 'blue', onlyAuthorizedTills: true },
        at,
      ),
    )
    await stores.write((tx) => tx.shops.put(key(2), { ...unset, name: 'Otro', color: null }, at))
    expect(await stores.read(shop(1))).toEqual({
      ...unset,
      name: 'Ñoquis',
      color: 'blue',
      onlyAuthorizedTills: true,
    })
    const logo = { ...unset, color: 'red', picture: key(7) } as const
    await stores.write((tx) => tx.shops.put(key(1), logo, at + 1))
    expect(await stores.read(shop(1))).toEqual(logo)
  })

  it('a colour of a later version of the program counts as unset', async (stores) => {
    const later = { ...unset, name: 'x', color: 'plaid' as 'blue' }
    await stores.write((tx) => tx.shops.put(key(1), later, at))
    expect(await stores.read(shop(1))).toEqual({ ...unset, name: 'x', color: null })
  })

  it('a key of another length is refused, and an undone shop is not stored', async (stores) => {
    await stores.refuses((tx) => tx.shops.put('abcd', { ...unset, name: 'x', color: null }, at))
    await stores.undone((tx) => tx.shops.put(key(1), { ...unset, name: 'x', color: null }, at))
  })
}

export function facts(it: It<CouponTx>): void {
  it('a fact is stored for ever: the first one stays', async (stores) => {
    await Promise.all([
      stores.write((tx) => tx.facts.pin('manager', key(1))),
      stores.write((tx) => tx.facts.pin('store-key', 'ñ')),
    ])
    expect(await stores.write((tx) => tx.facts.pin('manager', key(2)))).toBe(key(1))
    expect(await stores.write((tx) => tx.facts.pin('exposed', '1'))).toBe('1')
    await stores.read(async (tx) => {
      expect(await tx.facts.find('manager')).toBe(key(1))
      expect(await tx.facts.find('store-key')).toBe('ñ')
      expect(await tx.facts.find('card-key')).toBeNull()
    })
  })

  it('a move that is over is forgotten, and no other fact with it', async (stores) => {
    await stores.write((tx) => tx.facts.pin('moved', String(at)))
    await stores.write((tx) => tx.facts.pin('exposed', '1'))
    await stores.write((tx) => tx.facts.forget('moved'))
    await stores.read(async (tx) => {
      expect(await tx.facts.find('moved')).toBeNull()
      expect(await tx.facts.find('exposed')).toBe('1')
    })
  })

  it('the newest write is never moved back', async (stores) => {
    const newest = () =>
      stores.read(({ sql }) =>
        sql
          .query<{ newest_write: number }, []>('SELECT newest_write FROM state WHERE id = 1')
          .get(),
      )
    // The engine writes its own time down with the first commit.
    await stores.write((tx) => tx.facts.touch(at))
    await stores.write((tx) => tx.facts.touch(at + 50))
    await stores.write((tx) => tx.facts.touch(at + 20))
    expect(await newest()).toEqual({ newest_write: at + 50 })
  })

  it('an undone fact is not stored', (stores) =>
    stores.undone((tx) => tx.facts.pin('restored', 'x')))
}

export function members(it: It<CouponTx>): void {
  const isMember = (tx: CouponTx, number: number) => tx.members.isMember(key(number))

  it('a key is a member by its rows in the shop', async (stores) => {
    const keys = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    const outcomes = await stores.write(async (tx) => {
      const before = await Promise.all(keys.map((one) => isMember(tx, one)))
      await defined(tx, 1, { owner: key(1) })
      await tx.merchants.put({
        pubkey: key(2),
        label: null,
        owner: true,
        createdAt: at,
        expiresAt: null,
      })
      await tx.minters.insert(key(1), { pubkey: key(3), label: null, createdAt: at, mint: true })
      await tx.announcements.put(event(1, { pubkey: key(4) }))
      await tx.accounts.insert({ ...account, pubkey: key(5) })
      await tx.ledger.declare({ name: 'ARS', decimals: 2, issuer: key(6) })
      await tx.ledger.open('ARS', key(6))
      await tx.members.setNamed([key(7)])
      await tx.facts.pin('manager', key(8))
      await tx.facts.pin('store-key', key(9))
      await tx.shops.put(
        key(10),
        { name: 'x', color: null, picture: null, onlyAuthorizedTills: false },
        at,
      )
      const after = await Promise.all(keys.map((one) => isMember(tx, one)))
      return [before.includes(true), after]
    })
    expect(outcomes).toEqual([false, keys.map((number) => number !== 9)])
  })

  it('the holder of a card is a member until the card is deleted', async (stores) => {
    const outcomes = await stores.write(async (tx) => {
      const design = { uuid: uuid(1), name: 'x' }
      const tag = { cid: '04'.repeat(7), keyVersion: 1, counter: 0, name: 'x', createdAt: at }
      const id = await tx.cards.insert({ uuid: uuid(2), design, ...tag })
      const given = { holder: key(1), delegation: bytes(8, 1), name: 'x', at }
      const seen = [await isMember(tx, 1)]
      await tx.cards.activate(id, given)
      seen.push(await isMember(tx, 1))
      await tx.cards.remove(id, at)
      return [...seen, await isMember(tx, 1)]
    })
    expect(outcomes).toEqual([false, true, false])
  })

  it('the members of the settings are the last ones set, each once, in order', async (stores) => {
    await stores.write((tx) => tx.members.setNamed([key(3), key(1)]))
    await stores.write((tx) => tx.members.setNamed([key(2), key(1), key(2)]))
    await stores.read(async (tx) => {
      expect(await tx.members.named()).toEqual([key(1), key(2)])
      expect([await isMember(tx, 3), await isMember(tx, 2)]).toEqual([false, true])
    })
    await stores.write((tx) => tx.members.setNamed([]))
    expect(await stores.read((tx) => tx.members.named())).toEqual([])
    await stores.undone((tx) => tx.members.setNamed([key(1)]))
  })
}

const account = {
  uuid: uuid(9),
  name: 'alguien',
  lud16: null,
  nonceId: null,
  createdBy: key(9),
  createdAt: at,
}
