import type { NostrEvent, Signer } from '../../../src/nostr/event.ts'
import type { Random } from '../../fuzz/random.ts'
import {
  call,
  createProof,
  type Json,
  newSigner,
  nostrHeader,
  openSession,
  percentBenefit,
} from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import { createEvent } from '../../support/events.ts'
import { connectRelay, type RelayClient } from '../../support/relay-client.ts'

type Kind = 'define' | 'edit' | 'mint' | 'claim' | 'refresh' | 'void' | 'kill' | 'publish'

/** A request of a client that was answered, or an event that the relay accepted. */
export type Step = {
  /** As the recording names it. */
  id: string
  kind: Kind
  method: string
  path: string
  body: string
  /** Idempotency-Key. */
  key: string | null
  /** The NIP-98 event that it was signed with. */
  proof: string | null
  status: number
  text: string
  /** The coupon or the voucher that it was about. */
  about: string
  event?: NostrEvent
}

/** A client with coupons of its own that sends one request after the other. */
export type Lane = { signer: Signer; token: string; steps: Step[] }

type Held = { nonce: string; couponId: string }

/** Sends the steps of a lane. */
export class Client {
  readonly lane: Lane = { signer: newSigner(), token: '', steps: [] }
  readonly #random: Random
  readonly #coupons: string[] = []
  /** Vouchers that can be spent. */
  #open: Held[] = []
  #notes: NostrEvent[] = []
  #base = ''
  #relay: RelayClient | null = null
  #serial = 0

  constructor(random: Random) {
    this.#random = random
  }

  async connect(base: string): Promise<void> {
    this.#base = base
    this.lane.token = await openSession(base, this.lane.signer)
    this.#relay = await connectRelay(base)
  }

  close(): void {
    this.#relay?.close()
  }

  async run(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent++) await this.#step()
  }

  #step(): Promise<void> {
    const roll = this.#random.next()
    if (this.#coupons.length === 0 || roll < 0.05) return this.#define()
    if (this.#open.length < 3 || roll < 0.2) return this.#mint(this.#random.chance(0.3) ? 3 : null)
    if (roll < 0.42) return this.#spend('claim')
    if (roll < 0.66) return this.#spend('refresh')
    if (roll < 0.72) return this.#void()
    if (roll < 0.74) return this.#kill()
    if (roll < 0.78) return this.#edit()
    return this.#publish()
  }

  async #define(): Promise<void> {
    const body = { name: `cupón ${this.#random.below(1000)}`, benefit: percentBenefit }
    const { coupon } = await this.#manage('define', 'POST', '/api/coupons', body, '')
    this.#coupons.push(coupon.id)
  }

  async #edit(): Promise<void> {
    const id = this.#random.pick(this.#coupons)
    const body = { name: `otro cupón ${this.#random.below(1000)}` }
    await this.#manage('edit', 'PATCH', `/api/coupons/${id}`, body, id)
  }

  async #mint(count: number | null): Promise<void> {
    const couponId = this.#random.pick(this.#coupons)
    const body = count === null ? { couponId } : { couponId, count }
    const json = await this.#manage('mint', 'POST', '/api/coupons/mint', body, couponId)
    const made: { nonce: string }[] = count === null ? [json] : json.vouchers
    this.#open.push(...made.map(({ nonce }) => ({ nonce, couponId })))
  }

  async #spend(kind: 'claim' | 'refresh'): Promise<void> {
    const { nonce, couponId } = this.#take()
    const keyed = kind === 'refresh' || this.#random.chance(0.3)
    const key = keyed ? this.#newKey() : null
    const path = `/api/coupons/${kind}`
    const json = await this.#send({ kind, method: 'POST', path, about: nonce, key }, { nonce })
    if (kind === 'refresh') this.#open.push({ nonce: json.nonce, couponId })
  }

  async #void(): Promise<void> {
    const { nonce, couponId } = this.#take()
    const path = `/api/coupons/${couponId}/mints/${nonce}`
    await this.#manage('void', 'DELETE', path, undefined, nonce)
  }

  async #kill(): Promise<void> {
    const couponId = this.#random.pick(this.#coupons)
    this.#open = this.#open.filter((one) => one.couponId !== couponId)
    await this.#manage('kill', 'DELETE', `/api/coupons/${couponId}/mints`, undefined, couponId)
  }

  /** A note, a newer version of a list, or the deletion of a note. */
  async #publish(): Promise<void> {
    const roll = this.#random.next()
    const gone = roll < 0.2 ? this.#notes.pop() : undefined
    const shape = gone
      ? { kind: 5, tags: [['e', gone.id]] }
      : roll < 0.6
        ? { kind: 1 }
        : { kind: 30_000, tags: [['d', 'lista']] }
    const createdAt = secondsNow() - 10_000 + this.#serial++
    const event = createEvent({ ...shape, signer: this.lane.signer, createdAt })
    const [accepted, message] = (await this.#relay?.publish(event)) ?? [false, 'not connected']
    if (!accepted) throw new Error(`the relay refused an event: ${message}`)
    if (event.kind === 1) this.#notes.push(event)
    this.lane.steps.push({
      ...{ id: event.id, kind: 'publish', method: '', path: '', body: '', key: null },
      ...{ proof: null, status: 200, text: '', about: '', event },
    })
  }

  /** A request of the merchant: by session or by signature, with or without an Idempotency-Key. */
  #manage(kind: Kind, method: string, path: string, body: unknown, about: string): Promise<Json> {
    const mayRepeat = kind === 'define' || kind === 'mint'
    const key = mayRepeat && this.#random.chance(0.4) ? this.#newKey() : null
    const signed = this.#random.chance(0.3) ? this.lane.signer : null
    return this.#send({ kind, method, path, about, key, signed }, body)
  }

  async #send(
    asked: Pick<Step, 'kind' | 'method' | 'path' | 'about' | 'key'> & { signed?: Signer | null },
    value: unknown,
  ): Promise<Json> {
    const { signed, ...about } = asked
    const { method, path, key } = about
    const id = crypto.randomUUID()
    const body = value === undefined ? '' : JSON.stringify(value)
    const bytes = body === '' ? {} : { body }
    const proof = signed ? createProof(signed, `${this.#base}${path}`, { method, ...bytes }) : null
    const free = asked.kind === 'claim' || asked.kind === 'refresh'
    const headers = {
      'X-Step': id,
      ...(key !== null && { 'Idempotency-Key': key }),
      ...(proof && { Authorization: nostrHeader(proof) }),
      ...(!proof && !free && { Authorization: `Bearer ${this.lane.token}` }),
    }
    const { status, text, json } = await call(this.#base, path, { method, ...bytes, headers })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    this.lane.steps.push({ ...about, id, body, proof: proof?.id ?? null, status, text })
    return json
  }

  #take(): Held {
    const [taken] = this.#open.splice(this.#random.below(this.#open.length), 1)
    if (!taken) throw new Error('no voucher is left')
    return taken
  }

  #newKey(): string {
    return `llave-${crypto.randomUUID()}`
  }
}
