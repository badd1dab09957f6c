/** Operations whose answer is not known yet, kept where a reload or a dead battery does not reach them. */
import { parseJson } from './json.ts'
import type { TextStore } from './texts.ts'

export type Pending = {
  nonce: string
  /** The Idempotency-Key that fetches the answer: never another one for the same operation. */
  key: string
  startedAt: number
  /** What the person reads while it is not settled. */
  name: string
  /** The shop's key, in hex, that the request names: a retry names the same. */
  owner?: string
}

export type PendingList = {
  all(): Pending[]
  find(nonce: string): Pending | null
  /** The entry of that nonce: the one that is there already, else a new one. Kept before it is returned. */
  open(nonce: string, name: string, owner?: string): Pending
  close(nonce: string): void
}

/** Settled or not, a till does not owe more answers than this; the oldest gives way. */
const pendingMax = 50

type Wiring = { store: TextStore; name: string; now: () => number; newKey: () => string }

/** A list that the store cannot keep is kept in memory: worth less, and better than a new key. */
export function openPendingList({ store, name, now, newKey }: Wiring): PendingList {
  let unkept: Pending[] | null = null
  const all = () => unkept ?? parsePendings(store.read(name))
  const keep = (list: Pending[]) => {
    unkept = store.write(name, JSON.stringify(list)) ? null : list
  }
  return {
    all,
    find: (nonce) => all().find((one) => one.nonce === nonce) ?? null,
    open(nonce, label, owner) {
      const known = all().find((one) => one.nonce === nonce)
      if (known) return known
      const named = owner === undefined ? {} : { owner }
      const pending = { nonce, key: newKey(), startedAt: now(), name: label, ...named }
      keep([...all(), pending].slice(-pendingMax))
      return pending
    },
    close(nonce) {
      keep(all().filter((one) => one.nonce !== nonce))
    },
  }
}

function parsePendings(text: string | null): Pending[] {
  const list = parseJson(text)
  return Array.isArray(list) ? list.filter(isPending) : []
}

function isPending(value: unknown): value is Pending {
  if (typeof value !== 'object' || value === null) return false
  const { nonce, key, startedAt, name, owner = '' } = value as Record<string, unknown>
  const texts = [nonce, key, name, owner].every((one) => typeof one === 'string')
  return texts && typeof startedAt === 'number'
}
