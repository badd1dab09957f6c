import { expect } from 'bun:test'
import type { Payment } from '../../src/wallet/cards/payments/payment-store.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { written } from './cards.ts'
import { at, event, found, key } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

type ModelPayment = {
  id: number
  k1: string
  holder: string
  amount: bigint
  state: Payment['state']
  at: number
}
type ModelScan = { state: 'free' | 'in-flight' | 'used' }

const steps = 200
const ledger = key(60)

/** Random reservations and outcomes beside a Map: the state of each k1 and every sum. */
export function modelPayments(it: It<CouponTx>): void {
  const seed = chooseSeed()
  it(`random payments agree with a plain map, SEED=${seed}`, async (stores) => {
    const random = new Random(seed)
    const scans = new Map<string, ModelScan>()
    const payments = new Map<number, ModelPayment>()
    const holders = [key(1), key(2)]
    const cardId = await stores.write((tx) => written(tx, 1))
    let now = at
    let serial = 0

    const scan = async (tx: CouponTx) => {
      const k1 = `k${serial++}`
      const [createdAt, expiresAt] = [now, now + 10_000]
      const maxima = new Map([['ARS', 10n]])
      const holder = random.pick(holders)
      await tx.scans.insert(k1, { cardId, holder, form: 'standard', maxima, createdAt, expiresAt })
      scans.set(k1, { state: 'free' })
    }
    const reserve = async (tx: CouponTx) => {
      const [k1, model] = random.pick([...scans])
      const row = found(await tx.scans.find(k1))
      const taken = await tx.scans.take(row.id, now)
      expect(taken).toBe(model.state === 'free')
      if (!taken) return
      const amount = BigInt(random.pick([1, 250, 2 ** 40])) * BigInt(1 + random.below(1_000_000))
      const number = 1000 + serial++
      const { holder } = row
      const asked = {
        k1,
        request: key(number),
        cardId,
        holder,
        recipient: key(3),
        paymentHash: null,
      }
      const state = random.chance(0.3) ? 'settled' : 'pending'
      const { id } = await tx.payments.insert(
        { ...asked, amounts: new Map([['ARS', amount]]) },
        { id: event(number).id, ledger, expiresAt: now + 60 },
        { state, now },
      )
      if (state === 'settled') expect(await tx.scans.settle(row.id, 'used')).toBe(true)
      model.state = state === 'settled' ? 'used' : 'in-flight'
      payments.set(id, { id, k1, holder, amount, state, at: now })
    }
    const end = async (tx: CouponTx) => {
      const model = random.pick([...payments.values()])
      const state = random.pick(['settled', 'refused', 'released'] as const)
      // A settled payment stays settled, and it is the only one of its k1.
      if (model.state === 'settled') return
      const others = [...payments.values()].filter(
        ({ k1, id }) => k1 === model.k1 && id !== model.id,
      )
      const used = others.some((other) => other.state === 'settled')
      if (state === 'settled' && (used || others.some((other) => other.state === 'pending'))) return
      const code = state === 'refused' ? ('ledger-refused' as const) : null
      await tx.payments.end(model.id, { state, code, message: null, late: false }, now)
      const scan = found(scans.get(model.k1))
      if (state === 'settled') scan.state = 'used'
      else if (model.state === 'pending' && !used) scan.state = 'free'
      model.state = state
    }
    const compare = () =>
      stores.read(async (tx) => {
        for (const [k1, { state }] of scans) {
          expect({ k1, state: (await tx.scans.find(k1))?.state }).toEqual({ k1, state })
        }
        for (const { id, state } of payments.values()) {
          expect({ id, state: (await tx.payments.findById(id)).state }).toEqual({ id, state })
        }
        for (const holder of holders) {
          const since = at + random.below(now - at + 1)
          const counting = [...payments.values()].filter(
            (one) => one.holder === holder && one.at > since && /pending|settled/.test(one.state),
          )
          const sum = counting.reduce((all, { amount }) => all + amount, 0n)
          expect(await tx.payments.spent({ cardId, holder, token: 'ARS', since })).toBe(sum)
        }
        const open = [...payments.values()].filter(({ state }) => state === 'pending')
        expect(await tx.payments.open(10_000)).toHaveLength(open.length)
      })

    for (let step = 0; step < steps; step++) {
      now += random.below(3)
      await stores.write(async (tx) => {
        if (scans.size === 0 || random.chance(0.2)) return scan(tx)
        if (payments.size === 0 || random.chance(0.55)) return reserve(tx)
        return end(tx)
      })
      if (step % 40 === 39) await compare()
    }
    await compare()
  })
}
