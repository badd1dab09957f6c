import { expect } from 'bun:test'
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
  uuid,
} from './fixtures.ts'
import type { CouponTx, It, Stores } from './harness.ts'

const all = { limit: 500, before: null }

export function batches(it: It<CouponTx>): void {
  /** A batch with vouchers of these numbers, issued from a definition that expires at `at + 10`. */
  const prepared = (stores: Stores<CouponTx>, numbers: readonly number[]) =>
    stores.write(async (tx) => {
      const definition = await defined(tx, 1, { expiresAt: at + 10 })
      tx.batches.insert(uuid(1), definition.rowId, 'Feria', at)
      const { rowId } = found(await tx.batches.find(uuid(1)))
      await tx.batches.take(rowId, numbers.length, 1000)
      const vouchers = await issued(tx, definition, numbers)
      for (const number of numbers) tx.batches.file(handle(number), rowId, `N.º ${number}`)
      return { rowId, definition, vouchers }
    })
  const successor = { handle: handle(9), keyMac: bytes(32, 9), sealed: bytes(9, 9), now: at }

  it('a batch is found, and listed newest first by its definition', async (stores) => {
    const { rowId, definition } = await prepared(stores, [1, 2])
    await stores.write(async (tx) => {
      tx.batches.insert(uuid(2), definition.rowId, 'Otra', at + 1)
      tx.batches.insert(uuid(3), (await defined(tx, 2)).rowId, 'Ajena', at)
    })
    await stores.read(async (tx) => {
      const first = { rowId, id: uuid(1), definitionRowId: definition.rowId, name: 'Feria' }
      expect(await tx.batches.find(uuid(1))).toEqual({ ...first, issued: 2, createdAt: at })
      const listed = await tx.batches.list(definition.rowId, all)
      expect(listed.map(({ id }) => id)).toEqual([uuid(2), uuid(1)])
      expect(await tx.batches.list(definition.rowId, { limit: 1, before: rowId })).toEqual([])
      expect(await tx.batches.count(definition.rowId)).toBe(2)
      expect(await tx.batches.find(uuid(4))).toBeNull()
    })
  })

  it('no vouchers are counted beyond the limit of a batch', async (stores) => {
    const { rowId } = await prepared(stores, [1])
    const takes = [2, 2, 2].map((vouchers) =>
      stores.write((tx) => tx.batches.take(rowId, vouchers, 5)),
    )
    expect(count(await Promise.all(takes))).toBe(2)
    await stores.read(async (tx) => expect((await tx.batches.find(uuid(1)))?.issued).toBe(5))
  })

  it('each voucher of a batch counts in one figure, by the end of its chain', async (stores) => {
    const { rowId, vouchers } = await prepared(stores, [1, 2, 3, 4, 5])
    await stores.write(async (tx) => {
      await tx.vouchers.claim(found(vouchers[0]), filed, at)
      await tx.vouchers.void(found(vouchers[1]), at)
      await handOn(tx, found(vouchers[2]), successor)
      await tx.vouchers.claim(found(await tx.vouchers.find(handle(9))), filed, at)
    })
    await stores.read(async (tx) => {
      const figures = { open: 2, expired: 0, claimed: 2, voided: 1 }
      expect(await tx.batches.figures(rowId, at + 9)).toEqual(figures)
      expect(await tx.batches.figures(rowId, at + 10)).toEqual({ ...figures, open: 0, expired: 2 })
      expect(await tx.batches.openEnds(rowId, 9)).toEqual([handle(4), handle(5)])
      expect(await tx.batches.openEnds(rowId, 1)).toEqual([handle(4)])
    })
  })

  it('vouchers that the kill switch passed count as voided before they are marked', async (stores) => {
    const { rowId, definition } = await prepared(stores, [1, 2])
    await stores.write((tx) => tx.vouchers.kill(definition.rowId, 2, at))
    await stores.read(async (tx) => {
      expect(await tx.batches.figures(rowId, at)).toMatchObject({ open: 0, voided: 2 })
      expect(await tx.batches.openEnds(rowId, 9)).toEqual([])
    })
  })

  it('a label stays with its chain: in the list, and in the redemptions', async (stores) => {
    const { vouchers, definition } = await prepared(stores, [1])
    await stores.write(async (tx) => {
      await handOn(tx, found(vouchers[0]), successor)
      await tx.vouchers.claim(found(await tx.vouchers.find(handle(9))), filed, at)
      await issued(tx, definition, [2])
      tx.batches.file(handle(2), null, 'Ana')
    })
    await stores.read(async (tx) => {
      const listed = await tx.vouchers.list(definition.rowId, all)
      expect(listed.map(({ batch, label }) => [batch, label])).toEqual([
        [null, 'Ana'],
        [uuid(1), 'N.º 1'],
        [uuid(1), 'N.º 1'],
      ])
      const [redemption] = await tx.vouchers.listRedemptions(key(1), all)
      expect(redemption).toMatchObject({ recipient: 'N.º 1', label: null })
    })
  })

  it('a second label, one of nothing, and one of an unknown voucher are refused', async (stores) => {
    const { rowId } = await prepared(stores, [1])
    await stores.refuses(async (tx) => tx.batches.file(handle(1), rowId, 'x'))
    await stores.refuses(async (tx) => tx.batches.file(handle(7), rowId, 'x'))
    await stores.write(async (tx) => {
      await issued(tx, found(await tx.definitions.find(uuid(1))), [2])
    })
    await stores.refuses(async (tx) => tx.batches.file(handle(2), null, null))
  })
}
