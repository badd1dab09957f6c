import { Refusal } from '../base/refusal.ts'
import type { NostrEvent, Signer } from '../nostr/event.ts'
import { npubOf } from '../nostr/keys.ts'
import { kinds } from '../nostr/kinds.ts'
import type { Terms } from './definition.ts'
import { handleText } from './nonce.ts'

export type Phase = 'minted' | 'claimed' | 'refreshed' | 'voided'

/** `expired` is not stored: it is `minted` past its expiry. */
type VoucherStatus = Phase | 'expired'

/** What a voucher froze at mint: the terms, and whose they are. */
export type Promised = { couponId: string; owner: string; terms: Terms }

/** A voucher as the store finds it. */
export type Voucher = Promised & {
  rowId: number
  definitionRowId: number
  revisionId: number
  /** The voucher first minted; its own id when that is this one. */
  rootId: number
  /** After the kill switch this reads `voided`, whether the row is marked yet or not. */
  phase: Phase
  /** When it left `minted`. */
  endedAt: number | null
}

/** A voucher with what only the list of issuances shows; `root` is the handle of the one first minted. */
export type ListedVoucher = Voucher & {
  handle: Uint8Array
  root: Uint8Array
  mintedBy: string
  mintedAt: number
}

/** The answer of mint, refresh and claim, exactly the fields of the protocol. */
export type VoucherResult = {
  couponId: string
  coupon: Terms['benefit']
  name: string
  description: string
  npub: string
  image: string | null
  nonce: string
  expiresAt: number | null
  voucher: NostrEvent
}

/** One row of a definition's issuances: names a voucher without being able to spend it. */
export type Issuance = {
  handle: string
  status: VoucherStatus
  mintedBy: string
  mintedByNpub: string
  mintedAt: number
  claimedAt: number | null
  voidedAt: number | null
  refreshedAt: number | null
  chain: string
}

export function statusOf(voucher: Voucher, now: number): VoucherStatus {
  return voucher.phase === 'minted' && expired(voucher.terms, now) ? 'expired' : voucher.phase
}

export function spendable(voucher: Voucher, now: number): boolean {
  return statusOf(voucher, now) === 'minted'
}

export function expired(terms: Pick<Terms, 'expiresAt'>, now: number): boolean {
  return terms.expiresAt !== null && terms.expiresAt <= now
}

/** What both previews and voucher results say of a voucher. */
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
  }
}

type Issued = Promised & { nonce: string }

/** Sign and shape the answer for a voucher that was minted at `now`. */
export function mintedResult(signer: Signer, issued: Issued, now: number): VoucherResult {
  const voucher = signVoucher(signer, issued, { phase: 'minted', at: now })
  return { ...voucherView(issued, issued.nonce), voucher }
}

/** Sign and shape the answer for a claim: `created_at` is the claim's, so the event id never changes. */
export function claimedResult(signer: Signer, issued: Issued, claimedAt: number): VoucherResult {
  const voucher = signVoucher(signer, issued, { phase: 'claimed', at: claimedAt })
  return { ...voucherView(issued, issued.nonce), voucher }
}

function signVoucher(
  signer: Signer,
  { couponId, owner, terms, nonce }: Issued,
  { phase, at }: { phase: 'minted' | 'claimed'; at: number },
): NostrEvent {
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
  })
  return signer.sign({ kind: kinds.voucher, created_at: at, tags, content })
}

/** A row of the issuances list. */
export function issuanceOf(voucher: ListedVoucher, now: number): Issuance {
  const ended = (phase: Phase) => (voucher.phase === phase ? voucher.endedAt : null)
  return {
    handle: handleText(voucher.handle),
    status: statusOf(voucher, now),
    mintedBy: voucher.mintedBy,
    mintedByNpub: npubOf(voucher.mintedBy),
    mintedAt: voucher.mintedAt,
    claimedAt: ended('claimed'),
    voidedAt: ended('voided'),
    refreshedAt: ended('refreshed'),
    chain: handleText(voucher.root),
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
