/** Names, colours and logos of shops, as this service keeps them. */
import { asObject } from '../base/json.ts'
import { isPictureHash } from '../pictures/address.ts'
import { isShopColor, type ShopColor } from '../shops/color.ts'
import { anyone } from './anyone.ts'
import type { Caller } from './caller.ts'

/** A shop as people see it. Unset is null. */
export type ShopLook = {
  name: string | null
  color: ShopColor | null
  /** The logo: the hash of an uploaded picture. */
  picture: string | null
}

/** Throws ApiError. */
export async function fetchShop(npub: string): Promise<ShopLook> {
  return parseLook(await anyone.call('GET /api/shops/{key}', { path: { key: npub } }))
}

/** Change the shop of the session's key; its settings afterwards. Throws ApiError and SignerError. */
export async function changeShop(caller: Caller, changes: Partial<ShopLook>): Promise<ShopLook> {
  return parseLook(await caller.call('PATCH /api/shop', { body: changes }))
}

/** Whether only authorised tills redeem the coupons of the session's key. Throws ApiError and SignerError. */
export async function fetchOnlyAuthorizedTills(caller: Caller): Promise<boolean> {
  return demandIn(await caller.call('GET /api/shop'))
}

/** Throws ApiError and SignerError. */
export async function changeOnlyAuthorizedTills(
  caller: Caller,
  onlyAuthorizedTills: boolean,
): Promise<boolean> {
  return demandIn(await caller.call('PATCH /api/shop', { body: { onlyAuthorizedTills } }))
}

function demandIn(value: unknown): boolean {
  return asObject(value)?.onlyAuthorizedTills === true
}

/** Read a look from an answer or from the storage of a device. Anything else in it counts as unset. */
export function parseLook(value: unknown): ShopLook {
  const { name, color, picture } = asObject(value) ?? {}
  return {
    name: typeof name === 'string' && name !== '' ? name : null,
    color: isShopColor(color) ? color : null,
    picture: isPictureHash(picture) ? picture : null,
  }
}
