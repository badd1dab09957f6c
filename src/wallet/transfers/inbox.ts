import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import type { CommonTerms } from '../../coupons/definition.ts'
import { handleText, nonceShaped, parseHandle } from '../../coupons/nonce.ts'
import { expired, type FrozenVoucher } from '../../coupons/voucher.ts'
import type { Sealed } from '../../crypto/seal-to-holder.ts'
import { npubOf } from '../../nostr/keys.ts'
import type { Caller } from '../../session/caller.ts'
import type { Held } from './inbox-store.ts'
import type { TransferStores, Transfers } from './service.ts'
import type { VoucherRef } from './transfer-store.ts'

type Kept = FrozenVoucher<CommonTerms> & {
  from: VoucherRef
  /** Handle of the nonce that replaced the one that came. */
  replacement: Uint8Array
  holder: string
  comment: string | null
  rules: unknown
  sealed: Sealed
}

/** Put a replacement into its holder's inbox and finish its transfer. */
export async function keep(tx: TransferStores, kept: Kept, now: number): Promise<void> {
  const { from, replacement, holder, owner } = kept
  const { total } = await tx.inbox.count(holder, owner, now)
  const over = total + 1 - limits.inboxRowsMax
  if (over > 0) await tx.inbox.removeWorthless(holder, over, now)
  const id = await tx.transfers.insert({ ...from, replacement, holder, now })
  await tx.inbox.insert({ ...kept, id })
}

/** Refuses `inbox-full` and `inbox-merchant-full`; transfers under way count, too. */
export async function requireRoom(
  tx: TransferStores,
  { holder, owner, now }: { holder: string; owner: string; now: number },
): Promise<void> {
  const kept = await tx.inbox.count(holder, owner, now)
  const coming = await tx.transfers.countFor(holder, owner, now - limits.intentFreshSeconds)
  if (kept.unspent + coming.all >= limits.inboxUnspentMax) throw new Refusal('inbox-full')
  if (kept.ofOwner + coming.ofOwner >= limits.inboxPerMerchantMax) {
    throw new Refusal('inbox-merchant-full')
  }
}

/** The caller's vouchers, newest first. */
export async function listInbox(transfers: Transfers, caller: Caller) {
  const { database } = transfers
  const held = await database.snapshot((tx) => tx.inbox.list(caller.pubkey, limits.inboxRowsMax))
  return { vouchers: held.map((one) => heldView(transfers, one)) }
}

/** Delete one of the caller's vouchers, spent or not. Refuses `held-unknown`. */
export async function forget({ database }: Transfers, caller: Caller, id: string) {
  const plan = { roots: [{ holder: caller.pubkey }], first: caller.spend }
  return database.transact(plan, async (tx) => {
    const found = nonceShaped(id) && (await tx.inbox.remove(caller.pubkey, parseHandle(id)))
    if (!found) throw new Refusal('held-unknown')
    return { removed: true }
  })
}

function heldView({ now, couponService, services }: Transfers, held: Held) {
  const { terms, owner, phase, rules } = held
  const known = phase === 'minted' && expired(terms, now()) ? 'expired' : phase
  return {
    id: handleText(held.handle),
    status: known ?? 'unknown',
    receivedAt: held.receivedAt,
    comment: held.comment,
    couponId: held.couponId,
    coupon: terms.benefit,
    name: terms.name,
    description: terms.description,
    image: terms.image,
    npub: npubOf(owner),
    service:
      held.service === couponService.signer.pubkey
        ? null
        : { npub: npubOf(held.service), url: baseOf(services.get(held.service) ?? '') },
    expiresAt: terms.expiresAt,
    ...(rules !== null && { rules }),
    sealed: held.sealed,
  }
}

/** The address under which a service has its routes; null where its refresh address does not tell it. */
function baseOf(refreshUrl: string): string | null {
  const [, base = null] = /^(.*)\/api\/coupons\/refresh$/.exec(refreshUrl) ?? []
  return base
}
