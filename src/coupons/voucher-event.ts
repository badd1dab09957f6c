import { Refusal } from '../base/refusal.ts'
import { contentObject, type NostrEvent, tagValue } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import { type CommonTerms, parseTerms } from './definition.ts'
import { parseRules } from './rules.ts'
import type { FrozenVoucher } from './voucher.ts'

const idMax = 64
const pubkey = /^[0-9a-f]{64}$/
/** Nonces of other services may be longer than ours. */
const nonceShape = /^[!-~]{16,128}$/

/** The content of a voucher event in phase `minted`, of this or another service. */
export type ReadVoucher = FrozenVoucher<CommonTerms> & {
  nonce: string
  /** In canonical form, for a comparison. As they stand where this service cannot read them; null for none. */
  rules: unknown
}

/**
 * Read a kind 20402 event in phase `minted`. Null if it is another kind of event, or if its tags and content
 * differ. The caller must verify the signature.
 */
export function readVoucher(event: NostrEvent): ReadVoucher | null {
  const [nonce, owner, couponId] = ['nonce', 'p', 'coupon'].map((name) => tagValue(event, name))
  if (event.kind !== kinds.voucher || tagValue(event, 'phase') !== 'minted') return null
  if (!nonce || !nonceShape.test(nonce) || !owner || !pubkey.test(owner)) return null
  if (!couponId || couponId.length > idMax) return null
  const content = contentObject(event.content)
  if (!content || !agrees(content.nonce, nonce) || !agrees(content.owner, owner)) return null
  // Text that hides characters is not refused here: the voucher was signed with it, and the holder owns it.
  const terms = termsOrNull({ ...content, benefit: content.coupon })
  if (!terms || !agrees(tagValue(event, 'expiration'), String(terms.expiresAt))) return null
  return { nonce, owner, couponId, terms, rules: rulesOf(content.rules) }
}

/** True if an optional second copy of a value equals the first. Some services write it once. */
function agrees(said: unknown, value: string): boolean {
  return said === undefined || said === value
}

/** Another service may use the key for something else, or know a time zone that this one does not. */
function rulesOf(value: unknown): unknown {
  try {
    return parseRules(value)
  } catch (refused) {
    if (refused instanceof Refusal) return value
    throw refused
  }
}

function termsOrNull(fields: Record<string, unknown>): CommonTerms | null {
  try {
    return parseTerms(fields)
  } catch (refused) {
    if (refused instanceof Refusal) return null
    throw refused
  }
}
