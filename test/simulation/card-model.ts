/** Cards and their payments as plain maps. */
import type { Payment } from '../../src/wallet/cards/payments/payment-store.ts'
import { answerOf, type Json, Mismatch, refused, same } from './coupon-model.ts'
import type { LedgerModel } from './ledger-model.ts'
import type { Outcome } from './process.ts'

export type ModelCard = {
  uid: string
  holder: string
  /** The highest counter of a tap that was taken. */
  counter: number
  spent: { at: number; amount: number }[]
}

export type ModelScan = { k1: string; card: ModelCard; at: number; used: boolean }

/** Of the default limit of a new card: so much ARS in so many seconds. */
const limit = { amount: 100, seconds: 86_400 }

export class CardModel {
  readonly cards: ModelCard[] = []
  readonly scans: ModelScan[] = []
  readonly #payments = new Map<string, string>()
  readonly #ledger: LedgerModel

  constructor(ledger: LedgerModel) {
    this.#ledger = ledger
  }

  tap(card: ModelCard, counter: number, outcome: Outcome, now: number): void {
    if (counter <= card.counter) return void refused(outcome, 'tap-used')
    card.counter = counter
    const { k1 } = answerOf(outcome) as Json
    if (this.scans.some((scan) => scan.k1 === k1)) throw new Mismatch('a k1 twice')
    this.scans.push({ k1, card, at: now, used: false })
  }

  pay(
    { scan, amount, request, to }: { scan: ModelScan; amount: number; request: string; to: string },
    outcome: Outcome,
    now: number,
  ): void {
    const { card } = scan
    const known = this.#payments.get(request)
    if (known !== undefined) {
      same('the repeated payment', (answerOf(outcome) as Payment).state, known)
      return
    }
    if (scan.used) return void refused(outcome, 'k1-used')
    if (scan.at + 180 <= now) return void refused(outcome, 'k1-expired')
    const { state, code } = answerOf(outcome) as Payment
    this.#payments.set(request, state)
    const spent = card.spent.filter(({ at }) => at > now - limit.seconds)
    const sum = spent.reduce((all, one) => all + one.amount, amount)
    if (state === 'settled') {
      if (sum > limit.amount) throw new Mismatch('a payment above the limit of its card')
      scan.used = true
      card.spent.push({ at: now, amount })
      return
    }
    same('the state of the payment', state, 'refused')
    if (code === 'limit-exceeded' && sum > limit.amount) return
    const has = this.#ledger.balances.get(`ARS:${card.holder}`) ?? 0n
    if (code === 'funds-insufficient' && has < BigInt(amount)) return
    // A holder cannot pay himself.
    if (code === 'ledger-refused' && to === card.holder) return
    throw new Mismatch(`a good payment was refused: ${code}`)
  }
}
