import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  at,
  bytes,
  count,
  defined,
  filed,
  found,
  handle,
  handOn,
  issued,
  key,
  most,
  succeeds,
  terms,
  uuid,
} from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

const hour = 3600

export function definitions(it: It<CouponTx>): void {
  it('a definition is stored with its texts and its largest numbers', async (stores) => {
    const full = {
      name: 'Ñandú "2×1" 🧉',
      description: "it's\n\\ 100 %",
      image: 'https://example.com/á.png',
      benefit: { type: 'fixed', amount: '0.01', currency: 'ARS' } as never,
      expiresAt: most,
      maxUses: 1_000_000,
      rules: {
        startsAt: 1,
        times: { timeZone: 'UTC', windows: [{ days: [1, 7], from: '09:00', to: '18:00' }] },
        minimum: { amount: 0.01, currency: 'ARS' as const },
        conditions: 'Ñandú "2×1"\n🧉',
      },
      picture: key(5),
    }
    await stores.write(async (tx) => {
      await tx.definitions.insert(uuid(1), key(1), full, at)
      await tx.definitions.insert(uuid(2), key(1), terms, most)
    })
    const [one, two] = await stores.read(async (tx) => [
      await tx.definitions.find(uuid(1)),
      await tx.definitions.find(uuid(2)),
    ])
    expect(one).toMatchObject({ ...full, id: uuid(1), owner: key(1), createdAt: at, updatedAt: at })
    expect(one).toMatchObject({ issued: 0, open: 0, minted: 0, claimed: 0, archivedAt: null })
    expect(two).toMatchObject({
      image: null,
      expiresAt: null,
      maxUses: null,
      rules: null,
      picture: null,
    })
    expect(two).toMatchObject({ createdAt: most })
  })

  it('rules of a revision stay with its vouchers, and a new revision may have none', async (stores) => {
    const rules = { minimum: { amount: 5, currency: 'USD' as const } }
    await stores.write(async (tx) => {
      const first = await defined(tx, 1, { rules })
      await issued(tx, first, [1])
      const minted = found(await tx.definitions.find(uuid(1)))
      await tx.definitions.update({ ...minted, rules: null }, true)
      await issued(tx, found(await tx.definitions.find(uuid(1))), [2])
      const unused = await defined(tx, 2)
      await tx.definitions.update({ ...unused, rules }, true)
    })
    await stores.read(async (tx) => {
      const [one, two] = [await tx.vouchers.find(handle(1)), await tx.vouchers.find(handle(2))]
      expect([one?.terms.rules, two?.terms.rules]).toEqual([rules, null])
      expect((await tx.definitions.find(uuid(1)))?.rules).toBeNull()
      expect((await tx.definitions.find(uuid(2)))?.rules).toEqual(rules)
    })
  })

  it('a missing definition is null, and an owner without any has an empty list', async (stores) => {
    await stores.write((tx) => defined(tx, 1))
    await stores.read(async (tx) => {
      expect(await tx.definitions.find(uuid(2))).toBeNull()
      expect(await tx.definitions.list(key(2))).toEqual([])
      expect(await tx.definitions.listMintable(key(2), at, 10)).toEqual([])
      expect(await tx.definitions.merchantsOf(key(2), 10)).toEqual([])
      expect(await tx.definitions.count(key(2))).toBe(0)
    })
  })

  it("an owner's definitions are listed newest first, archived ones too, and counted", async (stores) => {
    await stores.write(async (tx) => {
      for (const number of [1, 2, 3]) await defined(tx, number)
      await defined(tx, 4, { owner: key(2) })
      const second = found(await tx.definitions.find(uuid(2)))
      await tx.definitions.update({ ...second, archivedAt: at }, false)
    })
    await stores.read(async (tx) => {
      const listed = await tx.definitions.list(key(1))
      expect(listed.map(({ id }) => id)).toEqual([uuid(3), uuid(2), uuid(1)])
      expect(await tx.definitions.count(key(1))).toBe(3)
    })
  })

  it('a uuid is used once', async (stores) => {
    await stores.write((tx) => defined(tx, 1))
    await stores.refuses((tx) => tx.definitions.insert(uuid(1), key(2), terms, at))
  })

  it('a definition without a valid limit, owner or uuid is refused', async (stores) => {
    const insert = (id: string, owner: string, maxUses: number | null) =>
      stores.refuses((tx) => tx.definitions.insert(id, owner, { ...terms, maxUses }, at))
    await insert(uuid(1), key(1), 0)
    await insert(uuid(1), key(1), 1_000_001)
    await insert(uuid(1), key(1).slice(2), null)
    await insert('short', key(1), null)
  })

  it('a mintable definition is neither archived, nor expired, nor used up', async (stores) => {
    await stores.write(async (tx) => {
      await defined(tx, 1)
      await defined(tx, 2, { expiresAt: at + 10 })
      await defined(tx, 3, { expiresAt: at + 11 })
      const full = await defined(tx, 4, { maxUses: 2 })
      await issued(tx, full, [1, 2])
      const freed = await defined(tx, 5, { maxUses: 1 })
      const [voucher] = await issued(tx, freed, [3])
      await tx.vouchers.void(found(voucher), at)
      const archived = await defined(tx, 6)
      await tx.definitions.update({ ...archived, archivedAt: at }, false)
      await defined(tx, 7, { owner: key(2) })
    })
    const mintable = await stores.read((tx) => tx.definitions.listMintable(key(1), at + 10, 10))
    expect(mintable.map(({ id }) => id)).toEqual([uuid(5), uuid(3), uuid(1)])
  })

  it('mintable definitions are searched among the newest unarchived ones only', async (stores) => {
    await stores.write(async (tx) => {
      await defined(tx, 1)
      await defined(tx, 2)
      await defined(tx, 3, { expiresAt: at })
      const archived = await defined(tx, 4)
      await tx.definitions.update({ ...archived, archivedAt: at }, false)
    })
    const among = (most: number) =>
      stores.read(async (tx) =>
        (await tx.definitions.listMintable(key(1), at, most)).map(({ id }) => id),
      )
    expect([await among(0), await among(1), await among(2), await among(3)]).toEqual([
      [],
      [],
      [uuid(2)],
      [uuid(2), uuid(1)],
    ])
  })

  it('the merchants of a minter come in the order in which they listed it, up to a maximum', async (stores) => {
    await stores.write(async (tx) => {
      for (const owner of [5, 3, 4]) {
        await tx.minters.insert(key(owner), {
          pubkey: key(1),
          label: null,
          createdAt: at,
          mint: true,
        })
      }
      await tx.minters.insert(key(6), { pubkey: key(2), label: null, createdAt: at, mint: true })
    })
    const merchants = (most: number) =>
      stores.read((tx) => tx.definitions.merchantsOf(key(1), most))
    expect(await merchants(10)).toEqual([key(5), key(3), key(4)])
    expect(await merchants(2)).toEqual([key(5), key(3)])
  })

  it('terms without vouchers are overwritten; those of a voucher stay', async (stores) => {
    const edit = (name: string) =>
      stores.write(async (tx) => {
        const before = found(await tx.definitions.find(uuid(1)))
        await tx.definitions.update({ ...before, name, updatedAt: at + 1 }, true)
        const after = found(await tx.definitions.find(uuid(1)))
        return [before.revisionId === after.revisionId, after.name, after.updatedAt]
      })
    await stores.write((tx) => defined(tx, 1, { name: 'first' }))
    await stores.write((tx) => defined(tx, 2, { name: 'another' }))
    expect(await edit('second')).toEqual([true, 'second', at + 1])
    const issue = (number: number) =>
      stores.write(async (tx) => {
        await issued(tx, found(await tx.definitions.find(uuid(1))), [number])
      })
    await issue(1)
    expect(await edit('third')).toEqual([false, 'third', at + 1])
    expect(await edit('fourth')).toEqual([true, 'fourth', at + 1])
    await issue(2)
    const names = await stores.read(async (tx) => {
      const listed = await tx.vouchers.list(found(await tx.definitions.find(uuid(1))).rowId, {
        limit: 5,
        before: null,
      })
      return listed.map((voucher) => voucher.terms.name)
    })
    expect(names).toEqual(['fourth', 'second'])
    const other = await stores.read((tx) => tx.definitions.find(uuid(2)))
    expect(other?.name).toBe('another')
  })

  it('an edit that keeps the terms writes the limit and the archive only', async (stores) => {
    await stores.write(async (tx) => {
      const before = await defined(tx, 1)
      const edited = {
        ...before,
        name: 'ignored',
        maxUses: 7,
        archivedAt: at + 5,
        updatedAt: at + 5,
      }
      await tx.definitions.update(edited, false)
    })
    const after = await stores.read((tx) => tx.definitions.find(uuid(1)))
    expect(after).toMatchObject({ name: terms.name, maxUses: 7, archivedAt: at + 5 })
  })

  it('writers that want the last slots get all of them and no more', async (stores) => {
    const definition = await stores.write((tx) => defined(tx, 1, { maxUses: 5 }))
    const taken = await Promise.all(
      [2, 2, 2, 1, 1].map((wanted) =>
        stores.write(async (tx) =>
          (await tx.definitions.take(definition, wanted, at)) ? wanted : 0,
        ),
      ),
    )
    // In another order two of the larger ones can be too many.
    const sum = taken.reduce((all, one) => all + one, 0)
    expect([4, 5]).toContain(sum)
    const last = await stores.write((tx) => tx.definitions.take(definition, 1, at))
    expect(sum + Number(last)).toBe(5)
    expect(await stores.read((tx) => tx.definitions.find(uuid(1)))).toMatchObject({ issued: 5 })
    expect(await stores.read((tx) => tx.vouchers.totals())).toMatchObject({ issued: 5 })
  })

  it('no slot is taken of a definition that is archived, expired, deleted or has too few', async (stores) => {
    const taken = await stores.write(async (tx) => {
      const expiring = await defined(tx, 1, { expiresAt: at + 10 })
      const archived = await defined(tx, 2)
      await tx.definitions.update({ ...archived, archivedAt: at }, false)
      const small = await defined(tx, 3, { maxUses: 3 })
      return [
        await tx.definitions.take(expiring, 1, at + 9),
        await tx.definitions.take(expiring, 1, at + 10),
        await tx.definitions.take(found(await tx.definitions.findUncounted(uuid(2))), 1, at),
        await tx.definitions.take(small, 4, at),
        await tx.definitions.take(small, 3, at),
        await tx.definitions.take({ ...small, rowId: 999 }, 1, at),
      ]
    })
    expect(taken).toEqual([true, false, false, false, true, false])
    expect(await stores.read((tx) => tx.vouchers.totals())).toMatchObject({ issued: 4 })
  })

  it('slots that were taken without a limit count against a later one', async (stores) => {
    const before = await stores.write((tx) => defined(tx, 1, { maxUses: null }))
    const takes = [1, 2].map(() => stores.write((tx) => tx.definitions.take(before, 1, at)))
    expect(await Promise.all(takes)).toEqual([true, true])
    const limited = { ...before, maxUses: 3 }
    await stores.write((tx) => tx.definitions.update(limited, false))
    const taken = await stores.write(async (tx) => [
      await tx.definitions.take(limited, 2, at),
      await tx.definitions.take(limited, 1, at),
      await tx.definitions.take(limited, 1, at),
    ])
    expect(taken).toEqual([false, true, false])
    await stores.write((tx) => tx.definitions.update(before, false))
    await stores.write((tx) => tx.definitions.take(before, 4, at))
    expect(await stores.read((tx) => tx.definitions.find(uuid(1)))).toMatchObject({ issued: 7 })
  })

  it('a definition without its counters is the same otherwise', async (stores) => {
    await stores.write((tx) => defined(tx, 1, { expiresAt: at + 10 }))
    await stores.read(async (tx) => {
      const { issued, open, minted, claimed, ...rest } = found(await tx.definitions.find(uuid(1)))
      expect([issued, open, minted, claimed]).toEqual([0, 0, 0, 0])
      expect(await tx.definitions.findUncounted(uuid(1))).toEqual(rest)
      expect(await tx.definitions.findUncounted(uuid(2))).toBeNull()
    })
  })

  it('a slot is free again after its voucher was voided', async (stores) => {
    const definition = await stores.write((tx) => defined(tx, 1, { maxUses: 1 }))
    const [voucher] = await stores.write((tx) => issued(tx, definition, [1]))
    const take = () => stores.write((tx) => tx.definitions.take(definition, 1, at))
    expect(await take()).toBe(false)
    await stores.write((tx) => tx.vouchers.void(found(voucher), at))
    expect(await take()).toBe(true)
  })

  it('a definition without vouchers is deleted with all its rows; any other is refused', async (stores) => {
    await stores.write((tx) => defined(tx, 1, { image: 'https://example.com/1' }))
    const other = await stores.write((tx) => defined(tx, 3, { image: 'https://example.com/3' }))
    await stores.write(async (tx) => {
      const { rowId } = found(await tx.definitions.find(uuid(1)))
      await tx.definitions.delete(rowId)
    })
    await stores.read(async (tx) => {
      expect(await tx.definitions.find(uuid(1))).toBeNull()
      expect(await tx.definitions.find(uuid(3))).toEqual(other)
      expect(await tx.images.find(hashOf('https://example.com/3'))).not.toBeNull()
      expect(await tx.images.find(hashOf('https://example.com/1'))).toBeNull()
    })
    const { rowId } = await stores.write(async (tx) => {
      const definition = await defined(tx, 2)
      await issued(tx, definition, [1])
      return definition
    })
    await stores.refuses((tx) => tx.definitions.delete(rowId))
  })

  it('an undone transaction leaves nothing', (stores) =>
    stores.undone(async (tx) => {
      const definition = await defined(tx, 1, { image: 'https://example.com/1' })
      await tx.definitions.take(definition, 2, at)
      await tx.definitions.update({ ...definition, name: 'other' }, true)
    }))

  it('of two simultaneous inserts of one uuid one is written', async (stores) => {
    const insert = (owner: number) =>
      succeeds(stores.write((tx) => tx.definitions.insert(uuid(1), key(owner), terms, at)))
    expect(count(await Promise.all([insert(1), insert(2)]))).toBe(1)
  })
}

export function images(it: It<CouponTx>): void {
  const url = 'https://example.com/ñ.png'

  it('an image is found by the sha256 of its address, with the first merchant that named it', async (stores) => {
    await stores.write(async (tx) => {
      await defined(tx, 1, { owner: key(2), image: url })
      await defined(tx, 2, { owner: key(1), image: url })
    })
    await stores.read(async (tx) => {
      expect(await tx.images.find(hashOf(url))).toEqual({ url, owner: key(2) })
      expect(await tx.images.find(hashOf('https://example.com/other'))).toBeNull()
    })
  })

  it('an image stays until the last definition that names it is deleted', async (stores) => {
    const present = () => stores.read(async (tx) => (await tx.images.find(hashOf(url)))?.owner)
    await stores.write(async (tx) => {
      await defined(tx, 1, { owner: key(2), image: url })
      await defined(tx, 2, { owner: key(1), image: url })
    })
    const remove = (number: number) =>
      stores.write(async (tx) =>
        tx.definitions.delete(found(await tx.definitions.find(uuid(number))).rowId),
      )
    await remove(1)
    expect(await present()).toBe(key(1))
    await remove(2)
    expect(await present()).toBeUndefined()
  })

  it('an image that an edit replaced is dropped, and the new one is known', async (stores) => {
    await stores.write((tx) => defined(tx, 2, { image: 'https://example.com/3' }))
    await stores.write((tx) => defined(tx, 1, { image: url }))
    await stores.write(async (tx) => {
      const before = found(await tx.definitions.find(uuid(1)))
      await tx.definitions.update({ ...before, image: 'https://example.com/2' }, true)
    })
    await stores.read(async (tx) => {
      expect(await tx.images.find(hashOf('https://example.com/3'))).not.toBeNull()
      expect(await tx.images.find(hashOf(url))).toBeNull()
      expect(await tx.images.find(hashOf('https://example.com/2'))).not.toBeNull()
    })
  })

  it('an image of terms that a voucher froze stays after the edit', async (stores) => {
    await stores.write(async (tx) => {
      const before = await defined(tx, 1, { image: url })
      await issued(tx, before, [1])
      await tx.definitions.update({ ...before, issued: 1, image: null }, true)
    })
    expect(await stores.read((tx) => tx.images.find(hashOf(url)))).toEqual({ url, owner: key(1) })
  })

  it('a definition without an image adds and drops none, and a repeated one is stored once', async (stores) => {
    await stores.write(async (tx) => {
      tx.images.add(null)
      tx.images.drop(null)
      tx.images.add(url)
      tx.images.add(url)
    })
    expect(await stores.read((tx) => tx.images.find(hashOf(url)))).toEqual({ url, owner: '' })
    await stores.write(async (tx) => tx.images.drop(url))
    expect(await stores.read((tx) => tx.images.find(hashOf(url)))).toBeNull()
  })
}

export function statistics(it: It<CouponTx>): void {
  it("an owner's definitions are listed newest first, those before a row", async (stores) => {
    const ids = await stores.write(async (tx) => {
      const rows: number[] = []
      for (const number of [1, 2, 3]) rows.push((await defined(tx, number)).rowId)
      await defined(tx, 4, { owner: key(2) })
      return rows
    })
    const [one = 0, two = 0, three = 0] = ids
    const counted = { issued: 0, claimed: 0, voided: 0 }
    const row = (rowId: number, number: number) => ({ rowId, couponId: uuid(number), ...counted })
    await stores.read(async (tx) => {
      expect(await tx.statistics.listOwned(key(1), most)).toEqual([
        row(three, 3),
        row(two, 2),
        row(one, 1),
      ])
      expect(await tx.statistics.listOwned(key(1), three)).toEqual([row(two, 2), row(one, 1)])
      expect(await tx.statistics.listOwned(key(1), one)).toEqual([])
      expect(await tx.statistics.listOwned(key(3), most)).toEqual([])
    })
  })

  it('expired vouchers are those that were open at their expiry, of every revision', async (stores) => {
    const { rowId } = await stores.write(async (tx) => {
      const definition = await defined(tx, 1, { expiresAt: at + 10 })
      const [claimed, voided, old] = await issued(tx, definition, [1, 2, 3, 4])
      await tx.vouchers.claim(found(claimed), filed, at)
      await tx.vouchers.void(found(voided), at)
      const by = { handle: handle(9), keyMac: bytes(32, 9), sealed: bytes(40, 9), now: at }
      await handOn(tx, found(old), by)
      const later = { ...definition, issued: 4, expiresAt: at + 20 }
      await tx.definitions.update(later, true)
      await issued(tx, found(await tx.definitions.find(uuid(1))), [5, 6, 7])
      const without = found(await tx.definitions.find(uuid(1)))
      await tx.definitions.update({ ...without, expiresAt: null }, true)
      await issued(tx, found(await tx.definitions.find(uuid(1))), [8])
      await issued(tx, await defined(tx, 2, { expiresAt: at + 10 }), [10])
      return definition
    })
    const expired = (now: number) => stores.read((tx) => tx.statistics.expired(rowId, now))
    const times = [at + 9, at + 10, at + 19, at + 20, most]
    expect(await Promise.all(times.map(expired))).toEqual([0, 2, 2, 5, 5])
    await stores.write(async (tx) => {
      await tx.vouchers.void(found(await tx.vouchers.find(handle(9))), at + 30)
    })
    expect(await expired(at + 30)).toBe(4)
    await stores.write(async (tx) => {
      const { open } = found(await tx.definitions.find(uuid(1)))
      await tx.vouchers.kill(rowId, open, at + 30)
      expect(await tx.statistics.listOwned(key(1), rowId + 1)).toEqual([
        { rowId, couponId: uuid(1), issued: 8, claimed: 1, voided: 7 },
      ])
    })
    expect(await expired(most)).toBe(0)
  })

  it('hours are summed to days that begin where the shop is, from the first hour to before the last', async (stores) => {
    const day = 24 * hour
    const first = Math.floor(at / day) * day
    const { rowId } = await stores.write(async (tx) => {
      const definition = await defined(tx, 1)
      for (const [number, time] of [
        [1, first],
        [2, first + hour],
        [3, first + 23 * hour],
        [4, first + day],
        [6, first + hour],
      ] as const) {
        const [voucher] = await issued(tx, definition, [number], time)
        if (number !== 3 && number !== 4) await tx.vouchers.claim(found(voucher), filed, time)
      }
      await issued(tx, await defined(tx, 2), [5])
      return definition
    })
    const from = first / hour
    const days = (hours: { from: number; to: number; offset: number }) =>
      stores.read((tx) => tx.statistics.days(rowId, hours))
    const today = first / day
    expect(await days({ from, to: from + 48, offset: 0 })).toEqual([
      { day: today, minted: 4, claimed: 3 },
      { day: today + 1, minted: 1, claimed: 0 },
    ])
    // Three hours behind UTC a day ends at its third hour.
    expect(await days({ from, to: from + 48, offset: -3 })).toEqual([
      { day: today - 1, minted: 3, claimed: 3 },
      { day: today, minted: 2, claimed: 0 },
    ])
    expect(await days({ from: from + 1, to: from + 24, offset: 0 })).toEqual([
      { day: today, minted: 3, claimed: 2 },
    ])
    expect(await days({ from: from + 25, to: from + 48, offset: 0 })).toEqual([])
  })
}

function hashOf(url: string): string {
  return createHash('sha256').update(url).digest('hex')
}
