import * as nip04 from 'nostr-tools/nip04'
import * as nip44 from 'nostr-tools/nip44'

/** Texts between our key and others'. Synchronous; about a millisecond for each new correspondent. */
export type Nip44 = {
  /** NIP-44, to be read by that key alone. */
  encrypt(pubkey: string, text: string): string
  /** What that key wrote to us (NIP-44), or null when it did not. */
  decrypt(pubkey: string, payload: string): string | null
  /** The same for NIP-04: nothing proves that it was not changed. */
  decryptNip04(pubkey: string, payload: string): string | null
}

/** Correspondence of one secret key of 32 bytes. */
export function createNip44(secret: Uint8Array): Nip44 {
  return {
    encrypt: (pubkey, text) => nip44.encrypt(text, nip44.getConversationKey(secret, pubkey)),
    decrypt: (pubkey, payload) =>
      orNull(() => nip44.decrypt(payload, nip44.getConversationKey(secret, pubkey))),
    decryptNip04: (pubkey, payload) => orNull(() => nip04.decrypt(secret, pubkey, payload)),
  }
}

function orNull(decrypt: () => string): string | null {
  try {
    return decrypt()
  } catch (cause) {
    // Both refuse by throwing plain errors, whatever is wrong with what somebody sent.
    if (cause instanceof Error) return null
    throw cause
  }
}
