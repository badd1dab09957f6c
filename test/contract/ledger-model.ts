import { expect } from 'bun:test'
import { Refusal } from '../../src/base/refusal.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { at, event, found, key } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

const steps = 60
const atOnce = 5
const tokens = ['ARS', 'USD']
const people = [key(1), key(2), key(3), key(4)]
const issuer = key(9)

/** Random transfers beside a Map, some at the same time: every outcome, every balance, and sums of zero. */
export function modelLedger(it: It<CouponTx>): void {
  const seed = chooseSeed()
  it(`random transfers agree with a plain map, SEED=${seed}`, async (stores) => {
    const random = new Random(seed)
    const balances = new Map<string, bigint>()
    const settled = new Set<number>()
    let serial = 0
    await stores.write(async (tx) => {
      for (const name of tokens) await tx.ledger.declare({ name, decimals: 0, issuer })
    })
    const has = (token: string, owner: string) => balances.get(`${token} ${owner}`) ?? 0n
    const move = (token: string, owner: string, amount: bigint) =>
      balances.set(`${token} ${owner}`, has(token, owner) + amount)

    const transfer = () => {
      const number = serial++
      const token = random.pick(tokens)
      const sender = random.chance(0.3) ? issuer : random.pick(people)
      const receiver = random.pick(people.filter((one) => one !== sender))
      const amount = BigInt(1 + random.below(100)) * (random.chance(0.1) ? 2n ** 40n : 1n)
      return { number, token, sender, receiver, amount }
    }
    const run = async (tx: CouponTx, one: ReturnType<typeof transfer>) => {
      const { number, token, sender, receiver, amount } = one
      const ids = { eventId: event(number).id, answerId: event(number).id }
      const id = await tx.ledger.settle({ ...ids, sender, receiver, memo: null, now: at })
      const from = await tx.ledger.open(token, sender)
      const to = await tx.ledger.open(token, receiver)
      if (!(await tx.ledger.add(id, from.id, -amount))) throw new Refusal('coupon-exhausted')
      found(await tx.ledger.add(id, to.id, amount))
      return number
    }
    const sums = () =>
      stores.read(async (tx) => {
        for (const token of tokens) {
          const accounts = await tx.ledger.accountsOfToken(token, 0, 100)
          expect(accounts.reduce((sum, { balance }) => sum + balance, 0n)).toBe(0n)
          for (const { pubkey, balance } of accounts) {
            if (pubkey !== issuer) expect(balance).toBeGreaterThanOrEqual(0n)
          }
        }
      })

    for (let step = 0; step < steps; step++) {
      const batch = Array.from({ length: 1 + random.below(atOnce) }, transfer)
      const running = Promise.allSettled(batch.map((one) => stores.write((tx) => run(tx, one))))
      // Money is nowhere between two accounts, whenever somebody looks.
      if (step % 10 === 9) await sums()
      const outcomes = await running
      // Successful transfers add up in any order, and the others left nothing.
      for (const [index, outcome] of outcomes.entries()) {
        const { number, token, sender, receiver, amount } = found(batch[index])
        if (outcome.status === 'rejected') {
          expect(outcome.reason).toBeInstanceOf(Refusal)
          continue
        }
        settled.add(number)
        move(token, sender, -amount)
        move(token, receiver, amount)
      }
    }
    await sums()
    await stores.read(async (tx) => {
      for (const token of tokens) {
        for (const owner of [...people, issuer]) {
          const [found, wanted] = [await tx.ledger.balance(token, owner), has(token, owner)]
          expect({ token, owner, found }).toEqual({ token, owner, found: wanted })
        }
      }
      for (let number = 0; number < serial; number++) {
        const outcome = await tx.ledger.outcome(event(number).id)
        expect({ number, ok: outcome?.state === 'ok' }).toEqual({ number, ok: settled.has(number) })
      }
    })
    // A model that is always refused proves nothing.
    expect(settled.size).toBeGreaterThan(serial / 4)
  })
}
