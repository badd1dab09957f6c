/** The shops whose coupons the till of this device redeems. The panel may set them, too: they share a device. */
import { signal } from '@preact/signals'
import { parseJson } from '../../client/json.ts'
import { npubOf, parsePubkey } from '../../nostr/keys.ts'
import { device } from '../browser/storage.ts'

const place = 'till:shops'
/** The name of the key in the fragment that sets a till up: `/caja#comercio=npub1…`. */
const offerName = 'comercio'

/** Their npubs, as kept on this device. */
export const shops = signal<readonly string[]>(parseShops(device.read(place)))

/** Redeem coupons of one more shop. */
export function addShop(npub: string): void {
  if (!shops.peek().includes(npub)) keep([...shops.peek(), npub])
}

/** Take a shop at its word only where the till has none yet. */
export function adoptShop(npub: string): void {
  if (shops.peek().length === 0) keep([npub])
}

export function removeShop(npub: string): void {
  keep(shops.peek().filter((one) => one !== npub))
}

/** The address by which another device becomes a till of this shop. */
export function tillAddress(npub: string): string {
  return `${location.origin}/caja#${offerName}=${npub}`
}

/** The shop in a scanned or typed text, as an npub: a key, or an address that holds one; else null. */
export function parseShop(text: string): string | null {
  const key = /n(?:pub|profile)1[a-z0-9]+/i.exec(text)?.[0] ?? text
  const pubkey = parsePubkey(key.toLowerCase())
  return pubkey === null ? null : npubOf(pubkey)
}

/** The shop that a fragment offers, or null. */
export function parseOffer(fragment: string): string | null {
  const offered = new URLSearchParams(fragment.replace(/^#/, '')).get(offerName)
  return offered === null ? null : parseShop(offered)
}

function keep(list: readonly string[]): void {
  shops.value = list
  device.write(place, JSON.stringify(list))
}

/** Others may write there, and an older build did. */
function parseShops(text: string | null): string[] {
  const value = parseJson(text)
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  return [...new Set(texts.map(parseShop))].filter((one) => one !== null)
}
