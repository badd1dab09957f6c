import type { Static } from '@sinclair/typebox'
import { type JsonObject, parseJsonObject } from '../base/json.ts'
import { clientLimits } from '../base/limits-client.ts'
import type { NostrEventModel } from './models.ts'

/** A signed Nostr event (NIP-01). */
export type NostrEvent = Static<typeof NostrEventModel>

/** An event without id and signature. */
type UnsignedEvent = Omit<NostrEvent, 'id' | 'sig'>

/** A signer with one fixed key. `pubkey` is its x-only public key in hex. Synchronous. */
export type Signer = {
  pubkey: string
  /** Fill in pubkey, id and sig (NIP-01, BIP-340). */
  sign(event: Omit<UnsignedEvent, 'pubkey'>): NostrEvent
  /** The same in two steps. Another thread may sign between them. The function is called once. */
  begin(event: Omit<UnsignedEvent, 'pubkey'>): () => NostrEvent
}

/** True if the event is well-formed and its id and signature are right (NIP-01). Synchronous, never throws. */
export type VerifyEvent = (event: NostrEvent) => boolean

/** As `VerifyEvent`, but it may answer at the end of this turn of the event loop, so that another thread checks the signature. */
export type VerifyEventSoon = (event: NostrEvent) => boolean | Promise<boolean>

const hex32 = /^[0-9a-f]{64}$/
const hex64 = /^[0-9a-f]{128}$/

/** Event id (NIP-01): sha256 of the compact JSON array `[0, pubkey, created_at, kind, tags, content]`, in hex. */
export function eventId(event: UnsignedEvent): string {
  const text = JSON.stringify([
    0,
    event.pubkey,
    event.created_at,
    event.kind,
    event.tags,
    event.content,
  ])
  return Bun.SHA256.hash(text, 'hex')
}

/** Read an event (NIP-01) with its seven fields. Null if a type is wrong. Does not check id and signature. */
export function parseEvent(value: unknown): NostrEvent | null {
  if (typeof value !== 'object' || value === null) return null
  const { id, pubkey, created_at, kind, tags, content, sig } = value as Record<string, unknown>
  if (typeof id !== 'string' || !hex32.test(id)) return null
  if (typeof pubkey !== 'string' || !hex32.test(pubkey)) return null
  if (typeof sig !== 'string' || !hex64.test(sig)) return null
  if (typeof content !== 'string') return null
  if (!isUint(created_at) || !isUint(kind) || kind > 65_535) return null
  if (!Array.isArray(tags) || !tags.every(isTag)) return null
  return { id, pubkey, created_at, kind, tags, content, sig }
}

/** Replace a `content` that is an object by its JSON text. Some clients send events in that form. */
export function withTextContent(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('content' in value)) return value
  const { content } = value
  const object = typeof content === 'object' && content !== null && !Array.isArray(content)
  return object ? { ...value, content: JSON.stringify(content) } : value
}

/** The JSON object in the content of an event, or null. */
export function contentObject(text: string): JsonObject | null {
  return parseJsonObject(text, clientLimits.publishBytesMax)
}

/** The value of the first tag with that name, or undefined. */
export function tagValue(event: Pick<NostrEvent, 'tags'>, name: string): string | undefined {
  return event.tags.find((tag) => tag[0] === name)?.[1]
}

function isUint(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isTag(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
