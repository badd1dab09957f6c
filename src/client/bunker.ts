import { parseRecord } from './json.ts'
import { type PageSigner, SignerError } from './signer.ts'
import type { Wait } from './signer-remote.ts'
import type { KeyStorage } from './storage.ts'
import type { TextStore } from './texts.ts'

type BunkerOptions = {
  /** Keeps the connection: the next start needs neither the person nor the secret in the address. */
  storage?: KeyStorage
  /** Called when a wait for the signer's person begins or changes, and with null when it ends. */
  onWait?: (wait: Wait | null) => void
  signal?: AbortSignal
}

/**
 * A signer in another app or device, by its `bunker://` address (NIP-46). `close` tells it to forget this connection.
 * Needs a global WebSocket, which Node has from version 22 on. Throws SignerError.
 */
export async function openBunker(
  address: string,
  { storage = new Map(), onWait = () => undefined, signal }: BunkerOptions = {},
): Promise<PageSigner> {
  if (typeof WebSocket === 'undefined') throw new SignerError('no-relay')
  const { createRemoteSigners } = await import('./signer-remote.ts')
  const [place = ''] = address.trim().split('?')
  const kept = parseRecord((await storage.get(place)) ?? null, 'pubkey', 'connection')
  let connection = kept ? String(kept.connection) : null
  const store: TextStore = {
    read: () => connection,
    write(_, text) {
      connection = text
      return true
    },
    remove() {
      connection = null
      void storage.delete(place)
    },
  }
  const signers = createRemoteSigners({ store, url: '', onWait })
  const known = kept && (await signers.restore(String(kept.pubkey)))
  if (known) return known
  const signer = await signers.open(address, signal)
  await storage.set(place, JSON.stringify({ pubkey: signer.pubkey, connection }))
  return signer
}
