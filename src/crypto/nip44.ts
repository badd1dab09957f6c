import * as nip04 from 'nostr-tools/nip04'
import * as nip44 from 'nostr-tools/nip44'

/** Encryption between one secret key and other public keys (hex). Synchronous, about a millisecond per new key. */
export type Nip44 = {
  /** Encrypt for one public key (NIP-44). */
  encrypt(pubkey: string, text: string): string
  /** Decrypt a text of that key (NIP-44). Null if it is not one. */
  decrypt(pubkey: string, payload: string): string | null
  /** Encrypt for clients that know NIP-04 only. It has no MAC. */
  encryptNip04(pubkey: string, text: string): string
  /** Decrypt a NIP-04 text, or null. NIP-04 has no MAC, so the text may have been changed. */
  decryptNip04(pubkey: string, payload: string): string | null
}

/** Create the encryption of one secret key of 32 bytes. */
export function createNip44(secret: Uint8Array): Nip44 {
  return {
    encrypt: (pubkey, text) => nip44.encrypt(text, nip44.getConversationKey(secret, pubkey)),
    decrypt: (pubkey, payload) =>
      orNull(() => nip44.decrypt(payload, nip44.getConversationKey(secret, pubkey))),
    encryptNip04: (pubkey, text) => nip04.encrypt(secret, pubkey, text),
    decryptNip04: (pubkey, payload) => orNull(() => nip04.decrypt(secret, pubkey, payload)),
  }
}

function orNull(decrypt: () => string): string | null {
  try {
    return decrypt()
  } catch (cause) {
    // Both libraries throw plain errors for untrusted input that is not valid.
    if (cause instanceof Error) return null
    throw cause
  }
}
