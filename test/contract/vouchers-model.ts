import { expect } from 'bun:test'
import type { StoredDefinition } from '../../src/coupons/definition-store.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { at, defined, filed, found, handle, handOn, issued, uuid } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

type ModelVoucher = {
  definition: number
  phase: 'minted' | 'claimed' | 'refreshed' | 'voided'
  expiresAt: number | null
  endedAt: number | null
}

const sealed = new Uint8Array(40)
const keyMac = new Uint8Array(32)
const steps = 300

/** Random mints, claims, refreshes, voids and kills beside a Map: every outcome and every count. */
export function modelVouchers(it: It<CouponTx>): void {
  const seed = chooseSeed()
  it(`random writes agree with a plain map, SEED=${seed}`, async (stores) => {
    const random = new Random(seed)
    const vouchers = new Map<number, ModelVoucher>()
    const limits = [null, 5, 40, null]
    const expiries = [null, null, at + 100, at + 200]
    const issuedOf = [0, 0, 0, 0]
    const refreshed = { count: 0 }
    let now = at
    let next = 1
    await stores.write(async (tx) => {
      for (const [number, maxUses] of limits.entries()) {
        await defined(tx, number, { maxUses, expiresAt: expiries[number] ?? null })
      }
    })
    const of = (definition: number, phase: string) =>
      [...vouchers.values()].filter((one) => one.definition === definition && one.phase === phase)
    const minted = (number: number) => {
      const model = vouchers.get(number)
      return model?.phase === 'minted' ? model : null
    }
    const spendable = (number: number) => {
      const model = minted(number)
      return model && (model.expiresAt === null || model.expiresAt > now) ? model : null
    }
    const end = (model: ModelVoucher | null, phase: ModelVoucher['phase']): void => {
      if (model) Object.assign(model, { phase, endedAt: now })
    }
    const definition = async (tx: CouponTx, number: number): Promise<StoredDefinition> =>
      found(await tx.definitions.find(uuid(number)))

    const mint = async (tx: CouponTx, number: number) => {
      const wanted = 1 + random.below(4)
      const expiresAt = expiries[number] ?? null
      const max = limits[number] ?? Number.POSITIVE_INFINITY
      const live = (issuedOf[number] ?? 0) - of(number, 'voided').length
      const expected = live + wanted <= max && (expiresAt === null || expiresAt > now)
      const stored = await definition(tx, number)
      if (!expected) return expect(await tx.definitions.take(stored, wanted, now)).toBe(false)
      const numbers = Array.from({ length: wanted }, () => next++)
      await issued(tx, stored, numbers, now)
      issuedOf[number] = (issuedOf[number] ?? 0) + wanted
      for (const one of numbers) {
        vouchers.set(one, { definition: number, phase: 'minted', expiresAt, endedAt: null })
      }
    }
    // An engine may run it again, so the map is changed by its result, after the commit.
    const spend = async (tx: CouponTx, number: number, how: 'claim' | 'replace' | 'void') => {
      const voucher = await tx.vouchers.find(handle(number))
      if (!voucher) return expect(vouchers.has(number)).toBe(false)
      const model = how === 'void' ? minted(number) : spendable(number)
      if (how === 'claim') {
        expect(await tx.vouchers.claim(voucher, filed, now)).toBe(model !== null)
        return () => end(model, 'claimed')
      }
      if (how === 'void') {
        expect(await tx.vouchers.void(voucher, now)).toBe(model !== null)
        return () => end(model, 'voided')
      }
      const by = { handle: handle(next), keyMac, sealed, now }
      expect(await handOn(tx, voucher, by)).toBe(model !== null)
      return () => {
        if (!model) return
        end(model, 'refreshed')
        refreshed.count++
        vouchers.set(next++, { ...model, phase: 'minted', endedAt: null })
      }
    }
    const kill = async (tx: CouponTx, number: number) => {
      const { rowId, open } = await definition(tx, number)
      const open_ = of(number, 'minted')
      expect(open).toBe(open_.length)
      await tx.vouchers.kill(rowId, open, now)
      for (const model of open_) end(model, 'voided')
    }
    const sweep = async (tx: CouponTx) => {
      const cutOff = await tx.vouchers.nextKill()
      if (cutOff) await tx.vouchers.sweep(cutOff, 1 + random.below(5))
    }
    const compare = () =>
      stores.read(async (tx) => {
        for (const [number, model] of vouchers) {
          const { phase, endedAt } = found(await tx.vouchers.find(handle(number)))
          expect({ number, phase, endedAt }).toEqual({
            number,
            phase: model.phase,
            endedAt: model.endedAt,
          })
        }
        let [claimed, voided] = [0, 0]
        for (const number of limits.keys()) {
          const stored = await definition(tx, number)
          const counts = [of(number, 'claimed').length, of(number, 'voided').length] as const
          expect([stored.issued, stored.claimed, stored.issued - stored.minted]).toEqual([
            issuedOf[number] ?? 0,
            ...counts,
          ])
          const expired = of(number, 'minted').filter(
            (one) => one.expiresAt !== null && one.expiresAt <= now,
          )
          expect(await tx.statistics.expired(stored.rowId, now)).toBe(expired.length)
          claimed += counts[0]
          voided += counts[1]
        }
        const sum = issuedOf.reduce((all, one) => all + one, 0)
        const totals = { issued: sum, claimed, voided, refreshed: refreshed.count }
        expect(await tx.vouchers.totals()).toEqual(totals)
      })

    for (let step = 0; step < steps; step++) {
      if (random.chance(0.3)) now += random.below(4)
      const some = 1 + random.below(next)
      const roll = random.next()
      const changed = await stores.write(async (tx) => {
        if (roll < 0.3) return mint(tx, random.below(limits.length))
        if (roll < 0.5) return spend(tx, some, 'claim')
        if (roll < 0.75) return spend(tx, some, 'replace')
        if (roll < 0.87) return spend(tx, some, 'void')
        if (roll < 0.9) return kill(tx, random.below(limits.length))
        return sweep(tx)
      })
      changed?.()
      if (step % 50 === 49) await compare()
    }
    await compare()
  })
}
