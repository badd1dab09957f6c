import type { NostrEvent } from './described/vouchers.ts'
import { type EventTemplate, type PageSigner, SignerError } from './signer.ts'

/** The interface of an extension (NIP-07). */
type Extension = {
  getPublicKey(): Promise<string>
  signEvent(event: EventTemplate): Promise<NostrEvent>
}

/** Others declare the type of `window.nostr`, too, each in its own way. */
const place = globalThis as { nostr?: Extension }

/** Whether the browser has an extension that signs. */
export function hasExtension(): boolean {
  return place.nostr !== undefined
}

/** Open the key of a browser extension (NIP-07). Throws SignerError. */
export async function openExtension(): Promise<PageSigner> {
  const { nostr } = place
  if (!nostr) throw new SignerError('no-extension')
  const attempt = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask()
    } catch {
      // NIP-07 names no error for a refusal: each extension throws another.
      throw new SignerError('declined')
    }
  }
  const pubkey = await attempt(() => nostr.getPublicKey())
  return {
    kind: 'extension',
    pubkey,
    sign: (event) => attempt(() => nostr.signEvent(event)),
  }
}
