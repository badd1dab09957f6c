/** The merchant's own shop. A change shows at once on this device, and goes to the service when it answers. */
import { signal } from '@preact/signals'
import { systemClock } from '../../base/clock.ts'
import { ApiError } from '../../client/api-error.ts'
import { parseRecord } from '../../client/json.ts'
import { publishName } from '../../client/profile.ts'
import { changeShop, fetchShop, parseLook, type ShopLook } from '../../client/shops.ts'
import { SignerError } from '../../client/signer.ts'
import { npubOf } from '../../nostr/keys.ts'
import { device } from '../browser/storage.ts'
import {
  keepLook,
  knownColor,
  knownLogo,
  knownName,
  knownPicture,
} from '../state/merchant-names.ts'
import { session } from './state.ts'

/** The rest of a change: fields that the service has not stored, and a name that the profile does not have. */
type Pending = {
  changes: { name?: string; color?: ShopLook['color']; picture?: string | null }
  publish: boolean
}

/** Place of the key that was made on this device: no other program can have given it a profile. */
const madeHere = 'made-here'
const placeOf = (pubkey: string) => `shop:${pubkey}`

/** Whether the service knows no name of the shop, so that the panel asks for one. */
export const unnamed = signal(false)
/** Whether the name waits for the signer to be published. */
export const unpublished = signal(false)

let asked: string | null = null
let running = false

/** The name of the merchant's own shop, or null. */
export function ownName(): string | null {
  const who = session.who.value
  return who && knownName(npubOf(who.pubkey))
}

/** The colour of the merchant's own shop, or null. */
export function ownColor(): ShopLook['color'] {
  const who = session.who.value
  return who && knownColor(npubOf(who.pubkey))
}

/** The logo of the merchant's own shop: the hash of a picture, or null. */
export function ownPicture(): string | null {
  const who = session.who.value
  return who && knownPicture(npubOf(who.pubkey))
}

/** The path of that logo, or null. */
export function ownLogo(): string | null {
  const who = session.who.value
  return who && knownLogo(npubOf(who.pubkey))
}

/** Name the shop of a key that was just made on this device. It goes to the service once the key may manage. */
export function startShop(pubkey: string, name: string): void {
  device.write(madeHere, pubkey)
  keepLook(npubOf(pubkey), { name, color: null, picture: null })
  keep(pubkey, { changes: { name }, publish: true })
}

/** A key that was brought may have a profile that other programs wrote. */
export function forgetMade(): void {
  device.remove(madeHere)
}

/** Change the shop of the session. False where the service does not answer: it gets the change later. Throws ApiError. */
export async function saveShop(changes: Pending['changes']): Promise<boolean> {
  const pubkey = session.identity()?.pubkey
  if (pubkey === undefined) return false
  const npub = npubOf(pubkey)
  const before = {
    name: knownName(npub),
    color: knownColor(npub),
    picture: knownPicture(npub),
  }
  const waiting = pendingOf(pubkey)
  keepLook(npub, { ...before, ...changes })
  keep(pubkey, {
    changes: { ...waiting.changes, ...changes },
    publish: waiting.publish || (changes.name !== undefined && changes.name !== before.name),
  })
  try {
    const stored = await send(pubkey)
    // Not awaited: the name is good without a profile.
    if (stored) void publish(pubkey)
    return stored
  } catch (cause) {
    keepLook(npub, before)
    throw cause
  }
}

/** Load the shop of the session, and send on what waits. Called when the key is known to manage. */
export async function syncShop(): Promise<void> {
  const pubkey = session.identity()?.pubkey
  if (pubkey === undefined || running) return
  const { changes, publish: waits } = pendingOf(pubkey)
  const idle = Object.keys(changes).length === 0 && !(waits && session.heldSigner())
  if (asked === pubkey && idle) return
  // Another merchant may have been here before.
  if (asked !== pubkey) unnamed.value = false
  unpublished.value = waits
  asked = pubkey
  running = true
  try {
    if (await send(pubkey)) await publish(pubkey)
  } catch (cause) {
    // A refused change was dropped, and the panel asks for a name.
    if (!(cause instanceof ApiError)) throw cause
  } finally {
    running = false
  }
}

/** False where the service did not answer, or this key may not manage yet. Throws ApiError for a refused change. */
async function send(pubkey: string): Promise<boolean> {
  const npub = npubOf(pubkey)
  const { changes, publish } = pendingOf(pubkey)
  const some = Object.keys(changes).length > 0
  try {
    const look = some ? await changeShop(session, changes) : await fetchShop(npub)
    // Without a name here, that of the profile stays, which may still be on its way.
    if (look.name !== null) keepLook(npub, look)
    unnamed.value = look.name === null
    keep(pubkey, { changes: {}, publish })
    return true
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    const gone = cause.code === 'picture-unknown'
    if (cause.status !== 400 && !gone) return false
    // The same change would be refused again.
    keep(pubkey, { changes: {}, publish: false })
    unnamed.value = true
    throw cause
  }
}

/** Publish the name in the profile, where this page has the signer. Else it waits for the next sign-in. */
async function publish(pubkey: string): Promise<void> {
  const signer = session.heldSigner()
  const name = knownName(npubOf(pubkey))
  if (!pendingOf(pubkey).publish || signer?.pubkey !== pubkey || name === null) return
  try {
    const fresh = device.read(madeHere) === pubkey
    await publishName(signer, name, { fresh, now: systemClock() })
  } catch (cause) {
    if (cause instanceof ApiError) return
    // The person declined the signature.
    if (!(cause instanceof SignerError)) throw cause
  }
  // The name may have changed meanwhile.
  if (knownName(npubOf(pubkey)) === name) {
    keep(pubkey, { ...pendingOf(pubkey), publish: false })
  }
}

function keep(pubkey: string, { changes, publish }: Pending): void {
  unpublished.value = publish
  if (publish || Object.keys(changes).length > 0) {
    device.write(placeOf(pubkey), JSON.stringify({ ...changes, publish }))
  } else device.remove(placeOf(pubkey))
}

/** Checked, since scripts of the same origin and older builds may have written it. */
function pendingOf(pubkey: string): Pending {
  const stored = parseRecord(device.read(placeOf(pubkey))) ?? {}
  const { name, color, picture } = parseLook(stored)
  const changes = {
    ...(name !== null && { name }),
    ...('color' in stored && { color }),
    ...('picture' in stored && { picture }),
  }
  return { changes, publish: stored.publish === true }
}
