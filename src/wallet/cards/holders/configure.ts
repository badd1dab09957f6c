import { parseJson } from '../../../base/json.ts'
import { limits } from '../../../base/limits.ts'
import { openMulti } from '../../../crypto/multi-nip04.ts'
import type { AfterCommit, Locking } from '../../../db/database.ts'
import { authorThrough } from '../../../nostr/delegation.ts'
import { type NostrEvent, tagValue } from '../../../nostr/event.ts'
import { parsePubkey } from '../../../nostr/keys.ts'
import { kinds } from '../../../nostr/kinds.ts'
import type { Card } from '../card-store.ts'
import { isCardDescription, isCardName } from '../card-text.ts'
import type { CardLimit } from '../holder-store.ts'
import { parseLimit } from '../limits.ts'
import type { CardStores, Cards } from '../service.ts'
import { parseUid } from '../tag.ts'
import { oweNotice } from './notices.ts'

/** Changes that a holder asks for; absent parts stay as they are. */
type Changes = {
  /** UID of the only card that the event may change; null: any of the holder's. */
  cid: string | null
  merchants: string[] | null
  cards: Map<string, CardChanges>
}
type CardChanges = {
  /** UID that the card must have; null: any. */
  cid: string | null
  name?: string
  description?: string
  enabled?: boolean
  limits?: CardLimit[]
}

/** The first `t` of an event by which a holder changes his cards. */
export const configChange = 'card-config-change'

/**
 * Act on a holder's event (kind 1112, `t` card-config-change), over HTTP or from a relay; its id
 * and signature are checked. False when it is none, not for us, unreadable, too old, or took effect before.
 */
export async function configure(
  cards: Cards,
  tx: CardStores & AfterCommit & Locking,
  event: NostrEvent,
): Promise<boolean> {
  if (event.kind !== kinds.walletRegular || tagValue(event, 't') !== configChange) return false
  const manager = cards.signer.pubkey
  if (!event.tags.some(([name, key]) => name === 'p' && key === manager)) return false
  const ahead = event.created_at - cards.now()
  if (ahead > limits.requestWindowSeconds || -ahead > limits.cardChangeSeconds) return false
  const holder = authorThrough(manager, event, cards.verifyHash)
  if (holder === null) return false
  await tx.lock({ holder })
  const listed = await tx.cards.listOf(holder, limits.cardsPerHolderMax)
  // Keys without a card cost no decryption, and leave no row.
  if (listed.length === 0) return false
  await tx.lock(...listed.map(({ cid }) => ({ card: cid })))
  const held = await tx.cards.listOf(holder, limits.cardsPerHolderMax)
  const changes = parseChanges(readContent(cards, event))
  if (!changes || !namesItsCards(changes, held)) return false
  if (!(await tx.holders.change(holder, event))) return false
  if (changes.merchants) await tx.holders.setMerchants(holder, changes.merchants)
  for (const card of held) {
    const wanted = changes.cards.get(card.uuid)
    if (!wanted) continue
    const { name = card.name, description = card.description, enabled = card.enabled } = wanted
    await tx.cards.describe(card.id, { name, description, enabled })
    if (wanted.limits) await tx.holders.setLimits(card.id, wanted.limits)
  }
  oweNotice(tx, holder)
  return true
}

/** False when a UID in the changes is not that of the card which they are for. */
function namesItsCards({ cid, cards }: Changes, held: readonly Card[]): boolean {
  if (cid !== null && !held.some((card) => card.cid === cid)) return false
  return held.every((card) => {
    const wanted = cards.get(card.uuid)
    return !wanted || [cid, wanted.cid].every((named) => named === null || named === card.cid)
  })
}

/** The JSON in a content (multi-NIP-04, NIP-44 to the manager key, or plain); null when there is none. */
function readContent(cards: Cards, { content, pubkey }: NostrEvent): unknown {
  const plain = parseText(content)
  if (typeof plain !== 'object' || plain === null) {
    const opened = cards.nip44.decrypt(pubkey, content)
    return opened === null ? null : parseText(opened)
  }
  if (!('enc' in plain)) return plain
  const parties = { reader: cards.signer.pubkey, sender: pubkey }
  const text = openMulti(cards.nip44, parties, plain)
  return text === null ? null : parseText(text)
}

/** The changes in an untrusted value; null when any part is not valid. */
export function parseChanges(value: unknown): Changes | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { 'trusted-merchants': trusted, cards = {}, ...rest } = value as Record<string, unknown>
  const cid = parseNamedUid(rest.cid)
  if (cid === undefined) return null
  const merchants = trusted === undefined ? null : parseMerchants(trusted)
  if (trusted !== undefined && merchants === null) return null
  if (typeof cards !== 'object' || cards === null || Array.isArray(cards)) return null
  const entries = Object.entries(cards)
  if (entries.length > limits.cardsPerHolderMax) return null
  const changes = new Map<string, CardChanges>()
  for (const [uuid, item] of entries) {
    const one = parseCardChanges(item)
    if (!one) return null
    changes.set(uuid.toLowerCase(), one)
  }
  return { cid, merchants, cards: changes }
}

/** A UID; null when it is absent, undefined when it is not valid. */
function parseNamedUid(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null
  return parseUid(value)?.toHex()
}

function parseMerchants(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length > limits.trustedMerchantsMax) return null
  const keys = value.map((item: unknown) => {
    const pubkey = typeof item === 'object' && item !== null && 'pubkey' in item ? item.pubkey : ''
    return typeof pubkey === 'string' ? parsePubkey(pubkey) : null
  })
  return keys.every((key) => key !== null) ? keys : null
}

function parseCardChanges(value: unknown): CardChanges | null {
  if (typeof value !== 'object' || value === null) return null
  const { name, description, status, limits: rows } = value as Record<string, unknown>
  const cid = parseNamedUid((value as Record<string, unknown>).cid)
  if (cid === undefined) return null
  const changes: CardChanges = { cid }
  if (name !== undefined) {
    if (!isCardName(name)) return null
    changes.name = name
  }
  if (description !== undefined) {
    if (!isCardDescription(description)) return null
    changes.description = description
  }
  if (status !== undefined) {
    if (status !== 'ENABLED' && status !== 'DISABLED') return null
    changes.enabled = status === 'ENABLED'
  }
  if (rows !== undefined) {
    if (!Array.isArray(rows) || rows.length > limits.cardLimitsMax) return null
    const parsed = rows.map(parseLimit)
    if (!parsed.every((row) => row !== null)) return null
    changes.limits = parsed
  }
  return changes
}

/** JSON from an event; no text is longer than the event. */
function parseText(text: string): unknown {
  return parseJson(text, limits.publishBytesMax)
}
