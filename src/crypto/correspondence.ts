import * as nip04 from 'nostr-tools/nip04'
import * as nip44 from 'nostr-tools/nip44'

/** Texts between our key and others'. Synchronous; about a millisecond for each new correspondent. */
export type Correspondence = {
  /** NIP-44, to be read by that key alone. */
  seal(pubkey: string, text: string): string
  /** What that key wrote to us (NIP-44), or null when it did not. */
  open(pubkey: string, payload: string): string | null
  /** The same for NIP-04: nothing proves that it was not changed. */
  openOld(pubkey: string, payload: string): string | null
}

/** Correspondence of one secret key of 32 bytes. */
export function createCorrespondence(secret: Uint8Array): Correspondence {
  return {
    seal: (pubkey, text) => nip44.encrypt(text, nip44.getConversationKey(secret, pubkey)),
    open: (pubkey, payload) =>
      orNull(() => nip44.decrypt(payload, nip44.getConversationKey(secret, pubkey))),
    openOld: (pubkey, payload) => orNull(() => nip04.decrypt(secret, pubkey, payload)),
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
