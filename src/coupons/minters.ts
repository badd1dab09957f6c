import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { npubOf, parsePubkey } from '../nostr/keys.ts'
import { parseNip05 } from '../nostr/nip05.ts'
import type { Caller } from '../session/caller.ts'
import type { Minter } from './minter-store.ts'
import type { NewMinterModel } from './models.ts'
import type { CouponService } from './service.ts'
import { parseLabel } from './text.ts'

type MinterInput = Static<typeof NewMinterModel>

/** A minter as the wire shows it. */
export function minterView(minter: Minter) {
  return {
    pubkey: minter.pubkey,
    npub: npubOf(minter.pubkey),
    label: minter.label,
    createdAt: minter.createdAt,
    // A key that is there only where it says something: other entries keep their fields.
    ...(!minter.mint && { mint: false as const }),
  }
}

/** Merchants that list the caller, those first that let it mint, each in the order in which they listed it. */
export async function authorizations(service: CouponService, { pubkey }: Caller) {
  const most = limits.authorizationsMax
  const [minting, redeeming] = await service.database.snapshot(async (tx) => [
    await tx.minters.listOf(pubkey, true, most),
    await tx.minters.listOf(pubkey, false, most),
  ])
  const view = (mint: boolean) => (one: { owner: string; label: string | null }) => ({
    npub: npubOf(one.owner),
    label: one.label,
    mint,
  })
  return { authorizations: [...minting.map(view(true)), ...redeeming.map(view(false))] }
}

/** Minters of the caller, newest first. Refuses `merchant-not-allowed`. */
export async function listMinters(service: CouponService, caller: Caller) {
  const minters = await service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    return tx.minters.list(caller.pubkey)
  })
  return { minters: minters.map(minterView) }
}

/**
 * Let a key redeem the caller's coupons, and mint them unless `mint` is false. `created` is false if it was
 * listed; an absent label or `mint` leaves it as it was.
 * Refuses `field-invalid`, `merchant-not-allowed`, `minter-unknown` (a NIP-05 name without a key),
 * `minter-is-owner`, `minters-full`, `disk-low`.
 */
export async function authorizeMinter(service: CouponService, caller: Caller, input: MinterInput) {
  const label = parseLabel(input.label)
  const name = parseMinterText(input.pubkey)
  if ('name' in name) {
    // A name makes this service call another server. The signature is spent before, so that neither a stranger
    // nor a copy of the request can cause calls.
    await service.database.transact({ roots: 'none', first: caller.spend }, (tx) =>
      service.requireMerchant(tx, caller),
    )
  }
  const pubkey = await resolve(service, name, caller.pubkey)
  const plan = {
    roots: [{ merchant: caller.pubkey }],
    first: 'name' in name ? undefined : caller.spend,
  }
  return service.database.transact(plan, async (tx) => {
    // Checked again, because the look-up of a name takes seconds, and permission may have ended meanwhile.
    await service.requireMerchant(tx, caller)
    if (pubkey === null) throw new Refusal('minter-unknown')
    if (pubkey === caller.pubkey) throw new Refusal('minter-is-owner', { field: 'pubkey' })
    const listed = await tx.minters.find(caller.pubkey, pubkey)
    if (listed) {
      const updated = {
        ...listed,
        label: label === undefined ? listed.label : label,
        mint: input.mint ?? listed.mint,
      }
      await tx.minters.update(caller.pubkey, updated)
      return { created: false, minter: minterView(updated) }
    }
    if ((await tx.minters.count(caller.pubkey)) >= limits.mintersPerOwnerMax) {
      throw new Refusal('minters-full')
    }
    service.requireDisk()
    const mint = input.mint ?? true
    const minter = { pubkey, label: label ?? null, createdAt: service.now(), mint }
    await tx.minters.insert(caller.pubkey, minter)
    return { created: true, minter: minterView(minter) }
  })
}

/** Take the permission back at once. Refuses `merchant-not-allowed`, `minter-unknown`. */
export async function removeMinter(service: CouponService, caller: Caller, text: string) {
  const plan = { roots: [{ merchant: caller.pubkey }], first: caller.spend }
  return service.database.transact(plan, async (tx) => {
    await service.requireMerchant(tx, caller)
    const pubkey = parsePubkey(text)
    if (!pubkey || !(await tx.minters.remove(caller.pubkey, pubkey))) {
      throw new Refusal('minter-unknown')
    }
    return { removed: true }
  })
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
