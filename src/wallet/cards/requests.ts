import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { seal, unseal } from '../../crypto/seal.ts'
import type { AfterCommit, Locking } from '../../db/database.ts'
import type { Root } from '../../db/roots.ts'
import { authorThrough } from '../../nostr/delegation.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import { kinds } from '../../nostr/kinds.ts'
import { readRequest, rememberRequest } from '../request.ts'
import type { CardStores, Cards } from './service.ts'

/** A checked request event about cards. */
export type CardRequest = Omit<ReturnType<typeof readRequest>, 'content'> & {
  content: Record<string, unknown>
}

type Expected = {
  /** Its first `t` tag; null: any but that of an answer. */
  type: string | null
  untyped?: boolean
  kinds?: readonly number[]
  /** Its content may be empty. */
  empty?: boolean
}

/** Refusals that a route has when it reads a request with `readCardRequest`. */
export const eventRefusals = [
  'card-event-invalid',
  'card-event-stale',
  'card-content-invalid',
] as const

/**
 * The request in an untrusted value. Refuses `card-event-invalid`, `card-event-stale`, and
 * `card-content-invalid` when its content is no JSON object.
 */
export function readCardRequest(cards: Cards, value: unknown, expected: Expected): CardRequest {
  const { type, untyped = false, kinds: taken = eitherKind, empty = false } = expected
  const request = readRequest(cards, value, {
    kinds: taken,
    types: type === null ? null : [type],
    untyped,
    authorOf: (event) => authorThrough(cards.signer.pubkey, event, cards.verifyHash),
    invalid: 'card-event-invalid',
    stale: 'card-event-stale',
  })
  // A request that was signed for another service is refused.
  const receivers = request.event.tags.filter(([name]) => name === 'p')
  if (receivers.length > 0 && !receivers.some(([, key]) => key === cards.signer.pubkey)) {
    throw new Refusal('card-event-invalid')
  }
  const content = request.content ?? (empty ? {} : null)
  if (!content) throw new Refusal('card-content-invalid')
  return { ...request, content }
}

const eitherKind = [kinds.walletEphemeral, kinds.walletRegular]

/** Refuses `card-writer-only` unless the request is a card writer's. */
export function requireWriter(cards: Cards, { author }: CardRequest): void {
  if (!cards.writers.has(author)) throw new Refusal('card-writer-only')
}

/** The answer to a request, and the one to the same event when it comes again. */
export type Granted = { answer: NostrEvent; again: NostrEvent }

type Granting = {
  /** Roots of the grant, besides the request itself. */
  roots: readonly Root[]
  grant: (tx: CardStores & AfterCommit & Locking) => Promise<Granted>
}

/**
 * Grant a request, or repeat the answer to an event that came before. Refuses `event-repeated` for an
 * event that another route answered.
 */
export function answerOnce(
  cards: Cards,
  request: CardRequest,
  route: string,
  { roots, grant }: Granting,
): Promise<NostrEvent> {
  const binding = { purpose: 'card', secret: request.event.id, key: 'answer' } as const
  return cards.database.transact({ roots: [{ event: request.event.id }, ...roots] }, async (tx) => {
    const before = await tx.requests.find(request.event.id)
    if (before) {
      if (!before.answer) throw new Refusal('event-repeated')
      const kept = JSON.parse(unsealed(cards, binding, before.answer) ?? '{}') as Kept
      if (kept.route !== route || !kept.again) throw new Refusal('event-repeated')
      return kept.again
    }
    const { answer, again } = await grant(tx)
    const kept = JSON.stringify({ route, again } satisfies Kept)
    await rememberRequest(tx.requests, request, seal(cards.storeKey, binding, kept))
    return answer
  })
}

type Kept = { route?: string; again?: NostrEvent }

/** The sealed text; null when another folder stored the answer. */
function unsealed(
  { storeKey }: Cards,
  binding: Parameters<typeof unseal>[1],
  sealed: Uint8Array,
): string | null {
  try {
    return unseal(storeKey, binding, sealed)
  } catch (cause) {
    if (cause instanceof Error) return null
    throw cause
  }
}

/** The one-time code in a request's content, also an old short one. Refuses `card-content-invalid`. */
export function codeOf({ otc }: CardRequest['content']): string {
  return parseCode(otc, 1)
}

/** A one-time code that somebody chose for a card. Refuses `card-content-invalid`. */
export function chosenCode(otc: unknown): string {
  return parseCode(otc, limits.otcCharsMin)
}

function parseCode(otc: unknown, charsMin: number): string {
  const text = typeof otc === 'string' && otc.isWellFormed()
  if (!text || otc.length < charsMin || otc.length > limits.otcCharsMax) {
    throw new Refusal('card-content-invalid', { field: 'otc' })
  }
  return otc
}
