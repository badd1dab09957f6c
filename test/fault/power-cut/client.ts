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
import { pngOf } from '../../support/pictures.ts'
import { connectRelay, type RelayClient } from '../../support/relay-client.ts'
import { until } from '../../support/until.ts'
import { askControl } from './control.ts'
import { Holder } from './holder.ts'
import type { Operator } from './operator.ts'

type Kind =
  | ('define' | 'edit' | 'mint' | 'claim' | 'refresh' | 'void' | 'kill' | 'publish')
  | ('hang' | 'take' | 'upload' | 'send' | 'confirm' | 'end')
  | ('nonce' | 'register' | 'transfer' | 'move' | 'write' | 'activate' | 'wipe' | 'tap' | 'pay')

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
  proof: Pick<NostrEvent, 'id' | 'created_at'> | null
  status: number
  text: string
  /** Attempts at it that were refused, or not answered. */
  refused: number
  /** The coupon, the voucher, … that it was about. */
  about: string
  event?: NostrEvent
  /** The facts that are true from then on, as facts.ts names them. */
  facts: Record<string, string>
}

/** A request of a step. Its facts follow from its answer. */
export type Asked = Pick<Step, 'kind' | 'method' | 'path' | 'about' | 'key'> & {
  /** Signs it with NIP-98. */
  signed?: Signer | null
  headers?: Record<string, string>
  facts?: (answer: Json) => Record<string, string>
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
  readonly #posters: { id: string; couponId: string; taken: number }[] = []
  /** Events of the outbox of which no answer said that the relay has them. */
  readonly #sent: string[] = []
  readonly #holder: Holder
  /** The nonce that this client spends now. Others look at it meanwhile. */
  spending: string | null = null
  #base = ''
  #socket = ''
  #relay: RelayClient | null = null
  #serial = 0
  #running = Promise.resolve()
  readonly #insistent: boolean
  /** Requests that were refused because of the disk, or not answered. */
  refused = 0

  /** `insistent`: it sends only what can be repeated, and repeats it until it is answered, also at the next process. */
  constructor(operator: Operator, random: Random, insistent = false) {
    this.#random = random
    this.#insistent = insistent
    this.#holder = new Holder(operator, random, (asked, value) => this.#send(asked, value))
  }

  /** `socket`: of the operator. */
  async connect(base: string, socket: string): Promise<void> {
    this.#base = base
    this.#socket = socket
    await until('a session', async () => {
      this.lane.token = await openSession(base, this.lane.signer)
      return this.lane.token !== undefined
    })
    if (!this.#insistent) this.#relay = await connectRelay(base)
  }

  close(): void {
    this.#relay?.close()
  }

  /** It sends one request after the other, also if an earlier run waits for the next process. */
  run(count: number): Promise<void> {
    const before = this.#running
    const runAll = async () => {
      await before
      for (let sent = 0; sent < count; sent++) await this.#step()
    }
    this.#running = runAll()
    return this.#running
  }

  #step(): Promise<unknown> {
    if (this.#coupons.length === 0) return this.#define()
    if (this.#insistent) return this.#stepThatRepeats()
    // Also a short life has events of the relay.
    if (!this.lane.steps.some(({ kind }) => kind === 'publish')) return this.#publish()
    if (this.#random.chance(0.3)) {
      const give = () => (this.#open.length > 0 ? this.#take().nonce : null)
      return this.#holder.step(this.#base, give)
    }
    return this.#random.chance(0.25) ? this.#stepOfShop() : this.#stepOfCoupons()
  }

  /** Posters, pictures, events for other relays, and the end of sessions. */
  #stepOfShop(): Promise<unknown> {
    const roll = this.#random.next()
    if (this.#posters.length === 0 || roll < 0.1) return this.#hang()
    if (roll < 0.4) return this.#takeFromPoster()
    if (roll < 0.55) return this.#upload()
    const sent = roll < 0.75 ? this.#sent.shift() : undefined
    if (sent !== undefined) return this.#confirm(sent)
    return roll < 0.9 ? this.#sendOut() : this.#endSessions()
  }

  #stepOfCoupons(): Promise<void> {
    const roll = this.#random.next()
    if (roll < 0.05) return this.#define()
    if (this.#open.length < 3 || roll < 0.2) return this.#mint(this.#random.chance(0.3) ? 3 : null)
    if (roll < 0.42) return this.#spend('claim')
    if (roll < 0.66) return this.#spend('refresh')
    if (roll < 0.72) return this.#void()
    if (roll < 0.74) return this.#kill()
    if (roll < 0.78) return this.#edit()
    return this.#publish()
  }

  #stepThatRepeats(): Promise<void> {
    const roll = this.#random.next()
    if (roll < 0.05) return this.#define()
    if (this.#open.length < 3 || roll < 0.4) return this.#mint(this.#random.chance(0.3) ? 40 : null)
    return this.#spend(roll < 0.7 ? 'claim' : 'refresh')
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
    this.spending = nonce
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
      ...{ proof: null, status: 200, text: '', refused: 0, about: '', event, facts: {} },
    })
  }

  async #hang(): Promise<void> {
    const couponId = this.#random.pick(this.#coupons)
    const facts = ({ poster }: Json) => ({ [`poster ${poster.id}`]: '0' })
    const body = { couponId, perPerson: 100 }
    const about = {
      kind: 'hang',
      method: 'POST',
      path: '/api/posters',
      about: '',
      key: null,
    } as const
    const { poster } = await this.#send({ ...about, facts }, body)
    this.#posters.push({ id: poster.id, couponId, taken: 0 })
  }

  async #takeFromPoster(): Promise<void> {
    const poster = this.#random.pick(this.#posters)
    const { id, couponId } = poster
    poster.taken++
    const facts = () => ({ [`poster ${id}`]: String(poster.taken) })
    const about = { method: 'POST', path: `/api/posters/${id}/take`, about: couponId, facts }
    const json = await this.#send({ kind: 'take', ...about, key: this.#newKey() })
    this.#open.push({ nonce: json.nonce, couponId })
  }

  async #upload(): Promise<void> {
    const [width, height, shade] = [20, 20, 250].map((most) => 1 + this.#random.below(most))
    const content = pngOf(width ?? 1, height ?? 1, { shade: shade ?? 0 })
    const facts = ({ picture: { hash } }: Json) => ({ [`picture ${hash}`]: 'whole' })
    const about = { kind: 'upload', method: 'POST', path: '/api/pictures', about: '' } as const
    await this.#send({ ...about, key: null, facts }, content)
  }

  /** An event for the relay elsewhere. */
  async #sendOut(): Promise<void> {
    const event = createEvent({ signer: this.lane.signer })
    const facts = () => ({ [`event ${event.id}`]: 'kept' })
    const about = { kind: 'send', method: 'POST', path: '/nostr/publish', about: '' } as const
    await this.#send({ ...about, key: null, facts }, event)
    this.#sent.push(event.id)
  }

  /** Ask until the relay has an event. The last answer is the step. */
  async #confirm(id: string): Promise<void> {
    const path = `/nostr/publish/${id}`
    await until('an event is delivered', async () => {
      return (await call(this.#base, path)).json.status === 'delivered'
    })
    const facts = () => ({ [`event ${id}`]: 'delivered' })
    await this.#send({ kind: 'confirm', method: 'GET', path, about: id, key: null, facts })
  }

  /** The operator ends the sessions of this client, and it opens a new one. */
  async #endSessions(): Promise<void> {
    const { signer, token } = this.lane
    const id = crypto.randomUUID()
    await askControl(this.#socket, 'POST', 'sessions', { step: id, body: { key: signer.pubkey } })
    this.lane.steps.push({
      ...{ id, kind: 'end', method: 'GET', path: '/api/coupons', body: '', key: null, proof: null },
      ...{
        status: 401,
        text: '',
        refused: 0,
        about: token,
        facts: { [`session ${token}`]: 'ended' },
      },
    })
    this.lane.token = await openSession(this.#base, signer)
  }

  /** A request of the merchant: by session or by signature, with or without an Idempotency-Key. */
  #manage(kind: Kind, method: string, path: string, body: unknown, about: string): Promise<Json> {
    const mayRepeat = kind === 'define' || kind === 'mint'
    const key = mayRepeat && (this.#insistent || this.#random.chance(0.4)) ? this.#newKey() : null
    const signed = this.#random.chance(0.3) ? this.lane.signer : null
    return this.#send({ kind, method, path, about, key, signed }, body)
  }

  async #send(asked: Asked, value?: unknown): Promise<Json> {
    const { signed, headers, facts, ...about } = asked
    const before = this.refused
    let sent = await this.#try(asked, value)
    while (this.#insistent && (sent === null || sent.status === 503)) {
      this.refused++
      await Bun.sleep(5)
      sent = await this.#try(asked, value)
    }
    this.spending = null
    if (sent === null || sent.status >= 300) {
      throw new Error(`${asked.method} ${asked.path}: ${sent?.status} ${sent?.text}`)
    }
    const { json, ...answered } = sent
    const refused = this.refused - before
    this.lane.steps.push({ ...about, ...answered, refused, facts: facts?.(json) ?? {} })
    return json
  }

  /** Send a request. Null: there is no answer, and the client is one that repeats its requests. */
  async #try({ signed, headers: more, ...asked }: Asked, value: unknown) {
    const { method, path, key } = asked
    const id = crypto.randomUUID()
    const bytes = value instanceof Uint8Array
    const body = value === undefined || bytes ? '' : JSON.stringify(value)
    const sent = bytes ? { body: value } : body === '' ? {} : { body }
    const proof = signed ? createProof(signed, `${this.#base}${path}`, { method, ...sent }) : null
    const headers = {
      'X-Step': id,
      ...(key !== null && { 'Idempotency-Key': key }),
      ...(proof && { Authorization: nostrHeader(proof) }),
      ...(!proof && byMerchant.has(asked.kind) && { Authorization: `Bearer ${this.lane.token}` }),
      ...more,
    }
    try {
      const { status, text, json } = await call(this.#base, path, { method, ...sent, headers })
      return { id, body, proof, status, text, json }
    } catch (cause) {
      if (!this.#insistent) throw cause
      return null
    }
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

/** Steps that the session of the merchant, or its signature, allows. */
export const byMerchant: ReadonlySet<Kind> = new Set<Kind>([
  ...(['define', 'edit', 'mint', 'void', 'kill', 'hang', 'take', 'upload'] as const),
])
