/** Codes of coupons that the service has not told about yet: they were opened while it was out of reach. */

import { asObject } from '../../base/json.ts'
import { parseStored } from '../../client/json.ts'
import { isNonce } from '../../client/scan.ts'
import type { TextStore } from '../../client/texts.ts'

export type Unseen = { nonce: string; addedAt: number }

type UnseenList = {
  /** Newest first. */
  all(): Unseen[]
  has(nonce: string): boolean
  /** False when it was not stored. */
  add(nonce: string, addedAt: number): boolean
  remove(nonce: string): void
}

/** Bounds the list, and so the questions when the service is back. The oldest gives way. */
const unseenMax = 50

export function openUnseen(store: TextStore, name: string): UnseenList {
  const all = () => parseUnseen(store.read(name))
  const keep = (list: Unseen[]) => store.write(name, JSON.stringify(list))
  const without = (nonce: string) => all().filter((one) => one.nonce !== nonce)
  return {
    all,
    has: (nonce) => all().some((one) => one.nonce === nonce),
    add: (nonce, addedAt) => keep([{ nonce, addedAt }, ...without(nonce)].slice(0, unseenMax)),
    remove(nonce) {
      const rest = without(nonce)
      if (rest.length < all().length) keep(rest)
    },
  }
}

function parseUnseen(text: string | null): Unseen[] {
  const list = parseStored(text)
  return Array.isArray(list) ? list.filter(isUnseen) : []
}

function isUnseen(value: unknown): value is Unseen {
  const { nonce, addedAt } = asObject(value) ?? {}
  return typeof nonce === 'string' && isNonce(nonce) && typeof addedAt === 'number'
}
