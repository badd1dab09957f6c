/**
 * Roots: the rows that an operation decides on. `transact` takes them, and an engine whose operations overlap
 * locks them before the operation reads. A root without a row is locked by its name. Roots are locked in the
 * order of the kinds below, and within a kind in the order of keys.
 */
export type Root =
  /** The whole installation: facts, tokens, cut-offs of sessions, and work that one node does for all. */
  | 'instance'
  /** The merchants that were let in, with their number, and the setup code. */
  | 'roster'
  /** The answer under an Idempotency-Key, by its slot: for operations on rows that they share. */
  | { answer: string }
  /**
   * A definition, by its UUID. `shared` keeps it as it is while others share it; `changed` is for its
   * owner's changes, the kill switch, and batches. Includes its posters.
   */
  | { definition: string; mode: 'shared' | 'changed' }
  /** A chain of refreshes, named by the handle of any voucher in it. Includes its definition, shared. */
  | { voucher: Uint8Array }
  /** The number of a merchant's definitions and of its minters, its announcement, its shop and its pictures. */
  | { merchant: string }
  /** A signed event, by its id: the answer to it, and its row in the outbox. */
  | { event: string }
  /** The same row of the outbox, by its id. */
  | { queued: number }
  /** The number of an issuer's open nonces of identities. */
  | { issuer: string }
  /** A nonce of an identity, by its hash. */
  | { nonce: Uint8Array }
  /** An identity, named by its key. Includes its inbox, transfers and cards. */
  | { holder: string }
  /** Another service of vouchers: the transfers from it. */
  | { service: string }
  /** A scan, named by its k1. Includes the card. */
  | { scan: string }
  /** A payment by card, named by its row id. Includes the card. */
  | { payment: number }
  /** The newest card of a tag, by the tag's UID; its payments are what its limits sum up. */
  | { card: string }
  /** A lightning invoice, by its payment hash: it is paid once. */
  | { invoice: string }
  /** A token of the ledger, by its name. `shared` keeps its terms as they are; `changed` is for others. */
  | { terms: string; mode: 'shared' | 'changed' }
  /** The balance of a token that a key has in the ledger. */
  | { balance: string; token: string }
  /** Growth of a merchant by day, where there are quotas. */
  | { quota: string }
  /** The URL of a picture that definitions name, so that its row stays as long as one of them does. */
  | { image: string }
  /** Events of an author in the embedded relay. */
  | { author: string }

/** `none`: the operation decides on nothing that another one could change. */
export type Roots = 'none' | readonly Root[]

type Kind = Root extends infer One
  ? One extends string
    ? One
    : Exclude<keyof One, 'mode' | 'token'>
  : never

const order: Record<Kind, number> = {
  instance: 0,
  roster: 1,
  answer: 2,
  definition: 3,
  voucher: 4,
  merchant: 5,
  event: 6,
  queued: 7,
  issuer: 8,
  nonce: 9,
  holder: 10,
  service: 11,
  scan: 12,
  payment: 13,
  card: 14,
  invoice: 15,
  terms: 16,
  balance: 17,
  quota: 18,
  image: 19,
  author: 20,
}

/** The place of a root's kind in the order of locking. */
export function placeOf(root: Root): number {
  return order[kindOf(root)]
}

/** The kind of a root: its name, or the name of its key. */
export function kindOf(root: Root): Kind {
  if (typeof root === 'string') return root
  return Object.keys(root).find((key) => key in order) as Kind
}
