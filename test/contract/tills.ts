import { expect } from 'bun:test'
import { at, defined, filed, found, handle, issued, key, most } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

const all = { limit: 100, before: null }

export function tills(it: It<CouponTx>): void {
  it('a redemption names its key, and counts for its till if the key was listed', async (stores) => {
    const by = (number: number, listed: boolean) => ({ pubkey: key(number), listed })
    await stores.write(async (tx) => {
      const vouchers = await issued(tx, await defined(tx, 1), [1, 2, 3, 4, 5])
      const label = 'Caja ñ'
      const minter = { pubkey: key(2), label, createdAt: at, mint: false }
      await tx.minters.insert(key(1), minter)
      const tills = [by(2, true), by(3, false), by(2, true), null, by(1, true)]
      for (const [index, till] of tills.entries()) {
        const taken = found(vouchers[index])
        await tx.vouchers.claim(taken, { ...filed, by: till }, at + index * 86_400)
      }
      const other = await issued(tx, await defined(tx, 2, { owner: key(9) }), [9])
      await tx.vouchers.claim(found(other[0]), { ...filed, by: by(2, true) }, at)
    })
    await stores.read(async (tx) => {
      const rows = await tx.vouchers.listRedemptions(key(1), all)
      expect(rows.map(({ claimedBy, label, unlisted }) => [claimedBy, label, unlisted])).toEqual([
        [key(1), null, false],
        [null, null, false],
        [key(2), 'Caja ñ', false],
        [key(3), null, true],
        [key(2), 'Caja ñ', false],
      ])
      const tills = await tx.tills.list(key(1), most, 9)
      expect(tills.map(({ pubkey, label }) => [pubkey, label])).toEqual([
        [key(1), null],
        [null, null],
        [key(2), 'Caja ñ'],
      ])
      const [own, nobody, listed] = tills
      expect(await tx.tills.list(key(1), found(own).rowId, 1)).toEqual([found(nobody)])
      const hour = Math.floor(at / 3600)
      const today = Math.floor((hour - 3) / 24)
      const hours = { from: hour, to: hour + 96, offset: -3 }
      expect(await tx.tills.days(found(listed).rowId, hours)).toEqual([
        { day: today, claimed: 1 },
        { day: today + 2, claimed: 1 },
      ])
      expect(await tx.tills.days(found(nobody).rowId, hours)).toEqual([
        { day: today + 1, claimed: 1 },
        { day: today + 3, claimed: 1 },
      ])
      expect(await tx.tills.days(found(own).rowId, hours)).toEqual([])
    })
  })

  it('redemptions of one till in one hour add up', async (stores) => {
    await stores.write(async (tx) => {
      const by = { pubkey: key(1), listed: true }
      for (const one of await issued(tx, await defined(tx, 1), [1, 2, 3])) {
        await tx.vouchers.claim(one, { ...filed, by }, at)
      }
    })
    await stores.read(async (tx) => {
      const [till] = await tx.tills.list(key(1), most, 9)
      const hour = Math.floor(at / 3600)
      const days = await tx.tills.days(found(till).rowId, { from: hour, to: hour + 1, offset: 0 })
      expect(days).toEqual([{ day: Math.floor(hour / 24), claimed: 3 }])
    })
  })

  it('a voucher is found with the rule of its shop for tills', async (stores) => {
    const shop = { name: null, color: null, picture: null }
    const [free, own] = await stores.write(async (tx) => {
      const first = await issued(tx, await defined(tx, 1), [1])
      const second = await issued(tx, await defined(tx, 2, { owner: key(9) }), [2])
      await tx.shops.put(key(1), { ...shop, onlyAuthorizedTills: false }, at)
      await tx.shops.put(key(9), { ...shop, onlyAuthorizedTills: true }, at)
      return [found(first[0]), found(second[0])]
    })
    await stores.read(async (tx) => {
      const [one, two] = [
        await tx.vouchers.findToClaim(handle(1)),
        await tx.vouchers.findToClaim(handle(2)),
      ]
      expect(one).toEqual({ voucher: free, onlyAuthorizedTills: false })
      expect(two).toEqual({ voucher: own, onlyAuthorizedTills: true })
      expect(await tx.vouchers.findToClaim(handle(3))).toBeNull()
    })
  })

  it('an undone redemption counts for no till', async (stores) => {
    const vouchers = await stores.write(async (tx) => issued(tx, await defined(tx, 1), [1]))
    const by = { pubkey: key(1), listed: true }
    await stores.undone((tx) => tx.vouchers.claim(found(vouchers[0]), { ...filed, by }, at))
  })
}
