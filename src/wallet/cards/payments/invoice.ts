import { decode } from 'light-bolt11-decoder'
import { limits } from '../../../base/limits.ts'
import { Refusal } from '../../../base/refusal.ts'

/** The parts of a Lightning invoice (BOLT 11) that a payment needs. */
type Invoice = {
  /** Lower case. */
  text: string
  /** Millisatoshi. */
  amount: bigint
  /** Hex. */
  paymentHash: string
  /** Unix seconds. */
  expiresAt: number
}

/** The expiry of an invoice that names none (BOLT 11). */
const expirySeconds = 3600

/**
 * An invoice of the bitcoin network with a fixed amount. Refuses `invoice-invalid` (other networks,
 * too), `invoice-amountless`.
 */
export function parseInvoice(value: string): Invoice {
  const sections = value.length <= limits.invoiceCharsMax ? sectionsOf(value.toLowerCase()) : null
  if (sections?.get('coin_network') !== 'bc') throw new Refusal('invoice-invalid')
  const paymentHash = String(sections.get('payment_hash'))
  const timestamp = Number(sections.get('timestamp'))
  const expiry = Number(sections.get('expiry') ?? expirySeconds)
  if (!/^[0-9a-f]{64}$/.test(paymentHash) || !Number.isSafeInteger(timestamp + expiry)) {
    throw new Refusal('invoice-invalid')
  }
  const amount = BigInt(String(sections.get('amount') ?? 0))
  if (amount === 0n) throw new Refusal('invoice-amountless')
  return { text: value.toLowerCase(), amount, paymentHash, expiresAt: timestamp + expiry }
}

/** The first section of each name; null when the text is no invoice. */
function sectionsOf(text: string): Map<string, unknown> | null {
  try {
    const named = new Map<string, unknown>()
    for (const section of decode(text).sections) {
      const network = section.name === 'coin_network'
      const value = network ? section.letters : 'value' in section ? section.value : undefined
      if (!named.has(section.name)) named.set(section.name, value)
    }
    return named
  } catch (cause) {
    // The decoder throws plain errors for a text that is no invoice.
    if (cause instanceof Error) return null
    throw cause
  }
}
