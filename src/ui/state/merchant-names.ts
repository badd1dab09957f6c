/** Names of merchants, from events that they signed. */
import { signal } from '@preact/signals'
import { ApiError } from '../../client/api-error.ts'
import { parseRecord } from '../../client/json.ts'
import { device } from '../browser/storage.ts'
import { short } from '../words/format.ts'

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
  try {
    const { fetchName } = await import('./signed-name.ts')
    const name = await fetchName(npub)
    if (name === null) return
    const next = Object.entries({ ...names.peek(), [npub]: name }).slice(-namesMax)
    names.value = Object.fromEntries(next)
    device.write(place, JSON.stringify(names.peek()))
  } catch (cause) {
    // No relay or no connection (TypeError, where the code does not load): the page shows the key.
    if (!(cause instanceof ApiError) && !(cause instanceof TypeError)) throw cause
  }
}

function parseNames(text: string | null): Record<string, string> {
  const names = Object.entries(parseRecord(text) ?? {})
  return Object.fromEntries(
    names.filter((one): one is [string, string] => typeof one[1] === 'string'),
  )
}
