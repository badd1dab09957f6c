import type { Static } from '@sinclair/typebox'
import { Refusal } from '../base/refusal.ts'
import type { NostrEvent, Signer } from '../nostr/event.ts'
import { npubOf } from '../nostr/keys.ts'
import { kinds } from '../nostr/kinds.ts'
import { addedView, type CommonTerms, type Terms } from './definition.ts'
import type { IssuanceModel } from './list-models.ts'
import type { VoucherResultModel } from './models.ts'
import { handleText } from './nonce.ts'

/** Stored phases. A voucher leaves `minted` once, and never changes after that. */
export type Phase = 'minted' | 'claimed' | 'refreshed' | 'voided'

/** `expired` is not stored. It is computed for a `minted` voucher past its expiry. */
type VoucherStatus = Phase | 'expired'

/** The frozen part of a voucher: its terms, its definition and its merchant. */
export type FrozenVoucher<Of extends CommonTerms = Terms> = {
  couponId: string
  owner: string
  terms: Of
}

/** A voucher in the store. */
export type Voucher = FrozenVoucher & {
  rowId: number
  definitionRowId: number
  revisionId: number
  /** Row id of the first voucher of its chain. Equals `rowId` if it was never refreshed. */
  rootId: number
  /** `voided` from the moment of the kill switch on, even while the row is not marked yet. */
  phase: Phase
  /** Time at which it stopped being `minted`, in Unix seconds. */
  endedAt: number | null
}

/**
 * A voucher with the columns of the issuances list. `root` is the handle of the first voucher of its chain,
 * `poster` the id of the poster that this one was taken from.
 */
export type ListedVoucher = Voucher & {
  handle: Uint8Array
  root: Uint8Array
  mintedBy: string
  mintedAt: number
  poster: string | null
  /** Its batch (UUID) and the recipient that the merchant named, or null. */
  batch: string | null
  label: string | null
}

/** A voucher as minting, refreshing and claiming answer it, with exactly the fields of the protocol. */
export type VoucherResult = Static<typeof VoucherResultModel>

/** A row of the issuances list. It names a voucher by its handle, which cannot spend it. */
export type Issuance = Static<typeof IssuanceModel>

/** The status of a voucher at `now`, in Unix seconds. */
export function statusOf(voucher: Voucher, now: number): VoucherStatus {
  return voucher.phase === 'minted' && expired(voucher.terms, now) ? 'expired' : voucher.phase
}

/** True if the voucher can be redeemed or refreshed at `now`. */
export function spendable(voucher: Voucher, now: number): boolean {
  return statusOf(voucher, now) === 'minted'
}

/** True from the second of the expiry on. The store's UPDATE uses the same rule. */
export function expired(terms: Pick<CommonTerms, 'expiresAt'>, now: number): boolean {
  return terms.expiresAt !== null && terms.expiresAt <= now
}

/** The voucher fields that previews and voucher results share. */
export function voucherView(voucher: Pick<Voucher, 'couponId' | 'owner' | 'terms'>, nonce: string) {
  return {
    couponId: voucher.couponId,
    coupon: voucher.terms.benefit,
    name: voucher.terms.name,
    description: voucher.terms.description,
    npub: npubOf(voucher.owner),
    image: voucher.terms.image,
    nonce,
    expiresAt: voucher.terms.expiresAt,
    ...addedView(voucher.terms),
  }
}

type Issued = FrozenVoucher & { nonce: string }

/** Sign the event (kind 20402) of a voucher minted at `now`, and build the answer. */
export function mintedResult(signer: Signer, issued: Issued, now: number): VoucherResult {
  return resultOf(issued, signer.sign(unsigned(issued, 'minted', now)))
}

/** The same in two steps, as `begin` of the signer. */
export function beginMinted(signer: Signer, issued: Issued, now: number): () => VoucherResult {
  const voucher = signer.begin(unsigned(issued, 'minted', now))
  return () => resultOf(issued, voucher())
}

/** Sign the event of a claim, and build the answer. A repeat has the same `claimedAt` and so the same event id. */
export function claimedResult(signer: Signer, issued: Issued, claimedAt: number): VoucherResult {
  return resultOf(issued, signer.sign(unsigned(issued, 'claimed', claimedAt)))
}

/** The same in two steps, as `begin` of the signer. */
export function beginClaimed(signer: Signer, issued: Issued, at: number): () => VoucherResult {
  const voucher = signer.begin(unsigned(issued, 'claimed', at))
  return () => resultOf(issued, voucher())
}

function resultOf(issued: Issued, voucher: NostrEvent): VoucherResult {
  return { ...voucherView(issued, issued.nonce), voucher }
}

function unsigned(
  { couponId, owner, terms, nonce }: Issued,
  phase: 'minted' | 'claimed',
  at: number,
): Parameters<Signer['sign']>[0] {
  // The order of tags and keys is part of the protocol: it decides the event id, which a repeat must give again.
  const tags = [
    ['nonce', nonce],
    ['p', owner],
    ['coupon', couponId],
    ['phase', phase],
  ]
  if (terms.expiresAt !== null) tags.push(['expiration', String(terms.expiresAt)])
  const content = JSON.stringify({
    v: 1,
    nonce,
    owner,
    name: terms.name,
    description: terms.description,
    image: terms.image ?? undefined,
    coupon: terms.benefit,
    phase,
    claimedAt: phase === 'claimed' ? at : undefined,
    expiresAt: terms.expiresAt ?? undefined,
    rules: terms.rules ?? undefined,
  })
  return { kind: kinds.voucher, created_at: at, tags, content }
}

/** The row of a voucher in the issuances list. */
export function issuanceOf(voucher: ListedVoucher, now: number): Issuance {
  const handle = handleText(voucher.handle)
  const ended = (phase: Phase) => (voucher.phase === phase ? voucher.endedAt : null)
  return {
    handle,
    nonce: handle,
    status: voucher.phase,
    expired: statusOf(voucher, now) === 'expired',
    mintedBy: voucher.mintedBy,
    mintedByNpub: npubOf(voucher.mintedBy),
    mintedAt: voucher.mintedAt,
    claimedAt: ended('claimed'),
    voidedAt: ended('voided'),
    refreshedAt: ended('refreshed'),
    chain: handleText(voucher.root),
    ...(voucher.poster !== null && { poster: voucher.poster }),
    ...(voucher.batch !== null && { batch: voucher.batch }),
    ...(voucher.label !== null && { label: voucher.label }),
  }
}

/** Refusal of a claim or a refresh, by the status of a voucher that is not spendable. */
export function refusalFor(voucher: Voucher, now: number, asked: 'claim' | 'refresh'): Refusal {
  switch (statusOf(voucher, now)) {
    case 'claimed':
      return new Refusal('voucher-claimed')
    case 'refreshed':
      return new Refusal(asked === 'claim' ? 'voucher-moved' : 'voucher-refreshed')
    case 'voided':
      return new Refusal('voucher-cancelled')
    case 'expired':
      return new Refusal('voucher-expired')
    case 'minted':
      throw new Error('a spendable voucher was refused')
  }
}
