/** The name of a merchant in an event that they signed. Loaded on demand: it brings the code of signatures. */
import { decode } from 'nostr-tools/nip19'
import { verifyEvent } from 'nostr-tools/pure'
import { request } from '../../client/api.ts'
import { contentObject, type NostrEvent, parseEvent } from '../../nostr/event.ts'
import { kinds } from '../../nostr/kinds.ts'

/** Kind of a profile (NIP-01). */
const profileKind = 0
const nameCharsMax = 60

/** Ask for the name of a merchant; null where relays know none. Throws ApiError. */
export async function fetchName(npub: string): Promise<string | null> {
  const { type, data: pubkey } = decode(npub)
  if (type !== 'npub') return null
  const filter = { kinds: [profileKind, kinds.announcement], authors: [pubkey], limit: 10 }
  const events = await request<unknown>('/nostr/fetch', { method: 'POST', body: filter })
  return Array.isArray(events) ? nameIn(events.map(parseEvent), pubkey) : null
}

/** The name in the announcement, else in the profile: an announcement is meant for customers. */
function nameIn(events: (NostrEvent | null)[], pubkey: string): string | null {
  const own = events.filter((event) => event?.pubkey === pubkey && verifyEvent({ ...event }))
  const sorted = own.toSorted((one, other) => (other?.kind ?? 0) - (one?.kind ?? 0))
  for (const event of sorted) {
    const name = nameOf(event)
    if (name !== '') return name
  }
  return null
}

function nameOf(event: NostrEvent | null): string {
  const { name, display_name: shown } = contentObject(event?.content ?? '') ?? {}
  const text = [shown, name].find((one) => typeof one === 'string' && one.trim() !== '')
  return [
    ...String(text ?? '')
      .trim()
      .slice(0, nameCharsMax * 2),
  ]
    .slice(0, nameCharsMax)
    .join('')
}
