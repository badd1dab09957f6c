import { expect } from 'bun:test'
import type { Picture } from '../../src/pictures/picture-store.ts'
import { at, defined, found, key, uuid } from './fixtures.ts'
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
      expect(await tx.pictures.usage(key(1))).toEqual({ pictures: 2, bytes: 10 })
      expect(await tx.pictures.usage(key(3))).toEqual({ pictures: 0, bytes: 0 })
    })
  })

  it('unused pictures are deleted, those that are unused longest first, a bounded number at a time', async (stores) => {
    for (const number of [3, 1, 2, 4]) await stored(stores, 1, number, at + number)
    const prune = (rowsMax: number, before: number) =>
      stores.write((tx) => tx.pictures.prune(rowsMax, before))
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
    expect(await stores.write((tx) => tx.pictures.prune(9, at + 9))).toBe(1)
    await stores.read(async (tx) => {
      expect(await tx.pictures.findOf(key(1), hash(1))).not.toBeNull()
      expect(await tx.pictures.findOf(key(2), hash(1))).toBeNull()
    })
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
    const prune = () => stores.write((tx) => tx.pictures.prune(9, at + 9))
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
    expect(await stores.write((tx) => tx.pictures.prune(9, at + 5))).toBe(0)
    expect(await prune()).toBe(2)
  })

  it('a name of another length is refused, and an undone picture is not stored', async (stores) => {
    await stores.refuses((tx) => tx.pictures.insert('abcd', hash(1), picture(1), at))
    await stores.refuses((tx) => tx.pictures.insert(key(1), 'abcd', picture(1), at))
    await stores.undone((tx) => tx.pictures.insert(key(1), hash(1), picture(1), at))
  })
}
