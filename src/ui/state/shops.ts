/** The shops whose coupons the till of this device redeems. The panel of the same device may set one. */
import { signal } from '@preact/signals'
import { parseStored } from '../../client/json.ts'
import { npubOf, parsePubkey } from '../../nostr/keys.ts'
import { device } from '../browser/storage.ts'

const place = 'till:shops'
/** Parameter of the fragment that sets up a till: `/caja#comercio=npub1…`. */
const offerName = 'comercio'
/** Parameter of the fragment with the code of a coupon, which the till shows. */
const couponName = 'cupon'

/** Their npubs. */
export const shops = signal<readonly string[]>(read())

/** Another page of this device may have changed the list. */
export function readShops(): void {
  shops.value = read()
}

/** Redeem coupons of one more shop. */
export function addShop(npub: string): void {
  change((list) => (list.includes(npub) ? list : [...list, npub]))
}

/** Add a shop without asking the person, only where the till has none yet. */
export function adoptShop(npub: string): void {
  change((list) => (list.length === 0 ? [npub] : list))
}

export function removeShop(npub: string): void {
  change((list) => list.filter((one) => one !== npub))
}

/** The address that sets up a device as a till of this shop. `nonce`: of a coupon that it shows at once. */
export function tillAddress(npub: string, nonce?: string): string {
  const coupon = nonce === undefined ? '' : `&${couponName}=${nonce}`
  return `${location.origin}/caja#${offerName}=${npub}${coupon}`
}

/** The npub in a scanned or typed text: a key, or an address with one; else null. */
export function parseShop(text: string): string | null {
  const key = /n(?:pub|profile)1[a-z0-9]+/i.exec(text)?.[0] ?? text
  const pubkey = parsePubkey(key.toLowerCase())
  return pubkey === null ? null : npubOf(pubkey)
}

/** The npub in the fragment of such an address and the text of its coupon; null for another fragment. */
export function parseOffer(fragment: string): { npub: string; coupon: string | null } | null {
  const named = new URLSearchParams(fragment.replace(/^#/, ''))
  const npub = parseShop(named.get(offerName) ?? '')
  return npub === null ? null : { npub, coupon: named.get(couponName) }
}

/** Changes the stored list: that of this page may be older. */
function change(to: (list: readonly string[]) => readonly string[]): void {
  const list = to(read())
  shops.value = list
  device.write(place, JSON.stringify(list))
}

function read(): string[] {
  return parseShops(device.read(place))
}

/** The stored list, checked: scripts of the same origin and older builds may have written it. */
function parseShops(text: string | null): string[] {
  const value = parseStored(text)
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  return [...new Set(texts.map(parseShop))].filter((one) => one !== null)
}
