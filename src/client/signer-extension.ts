import type { NostrEvent } from '../nostr/event.ts'
import { type EventTemplate, type PageSigner, SignerError } from './signer.ts'

/** NIP-07. */
type Extension = {
  getPublicKey(): Promise<string>
  signEvent(event: EventTemplate): Promise<NostrEvent>
}

declare global {
  interface Window {
    nostr?: Extension
  }
}

/** Whether the browser has an extension that signs. */
export function hasExtension(): boolean {
  return window.nostr !== undefined
}

/** The key of a browser extension (NIP-07). */
export async function openExtension(): Promise<PageSigner> {
  const { nostr } = window
  if (!nostr) throw new SignerError('no-extension')
  const attempt = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask()
    } catch {
      // Extensions throw what they like when the person says no.
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
