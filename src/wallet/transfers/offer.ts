import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { isPlainText } from '../../base/words.ts'
import { parseText } from '../../coupons/text.ts'
import { type ReadVoucher, readVoucher } from '../../coupons/voucher-event.ts'
import { type NostrEvent, parseEvent, type VerifyEvent } from '../../nostr/event.ts'

/** A voucher that changes hands, as its event states it; only its service knows its phase. */
export type Offer = ReadVoucher & {
  event: NostrEvent
  /** The key that signed it. */
  service: string
}

/** Read a voucher and check that it is the nonce's. Refuses `voucher-invalid`. */
export function parseOffer(value: unknown, nonce: string, verify: VerifyEvent): Offer {
  const event = parseEvent(value)
  const voucher = event && readVoucher(event)
  if (!event || voucher?.nonce !== nonce || !verify(event)) throw new Refusal('voucher-invalid')
  return { ...voucher, event, service: event.pubkey }
}

/** The comment for the holder, or null for none. Refuses `field-invalid`. */
export function parseComment(value: unknown): string | null {
  if (value === undefined || value === null) return null
  const comment = parseText(value, { field: 'comment', charsMax: limits.commentCharsMax })
  if (!isPlainText(comment)) throw new Refusal('field-invalid', { field: 'comment' })
  return comment || null
}

/** The nonce in a request, of any service. Refuses `nonce-invalid`. */
export function parseAnyNonce(value: unknown): string {
  if (typeof value === 'string' && /^[!-~]{16,128}$/.test(value)) return value
  throw new Refusal('nonce-invalid', { field: 'nonce' })
}
