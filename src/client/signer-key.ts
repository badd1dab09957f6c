import { finalizeEvent, getPublicKey } from 'nostr-tools/pure'
import { parseSecret } from '../nostr/keys.ts'
import { type PageSigner, SignerError } from './signer.ts'

/** A signer with a secret key of 32 bytes. `close` overwrites it. */
export function signerOf(secret: Uint8Array): PageSigner {
  return {
    kind: 'local',
    pubkey: getPublicKey(secret),
    sign: async (event) => finalizeEvent(event, secret),
    close: () => void secret.fill(0),
  }
}

/** A signer with a secret key as `nsec1…`, 64 hex digits, or bytes. Throws SignerError. */
export function openKey(key: string | Uint8Array): PageSigner {
  // A program in JavaScript may pass a variable of its environment that is not set.
  const secret = typeof key === 'string' ? parseSecret(key) : key && Uint8Array.from(key)
  if (secret?.length !== 32) throw new SignerError('key-invalid')
  return signerOf(secret)
}
