import { randomBytes } from 'node:crypto'
import { limits } from '../../../src/base/limits.ts'
import { npubOf } from '../../../src/nostr/keys.ts'
import { createKeyDerivation } from '../../../src/wallet/cards/tag.ts'
import { createTap } from '../../../src/wallet/cards/tap.ts'
import type { Random } from '../../fuzz/random.ts'
import { delegationOf, type Holder as Key, newHolder, newUid } from '../../support/cards.ts'
import type { Json } from '../../support/client.ts'
import { createEvent } from '../../support/events.ts'
import { identityEvent } from '../../support/identities.ts'
import { createStart } from '../../support/ledger.ts'
import type { Asked } from './client.ts'
import { token } from './facts.ts'
import type { Operator } from './operator.ts'

/** Sends a request of a step; the JSON of its answer. */
export type Send = (asked: Asked, value?: unknown) => Promise<Json>

type Person = { key: Key; name: string | null; balance: number; vouchers: number }
type Card = { uid: string; owner: Person; counter: number; scans: string[] }

const post = { method: 'POST', about: '', key: null } as const

/** The people of a lane with their names, balances, cards and inboxes. Only this lane moves anything of theirs. */
export class Holder {
  readonly #send: Send
  readonly #random: Random
  readonly #operator: Operator
  readonly #people: [Person, Person]
  #cards: Card[] = []
  #written: { uid: string; otc: string } | null = null
  #nonce: string | null = null

  constructor(operator: Operator, random: Random, send: Send) {
    this.#operator = operator
    this.#random = random
    this.#send = send
    const create = () => ({ key: newHolder(), name: null, balance: 0, vouchers: 0 })
    this.#people = [create(), create()]
  }

  /** One step of these people. `vouchers` gives one away. */
  step(base: string, take: () => string | null): Promise<unknown> {
    const [one, other] = this.#people
    const card = this.#cards.length > 0 ? this.#random.pick(this.#cards) : null
    const named = this.#people.find(
      ({ name, vouchers }) => name !== null && vouchers < limits.inboxPerMerchantMax,
    )
    const roll = this.#random.next()
    if (roll < 0.3 && named) {
      const nonce = take()
      if (nonce !== null) return this.#handOver(named, nonce, new URL(base).host)
    }
    if (one.name === null || other.name === null) {
      if (this.#nonce === null) return this.#newNonce()
      if (roll < 0.5) return this.#register(one.name === null ? one : other, this.#nonce)
    }
    if (this.#written) return this.#activate(one, this.#written)
    if (one.balance < 10) return this.#move(null, one, 100)
    if (!card || roll < 0.35) return this.#write()
    if (roll < 0.5) return this.#move(one, other, 1 + this.#random.below(9))
    if (roll < 0.55) return this.#wipe(card)
    const k1 = card.scans.pop()
    return k1 === undefined || roll < 0.7 ? this.#tap(card) : this.#pay(card, k1, other)
  }

  async #newNonce(): Promise<void> {
    const tags = [
      ['t', 'create-nonce'],
      ['unique', randomBytes(8).toString('hex')],
    ]
    const event = createEvent({ kind: 1112, tags, content: '', signer: this.#operator.signer })
    const facts = ({ nonce }: Json) => ({ [`nonce ${nonce}`]: 'open' })
    const { nonce } = await this.#send({ ...post, kind: 'nonce', path: '/api/nonce', facts }, event)
    this.#nonce = nonce
  }

  async #register(person: Person, nonce: string): Promise<void> {
    const name = `p${randomBytes(8).toString('hex')}`
    const { pubkey } = person.key
    const event = identityEvent(this.#operator.signer, nonce, { name, pubkey })
    const facts = () => ({ [`name ${name}`]: pubkey, [`nonce ${nonce}`]: 'burned' })
    await this.#send(
      { ...post, kind: 'register', path: '/api/identity', about: name, facts },
      event,
    )
    person.name = name
    this.#nonce = null
  }

  /** Hand a voucher to a name of this service. */
  async #handOver(person: Person, nonce: string, host: string): Promise<void> {
    person.vouchers++
    const facts = () => ({ [`inbox ${person.key.pubkey}`]: String(person.vouchers) })
    const asked = { ...post, kind: 'transfer', path: '/api/transfer', about: nonce, facts } as const
    const { status, reason } = await this.#send(asked, { nonce, to: `${person.name}@${host}` })
    if (status !== 'SENT') throw new Error(`a transfer came to ${status}: ${reason}`)
  }

  /** Tokens move. `from` null: they are issued. */
  async #move(from: Person | null, to: Person, amount: number): Promise<void> {
    const event = createStart({
      ...{ ledger: this.#operator.manager, from: from?.key ?? this.#operator.signer },
      ...{ to: to.key.pubkey, tokens: { [token]: amount }, memo: crypto.randomUUID() },
    })
    if (from) from.balance -= amount
    to.balance += amount
    const facts = () => ({
      ...this.#balances(...(from ? [from] : []), to),
      [`movement ${event.id}`]: '2 entries, sum 0',
    })
    await this.#send({ ...post, kind: 'move', path: '/nostr/publish', facts }, event)
  }

  #balances(...people: Person[]): Record<string, string> {
    const told = people.map(({ key, balance }) => [`balance ${key.pubkey}`, String(balance)])
    return Object.fromEntries(told)
  }

  /** A request event to the manager. */
  #request(type: string, content: unknown, signer = this.#operator.signer) {
    const tags = [
      ['p', this.#operator.manager],
      ['t', type],
      ['nonce', crypto.randomUUID()],
    ]
    return createEvent({ kind: 21_111, signer, tags, content: JSON.stringify(content) })
  }

  async #write(): Promise<void> {
    const uid = newUid()
    const facts = () => ({ [`card ${uid}`]: 'written', [`counter ${uid}`]: '0' })
    const event = this.#request('card-init-request', { cid: uid, ctr: 0 })
    const json = await this.#send({ ...post, kind: 'write', path: '/ntag424', facts }, event)
    this.#written = { uid, otc: JSON.parse(json.content).otc }
  }

  async #activate(owner: Person, { uid, otc }: { uid: string; otc: string }): Promise<void> {
    const delegation = delegationOf(owner.key, undefined, this.#operator.manager)
    const event = this.#request('card-activation-request', { otc, delegation }, owner.key)
    const facts = () => ({ [`card ${uid}`]: 'active' })
    await this.#send({ ...post, kind: 'activate', path: '/card', facts }, event)
    this.#written = null
    this.#cards.push({ uid, owner, counter: 0, scans: [] })
  }

  async #wipe(card: Card): Promise<void> {
    this.#cards = this.#cards.filter((one) => one !== card)
    const facts = () => ({ [`card ${card.uid}`]: 'deleted' })
    const event = this.#request('card-delete-request', { cid: card.uid })
    await this.#send({ ...post, kind: 'wipe', method: 'DELETE', path: '/ntag424', facts }, event)
  }

  async #tap(card: Card): Promise<void> {
    const [uid, counter] = [Uint8Array.fromHex(card.uid), ++card.counter]
    const keys = createKeyDerivation(Uint8Array.fromHex(this.#operator.cardKey)).keysOf(uid, 1)
    const { p, c } = createTap({ uid, counter }, keys, randomBytes(5))
    const facts = ({ k1 }: Json) => ({
      [`counter ${card.uid}`]: String(counter),
      [`k1 ${k1}`]: 'free',
    })
    const headers = {
      'X-LaWallet-Action': 'extendedScan',
      'X-LaWallet-Param': 'federationId=localhost',
    }
    const path = `/card/scan?p=${p}&c=${c}`
    const asked = { ...post, kind: 'tap', method: 'GET', path, facts, headers } as const
    const { k1 } = await this.#send(asked)
    if (k1 === undefined) throw new Error('a tap has no k1')
    card.scans.push(k1)
  }

  async #pay({ owner }: Card, k1: string, till: Person): Promise<void> {
    const content = { k1, npub: npubOf(till.key.pubkey), tokens: { [token]: 1 } }
    const event = this.#request('service:withdrawRequest', content, newHolder())
    owner.balance--
    till.balance++
    const facts = () => ({ [`k1 ${k1}`]: 'settled', ...this.#balances(owner, till) })
    const asked = { ...post, kind: 'pay', path: '/card/pay', about: k1, facts } as const
    const { status } = await this.#send(asked, event)
    if (status !== 'OK') throw new Error(`a payment came to ${status}`)
  }
}
