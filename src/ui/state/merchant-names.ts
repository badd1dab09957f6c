/** Names of merchants, from events that they signed. */
import { signal } from '@preact/signals'
import { decode } from 'nostr-tools/nip19'
import { verifyEvent } from 'nostr-tools/pure'
import { request } from '../../client/api.ts'
import { ApiError } from '../../client/api-error.ts'
import { parseRecord } from '../../client/json.ts'
import { contentObject, type NostrEvent, parseEvent } from '../../nostr/event.ts'
import { kinds } from '../../nostr/kinds.ts'
import { device } from '../browser/storage.ts'
import { short } from '../words/format.ts'

/** Kind of a profile (NIP-01). */
const profileKind = 0
const nameCharsMax = 60
const place = 'merchants'
/** Bounds the storage: one entry a shop. */
const namesMax = 200

const names = signal<Readonly<Record<string, string>>>(parseNames(device.read(place)))
const asked = new Set<string>()

/** The name of a merchant, else its npub, shortened. */
export function merchantName(npub: string): string {
  return knownName(npub) ?? short(npub)
}

/** The name of a merchant, or null. The first call asks for it; the signal changes with the answer. */
export function knownName(npub: string): string | null {
  const known = names.value[npub]
  if (known === undefined && !asked.has(npub)) {
    asked.add(npub)
    void lookUp(npub)
  }
  return known ?? null
}

async function lookUp(npub: string): Promise<void> {
  const { type, data: pubkey } = decode(npub)
  if (type !== 'npub') return
  const filter = { kinds: [profileKind, kinds.announcement], authors: [pubkey], limit: 10 }
  try {
    const events = await request<unknown>('/nostr/fetch', { method: 'POST', body: filter })
    const name = Array.isArray(events) ? nameIn(events.map(parseEvent), pubkey) : null
    if (name === null) return
    const next = Object.entries({ ...names.peek(), [npub]: name }).slice(-namesMax)
    names.value = Object.fromEntries(next)
    device.write(place, JSON.stringify(names.peek()))
  } catch (cause) {
    // No relay or no connection: the page shows the key.
    if (!(cause instanceof ApiError)) throw cause
  }
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

function parseNames(text: string | null): Record<string, string> {
  const names = Object.entries(parseRecord(text) ?? {})
  return Object.fromEntries(
    names.filter((one): one is [string, string] => typeof one[1] === 'string'),
  )
}
