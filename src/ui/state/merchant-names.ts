/** What a merchant is called, as far as a signature of its own says so. */
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

/** A profile (NIP-01). */
const profileKind = 0
const nameCharsMax = 60
const place = 'merchants'
/** Shops that one device meets; each is a line. */
const namesMax = 200

const names = signal<Readonly<Record<string, string>>>(parseNames(device.read(place)))
const asked = new Set<string>()

/** The merchant's name where it is known, else enough of its npub. */
export function merchantName(npub: string): string {
  return knownName(npub) ?? short(npub)
}

/** The merchant's name, or null; asks for it the first time. */
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
    // Without relays, or without a connection, the key has to do.
    if (!(cause instanceof ApiError)) throw cause
  }
}

/** The announcement is for customers, the profile for everybody: the first that has a name. */
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
