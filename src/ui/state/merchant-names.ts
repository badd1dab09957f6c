/** Names, colours and logos of merchants: those that they gave to this service, else names from events that they signed. */
import { signal } from '@preact/signals'
import { ApiError } from '../../client/api-error.ts'
import { shownPath } from '../../client/images.ts'
import { parseRecord } from '../../client/json.ts'
import { fetchShop, parseLook, type ShopLook } from '../../client/shops.ts'
import type { ShopColor } from '../../shops/color.ts'
import { nextTask } from '../browser/painted.ts'
import { device } from '../browser/storage.ts'
import { commonWords as t } from '../words/common.ts'

const place = 'merchants'
/** Bounds the storage: one entry a shop. */
const looksMax = 200

const looks = signal<Readonly<Record<string, ShopLook>>>(parseLooks(device.read(place)))
/** The look-ups of this page, by npub. */
const asked = new Map<string, Promise<void>>()

/** The name of a merchant, else words for one without a name. */
export function merchantName(npub: string): string {
  return knownName(npub) ?? t('shop.unnamed')
}

/** The name of a merchant, or null. The first call of a page asks for it; the signal changes with the answer. */
export function knownName(npub: string): string | null {
  return lookOf(npub)?.name ?? null
}

/** The colour that a merchant chose, or null. Asks as `knownName` does. */
export function knownColor(npub: string): ShopColor | null {
  return lookOf(npub)?.color ?? null
}

/** The path of the logo of a merchant, or null. Asks as `knownName` does. */
export function knownLogo(npub: string): string | null {
  const picture = knownPicture(npub)
  return picture && shownPath({ image: null, picture })
}

/** The hash of the logo of a merchant, or null. Asks as `knownName` does. */
export function knownPicture(npub: string): string | null {
  return lookOf(npub)?.picture ?? null
}

/** Keep the look of a shop on this device. */
export function keepLook(npub: string, look: ShopLook): void {
  // The newest entry last: the oldest ones go when there are too many.
  const { [npub]: _, ...others } = looks.peek()
  looks.value = Object.fromEntries([...Object.entries(others), [npub, look]].slice(-looksMax))
  device.write(place, JSON.stringify(looks.peek()))
}

/** Nobody waits longer for the name of a shop on a paper. */
const nameWaitMs = 2000

/** The name of a merchant for something that cannot be changed later, such as paper: waits for the look-up, for a while. */
export async function nameSoon(npub: string, waitMs = nameWaitMs): Promise<string | null> {
  if (knownName(npub) === null)
    await Promise.race([asked.get(npub), new Promise((resolve) => setTimeout(resolve, waitMs))])
  return knownName(npub)
}

function lookOf(npub: string): ShopLook | undefined {
  if (!asked.has(npub)) asked.set(npub, lookUp(npub))
  return looks.value[npub]
}

async function lookUp(npub: string): Promise<void> {
  const before = looks.peek()[npub]
  // Components ask while they render: a request would make that longer.
  await nextTask()
  try {
    const { name, color, picture } = await fetchShop(npub)
    const found = name ?? (await signedName(npub)) ?? before?.name ?? null
    // The merchant may have changed it meanwhile, in this panel.
    if (looks.peek()[npub] !== before) return
    const some = found !== null || color !== null || picture !== null
    if (some) keepLook(npub, { name: found, color, picture })
  } catch (cause) {
    // No relay or no connection (TypeError, where the code does not load): the page shows the look that it knows.
    if (!(cause instanceof ApiError) && !(cause instanceof TypeError)) throw cause
  }
}

/** Loaded on demand: it brings the code of signatures. */
async function signedName(npub: string): Promise<string | null> {
  const { fetchName } = await import('../../client/profile.ts')
  return fetchName(npub)
}

function parseLooks(text: string | null): Record<string, ShopLook> {
  const stored = Object.entries(parseRecord(text) ?? {})
  return Object.fromEntries(stored.map(([npub, look]) => [npub, parseLook(look)]))
}
