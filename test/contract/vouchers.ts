import { expect } from 'bun:test'
import type { StoredDefinition } from '../../src/coupons/definition-store.ts'
import type { Voucher } from '../../src/coupons/voucher.ts'
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
  uuid,
} from './fixtures.ts'
import type { CouponTx, It, Stores } from './harness.ts'
import { modelVouchers } from './vouchers-model.ts'

const all = { limit: 100, before: null }

/** A definition and one voucher for each of these numbers. */
function prepared(stores: Stores<CouponTx>, numbers: readonly number[], expiresAt?: number) {
  return stores.write(async (tx) => {
    const definition = await defined(tx, 1, { expiresAt: expiresAt ?? null })
    return { definition, vouchers: await issued(tx, definition, numbers) }
  })
}

function successor(number: number, now = at) {
  return { handle: handle(number), keyMac: bytes(32, number), sealed: bytes(40, number), now }
}

function told({ rowId, phase, endedAt }: Voucher) {
  return { rowId, phase, endedAt }
}

/** Voids what is open of a definition, as the kill switch does. */
async function kill(tx: CouponTx, now: number): Promise<void> {
  const { rowId, open } = await definition(tx)
  await tx.vouchers.kill(rowId, open, now)
}

async function definition(tx: CouponTx): Promise<StoredDefinition> {
  return found(await tx.definitions.find(uuid(1)))
}

async function voucher(tx: CouponTx, number: number): Promise<Voucher> {
  return found(await tx.vouchers.find(handle(number)))
}

export function vouchers(it: It<CouponTx>): void {
  it('a voucher is found by its handle, with the terms that were frozen for it', async (stores) => {
    const { definition } = await prepared(stores, [1])
    await stores.read(async (tx) => {
      expect(await tx.vouchers.find(handle(1))).toMatchObject({
        definitionRowId: definition.rowId,
        revisionId: definition.revisionId,
        phase: 'minted',
        endedAt: null,
        couponId: uuid(1),
        owner: key(1),
        terms: { name: definition.name, benefit: definition.benefit, expiresAt: null },
      })
      expect(await tx.vouchers.find(handle(2))).toBeNull()
    })
  })

  it('a handle is used once, and one of another length is refused', async (stores) => {
    const { definition } = await prepared(stores, [1])
    await stores.refuses((tx) => issued(tx, definition, [1]))
    const { rowId: definitionRowId, revisionId } = definition
    const from = { definitionRowId, revisionId, mintedBy: key(9), now: at }
    await stores.refuses((tx) => tx.vouchers.issue(bytes(15, 1), from))
    await stores.refuses((tx) => tx.vouchers.issue(handle(2), { ...from, mintedBy: 'ab' }))
    await stores.refuses((tx) => tx.vouchers.issue(handle(2), { ...from, revisionId: 999 }))
  })

  it('a voucher is claimed once, and the redemption is filed with its payment', async (stores) => {
    await prepared(stores, [1])
    const purchase = { amount: 12_500.5, currency: 'ARS' } as const
    const paid = { zapRequest: '{"ñ":1}', zapRequestId: key(5), amountMsat: most, purchase }
    const claim = (now: number) =>
      stores.write(async (tx) =>
        tx.vouchers.claim(await voucher(tx, 1), { ...paid, by: null }, now),
      )
    expect([await claim(at + 1), await claim(at + 2)]).toEqual([true, false])
    await stores.read(async (tx) => {
      expect(await voucher(tx, 1)).toMatchObject({ phase: 'claimed', endedAt: at + 1 })
      expect(await definition(tx)).toMatchObject({ issued: 1, claimed: 1, open: 0 })
      expect(await tx.vouchers.listRedemptions(key(1), all)).toMatchObject([
        { handle: handle(1), claimedAt: at + 1, couponId: uuid(1), ...paid, claimedBy: null },
      ])
      expect(await tx.vouchers.totals()).toEqual({ issued: 1, claimed: 1, voided: 0, refreshed: 0 })
    })
  })

  it('a voucher can be spent until the second before its expiry, and voided after it', async (stores) => {
    await prepared(stores, [1, 2, 3, 4], at + 10)
    const outcomes = await stores.write(async (tx) => [
      await tx.vouchers.claim(await voucher(tx, 1), filed, at + 10),
      await handOn(tx, await voucher(tx, 1), successor(9, at + 10)),
      await tx.vouchers.claim(await voucher(tx, 1), filed, at + 9),
      await handOn(tx, await voucher(tx, 2), successor(8, at + 9)),
      await tx.vouchers.void(await voucher(tx, 3), at + 99),
    ])
    expect(outcomes).toEqual([false, false, true, true, true])
  })

  it('of simultaneous writers that spend one voucher one succeeds', async (stores) => {
    const { vouchers } = await prepared(stores, [1])
    const old = found(vouchers[0])
    const spent = await Promise.all([
      stores.write((tx) => tx.vouchers.claim(old, filed, at)),
      stores.write((tx) => handOn(tx, old, successor(2))),
      stores.write((tx) => tx.vouchers.void(old, at)),
      stores.write((tx) => tx.vouchers.claim(old, filed, at)),
      stores.write((tx) => handOn(tx, old, successor(3))),
    ])
    expect(count(spent)).toBe(1)
    const { claimed, voided, refreshed } = await stores.read((tx) => tx.vouchers.totals())
    expect(claimed + voided + refreshed).toBe(1)
  })

  it('a refreshed voucher has one successor, with the same terms, and keeps its answer', async (stores) => {
    await prepared(stores, [1])
    await stores.write(async (tx) => {
      expect(await tx.vouchers.findRefresh((await voucher(tx, 1)).rowId)).toBeNull()
      expect(await handOn(tx, await voucher(tx, 1), successor(2, at + 1))).toBe(true)
      expect(await handOn(tx, await voucher(tx, 2), successor(3, at + 2))).toBe(true)
      expect(await handOn(tx, await voucher(tx, 1), successor(4, at + 3))).toBe(false)
    })
    await stores.read(async (tx) => {
      const [first, last] = [await voucher(tx, 1), await voucher(tx, 3)]
      expect(first).toMatchObject({ phase: 'refreshed', endedAt: at + 1, rootId: first.rowId })
      expect(last).toMatchObject({ phase: 'minted', rootId: first.rowId, terms: first.terms })
      expect(await tx.vouchers.find(handle(4))).toBeNull()
      expect(await tx.vouchers.findEnd(first.rowId)).toEqual(last)
      expect(await tx.vouchers.findRefresh(first.rowId)).toEqual({
        keyMac: bytes(32, 2),
        sealed: bytes(40, 2),
      })
      const second = await tx.vouchers.findRefresh((await voucher(tx, 2)).rowId)
      expect(second?.keyMac).toEqual(bytes(32, 3))
      expect(await definition(tx)).toMatchObject({ issued: 1, open: 1 })
      expect(await tx.vouchers.findListed(last.rowId)).toMatchObject({
        handle: handle(3),
        root: handle(1),
        mintedBy: key(9),
        mintedAt: at + 2,
      })
    })
  })

  it('a missing chain or voucher is a bug, not an answer', async (stores) => {
    const found = (claim: Promise<unknown>) => claim.catch((cause: unknown) => cause)
    await stores.read(async (tx) => {
      expect(await found(tx.vouchers.findEnd(99))).toBeInstanceOf(Error)
      expect(await found(tx.vouchers.findListed(99))).toBeInstanceOf(Error)
    })
  })

  it('a used handle refuses the refresh, and the burned voucher with it', async (stores) => {
    await prepared(stores, [1, 2])
    await stores.refuses(async (tx) => handOn(tx, await voucher(tx, 1), successor(2)))
    await stores.refuses(async (tx) =>
      handOn(tx, await voucher(tx, 1), { ...successor(3), keyMac: bytes(31, 1) }),
    )
  })

  it('a page of vouchers is newest first, before a row, with one more than the requested number', async (stores) => {
    const { definition } = await prepared(stores, [1, 2, 3, 4])
    await stores.write(async (tx) => issued(tx, await defined(tx, 2), [9]))
    const page = (limit: number, before: number | null) =>
      stores.read((tx) => tx.vouchers.list(definition.rowId, { limit, before }))
    const first = await page(2, null)
    expect(first.map((one) => one.handle)).toEqual([handle(4), handle(3), handle(2)])
    const rest = await page(2, found(first[1]).rowId)
    expect(rest.map((one) => one.handle)).toEqual([handle(2), handle(1)])
    expect(await page(2, found(rest[1]).rowId)).toEqual([])
  })

  it('a chain is read from any voucher on, oldest first, up to a maximum', async (stores) => {
    const { vouchers } = await prepared(stores, [1, 5])
    const root = found(vouchers[0]).rowId
    await stores.write(async (tx) => {
      for (const number of [1, 2, 3]) {
        await handOn(tx, await voucher(tx, number), successor(number + 1))
      }
    })
    const chain = (from: number, most: number) =>
      stores.read(async (tx) => {
        const { rowId } = await voucher(tx, from)
        return (await tx.vouchers.listChain(root, rowId, most)).map((one) => one.handle)
      })
    expect(await chain(1, 10)).toEqual([1, 2, 3, 4].map(handle))
    expect(await chain(1, 3)).toEqual([1, 2, 3].map(handle))
    expect(await chain(3, 10)).toEqual([3, 4].map(handle))
    // Another chain has no row here.
    expect(await chain(5, 10)).toEqual([])
  })

  it('a negative payment and a second filing of one voucher are refused', async (stores) => {
    const { vouchers } = await prepared(stores, [1])
    const negative = { ...filed, amountMsat: -1 }
    await stores.refuses((tx) => tx.vouchers.claim(found(vouchers[0]), negative, at))
    await stores.write((tx) => tx.vouchers.claim(found(vouchers[0]), filed, at))
    await stores.refuses(async ({ sql }) =>
      sql
        .query(
          'INSERT INTO redemptions (voucher_id, owner) SELECT voucher_id, owner FROM redemptions',
        )
        .run(),
    )
  })

  it('an undone transaction leaves nothing', async (stores) => {
    await prepared(stores, [1, 2, 3])
    await stores.undone(async (tx) => {
      await tx.vouchers.claim(await voucher(tx, 1), filed, at)
      await handOn(tx, await voucher(tx, 2), successor(4))
      await tx.vouchers.void(await voucher(tx, 3), at)
      await kill(tx, at)
      await tx.vouchers.sweep(found(await tx.vouchers.nextKill()), 2)
    })
    expect(await stores.read(async (tx) => (await voucher(tx, 1)).phase)).toBe('minted')
  })

  modelVouchers(it)
}

export function redemptions(it: It<CouponTx>): void {
  it('a page of redemptions of an owner is newest first, before a row, with one more than the requested number', async (stores) => {
    await prepared(stores, [1, 2, 3])
    await stores.write(async (tx) => {
      for (const number of [2, 3, 1]) {
        await tx.vouchers.claim(await voucher(tx, number), filed, at + number)
      }
      const [other] = await issued(tx, await defined(tx, 2, { owner: key(2) }), [9])
      await tx.vouchers.claim(found(other), filed, at)
    })
    const page = (limit: number, before: number | null) =>
      stores.read((tx) => tx.vouchers.listRedemptions(key(1), { limit, before }))
    const first = await page(1, null)
    expect(first.map((one) => one.handle)).toEqual([handle(1), handle(3)])
    const rest = await page(5, found(first[0]).rowId)
    expect(rest.map((one) => one.handle)).toEqual([handle(3), handle(2)])
    expect(await stores.read((tx) => tx.vouchers.listRedemptions(key(3), all))).toEqual([])
  })
}

export function voids(it: It<CouponTx>): void {
  it('a voucher is voided once', async (stores) => {
    await prepared(stores, [1])
    const outcomes = await stores.write(async (tx) => [
      await tx.vouchers.void(await voucher(tx, 1), at + 1),
      await tx.vouchers.void(await voucher(tx, 1), at + 2),
      await tx.vouchers.claim(await voucher(tx, 1), filed, at),
    ])
    expect(outcomes).toEqual([true, false, false])
    await stores.read(async (tx) => {
      expect(await voucher(tx, 1)).toMatchObject({ phase: 'voided', endedAt: at + 1 })
      expect(await definition(tx)).toMatchObject({ issued: 1, open: 0, minted: 0 })
    })
  })

  it('the kill switch voids all open vouchers at once, and no later one', async (stores) => {
    await prepared(stores, [1, 2, 3])
    await stores.write(async (tx) => {
      await tx.vouchers.claim(await voucher(tx, 1), filed, at)
      await handOn(tx, await voucher(tx, 2), successor(4))
      await kill(tx, at + 5)
      await issued(tx, await definition(tx), [5])
    })
    const spent = await stores.write(async (tx) => [
      await tx.vouchers.claim(await voucher(tx, 3), filed, at + 6),
      await handOn(tx, await voucher(tx, 4), successor(6)),
      await tx.vouchers.void(await voucher(tx, 3), at + 6),
      await tx.vouchers.claim(await voucher(tx, 5), filed, at + 6),
    ])
    expect(spent).toEqual([false, false, false, true])
    await stores.read(async (tx) => {
      expect(await voucher(tx, 1)).toMatchObject({ phase: 'claimed' })
      expect(await voucher(tx, 2)).toMatchObject({ phase: 'refreshed' })
      expect(await voucher(tx, 3)).toMatchObject({ phase: 'voided', endedAt: at + 5 })
      expect(await voucher(tx, 4)).toMatchObject({ phase: 'voided', endedAt: at + 5 })
      expect(await definition(tx)).toMatchObject({ issued: 4, claimed: 2, open: 0, minted: 2 })
      expect(await tx.vouchers.totals()).toEqual({ issued: 4, claimed: 2, voided: 2, refreshed: 1 })
    })
  })

  it('of a simultaneous claim and kill switch one decides the voucher', async (stores) => {
    const { vouchers } = await prepared(stores, [1])
    const [claimed] = await Promise.all([
      stores.write(
        (tx) => tx.vouchers.claim(found(vouchers[0]), filed, at),
        [{ voucher: handle(1) }],
      ),
      stores.write((tx) => kill(tx, at), [{ definition: uuid(1), mode: 'changed' }]),
    ])
    const { phase } = await stores.read((tx) => voucher(tx, 1))
    expect(phase).toBe(claimed ? 'claimed' : 'voided')
  })

  it('a cut-off is marked in parts, the oldest first, each row with its own time', async (stores) => {
    const { definition: before } = await prepared(stores, [1, 2, 3])
    await stores.write(async (tx) => {
      expect(await tx.vouchers.nextKill()).toBeNull()
      await kill(tx, at + 5)
      await issued(tx, await defined(tx, 2), [9])
      await issued(tx, before, [4, 5])
      await kill(tx, at + 7)
    })
    const sweep = (rowsMax: number) =>
      stores.write(async (tx) => {
        const next = await tx.vouchers.nextKill()
        if (next) await tx.vouchers.sweep(next, rowsMax)
        return next !== null
      })
    const stamps = () =>
      stores.read(async (tx) => {
        const listed = (await tx.vouchers.list(before.rowId, all)).toReversed()
        // Every way to a voucher tells the same of it.
        for (const one of listed) {
          const { rowId } = one
          expect(await tx.vouchers.find(one.handle)).toMatchObject(told(one))
          expect(await tx.vouchers.findEnd(rowId)).toMatchObject(told(one))
          expect(await tx.vouchers.findListed(rowId)).toEqual(one)
          expect(await tx.vouchers.listChain(rowId, rowId, 9)).toEqual([one])
        }
        return listed.map(({ phase, endedAt }) => `${phase} ${(endedAt ?? 0) - at}`)
      })
    const wanted = ['voided 5', 'voided 5', 'voided 5', 'voided 7', 'voided 7']
    expect(await stamps()).toEqual(wanted)
    let sweeps = 0
    while (await sweep(2)) {
      sweeps++
      expect(await stamps()).toEqual(wanted)
    }
    expect(sweeps).toBeGreaterThan(3)
    await stores.read(async (tx) => {
      expect(await voucher(tx, 9)).toMatchObject({ phase: 'minted' })
      expect(await tx.definitions.find(uuid(2))).toMatchObject({ open: 1 })
      expect(await tx.vouchers.totals()).toMatchObject({ issued: 6, voided: 5 })
    })
  })

  it('marking a cut-off leaves redeemed and refreshed vouchers unchanged', async (stores) => {
    await prepared(stores, [1, 2, 3])
    await stores.write(async (tx) => {
      await tx.vouchers.claim(await voucher(tx, 1), filed, at)
      await handOn(tx, await voucher(tx, 2), successor(4))
      await kill(tx, at + 5)
      await tx.vouchers.sweep(found(await tx.vouchers.nextKill()), 100)
      expect(await tx.vouchers.nextKill()).toBeNull()
    })
    const phases = await stores.read(async (tx) =>
      Promise.all([1, 2, 3, 4].map(async (number) => (await voucher(tx, number)).phase)),
    )
    expect(phases).toEqual(['claimed', 'refreshed', 'voided', 'voided'])
  })

  it('the kill switch of a definition without vouchers does nothing', async (stores) => {
    await stores.write(async (tx) => {
      await defined(tx, 1)
      await kill(tx, at)
      expect(await tx.vouchers.nextKill()).toBeNull()
    })
  })
}
