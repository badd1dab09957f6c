import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { parseEvent, tagValue, type VerifyEvent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import type { Voucher } from './voucher.ts'

/** The order behind a redemption: a zap request (NIP-57) as sent, in JSON, and its event id in hex. */
type Order = { json: string; id: string }

/**
 * The zap request to file with a redemption, or null when it does not qualify: kind 9734, a valid
 * signature, a `coupon` tag that names the definition, and the nonce nowhere in it.
 */
export function parseZapRequest(
  value: unknown,
  voucher: Voucher,
  nonce: string,
  verify: VerifyEvent,
): Order | null {
  if (value === undefined || value === null) return null
  // An object has passed the bounds of the body that it came in.
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length > limits.zapRequestCharsMax * 2) return null
  if ([...text].length > limits.zapRequestCharsMax) return null
  // Escapes could hide the nonce, also in keys that the event does not have.
  if (text.includes(nonce) || unescaped(text).includes(nonce)) return null
  const event = parseEvent(parseJson(text, text.length))
  if (event?.kind !== kinds.zapRequest || tagValue(event, 'coupon') !== voucher.couponId)
    return null
  return verify(event) ? { json: JSON.stringify(value), id: event.id } : null
}

/** JSON text without its `\u` escapes, for searching. */
function unescaped(text: string): string {
  return text.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** Millisatoshi, or null when it is no non-negative integer. */
export function parseAmountMsat(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
