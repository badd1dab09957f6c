import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { parseEvent, tagValue, type VerifyEvent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import type { Voucher } from './voucher.ts'

/** The order of a redemption: a zap request (NIP-57) in JSON, and its event id in hex. */
type Order = { json: string; id: string }

/**
 * Read the zap request of a redemption. It must be of kind 9734, have a valid signature, name the definition in
 * its `coupon` tag, and not contain the nonce, which a published order would disclose. Null if it is not so.
 */
export function parseZapRequest(
  value: unknown,
  voucher: Voucher,
  nonce: string,
  verify: VerifyEvent,
): Order | null {
  if (value === undefined || value === null) return null
  // An object needs no JSON bounds here: the body that it came in has passed them.
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // The cheap bound first: counting code points of a long text takes time.
  if (text.length > limits.zapRequestCharsMax * 2) return null
  if ([...text].length > limits.zapRequestCharsMax) return null
  // A `\u` escape could hide the nonce, even in a field that an event does not have.
  if (text.includes(nonce) || unescaped(text).includes(nonce)) return null
  const event = parseEvent(parseJson(text, text.length))
  if (event?.kind !== kinds.zapRequest || tagValue(event, 'coupon') !== voucher.couponId)
    return null
  return verify(event) ? { json: JSON.stringify(value), id: event.id } : null
}

/** The text with its `\u` escapes replaced, for the search only. */
function unescaped(text: string): string {
  return text.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** Read an amount in millisatoshi. Null if it is not an integer of 0 or more. */
export function parseAmountMsat(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
