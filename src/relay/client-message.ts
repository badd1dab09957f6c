import { parseJsonArray } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { type Filter, parseFilter } from '../nostr/filter.ts'

/** A message of a client (NIP-01, NIP-42, NIP-45). Events are not read yet. */
export type ClientMessage =
  | { type: 'EVENT' | 'AUTH'; event: unknown }
  | { type: 'REQ' | 'COUNT'; name: string; filters: Filter[] }
  /** An invalid REQ or COUNT with a subscription id. It is answered with CLOSED. */
  | { type: 'refused'; name: string; reason: string }
  | { type: 'CLOSE'; name: string }
  | { type: 'unknown'; reason: string }

/** Read a message. Never throws. */
export function parseClientMessage(text: string): ClientMessage {
  const value = parseJsonArray(text, limits.relayMessageBytesMax)
  if (!value) return unknown('not a JSON array')
  const [type, name, ...rest] = value
  switch (type) {
    case 'EVENT':
    case 'AUTH':
      return { type, event: name }
    case 'REQ':
    case 'COUNT':
      if (!isName(name)) return unknown('the subscription id is a string of 1 to 64 characters')
      return parseRequest(type, name, rest)
    case 'CLOSE':
      return isName(name) ? { type, name } : unknown('the subscription id is missing')
    default:
      return unknown('not a message this relay knows')
  }
}

function parseRequest(type: 'REQ' | 'COUNT', name: string, values: unknown[]): ClientMessage {
  const refused = (reason: string) => ({ type: 'refused', name, reason }) as const
  if (values.length === 0) return refused('invalid: a filter is missing')
  if (values.length > limits.relayFiltersMax) {
    return refused(`invalid: more than ${limits.relayFiltersMax} filters`)
  }
  const filters = values.flatMap((value) => parseFilter(value) ?? [])
  // One invalid filter refuses the request. Answering the others would look like a complete answer.
  if (filters.length < values.length) return refused('invalid: a filter is not valid')
  return { type, name, filters }
}

function isName(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= limits.relaySubscriptionIdCharsMax
  )
}

function unknown(reason: string): ClientMessage {
  return { type: 'unknown', reason: `invalid: ${reason}` }
}
