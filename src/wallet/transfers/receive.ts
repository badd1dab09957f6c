import { limits } from '../../base/limits.ts'
import { httpStatusOf, Refusal } from '../../base/refusal.ts'
import { handleOf } from '../../coupons/nonce.ts'
import { refreshWithin } from '../../coupons/refresh.ts'
import { expired, type VoucherResult } from '../../coupons/voucher.ts'
import { createSealToHolder } from '../../crypto/seal-to-holder.ts'
import { isName } from '../identities/name.ts'
import { keep, requireRoom } from './inbox.ts'
import { type Offer, parseOffer } from './offer.ts'
import type { TransferStores, Transfers } from './service.ts'
import { sealIntent, swap } from './swap.ts'
import type { VoucherRef } from './transfer-store.ts'

type Arrival = { nonce: string; voucher: unknown; comment: string | null }

/** `nonceSent`: the nonce was sent to another service. */
type Reception = { accepted: true } | { accepted: false; refusal: Refusal; nonceSent: boolean }

/**
 * Take a voucher for the account of that name: swap its nonce for one that the sender does not know,
 * and store that for the holder. When the answer is accepted, it is stored. A repeat is accepted again.
 * Refuses, in this order and as a value: `voucher-invalid`, `vouchers-not-taken`, `service-unknown`,
 * `voucher-refreshed` (it went to somebody else), `transfer-busy`, `voucher-expired`, `inbox-full`,
 * `inbox-merchant-full`, refusals of the service, `service-silent`, `transfer-pending`. Throws
 * refusals that concern no voucher: `rate-limited`, `overloaded`, `disk-low`.
 */
export async function receive(
  transfers: Transfers,
  name: string,
  { nonce, voucher, comment }: Arrival,
): Promise<Reception> {
  // Invalid names share one bucket, so that their number cannot grow the table.
  transfers.arriving(isName(name) ? name : '')
  try {
    const offer = parseOffer(voucher, nonce, transfers.verify)
    const { pubkey: holder } = await transfers.database.snapshot((tx) => taker(tx, name))
    // A comment with the nonce would put the nonce on the disk in clear.
    const word = comment?.includes(nonce) ? null : comment
    const arrival = { name, holder, offer, comment: word }
    if (offer.service !== transfers.couponService.signer.pubkey)
      return await swapElsewhere(transfers, arrival)
    await settleHere(transfers, arrival)
    return { accepted: true }
  } catch (refused) {
    if (!(refused instanceof Refusal) || httpStatusOf(refused) >= 500) throw refused
    if (refused.code === 'rate-limited') throw refused
    return { accepted: false, refusal: refused, nonceSent: false }
  }
}

type Checked = { name: string; holder: string; offer: Offer; comment: string | null }

/** Take a voucher of this service: it is burned, minted anew and stored in one transaction. */
async function settleHere(transfers: Transfers, arrival: Checked): Promise<void> {
  const { holder, offer, comment } = arrival
  const { database, couponService, newKey } = transfers
  // Before the transaction: this part is slow.
  const seal = createSealToHolder(holder)
  if (!seal) throw new Refusal('vouchers-not-taken')
  const from = refOf(offer)
  await database.transact({ roots: [{ voucher: from.handle }, { holder }] }, async (tx) => {
    await requireTaker(tx, arrival)
    if (await finished(tx, from, holder)) return
    const now = transfers.now()
    await requireRoom(tx, { holder, owner: offer.owner, now })
    const input = { nonce: offer.nonce, key: newKey() }
    const { body } = await refreshWithin(couponService, tx, input)
    const { nonce, voucher } = JSON.parse(body) as VoucherResult
    const sealed = seal({ nonce, voucher })
    if (!sealed) throw new Error('a voucher of our own does not fit into NIP-44')
    const { owner, couponId, terms, rules } = offer
    const replacement = handleOf(nonce)
    const promised = { owner, couponId, terms, rules }
    await keep(tx, { from, replacement, holder, comment, sealed, ...promised }, now)
  })
}

/** Take a voucher of another service: first the intent on disk, then the network. */
async function swapElsewhere(transfers: Transfers, arrival: Checked): Promise<Reception> {
  const { holder, offer, comment } = arrival
  if (!transfers.services.has(offer.service)) throw new Refusal('service-unknown')
  if (!createSealToHolder(holder)) throw new Refusal('vouchers-not-taken')
  const from = refOf(offer)
  const roots = [{ holder }, { service: offer.service }]
  const intent = await transfers.database.transact({ roots }, async (tx) => {
    await requireTaker(tx, arrival)
    if (await finished(tx, from, holder)) return null
    const open = await tx.transfers.findIntent(from)
    if (open && open.holder !== holder) throw new Refusal('transfer-busy')
    if (open) return { id: open.id, fresh: false }
    const now = transfers.now()
    if (expired(offer.terms, now)) throw new Refusal('voucher-expired')
    await requireRoom(tx, { holder, owner: offer.owner, now })
    if ((await tx.transfers.countAt(offer.service)) >= limits.intentsPerServiceMax) {
      throw new Refusal('overloaded', { retryAfter: 60 })
    }
    transfers.requireDisk()
    const content = { nonce: offer.nonce, voucher: offer.event, comment, key: transfers.newKey() }
    const id = await tx.transfers.insertIntent({
      ...from,
      holder,
      owner: offer.owner,
      sealed: sealIntent(transfers.couponService.storeKey, { ...from, holder }, content),
      nextAt: now + limits.intentFirstSeconds,
      createdAt: now,
    })
    return { id, fresh: true }
  })
  if (!intent) return { accepted: true }
  const swapped = await swap(transfers, { ...intent, service: offer.service })
  if (swapped === 'stored') return { accepted: true }
  if (swapped === 'gone') return swapElsewhere(transfers, arrival)
  if (swapped === 'open') {
    return { accepted: false, refusal: new Refusal('transfer-pending'), nonceSent: true }
  }
  return { accepted: false, refusal: swapped.refused, nonceSent: swapped.nonceSent }
}

function refOf({ service, nonce }: Offer): VoucherRef {
  return { service, handle: handleOf(nonce) }
}

/** The account of a name that takes vouchers. Refuses `vouchers-not-taken`. */
async function taker(tx: TransferStores, name: string) {
  const account = await tx.accounts.findByName(name)
  if (!account?.allowVouchers) throw new Refusal('vouchers-not-taken')
  return account
}

/** Check the account again, in the transaction that writes. */
async function requireTaker(tx: TransferStores, { name, holder }: Checked): Promise<void> {
  const { pubkey } = await taker(tx, name)
  if (pubkey !== holder) throw new Refusal('vouchers-not-taken')
}

/** True when this transfer was finished before. Refuses `voucher-refreshed` when it went to another holder. */
async function finished(tx: TransferStores, from: VoucherRef, holder: string): Promise<boolean> {
  const before = await tx.transfers.holderOf(from)
  if (before !== null && before !== holder) throw new Refusal('voucher-refreshed')
  return before === holder
}
