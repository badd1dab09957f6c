import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { npubOf, parsePubkey } from '../nostr/keys.ts'
import { parseNip05 } from '../nostr/nip05.ts'
import type { Caller } from '../session/caller.ts'
import type { Minter } from './minter-store.ts'
import type { CouponService } from './service.ts'
import { parseLabel } from './text.ts'

type MinterInput = { pubkey: string; label?: string | null | undefined }

/** A minter on the wire. */
export function minterView(minter: Minter) {
  return {
    pubkey: minter.pubkey,
    npub: npubOf(minter.pubkey),
    label: minter.label,
    createdAt: minter.createdAt,
  }
}

/** Everyone the caller lets mint, newest first. */
export async function listMinters(service: CouponService, caller: Caller) {
  const minters = await service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    return tx.minters.list(caller.pubkey)
  })
  return { minters: minters.map(minterView) }
}

/**
 * Let a key mint the caller's coupons; `created` is false when it already could. Without a label the label stays.
 * Refuses `field-invalid`, `minter-is-owner`, `minter-unknown` (a name that resolves to nothing), `minters-full`.
 */
export async function authorizeMinter(service: CouponService, caller: Caller, input: MinterInput) {
  const label = parseLabel(input.label)
  const name = parseMinterText(input.pubkey)
  if ('name' in name) {
    // Nobody sends us out twice with one signature, and no stranger at all.
    await service.database.transact((tx) => service.requireMerchant(tx, caller), caller.spend)
  }
  const pubkey = await resolve(service, name, caller.pubkey)
  return service.database.transact(
    async (tx) => {
      await service.requireMerchant(tx, caller)
      if (pubkey === null) throw new Refusal('minter-unknown')
      if (pubkey === caller.pubkey) throw new Refusal('minter-is-owner', { field: 'pubkey' })
      const listed = await tx.minters.find(caller.pubkey, pubkey)
      if (listed) {
        const relabelled = { ...listed, label: label === undefined ? listed.label : label }
        await tx.minters.relabel(caller.pubkey, pubkey, relabelled.label)
        return { created: false, minter: minterView(relabelled) }
      }
      if ((await tx.minters.count(caller.pubkey)) >= limits.mintersPerOwnerMax) {
        throw new Refusal('minters-full')
      }
      service.requireDisk()
      const minter = { pubkey, label: label ?? null, createdAt: service.now() }
      await tx.minters.insert(caller.pubkey, minter)
      return { created: true, minter: minterView(minter) }
    },
    'name' in name ? undefined : caller.spend,
  )
}

/** Take the permission back, at once. Refuses `minter-unknown`. */
export async function removeMinter(service: CouponService, caller: Caller, text: string) {
  return service.database.transact(async (tx) => {
    await service.requireMerchant(tx, caller)
    const pubkey = parsePubkey(text)
    if (!pubkey || !(await tx.minters.remove(caller.pubkey, pubkey))) {
      throw new Refusal('minter-unknown')
    }
    return { removed: true }
  }, caller.spend)
}

type MinterText = { pubkey: string } | { name: string; domain: string }

function parseMinterText(value: string): MinterText {
  const pubkey = parsePubkey(value)
  if (pubkey) return { pubkey }
  const address = parseNip05(value.trim())
  if (address) return address
  throw new Refusal('field-invalid', { field: 'pubkey' })
}

async function resolve(
  service: CouponService,
  text: MinterText,
  merchant: string,
): Promise<string | null> {
  return 'pubkey' in text ? text.pubkey : service.resolveName(text.name, text.domain, merchant)
}
