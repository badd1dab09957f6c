import { hexOf } from '../../base/bytes.ts'
import { placeOf, type Root } from '../roots.ts'
import type { SqlValue } from '../sql.ts'
import type { OpenTransaction } from './session.ts'

/** A statement that locks, for as long as its transaction. */
type Lock = { text: string; params: SqlValue[] }

/** The lock of a name: a number from the text of its kind and key. */
const named = (text: string) => `SELECT pg_advisory_xact_lock(hashtextextended(${text}, 0))`
/** Shared with others. A change that waits for them comes before those that ask after it. */
const shared = (text: string) => `SELECT pg_advisory_xact_lock_shared(hashtextextended(${text}, 0))`
const ofKey = (kind: string, key: string | Uint8Array): Lock => ({
  text: named('$1'),
  params: [`${kind} ${typeof key === 'string' ? key : hexOf(key)}`],
})
const inMode = (mode: 'shared' | 'changed', name: string): Lock => ({
  text: mode === 'shared' ? shared('$1') : named('$1'),
  params: [name],
})
const cardOf = (source: string) =>
  `${named("'card ' || encode(c.cid, 'hex')")} FROM ${source} JOIN cards c ON c.id = s.card_id`

/** Kinds of roots by the name of their key, each with its locks in their order. */
const locksOf: { [Kind in Exclude<KeyOf<Root>, 'mode' | 'token'>]: (root: never) => Lock[] } = {
  answer: ({ answer }: Extract<Root, { answer: string }>) => [ofKey('answer', answer)],
  definition: ({ definition, mode }: Extract<Root, { definition: string }>) => [
    inMode(mode, `definition ${definition}`),
  ],
  // Definition and chain of a voucher never change, so that a read can name them.
  voucher: ({ voucher }: Extract<Root, { voucher: Uint8Array }>) => [
    // The row is locked last: FOR works on rows whose columns are computed, and here one of them locks the definition.
    {
      text: `${shared("'definition ' || d.uuid")} FROM vouchers v
        JOIN definitions d ON d.id = v.definition_id
        JOIN vouchers root ON root.id = coalesce(v.root_id, v.id)
        WHERE v.handle = $1 FOR NO KEY UPDATE OF root`,
      params: [voucher],
    },
  ],
  merchant: ({ merchant }: Extract<Root, { merchant: string }>) => [ofKey('merchant', merchant)],
  event: ({ event }: Extract<Root, { event: string }>) => [ofKey('event', event)],
  queued: ({ queued }: Extract<Root, { queued: number }>) => [
    {
      text: `${named("'event ' || encode(event_id, 'hex')")} FROM outbox WHERE id = $1`,
      params: [queued],
    },
  ],
  issuer: ({ issuer }: Extract<Root, { issuer: string }>) => [ofKey('issuer', issuer)],
  nonce: ({ nonce }: Extract<Root, { nonce: Uint8Array }>) => [ofKey('nonce', nonce)],
  holder: ({ holder }: Extract<Root, { holder: string }>) => [ofKey('holder', holder)],
  service: ({ service }: Extract<Root, { service: string }>) => [ofKey('service', service)],
  scan: ({ scan }: Extract<Root, { scan: string }>) => [
    ofKey('scan', scan),
    {
      text: `${cardOf('card_scans s')}
        WHERE s.k1_hash = substring(sha256(convert_to($1, 'UTF8')) FOR 16)`,
      params: [scan],
    },
  ],
  payment: ({ payment }: Extract<Root, { payment: number }>) => [
    ofKey('payment', String(payment)),
    { text: `${cardOf('card_payments s')} WHERE s.id = $1`, params: [payment] },
  ],
  card: ({ card }: Extract<Root, { card: string }>) => [ofKey('card', card)],
  invoice: ({ invoice }: Extract<Root, { invoice: string }>) => [ofKey('invoice', invoice)],
  terms: ({ terms, mode }: Extract<Root, { terms: string }>) => [inMode(mode, `terms ${terms}`)],
  balance: ({ balance, token }: Extract<Root, { balance: string }>) => [
    ofKey('balance', `${token} ${balance}`),
  ],
  quota: ({ quota }: Extract<Root, { quota: string }>) => [ofKey('quota', quota)],
  image: ({ image }: Extract<Root, { image: string }>) => [ofKey('image', image)],
  author: ({ author }: Extract<Root, { author: string }>) => [ofKey('author', author)],
}

type KeyOf<Union> = Union extends string ? never : keyof Union

/** Lock the roots of an operation. */
export function lock(transaction: OpenTransaction, roots: readonly Root[]): void {
  for (const { text, params } of locksFor(roots)) transaction.post(text, params)
}

/** The locks of roots in the order of roots.ts, so that no two operations wait for each other. */
function locksFor(roots: readonly Root[]): Lock[] {
  return roots
    .map((root) => ({ root, place: placeOf(root), key: keyOf(root) }))
    .sort((a, b) => a.place - b.place || (a.key < b.key ? -1 : 1))
    .flatMap(({ root }) => locksOfRoot(root))
}

function locksOfRoot(root: Root): Lock[] {
  if (typeof root === 'string') return [ofKey(root, '')]
  const kind = Object.keys(root).find((key) => key in locksOf) as keyof typeof locksOf
  return (locksOf[kind] as (root: Root) => Lock[])(root)
}

/** A text that orders the roots of one kind. */
function keyOf(root: Root): string {
  return JSON.stringify(root, (_, value) => (value instanceof Uint8Array ? hexOf(value) : value))
}
