import { encrypt, getConversationKey } from 'nostr-tools/nip44'
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import type { NostrEvent } from '../nostr/event.ts'

/** Longest text of NIP-44. */
const plainBytesMax = 65_535

/** A NIP-44 payload from the one-time key `pubkey`, which only the holder can read. */
export type Sealed = { pubkey: string; payload: string }

/** Encrypts one nonce and its voucher. Null if they are too long for NIP-44. */
type SealToHolder = (content: { nonce: string; voucher: NostrEvent }) => Sealed | null

/**
 * Create the encryption for one holder, with a one-time key that is never stored. Null if the holder's key lies
 * off the curve. The caller must know that before it takes a voucher that nobody could open.
 */
export function createSealToHolder(holder: string): SealToHolder | null {
  const ephemeral = generateSecretKey()
  const conversation = conversationWith(ephemeral, holder)
  if (!conversation) return null
  const pubkey = getPublicKey(ephemeral)
  return (content) => {
    const text = JSON.stringify(content)
    if (Buffer.byteLength(text) > plainBytesMax) return null
    return { pubkey, payload: encrypt(text, conversation) }
  }
}

function conversationWith(secret: Uint8Array, holder: string): Uint8Array | null {
  try {
    return getConversationKey(secret, holder)
  } catch (cause) {
    // The library throws plain errors for a key off the curve.
    if (cause instanceof Error) return null
    throw cause
  }
}
