import { limits } from '../../base/limits.ts'

const decimalText = /^[1-9]\d{0,18}$/

/**
 * A token amount in its smallest unit: a whole number above zero, as a JSON number or in decimal
 * digits. Null for anything else, also for a number above 2^53 − 1, which has lost its last digits.
 */
function parseAmount(value: unknown): bigint | null {
  const amount = readWhole(value)
  return amount !== null && amount > 0n && amount <= limits.tokenAmountMax ? amount : null
}

function readWhole(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null
  return typeof value === 'string' && decimalText.test(value) ? BigInt(value) : null
}

/** The amounts of a `tokens` object; null when it is none, is empty, or has a value that is no amount. */
export function parseAmounts(value: unknown): Map<string, bigint> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const entries = Object.entries(value)
  if (entries.length === 0 || entries.length > limits.tokensPerTransactionMax) return null
  const amounts = new Map<string, bigint>()
  for (const [token, item] of entries) {
    const amount = parseAmount(item)
    if (amount === null) return null
    amounts.set(token, amount)
  }
  return amounts
}

/** An amount or a balance on the wire: a number, and text where a number would lose digits. */
export function amountView(amount: bigint): number | string {
  const exact = amount <= Number.MAX_SAFE_INTEGER && amount >= Number.MIN_SAFE_INTEGER
  return exact ? Number(amount) : String(amount)
}
