import type { Signer } from '../../src/nostr/event.ts'
import { Random } from '../fuzz/random.ts'
import { mutate, mutateText } from '../fuzz/values.ts'
import { type Holder, manager, newHolder } from '../support/cards.ts'
import { createProof, type Json, nostrHeader } from '../support/client.ts'
import { base, type Received, type Sent } from './twins.ts'

/** A request before it is signed. */
export type Asking = {
  method: string
  path: string
  body?: unknown
  /** Signs it, or has a session. */
  by?: Signer
  /** Signed, although there is a session. */
  signed?: boolean
  key?: string | undefined
  type?: string
  headers?: Record<string, string>
  /** Work in the background decides the answer: it is asked again until both agree. */
  eventual?: true
  /** Called with the answer of the embedded engine. */
  learn?: (json: Json, status: number) => void
}

export type Numbers = readonly [number, number, number]

/** Makes a request from numbers. Null if there is nothing yet that it could be about. */
export type Maker = (world: World, numbers: Numbers) => Asking | null

export type Voucher = { nonce: string; handle: string | null; couponId: string; event: Json }
export type Card = {
  uid: string
  /** Its id for holders, once somebody activated it. */
  uuid: string
  otc: string
  counter: number
  holder: Holder | null
}

/** The knowledge of clients. It follows from the answers of the embedded engine. */
export class World {
  readonly people = ['ana', 'beto', 'caro', 'dani'].map((name, at) => {
    return { name, ...newHolder(new Uint8Array(32).fill(20 + at)) }
  })
  readonly manager = manager
  readonly sessions = new Map<string, string>()
  readonly coupons: { id: string; owner: Signer }[] = []
  readonly vouchers: Voucher[] = []
  readonly batches: { id: string; couponId: string }[] = []
  readonly posters: string[] = []
  readonly pictures: string[] = []
  readonly invitations: string[] = []
  readonly published: string[] = []
  readonly cards: Card[] = []
  readonly scans: string[] = []
  readonly held: string[] = []
  /** The last pages, with the cursor of each service to the next one. */
  readonly pages: { path: string; by: Signer; cursors: [string, string] }[] = []
  readonly #sent: { sent: Sent; eventual: boolean }[] = []

  /** A person; the two merchants more often. */
  person(number: number): Holder & { name: string } {
    return pick(
      [0, 0, 0, 1, 1, 2, 3].map((at) => this.people[at] as Holder & { name: string }),
      number,
    )
  }

  /** The owner of a coupon, or seldom somebody else. */
  owner(coupon: { owner: Signer }, number: number): Signer {
    return number % 9 === 0 ? this.person(number) : coupon.owner
  }

  /** The bytes of a request. Some are spoilt, but for those of the first steps. */
  send(asking: Asking, [, b, c]: Numbers): Sent {
    const random = new Random(b * 65_536 + c)
    const spoilt = (chance: number) => b > 9 && random.chance(chance)
    const { method, by, key, type } = asking
    let { path, body } = asking
    if (spoilt(0.12) && body !== undefined) body = mutate(random, body)
    if (spoilt(0.04)) path = mutatePath(random, path)
    let bytes = body instanceof Uint8Array ? body : body === undefined ? null : JSON.stringify(body)
    if (spoilt(0.01) && typeof bytes === 'string') bytes = mutateText(random, bytes)
    const headers: Record<string, string> = { ...asking.headers }
    if (bytes !== null) headers['Content-Type'] = type ?? 'application/json'
    if (key !== undefined) headers['Idempotency-Key'] = key
    if (by) headers.Authorization = this.#authorize(by, asking, { method, path, bytes })
    const sent = { method, path, headers, body: bytes }
    this.#sent.push({ sent, eventual: asking.eventual === true })
    return sent
  }

  /** The bytes of a request as it stands. */
  sign(asking: Asking): Sent {
    const { method, path, by } = asking
    const headers: Record<string, string> = {}
    if (by) headers.Authorization = this.#authorize(by, asking, { method, path, bytes: null })
    return { method, path, headers, body: null }
  }

  /** An earlier request, again with the same bytes. */
  again(number: number): { sent: Sent; eventual: boolean } | null {
    return this.#sent.length === 0 ? null : pick(this.#sent.slice(-30), number)
  }

  #authorize(
    by: Signer,
    { signed }: Asking,
    { method, path, bytes }: { method: string; path: string; bytes: string | Uint8Array | null },
  ): string {
    const token = this.sessions.get(by.pubkey)
    if (token !== undefined && !signed) return `Bearer ${token}`
    const body = bytes === null ? {} : { body: bytes }
    return nostrHeader(createProof(by, `${base}${path}`, { method, ...body }))
  }

  /** Remember the vouchers of an answer. */
  learn(json: Json): void {
    for (const one of [json, ...(json?.vouchers ?? [])]) {
      if (typeof one?.nonce !== 'string' || one.voucher?.kind === undefined) continue
      if (this.vouchers.some(({ nonce }) => nonce === one.nonce)) continue
      const { nonce, couponId, voucher } = one
      this.vouchers.push({ nonce, couponId, event: voucher, handle: null })
    }
    for (const { handle } of json?.mints ?? []) {
      const unnamed = this.vouchers.findLast((one) => one.handle === null)
      if (unnamed && typeof handle === 'string') unnamed.handle = handle
    }
  }

  /** A page of each service led to another one. */
  turned(path: string, by: Signer, bodies: readonly [Received, Received]): void {
    const cursors = bodies.map(({ body }) => cursorIn(body))
    const [first, second] = cursors
    if (typeof first === 'string' && typeof second === 'string') {
      this.pages.push({ path, by, cursors: [first, second] })
    }
  }
}

export function pick<T>(list: readonly T[], number: number): T {
  return list[number % list.length] as T
}

/** One of a list, the newest ones more often; null of an empty one. */
export function newest<T>(list: readonly T[], number: number): T | null {
  return list.length === 0 ? null : pick(list.slice(number % 4 ? -6 : 0), number)
}

export function cursorIn(body: string): unknown {
  try {
    return (JSON.parse(body) as Json)?.next
  } catch {
    return undefined
  }
}

/** Visible ASCII only: anything else is no request line. */
function mutatePath(random: Random, path: string): string {
  const at = 1 + random.below(path.length)
  const odd = ['%00', '%ff', '%2e%2e', 'ñ', '?', '&', '=', "'", '%', '_', '🧉', '%C3%91', 'A']
  const tails = ['?limit=0', '?limit=501', '?limit=1.5', '?cursor=AAAA', '?chain=1', '?from=x']
  const mutated = random.pick([
    path + random.pick(tails),
    path.slice(0, at) + random.pick(odd) + path.slice(at),
    path.slice(0, at),
    path.toUpperCase(),
    path.replace(
      /(limit|offset|cursor)=[^&]*/,
      `$1=${random.pick(['-1', '1e3', '9'.repeat(20), '%00', ''])}`,
    ),
  ])
  return encodeURI(mutated.replaceAll('%', '%25')).replaceAll('%25', '%')
}
