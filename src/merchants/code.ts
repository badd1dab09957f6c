import { type Binding, mac, sameMac } from '../crypto/seal.ts'

/** Crockford's base 32, without letters that look like digits. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Symbols of a code, of five bits each: 60 bits. */
const symbols = 12
const shape = new RegExp(`^[${alphabet}]{${symbols}}$`)

/** Bytes of a salt. */
export const saltBytes = 16

/**
 * The setup code of a salt, in groups of four. It is 60 bits of an HMAC under the store key, so that
 * neither the database nor a backup shows it.
 */
export function codeOf(storeKey: Uint8Array, salt: Uint8Array): string {
  const secret = Buffer.from(salt).toString('hex')
  const binding: Binding = { purpose: 'setup', secret, key: '' }
  const bytes = mac(storeKey, binding).subarray(0, symbols)
  const text = Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('')
  return text.replace(/.{4}(?=.)/g, '$&-')
}

/** Compare a typed code: in any case, with or without dashes and spaces, O for 0, I or L for 1. */
export function sameCode(typed: string, code: string): boolean {
  const [given, right] = [plain(typed), plain(code)]
  return shape.test(given) && sameMac(Buffer.from(given), Buffer.from(right))
}

function plain(text: string): string {
  return text
    .toUpperCase()
    .replace(/[\s\p{Pd}]/gu, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
}
