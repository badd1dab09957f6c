import { limits } from '../../base/limits.ts'
import { parsePubkey } from '../../nostr/keys.ts'

/** A closed-loop token: amounts count its smallest unit, of which one token has 10^decimals. */
export type Token = Readonly<{
  name: string
  decimals: number
  /** Hex. Issuing is a payment by this account, the only one that may go below zero. */
  issuer: string
}>

/** The tokens of a setting `NAME:decimals:issuer,…`, by name; null when one is not valid or comes twice. */
export function parseTokens(items: readonly string[]): ReadonlyMap<string, Token> | null {
  const tokens = new Map<string, Token>()
  for (const item of items) {
    const [, name = '', decimals = '', key = ''] = tokenForm.exec(item) ?? []
    const issuer = parsePubkey(key)
    if (issuer === null || Number(decimals) > limits.tokenDecimalsMax || tokens.has(name)) {
      return null
    }
    tokens.set(name, { name, decimals: Number(decimals), issuer })
  }
  return tokens.size <= limits.tokensMax ? tokens : null
}

/** The name has no colon, since tags put it between colons. */
const tokenForm = /^([A-Za-z0-9_-]{1,16}):(\d{1,2}):(\S+)$/

/** An amount as people write it: `150050` of a token with 2 decimals is `1500.50`. */
export function tokenText(amount: bigint, decimals: number): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(decimals + 1, '0')
  const at = digits.length - decimals
  const text = decimals === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`
  return amount < 0n ? `-${text}` : text
}

/** Amount that a person wrote, in smallest units; null for too many decimals, or for no number above zero. */
export function parseTokenText(text: string, decimals: number): bigint | null {
  const [, whole = '', fraction = ''] = /^(\d{1,19})(?:\.(\d{1,18}))?$/.exec(text.trim()) ?? []
  if (whole === '' || fraction.length > decimals) return null
  const amount = BigInt(whole + fraction.padEnd(decimals, '0'))
  return amount > 0n && amount <= limits.tokenAmountMax ? amount : null
}
