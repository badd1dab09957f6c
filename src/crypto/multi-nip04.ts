import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import type { Nip44 } from './nip44.ts'

/** Names the way of encryption, in the `alg` of a content. */
const algorithm = 'sha256:nip-04:nip-04'

/**
 * One text for several readers, as LaWallet writes and reads it: AES-128-CBC under a random key, which NIP-04 wraps
 * for each reader (hex). The result is the content of an event. `mac` is a plain sha256: only the signature of the
 * event says that the text is its author's.
 */
export function sealMulti(nip44: Nip44, readers: readonly string[], text: string): string {
  const messageKey = randomBytes(16)
  const iv = randomBytes(16)
  const cipher = createCipheriv('aes-128-cbc', messageKey, iv)
  const body = cipher.update(text, 'utf8', 'base64') + cipher.final('base64')
  const wrapped = readers.map((key) => [key, nip44.encryptNip04(key, messageKey.toString('hex'))])
  return JSON.stringify({
    mac: hash('sha256', text, 'base64'),
    enc: `${body}?iv=${iv.toString('base64')}`,
    key: Object.fromEntries(wrapped),
    alg: algorithm,
  })
}

/** The text in such a content, for the reader with that public key; null when there is none for it. */
export function openMulti(
  nip44: Nip44,
  { reader, sender }: { reader: string; sender: string },
  value: object,
): string | null {
  const { mac, enc, key, alg } = value as Record<string, unknown>
  if (alg !== algorithm || typeof enc !== 'string') return null
  const wrapped =
    typeof key === 'object' && key !== null ? (key as Record<string, unknown>)[reader] : null
  if (typeof wrapped !== 'string') return null
  const messageKey = nip44.decryptNip04(sender, wrapped)
  const [, body = '', iv = ''] = /^([A-Za-z0-9+/]+=*)\?iv=([A-Za-z0-9+/]{22}==)$/.exec(enc) ?? []
  if (messageKey === null || !/^[0-9a-f]{32}$/i.test(messageKey) || body === '') return null
  const text = decrypt(Uint8Array.fromHex(messageKey), Buffer.from(iv, 'base64'), body)
  return text !== null && hash('sha256', text, 'base64') === mac ? text : null
}

function decrypt(key: Uint8Array, iv: Uint8Array, body: string): string | null {
  try {
    const decipher = createDecipheriv('aes-128-cbc', key, iv)
    return decipher.update(body, 'base64', 'utf8') + decipher.final('utf8')
  } catch (cause) {
    // Wrong padding or length: the text was encrypted with another key.
    if (cause instanceof Error) return null
    throw cause
  }
}
