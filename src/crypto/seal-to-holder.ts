import { encrypt, getConversationKey } from 'nostr-tools/nip44'
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import type { NostrEvent } from '../nostr/event.ts'

/** NIP-44 takes no longer text. */
const plainBytesMax = 65_535

/** Readable by the holder alone: NIP-44 v2 from `pubkey`, whose secret nobody has kept. */
export type Sealed = { pubkey: string; payload: string }

/** Seals one nonce and its voucher; null when they are too long for NIP-44. */
type SealToHolder = (content: { nonce: string; voucher: NostrEvent }) => Sealed | null

/**
 * Ready to seal something for a holder, under a key that is made here and forgotten with the
 * function; null when the holder's key is none (it lies off the curve), so that nothing could be.
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
    // The curve's library refuses by throwing plain errors.
    if (cause instanceof Error) return null
    throw cause
  }
}
