/** The profile of a key (kind 0, NIP-01), which other programs show. */
import { isPlainName } from '../base/words.ts'
import { contentObject, type NostrEvent, parseEvent } from '../nostr/event.ts'
import { parsePubkey } from '../nostr/keys.ts'
import { kinds } from '../nostr/kinds.ts'
import { anyone } from './anyone.ts'
import { exchange } from './api.ts'
import type { EventTemplate, PageSigner } from './signer.ts'

const nameCharsMax = 60

/** The newest events of a key that carry its name. `whole`: every relay answered. Throws ApiError. */
async function fetchNaming(pubkey: string): Promise<{ events: NostrEvent[]; whole: boolean }> {
  const filter = { kinds: [kinds.profile, kinds.announcement], authors: [pubkey], limit: 10 }
  // The answer says in a header whether it is whole.
  const body = JSON.stringify(filter)
  const { value, headers } = await exchange('/nostr/fetch', { method: 'POST', body })
  const parsed = Array.isArray(value) ? value.map(parseEvent) : []
  const theirs = parsed.filter((event) => event?.pubkey === pubkey) as NostrEvent[]
  // The service names the relays only where one of them was silent.
  return { events: await signedOf(theirs), whole: !headers.has('X-Nostr-Relays') }
}

/** Those whose signature is right. Its code is loaded on demand: of most keys relays have nothing. */
async function signedOf(events: readonly NostrEvent[]): Promise<NostrEvent[]> {
  if (events.length === 0) return []
  const { verifyEvent } = await import('nostr-tools/pure')
  return events.filter((event) => verifyEvent({ ...event }))
}

/** The name that a merchant signed; null where relays know none. Throws ApiError. */
export async function fetchName(npub: string): Promise<string | null> {
  const pubkey = parsePubkey(npub)
  return pubkey === null ? null : nameIn((await fetchNaming(pubkey)).events)
}

/** The name in the announcement, else in the profile: an announcement is meant for customers. */
function nameIn(events: readonly NostrEvent[]): string | null {
  const sorted = events.toSorted((one, other) => other.kind - one.kind)
  return sorted.map(nameOf).find((name) => isPlainName(name)) ?? null
}

function nameOf({ content }: NostrEvent): string {
  const { name, display_name: shown } = contentObject(content) ?? {}
  const text = [shown, name].find((one) => typeof one === 'string' && one.trim() !== '')
  // A name as long as its author likes is cut before it is spread into characters.
  const start = String(text ?? '').trim()
  return [...start.slice(0, nameCharsMax * 2)].slice(0, nameCharsMax).join('')
}

/** The newest profile among events, or null. */
function profileIn(events: readonly NostrEvent[]): NostrEvent | null {
  const profiles = events.filter(({ kind }) => kind === kinds.profile)
  return profiles.toSorted((one, other) => other.created_at - one.created_at)[0] ?? null
}

/** The unsigned profile with a new name. Fields and tags of the one before stay. */
function profileTemplate(before: NostrEvent | null, name: string, now: number): EventTemplate {
  const fields = contentObject(before?.content ?? '') ?? {}
  // Programs prefer `display_name`, so an old one would hide the new name.
  const shown = 'display_name' in fields ? { display_name: name } : {}
  return {
    kind: kinds.profile,
    // Relays keep the newest: a clock that is behind must not lose to the profile before.
    created_at: Math.max(now, (before?.created_at ?? 0) + 1),
    tags: before?.tags.map((tag) => [...tag]) ?? [],
    content: JSON.stringify({ ...fields, name, ...shown }),
  }
}

type Publishing = {
  /** The key was made on this device, so that it may have no profile yet. */
  fresh: boolean
  now: number
}

/**
 * Publish a name in the profile of the signer's key. Nothing is published where the profile of a key from elsewhere
 * could not be read, since that would lose its other fields. Throws ApiError and SignerError.
 */
export async function publishName(
  signer: PageSigner,
  name: string,
  { fresh, now }: Publishing,
): Promise<void> {
  const { events, whole } = await fetchNaming(signer.pubkey)
  const before = profileIn(events)
  if (!fresh && (before === null || !whole)) return
  if (before && nameOf(before) === name) return
  const body = await signer.sign(profileTemplate(before, name, now))
  await anyone.call('POST /nostr/publish', { body })
}
