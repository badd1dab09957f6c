import type { VerifyHash } from '../nostr/delegation.ts'
import { eventId, type NostrEvent, parseEvent, type Signer } from '../nostr/event.ts'
import type { BeginHash } from './crypto-thread.ts'
import type { Keypair, SchnorrEngine } from './schnorr.ts'

/** Create a signer for one secret key: 32 bytes, or 64 lower-case hex digits. Throws RangeError on others. */
export function createSigner(engine: SchnorrEngine, secret: string | Uint8Array): Signer {
  const pair = engine.keypair(secretBytes(secret))
  return signerOf(pair, (hash) => () => pair.sign(hash))
}

/** A signer that shares its work with another thread. `begin` is that of crypto-thread.ts, for the same secret. */
export function signerOf(pair: Keypair, begin: BeginHash): Signer {
  const pubkey = pair.pubkey.toHex()
  return {
    pubkey,
    sign({ created_at, kind, tags, content }) {
      const id = eventId({ pubkey, created_at, kind, tags, content })
      const sig = pair.sign(Uint8Array.fromHex(id)).toHex()
      return { id, pubkey, created_at, kind, tags, content, sig }
    },
    begin({ created_at, kind, tags, content }) {
      const id = eventId({ pubkey, created_at, kind, tags, content })
      const signature = begin(Uint8Array.fromHex(id))
      return () => ({ id, pubkey, created_at, kind, tags, content, sig: signature().toHex() })
    },
  }
}

/**
 * Create the check of shape, id and signature (NIP-01), by a check of signatures that answers now or soon. It never throws.
 * Malformed hex is refused before it reaches that.
 */
export function createVerifier<Answer>(engine: {
  verify(signature: Uint8Array, hash: Uint8Array, pubkey: Uint8Array): Answer
}): (event: NostrEvent) => Answer | false {
  return (untrusted) => {
    // The id is computed again: the signature covers the id only, and the id must cover the content.
    const event = parseEvent(untrusted)
    if (!event || eventId(event) !== event.id) return false
    return engine.verify(
      Uint8Array.fromHex(event.sig),
      Uint8Array.fromHex(event.id),
      Uint8Array.fromHex(event.pubkey),
    )
  }
}

/** Create the check of a signature over a hash, all in hex, as delegation tokens (NIP-26) need it. */
export function createHashVerifier(engine: SchnorrEngine): VerifyHash {
  return (signature, hash, pubkey) =>
    engine.verify(
      Uint8Array.fromHex(signature),
      Uint8Array.fromHex(hash),
      Uint8Array.fromHex(pubkey),
    )
}

function secretBytes(secret: string | Uint8Array): Uint8Array {
  if (typeof secret !== 'string') return secret
  if (!/^[0-9a-f]{64}$/.test(secret)) {
    throw new RangeError('a secret key has 64 lower-case hex digits')
  }
  return Uint8Array.fromHex(secret)
}
