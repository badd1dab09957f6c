import { expect } from 'bun:test'
import { at, bytes, count, event, key, most, succeeds } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

export function minters(it: It<CouponTx>): void {
  const minter = (number: number, label: string | null = null) => ({
    pubkey: key(number),
    label,
    createdAt: at + number,
    mint: true,
  })

  it("a merchant's minters are listed newest first, and counted, each merchant's apart", async (stores) => {
    await stores.write(async (tx) => {
      for (const number of [4, 2, 3]) await tx.minters.insert(key(1), minter(number, 'Caja ñ'))
      await tx.minters.insert(key(9), minter(2))
    })
    await stores.read(async (tx) => {
      const listed = await tx.minters.list(key(1))
      expect(listed).toEqual([minter(3, 'Caja ñ'), minter(2, 'Caja ñ'), minter(4, 'Caja ñ')])
      expect(await tx.minters.find(key(9), key(2))).toEqual(minter(2))
      expect([await tx.minters.count(key(1)), await tx.minters.count(key(8))]).toEqual([3, 0])
      expect(await tx.minters.find(key(9), key(3))).toBeNull()
      expect(await tx.minters.list(key(8))).toEqual([])
    })
  })

  it('a minter is listed once by a merchant, and a merchant is not its own minter', async (stores) => {
    await stores.write((tx) => tx.minters.insert(key(1), minter(2)))
    await stores.refuses((tx) => tx.minters.insert(key(1), minter(2, 'again')))
    await stores.refuses((tx) => tx.minters.insert(key(3), minter(3)))
  })

  it("label and permission are overwritten, without a change to another merchant's", async (stores) => {
    await stores.write(async (tx) => {
      for (const owner of [1, 9]) await tx.minters.insert(key(owner), minter(2, 'before'))
      await tx.minters.insert(key(1), minter(3, 'before'))
      await tx.minters.update(key(1), { ...minter(2), mint: false })
    })
    await stores.read(async (tx) => {
      expect(await tx.minters.find(key(1), key(3))).toEqual(minter(3, 'before'))
      expect(await tx.minters.find(key(1), key(2))).toEqual({ ...minter(2), mint: false })
      expect(await tx.minters.find(key(9), key(2))).toEqual(minter(2, 'before'))
      expect(await tx.definitions.merchantsOf(key(2), 9)).toEqual([key(9)])
      expect(await tx.minters.listOf(key(2), true, 9)).toEqual([{ owner: key(9), label: 'before' }])
      expect(await tx.minters.listOf(key(2), false, 9)).toEqual([{ owner: key(1), label: null }])
      expect(await tx.minters.listOf(key(2), true, 0)).toEqual([])
    })
  })

  it('of simultaneous writers that remove one minter one succeeds', async (stores) => {
    for (const number of [2, 3]) {
      await stores.write((tx) => tx.minters.insert(key(1), minter(number)))
    }
    const remove = (owner: number) => stores.write((tx) => tx.minters.remove(key(owner), key(2)))
    expect(await remove(9)).toBe(false)
    expect(count(await Promise.all([remove(1), remove(1)]))).toBe(1)
    expect(await stores.read((tx) => tx.minters.list(key(1)))).toEqual([minter(3)])
  })

  it('an undone transaction leaves nothing', async (stores) => {
    await stores.write((tx) => tx.minters.insert(key(1), minter(2)))
    await stores.undone(async (tx) => {
      await tx.minters.insert(key(1), minter(3))
      await tx.minters.update(key(1), minter(2, 'other'))
      await tx.minters.remove(key(1), key(2))
    })
  })
}

export function announcements(it: It<CouponTx>): void {
  const announced = (owner: number, number: number, created_at = at) =>
    event(number, { pubkey: key(owner), kind: 30_078, created_at, tags: [['d', 'ñ "x"']] })

  it('an announcement is stored as it was signed', async (stores) => {
    const signed = announced(1, 5)
    expect(await stores.write((tx) => tx.announcements.put(signed))).toBe(true)
    await stores.read(async (tx) => {
      expect(await tx.announcements.find(key(1))).toEqual(signed)
      expect(await tx.announcements.find(key(2))).toBeNull()
    })
  })

  it('a newer announcement replaces an older one, and at the same second the lower id does', async (stores) => {
    const put = (number: number, created_at: number) =>
      stores.write((tx) => tx.announcements.put(announced(1, number, created_at)))
    expect(await put(5, at)).toBe(true)
    expect([await put(6, at), await put(1, at - 1), await put(5, at)]).toEqual([
      false,
      false,
      false,
    ])
    expect([await put(4, at), await put(9, at + 1)]).toEqual([true, true])
    const current = await stores.read((tx) => tx.announcements.find(key(1)))
    expect(current).toEqual(announced(1, 9, at + 1))
  })

  it('of two simultaneous announcements the one with the lower id stays', async (stores) => {
    await Promise.all(
      [7, 3, 5].map((number) => stores.write((tx) => tx.announcements.put(announced(1, number)))),
    )
    expect(await stores.read((tx) => tx.announcements.find(key(1)))).toEqual(announced(1, 3))
  })

  it('all announcements come page by page in the order of their keys', async (stores) => {
    await stores.write(async (tx) => {
      for (const owner of [3, 1, 2]) await tx.announcements.put(announced(owner, owner))
    })
    const page = (after: string, most: number) =>
      stores.read(async (tx) =>
        (await tx.announcements.page(after, most)).map(({ pubkey }) => pubkey),
      )
    expect(await page('', 2)).toEqual([key(1), key(2)])
    expect(await page(key(2), 2)).toEqual([key(3)])
    expect(await page(key(3), 2)).toEqual([])
  })

  it('an announcement is removed once', async (stores) => {
    for (const owner of [1, 2]) {
      await stores.write((tx) => tx.announcements.put(announced(owner, owner)))
    }
    const remove = () => stores.write((tx) => tx.announcements.remove(key(1)))
    expect(count(await Promise.all([remove(), remove()]))).toBe(1)
    await stores.read(async (tx) => {
      expect(await tx.announcements.find(key(1))).toBeNull()
      expect(await tx.announcements.find(key(2))).not.toBeNull()
    })
  })

  it('an undone transaction leaves nothing', async (stores) => {
    await stores.write((tx) => tx.announcements.put(announced(1, 1)))
    await stores.undone(async (tx) => {
      await tx.announcements.put(announced(1, 2, at + 1))
      await tx.announcements.put(announced(2, 3))
    })
  })
}

export function answers(it: It<CouponTx>): void {
  const answer = (number: number) => ({
    request: bytes(32, number),
    status: 201,
    sealed: Uint8Array.from([0, 255, number]),
  })

  it('an answer is stored byte by byte in its slot', async (stores) => {
    await stores.write((tx) => tx.answers.insert(bytes(32, 1), answer(7), at))
    await stores.read(async (tx) => {
      expect(await tx.answers.find(bytes(32, 1))).toEqual(answer(7))
      expect(await tx.answers.find(bytes(32, 2))).toBeNull()
    })
  })

  it('a slot is used once, also by simultaneous writers', async (stores) => {
    const insert = (number: number) =>
      succeeds(stores.write((tx) => tx.answers.insert(bytes(32, 1), answer(number), at)))
    expect(count(await Promise.all([insert(1), insert(2)]))).toBe(1)
    await stores.refuses((tx) => tx.answers.insert(bytes(32, 1), answer(3), at))
    await stores.refuses((tx) => tx.answers.insert(bytes(31, 1), answer(3), at))
  })

  it('answers from before a time are deleted, the oldest first, a bounded number at a time', async (stores) => {
    await stores.write(async (tx) => {
      for (const number of [1, 2, 3, 4]) {
        await tx.answers.insert(bytes(32, number), answer(number), at + number)
      }
    })
    const prune = (rowsMax: number, before: number) =>
      stores.write((tx) => tx.answers.prune(rowsMax, before))
    expect([await prune(10, at + 1), await prune(2, at + 4), await prune(2, at + 4)]).toEqual([
      0, 2, 1,
    ])
    await stores.read(async (tx) => {
      expect(await tx.answers.find(bytes(32, 3))).toBeNull()
      expect(await tx.answers.find(bytes(32, 4))).toEqual(answer(4))
    })
    expect(await prune(10, most)).toBe(1)
  })

  it('an undone transaction leaves nothing', async (stores) => {
    await stores.write((tx) => tx.answers.insert(bytes(32, 1), answer(1), at))
    await stores.undone(async (tx) => {
      await tx.answers.prune(10, most)
      await tx.answers.insert(bytes(32, 2), answer(2), at)
    })
  })
}
