/** The ledger of a service as plain maps. It moves at each commit, by the answers that it gives. */
import { type NostrEvent, tagValue } from '../../src/nostr/event.ts'
import { Mismatch, same } from './coupon-model.ts'
import type { Disk } from './disk.ts'

export class LedgerModel {
  readonly balances = new Map<string, bigint>()
  /** Answers by the id of their start event. */
  readonly #answers = new Map<string, 'ok' | 'error'>()
  readonly #starts = new Map<string, NostrEvent>()
  readonly #shown = new Map<string, number>()
  readonly #issuers: ReadonlyMap<string, string>

  /** `issuers` by token. Only they may owe. */
  constructor(issuers: ReadonlyMap<string, string>) {
    this.#issuers = issuers
  }

  /** A start event exists. */
  know(start: NostrEvent): void {
    this.#starts.set(start.id, start)
  }

  /** The service has committed an event of its own. */
  committed(event: NostrEvent): void {
    const type = tagValue(event, 't') ?? ''
    if (type === 'internal-transaction-start') this.know(event)
    if (type === 'internal-transaction-ok') this.#settle(event)
    if (type === 'internal-transaction-error') this.#refuse(event)
    if (event.kind === 31_111) this.#show(event)
  }

  #startOf(answer: NostrEvent, type: 'ok' | 'error'): NostrEvent {
    const id = tagValue(answer, 'e') ?? ''
    const start = this.#starts.get(id)
    if (!start) throw new Mismatch(`an answer to a transaction that nobody sent: ${id}`)
    if (this.#answers.has(id)) throw new Mismatch(`a second answer to the transaction ${id}`)
    this.#answers.set(id, type)
    return start
  }

  #settle(answer: NostrEvent): void {
    const start = this.#startOf(answer, 'ok')
    const short = this.#shortOf(start)
    if (short !== null) throw new Mismatch(`a transaction was settled, but ${short}`)
    const { sender, receiver, amounts } = partsOf(start)
    for (const [token, amount] of amounts) {
      this.#add(token, sender, -amount)
      this.#add(token, receiver, amount)
    }
  }

  #refuse(answer: NostrEvent): void {
    if (this.#shortOf(this.#startOf(answer, 'error')) !== null) return
    throw new Mismatch(`a good transaction was refused: ${answer.content}`)
  }

  /** The reason why a transaction cannot be settled now, or null. */
  #shortOf(start: NostrEvent): string | null {
    const { sender, receiver, amounts } = partsOf(start)
    if (sender === receiver) return 'it goes to its sender'
    for (const [token, amount] of amounts) {
      if (amount <= 0n) return 'its amount is not positive'
      if (!this.#issuers.has(token)) return `${token} is no token`
      if (this.#issuers.get(token) !== sender && this.#balance(token, sender) < amount) {
        return `there is not enough ${token}`
      }
    }
    return null
  }

  #show(event: NostrEvent): void {
    const d = tagValue(event, 'd') ?? ''
    const [, token = '', pubkey = ''] = d.split(':')
    same(`the balance ${d}`, tagValue(event, 'amount'), String(this.#balance(token, pubkey)))
    if (event.created_at <= (this.#shown.get(d) ?? 0))
      throw new Mismatch(`${d} is told out of order`)
    this.#shown.set(d, event.created_at)
  }

  #balance(token: string, pubkey: string): bigint {
    return this.balances.get(`${token}:${pubkey}`) ?? 0n
  }

  #add(token: string, pubkey: string, amount: bigint): void {
    this.balances.set(`${token}:${pubkey}`, this.#balance(token, pubkey) + amount)
  }

  /** Compare with the disk: every balance, and sums of zero. */
  compare(disk: Disk): void {
    const rows = disk.look('SELECT token, lower(hex(pubkey)), balance FROM ledger_accounts') as [
      string,
      string,
      number,
    ][]
    const sums = new Map<string, number>()
    for (const [token, pubkey, balance] of rows) {
      const wanted = this.#balance(token, pubkey)
      if (BigInt(balance) !== wanted) same(`the balance of ${token}`, balance, Number(wanted))
      sums.set(token, (sums.get(token) ?? 0) + balance)
    }
    for (const [token, sum] of sums) same(`the sum of ${token}`, sum, 0)
    const nonzero = [...this.balances.values()].filter((amount) => amount !== 0n).length
    same('the accounts', rows.filter(([, , balance]) => balance !== 0).length, nonzero)
  }
}

function partsOf(start: NostrEvent) {
  const [, receiver = ['', '']] = start.tags.filter(([name]) => name === 'p')
  const { tokens } = JSON.parse(start.content) as { tokens: Record<string, number> }
  return {
    sender: tagValue(start, 'delegation') ?? start.pubkey,
    receiver: receiver[1] ?? '',
    amounts: Object.entries(tokens).map(([token, amount]) => [token, BigInt(amount)] as const),
  }
}
