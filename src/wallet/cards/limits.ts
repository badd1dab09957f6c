import { limits } from '../../base/limits.ts'
import { amountView } from '../ledger/amount.ts'
import { isCardDescription, isCardName } from './card-text.ts'
import type { CardLimit } from './holder-store.ts'

/** The bound in a limit: an integer from 0 on, as a JSON number or in decimal digits; else null. */
export function parseBound(value: unknown): bigint | null {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null
  if (typeof value !== 'string' || !/^\d{1,19}$/.test(value)) return null
  const amount = BigInt(value)
  return amount <= limits.tokenAmountMax ? amount : null
}

/** A token's name; it fits in a header, a setting and a tag. */
function parseToken(value: unknown): string | null {
  const named = typeof value === 'string' && /^[A-Za-z0-9_-]+$/.test(value)
  return named && value.length <= limits.tokenCharsMax ? value : null
}

/** `DEFAULT_LIMITS`: `name;description;token;amount;delta` joined by `:`; null when one is not valid. */
export function parseLimits(text: string): CardLimit[] | null {
  const rows = text.split(':').map((part) => {
    const [name, description, token, amount, delta, ...more] = part
      .split(';')
      .map((item) => item.trim())
    return more.length > 0 ? null : parseLimit({ name, description, token, amount, delta })
  })
  if (rows.length > limits.cardLimitsMax) return null
  return rows.every((row) => row !== null) ? rows : null
}

/** One limit as a holder or the operator writes it; null when it is not valid. */
export function parseLimit(value: unknown): CardLimit | null {
  if (typeof value !== 'object' || value === null) return null
  const { name, description = '', token, amount, delta } = value as Record<string, unknown>
  const sum = parseBound(amount)
  const seconds = parseBound(delta)
  const named = parseToken(token)
  if (!isCardName(name)) return null
  if (!isCardDescription(description)) return null
  if (sum === null || seconds === null || named === null) return null
  if (seconds > BigInt(limits.cardLimitSecondsMax)) return null
  return { name, description, token: named, amount: sum, delta: Number(seconds) }
}

/** A limit on the wire. */
export function limitView({ amount, ...limit }: CardLimit) {
  return { ...limit, amount: amountView(amount) }
}
