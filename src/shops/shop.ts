import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { isPlainName } from '../base/words.ts'
import { parseText } from '../coupons/text.ts'
import { npubOf, parsePubkey } from '../nostr/keys.ts'
import { isPictureHash } from '../pictures/address.ts'
import type { Caller } from '../session/caller.ts'
import { isShopColor, type ShopColor } from './color.ts'
import type { ShopChangesModel } from './models.ts'
import type { Shops } from './service.ts'
import type { Shop } from './shop-store.ts'

type ShopInput = Static<typeof ShopChangesModel>

/** The settings of the caller's own shop. */
export async function ownShop({ database }: Shops, { pubkey }: Caller): Promise<Shop> {
  return database.snapshot((tx) => tx.shops.find(pubkey))
}

/** The shop of a key, as anyone reads it. Refuses `merchant-unknown` for text that is no key. */
export async function publicShop({ database }: Shops, text: string) {
  const pubkey = parsePubkey(text)
  if (pubkey === null) throw new Refusal('merchant-unknown')
  const { name, color, picture } = await database.snapshot((tx) => tx.shops.find(pubkey))
  return { npub: npubOf(pubkey), name, color, picture }
}

/**
 * Change settings of the caller's shop. Absent ones stay, null clears. Refuses `field-invalid`,
 * `nothing-to-change`, `merchant-not-allowed`, `picture-unknown`, `disk-low`.
 */
export function changeShop(shops: Shops, caller: Caller, input: ShopInput): Promise<Shop> {
  const plan = { roots: [{ merchant: caller.pubkey }], first: caller.spend }
  return shops.database.transact(plan, async (tx) => {
    const changes = parseShopChanges(input)
    await shops.requireMerchant(tx, caller)
    const before = await tx.shops.find(caller.pubkey)
    const shop = { ...before, ...changes }
    if (shop.picture !== null && !(await tx.pictures.findOf(caller.pubkey, shop.picture))) {
      throw new Refusal('picture-unknown', { field: 'picture' })
    }
    shops.requireDisk()
    await tx.shops.put(caller.pubkey, shop, shops.now())
    for (const one of new Set([before.picture, shop.picture])) {
      if (one !== null) await tx.pictures.settle(caller.pubkey, one, shops.now())
    }
    return shop
  })
}

/** Read the changes of a shop. Refuses `field-invalid`, `nothing-to-change`. */
function parseShopChanges(input: ShopInput): Partial<Shop> {
  const { name, color, picture, onlyAuthorizedTills } = input
  const changes: Partial<Shop> = {
    ...(name !== undefined && { name: parseName(name) }),
    ...(color !== undefined && { color: parseColor(color) }),
    ...(picture !== undefined && { picture: parsePicture(picture) }),
    ...(onlyAuthorizedTills !== undefined && { onlyAuthorizedTills }),
  }
  if (Object.keys(changes).length === 0) throw new Refusal('nothing-to-change')
  return changes
}

function parseName(value: string | null): string | null {
  if (value === null) return null
  const name = parseText(value, { field: 'name', charsMax: limits.nameCharsMax }).trim()
  if (!isPlainName(name)) throw new Refusal('field-invalid', { field: 'name' })
  return name
}

function parsePicture(value: string | null): string | null {
  if (value === null || isPictureHash(value)) return value
  throw new Refusal('field-invalid', { field: 'picture' })
}

function parseColor(value: string | null): ShopColor | null {
  if (value === null || isShopColor(value)) return value
  throw new Refusal('field-invalid', { field: 'color' })
}
