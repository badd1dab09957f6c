/** Operations without an answer yet. They survive a reload and a dead battery. */
import { asObject } from '../base/json.ts'
import type { Benefit } from '../coupons/benefit.ts'
import type { Money } from '../coupons/money.ts'
import { parseStored } from './json.ts'
import type { TextStore } from './texts.ts'

/** The name of a coupon as its shop gave it, and its benefit where it is known: pages tell both in any language. */
export type Named = { name: string; coupon?: Benefit }

/** `name` and `coupon` are shown while there is no answer. */
export type Pending = Named & {
  nonce: string
  /** The Idempotency-Key that fetches the answer. Another key for the same operation would be refused. */
  key: string
  startedAt: number
  /** The shop's key in the request (hex). A retry must send the same body. */
  owner?: string
  /** The purchase in the request, as the person named it. */
  purchase?: Money
  /** The person went on without its answer. */
  aside?: boolean
  /** Its answer came after the person went on, and was not shown with its coupon yet. */
  answered?: boolean
}

export type PendingList = {
  /** The entries without an answer. */
  all(): Pending[]
  /** The entry of a nonce, also an answered one. */
  find(nonce: string): Pending | null
  /** The entry of a nonce: the stored one, else a new one, which is stored before it is returned. */
  open(nonce: string, named: Named, sent?: Pick<Pending, 'owner' | 'purchase'>): Pending
  /** Note that the person went on without the answer. */
  putAside(nonce: string): void
  /**
   * Note that the answer came too late for the screen. The key tells its entry from a later one, which another
   * page opened for this nonce.
   */
  markAnswered(nonce: string, key: string): void
  /** Remove the entry of this nonce and key. */
  close(nonce: string, key: string): void
}

/** Bounds the list; the oldest entry gives way, and one without an answer last. */
const pendingMax = 50

type Wiring = { store: TextStore; name: string; now: () => number; newKey: () => string }

/** Where the store is full or forbidden, the list stays in memory: a page that lives still retries with its key. */
export function openPendingList({ store, name, now, newKey }: Wiring): PendingList {
  let unkept: Pending[] | null = null
  const entries = () => unkept ?? parsePendings(store.read(name))
  const find = (nonce: string) => entries().find((one) => one.nonce === nonce) ?? null
  const keep = (list: Pending[]) => {
    unkept = store.write(name, JSON.stringify(list)) ? null : list
  }
  const mark = (is: (one: Pending) => boolean, marks: Pick<Pending, 'aside' | 'answered'>) => {
    keep(entries().map((one) => (is(one) ? { ...one, ...marks } : one)))
  }
  const isEntry = (nonce: string, key: string) => (one: Pending) =>
    one.nonce === nonce && one.key === key
  const isOpen = ({ answered }: Pending) => !answered
  return {
    all: () => entries().filter(isOpen),
    find,
    open(nonce, { name: label, coupon }, sent = {}) {
      const known = find(nonce)
      if (known) return known
      const named = { name: label, ...(coupon && { coupon }) }
      const pending = { nonce, key: newKey(), startedAt: now(), ...named, ...sent }
      const answered = entries().filter((one) => !isOpen(one))
      keep([...answered, ...entries().filter(isOpen), pending].slice(-pendingMax))
      return pending
    },
    putAside: (nonce) => mark((one) => one.nonce === nonce, { aside: true }),
    markAnswered: (nonce, key) => mark(isEntry(nonce, key), { aside: true, answered: true }),
    close(nonce, key) {
      const closes = isEntry(nonce, key)
      keep(entries().filter((one) => !closes(one)))
    },
  }
}

function parsePendings(text: string | null): Pending[] {
  const list = parseStored(text)
  return Array.isArray(list) ? list.filter(isPending) : []
}

function isPending(value: unknown): value is Pending {
  const { nonce, key, startedAt, owner = '', purchase = {} } = asObject(value) ?? {}
  const texts = [nonce, key, owner].every((one) => typeof one === 'string')
  return texts && typeof startedAt === 'number' && asObject(purchase) !== null && isNamed(value)
}

/** Entries of older builds have no benefit. */
export function isNamed(value: unknown): value is Named {
  const { name, coupon = {} } = asObject(value) ?? {}
  return typeof name === 'string' && asObject(coupon) !== null
}
