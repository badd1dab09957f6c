import { limits } from '../base/limits.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import {
  contentObject,
  type NostrEvent,
  parseEvent,
  type Signer,
  tagValue,
  type VerifyEvent,
  withTextContent,
} from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import type { RequestStore } from './request-store.ts'

/** A checked request event for this service. */
export type WalletRequest = {
  event: NostrEvent
  /** The key that asks: the author of the event, or the delegator of a valid delegation (NIP-26). */
  author: string
  /** The JSON object in its content; null when there is none. */
  content: Record<string, unknown> | null
}

export type Checks = { verify: VerifyEvent; now: () => number }

/** The requests that a route takes, and its codes for all others. */
type Asked = {
  kinds: readonly number[]
  /** Texts of the first `t` tag; null: any but that of an answer. */
  types: readonly string[] | null
  /** An event without a `t` tag passes, too. */
  untyped?: boolean
  /** The key that asks with a verified event; null when its delegation is not valid. */
  authorOf: (event: NostrEvent) => string | null
  /** Code for no event, another kind or type, a wrong id or signature, an invalid delegation. */
  invalid: RefusalCode
  /** Code for a date more than `requestWindowSeconds` from now. */
  stale: RefusalCode
}

/** The request in an untrusted value. Refuses with `asked.invalid` and `asked.stale`. */
export function readRequest(checks: Checks, value: unknown, asked: Asked): WalletRequest {
  const event = parseEvent(withTextContent(value))
  if (!event || !asked.kinds.includes(event.kind) || !typed(event, asked)) {
    throw new Refusal(asked.invalid)
  }
  if (!checks.verify(event)) throw new Refusal(asked.invalid)
  const author = asked.authorOf(event)
  if (author === null) throw new Refusal(asked.invalid)
  if (Math.abs(checks.now() - event.created_at) > limits.requestWindowSeconds) {
    throw new Refusal(asked.stale)
  }
  return { event, author, content: contentObject(event.content) }
}

/**
 * Store a request in the transaction that grants it; `answer` is repeated when it comes again. Refuses
 * `event-repeated`, and `overloaded` when `rowsMax` are stored.
 */
export async function rememberRequest(
  requests: RequestStore,
  { event }: WalletRequest,
  answer: Uint8Array | null = null,
  rowsMax: number = limits.requestsMax,
): Promise<void> {
  if (await requests.find(event.id)) throw new Refusal('event-repeated')
  if ((await requests.load()) >= rowsMax) {
    throw new Refusal('overloaded', { retryAfter: limits.requestWindowSeconds })
  }
  await requests.insert(event.id, answer, event.created_at + limits.requestWindowSeconds)
}

/** The answer to a request as an event of the manager's: kind 21111, tags `p`, `e`, `t`. */
export function createResponse(
  manager: Signer,
  { event }: WalletRequest,
  { type, content, now }: { type: string; content: string; now: number },
): NostrEvent {
  return manager.sign({
    kind: kinds.walletEphemeral,
    created_at: now,
    tags: [
      ['p', event.pubkey],
      ['e', event.id],
      ['t', type],
    ],
    content,
  })
}

/** Types of answers. They are no requests, although a ledger's ok repeats a stranger's content. */
const answerTypes = /^internal-transaction-|-response$/

function typed(event: NostrEvent, { types, untyped }: Asked): boolean {
  const found = tagValue(event, 't')
  if (types === null) return !answerTypes.test(found ?? '')
  return found === undefined ? untyped === true : types.includes(found)
}
