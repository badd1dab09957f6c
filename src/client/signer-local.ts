import { decrypt, encrypt } from 'nostr-tools/nip49'
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { parseSecret } from '../nostr/keys.ts'
import { parseRecord } from './json.ts'
import { findKey } from './key-text.ts'
import { type PageSigner, SignerError } from './signer.ts'
import type { LastingStore } from './texts.ts'

/** A key kept on this device, encrypted under a PIN (NIP-49). */
export type KeptKey = { pubkey: string; ncryptsec: string }

/** A thief who copies the device's storage guesses a PIN of fewer digits in minutes. */
export const pinCharsMin = 6

type Wiring = {
  /** Tells keys apart: one device may hold the merchant's and a till's. */
  name: string
  store: LastingStore
  /** Awaited before each encryption, which takes a second and holds the thread (scrypt). */
  beforeWork: () => Promise<void>
}

/** One key of this device. Its methods throw SignerError. */
export function createKeyBox({ name, store, beforeWork }: Wiring) {
  const place = `key:${name}`

  const keep = async (secret: Uint8Array, pin: string): Promise<PageSigner> => {
    if (pin.length < pinCharsMin) throw new SignerError('pin-short')
    await beforeWork()
    const kept: KeptKey = { pubkey: getPublicKey(secret), ncryptsec: encrypt(secret, pin) }
    store.write(place, JSON.stringify(kept))
    return signerOf(secret)
  }

  const find = () => parseRecord(store.read(place), 'pubkey', 'ncryptsec') as KeptKey | null

  return {
    find,
    /** False where the browser stores nothing: closing the page loses the key. */
    lasts: () => store.lasts(place),
    /** Create a key and store it under a PIN. */
    create: (pin: string) => keep(generateSecretKey(), pin),
    /**
     * Store the key in a text that a person has. An encrypted one opens by its password, which stays its PIN.
     * `only`: refuse another key.
     */
    async bring(text: string, pin: string, only?: string): Promise<PageSigner> {
      const key = findKey(text)
      if (!key) throw new SignerError('key-invalid')
      if (key.form === 'ncryptsec') {
        await beforeWork()
        return keep(expected(opened(key.text, pin), only), pin)
      }
      const secret = parseSecret(key.text)
      if (!secret) throw new SignerError('key-invalid')
      return keep(expected(secret, only), pin)
    },
    /** Decrypt the stored key. */
    async unlock(pin: string): Promise<PageSigner> {
      const kept = find()
      if (!kept) throw new SignerError('key-invalid')
      await beforeWork()
      return signerOf(opened(kept.ncryptsec, pin))
    },
    remove: () => store.remove(place),
  }
}

function signerOf(secret: Uint8Array): PageSigner {
  return {
    kind: 'local',
    pubkey: getPublicKey(secret),
    sign: async (event) => finalizeEvent(event, secret),
    close: () => void secret.fill(0),
  }
}

function expected(secret: Uint8Array, only: string | undefined): Uint8Array {
  if (only !== undefined && getPublicKey(secret) !== only) throw new SignerError('other-key')
  return secret
}

function opened(ncryptsec: string, pin: string): Uint8Array {
  try {
    return decrypt(ncryptsec, pin)
  } catch {
    // The library throws plain errors ("invalid tag"), and nearly all of them mean a wrong PIN.
    throw new SignerError('pin-wrong')
  }
}
