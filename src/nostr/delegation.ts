import { createHash } from 'node:crypto'
import type { NostrEvent } from './event.ts'

/** Verifies a BIP-340 signature over 32 bytes, all in lower-case hex. False for malformed input. */
export type VerifyHash = (signature: string, hash: string, pubkey: string) => boolean

/** Conditions of a NIP-26 delegation. Times are Unix seconds and exclusive. */
type Conditions = { kinds: number[]; after: number[]; before: number[] }

const hex32 = /^[0-9a-f]{64}$/
const hex64 = /^[0-9a-f]{128}$/
const conditionForm = /^(?:kind=(\d{1,5})|created_at>(\d{1,12})|created_at<(\d{1,12}))$/

/** Read a NIP-26 condition string. Null if one is unknown or malformed, because to ignore it would allow more. */
export function parseConditions(text: string): Conditions | null {
  const conditions: Conditions = { kinds: [], after: [], before: [] }
  for (const part of text.split('&')) {
    const [, kind, after, before] = conditionForm.exec(part) ?? []
    if (kind !== undefined) conditions.kinds.push(Number(kind))
    else if (after !== undefined) conditions.after.push(Number(after))
    else if (before !== undefined) conditions.before.push(Number(before))
    else return null
  }
  return conditions
}

/** True if the conditions admit an event of that kind and time. Several kinds are alternatives. */
export function admits({ kinds, after, before }: Conditions, kind: number, createdAt: number) {
  if (kinds.length > 0 && !kinds.includes(kind)) return false
  return after.every((time) => createdAt > time) && before.every((time) => createdAt < time)
}

/** The sha256, in hex, of the text that a delegator signs (NIP-26). */
export function delegationHash(delegatee: string, conditions: string): string {
  return createHash('sha256').update(`nostr:delegation:${delegatee}:${conditions}`).digest('hex')
}

/**
 * The effective author of an event: its signer, or the delegator of its first `delegation` tag (NIP-26).
 * Null if that tag is not valid.
 */
export function authorOf(event: NostrEvent, verify: VerifyHash): string | null {
  const tag = delegationIn(event)
  if (!tag) return event.pubkey
  const [, delegator = '', text = '', token = ''] = tag
  if (!hex32.test(delegator) || !hex64.test(token)) return null
  const conditions = parseConditions(text)
  if (!conditions || !admits(conditions, event.kind, event.created_at)) return null
  return verify(token, delegationHash(event.pubkey, text), delegator) ? delegator : null
}

/** Like `authorOf`, but a delegation counts only if it was given to `delegatee`, and not to another service. */
export function authorThrough(
  delegatee: string,
  event: NostrEvent,
  verify: VerifyHash,
): string | null {
  return delegationIn(event) && event.pubkey !== delegatee ? null : authorOf(event, verify)
}

/**
 * Like `authorOf`, but a delegation counts only if its conditions name the event's kind and no other, and the
 * event has a `p` tag with `service`. A wider delegation, given for other purposes, must not work here.
 */
export function authorTowards(
  service: string,
  event: NostrEvent,
  verify: VerifyHash,
): string | null {
  const tag = delegationIn(event)
  if (tag) {
    const kinds = parseConditions(tag[2] ?? '')?.kinds
    if (kinds?.length !== 1 || kinds[0] !== event.kind) return null
    if (!event.tags.some(([name, key]) => name === 'p' && key === service)) return null
  }
  return authorOf(event, verify)
}

/** The first `delegation` tag of an event. */
function delegationIn({ tags }: NostrEvent): string[] | undefined {
  return tags.find(([name]) => name === 'delegation')
}
