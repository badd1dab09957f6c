import { expect } from 'bun:test'
import type { StoredDefinition } from '../../src/coupons/definition-store.ts'
import type { Picture } from '../../src/pictures/picture-store.ts'
import { at, defined, filed, found, issued, key, uuid } from './fixtures.ts'
import type { CouponTx, It, Stores } from './harness.ts'

const hash = (number: number) => key(number + 50)

function picture(number: number, length = 5): Picture {
  return { type: 'image/webp', bytes: new Uint8Array(length).fill(number) }
}

export function pictures(it: It<CouponTx>): void {
  const stored = (stores: Stores<CouponTx>, owner: number, number: number, now = at) =>
    stores.write((tx) => tx.pictures.insert(key(owner), hash(number), picture(number), now))
  const find = (stores: Stores<CouponTx>, number: number) =>
    stores.read((tx) => tx.pictures.find(hash(number)))

  it('a picture is found by its hash, byte for byte, and counts for its owner only', async (stores) => {
    await stored(stores, 1, 1)
    await stored(stores, 1, 2)
    await stored(stores, 1, 2)
    await stored(stores, 2, 2)
    await stores.read(async (tx) => {
      const { type, bytes } = (await tx.pictures.find(hash(1))) ?? {}
      expect([type, Buffer.from(bytes ?? [])]).toEqual(['image/webp', Buffer.alloc(5, 1)])
      expect(await tx.pictures.find(hash(3))).toBeNull()
      expect(await tx.pictures.findOf(key(1), hash(1))).toEqual({ type: 'image/webp', bytes: 5 })
      expect(await tx.pictures.findOf(key(2), hash(1))).toBeNull()
      const both = { pictures: 2, bytes: 10, kept: 2, keptBytes: 10 }
      expect(await tx.pictures.usage(key(1), at)).toEqual(both)
      const none = { pictures: 0, bytes: 0, kept: 0, keptBytes: 0 }
      expect(await tx.pictures.usage(key(3), at)).toEqual(none)
    })
  })

  it('a picture of what is over is kept, and is not in use', async (stores) => {
    for (const number of [1, 2, 3]) await stored(stores, 1, number)
    const inUse = async (now = at) => {
      const { pictures, kept } = await stores.read((tx) => tx.pictures.usage(key(1), now))
      expect(kept).toBe(3)
      return pictures
    }
    const change = (number: number, parts: Partial<StoredDefinition>) =>
      stores.write(async (tx) => {
        const before = found(await tx.definitions.find(uuid(number)))
        await tx.definitions.update({ ...before, ...parts }, 'picture' in parts)
      })
    const vouchers = await stores.write(async (tx) => {
      const definition = await defined(tx, 1, { picture: hash(1) })
      await defined(tx, 2, { picture: hash(3), expiresAt: at + 10 })
      for (const number of [1, 3]) await tx.pictures.settle(key(1), hash(number), at)
      return issued(tx, definition, [1, 2])
    })
    // The second one is new.
    expect([await inUse(at + 9), await inUse(at + 10)]).toEqual([3, 2])
    await change(1, { picture: hash(2) })
    await stores.write((tx) => tx.pictures.settle(key(1), hash(2), at))
    expect(await inUse(at + 10)).toBe(2)
    await stores.write((tx) => tx.vouchers.claim(found(vouchers[0]), filed, at))
    expect(await inUse(at + 10)).toBe(2)
    await stores.write((tx) => tx.vouchers.void(found(vouchers[1]), at))
    expect(await inUse(at + 10)).toBe(1)
    await change(1, { archivedAt: at })
    expect(await inUse(at + 10)).toBe(0)
    const shop = { name: null, color: null, onlyAuthorizedTills: false, picture: hash(1) }
    await stores.write((tx) => tx.shops.put(key(1), shop, at))
    expect(await inUse(at + 10)).toBe(1)
  })

  it('a picture is in use while a voucher of an archived coupon is open', async (stores) => {
    await stored(stores, 1, 1)
    await stores.write(async (tx) => {
      const parts = { picture: hash(1), expiresAt: at + 10 }
      const definition = await defined(tx, 1, parts)
      await tx.pictures.settle(key(1), hash(1), at)
      await issued(tx, definition, [1])
      await tx.definitions.update({ ...definition, archivedAt: at }, false)
    })
    const inUse = (now: number) => stores.read((tx) => tx.pictures.usage(key(1), now))
    expect(await inUse(at + 9)).toMatchObject({ pictures: 1, kept: 1 })
    expect(await inUse(at + 10)).toMatchObject({ pictures: 0, kept: 1 })
  })

  it('unused pictures are deleted, those that are unused longest first, a bounded number at a time', async (stores) => {
    for (const number of [3, 1, 2, 4]) await stored(stores, 1, number, at + number)
    const prune = (rowsMax: number, before: number) =>
      stores.write((tx) => pruned(tx, rowsMax, before))
    expect([await prune(9, at + 1), await prune(2, at + 4), await prune(2, at + 4)]).toEqual([
      0, 2, 1,
    ])
    expect([(await find(stores, 3)) !== null, (await find(stores, 4)) !== null]).toEqual([
      false,
      true,
    ])
  })

  it('an unused picture that is uploaded again is kept from then on', async (stores) => {
    await stored(stores, 1, 1)
    await stored(stores, 2, 1)
    await stores.write((tx) => tx.pictures.keep(key(1), hash(1), at + 9))
    expect(await stores.write((tx) => pruned(tx, 9, at + 9))).toBe(1)
    await stores.read(async (tx) => {
      expect(await tx.pictures.findOf(key(1), hash(1))).not.toBeNull()
      expect(await tx.pictures.findOf(key(2), hash(1))).toBeNull()
    })
  })

  it('a picture that was kept after it was found unused is not deleted', async (stores) => {
    for (const number of [1, 2]) await stored(stores, 1, number)
    await stores.write(async (tx) => {
      const ids = (await tx.pictures.unused(9, at + 9)).map(({ id }) => id)
      await tx.pictures.keep(key(1), hash(1), at + 9)
      expect(await tx.pictures.prune(ids, at + 9)).toBe(1)
    })
    expect([await find(stores, 1), await find(stores, 2)]).toEqual([picture(1), null])
  })

  it('a picture that a revision or the shop of its owner names is never deleted', async (stores) => {
    for (const owner of [1, 2]) await stored(stores, owner, 1)
    await stored(stores, 1, 2)
    const settle = (tx: CouponTx, owner: number, number: number) =>
      tx.pictures.settle(key(owner), hash(number), at + 5)
    const shop = { name: null, color: null, onlyAuthorizedTills: false }
    await stores.write(async (tx) => {
      await defined(tx, 1, { picture: hash(1) })
      await tx.shops.put(key(1), { ...shop, picture: hash(2) }, at)
      for (const [owner, number] of [
        [1, 1],
        [2, 1],
        [1, 2],
      ] as const) {
        await settle(tx, owner, number)
      }
    })
    const prune = () => stores.write((tx) => pruned(tx, 9, at + 9))
    // The definition of one owner keeps nothing of another.
    expect(await prune()).toBe(1)
    await stores.write(async (tx) => {
      await tx.pictures.keep(key(1), hash(1), at)
      await tx.definitions.update(
        { ...found(await tx.definitions.find(uuid(1))), picture: null },
        true,
      )
      await tx.shops.put(key(1), { ...shop, picture: null }, at)
      for (const number of [1, 2]) await settle(tx, 1, number)
    })
    expect(await stores.write((tx) => pruned(tx, 9, at + 5))).toBe(0)
    expect(await prune()).toBe(2)
  })

  it('a name of another length is refused, and an undone picture is not stored', async (stores) => {
    await stores.refuses((tx) => tx.pictures.insert('abcd', hash(1), picture(1), at))
    await stores.refuses((tx) => tx.pictures.insert(key(1), 'abcd', picture(1), at))
    await stores.undone((tx) => tx.pictures.insert(key(1), hash(1), picture(1), at))
  })
}

/** Delete pictures as the sweep does; their number. */
async function pruned({ pictures }: CouponTx, rowsMax: number, before: number): Promise<number> {
  const ids = (await pictures.unused(rowsMax, before)).map(({ id }) => id)
  return pictures.prune(ids, before)
}
