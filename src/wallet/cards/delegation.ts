import { Refusal } from '../../base/refusal.ts'
import { seal, unseal } from '../../crypto/seal.ts'
import { delegationHash, parseConditions } from '../../nostr/delegation.ts'
import { kinds } from '../../nostr/kinds.ts'
import type { Card } from './card-store.ts'
import type { Cards } from './service.ts'

/** A holder's permission that the manager key signs his payments (NIP-26). */
export type Delegation = { conditions: string; token: string }

/** The time in which a delegation holds; Unix seconds, both exclusive. */
type DelegationWindow = { after: number; before: number }

const tokenForm = /^[0-9a-f]{128}$/

/**
 * The delegation in a request: one kind (1112), one `created_at>`, one `created_at<`, open now, and
 * signed for the manager key by that holder. Refuses `card-delegation-invalid`.
 */
export function parseDelegation(
  cards: Pick<Cards, 'signer' | 'verifyHash' | 'now'>,
  value: unknown,
  holder: string,
): Delegation {
  const { conditions, token } = (value ?? {}) as Record<string, unknown>
  if (typeof conditions !== 'string' || typeof token !== 'string') throw refused()
  const window = windowOf(conditions)
  if (!window || !openAt(window, cards.now()) || !tokenForm.test(token)) throw refused()
  const hash = delegationHash(cards.signer.pubkey, conditions)
  if (!cards.verifyHash(token, hash, holder)) throw refused()
  return { conditions, token }
}

/** The window of conditions in the only form that cards take; null for any other form. */
function windowOf(conditions: string): DelegationWindow | null {
  const parsed = parseConditions(conditions)
  if (parsed?.kinds.length !== 1 || parsed.kinds[0] !== kinds.walletRegular) return null
  const [after, ...moreAfter] = parsed.after
  const [before, ...moreBefore] = parsed.before
  if (after === undefined || before === undefined) return null
  return moreAfter.length + moreBefore.length > 0 ? null : { after, before }
}

/** True while the manager may sign with it. */
export function openAt({ after, before }: DelegationWindow, now: number): boolean {
  return now > after && now < before
}

/** A delegation, sealed for the database. */
export function sealDelegation(
  storeKey: Uint8Array,
  { uuid, holder }: { uuid: string; holder: string },
  delegation: Delegation,
): Uint8Array {
  return seal(storeKey, bindingOf(uuid, holder), JSON.stringify(delegation))
}

/** The delegation of a card's holder and its window; null when nobody holds the card. */
export function openDelegation(
  storeKey: Uint8Array,
  { uuid, holder, delegation }: Pick<Card, 'uuid' | 'holder' | 'delegation'>,
): (Delegation & { window: DelegationWindow }) | null {
  if (holder === null || delegation === null) return null
  const opened = JSON.parse(unseal(storeKey, bindingOf(uuid, holder), delegation)) as Delegation
  const window = windowOf(opened.conditions)
  return window && { ...opened, window }
}

function bindingOf(uuid: string, holder: string) {
  return { purpose: 'card', secret: uuid, key: holder } as const
}

function refused(): Refusal {
  return new Refusal('card-delegation-invalid', { field: 'delegation' })
}
