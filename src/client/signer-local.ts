import { decode } from 'nostr-tools/nip19'
import { decrypt, encrypt } from 'nostr-tools/nip49'
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { parseRecord } from './json.ts'
import { type PageSigner, SignerError } from './signer.ts'
import type { LastingStore } from './texts.ts'

/** A key kept on this device, encrypted under a PIN (NIP-49). */
type KeptKey = { pubkey: string; ncryptsec: string }

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
    /** Store a key that a person has: an nsec, or an ncryptsec with its password. `only`: refuse another key. */
    async bring(text: string, pin: string, only?: string): Promise<PageSigner> {
      const key = text.trim()
      if (key.startsWith('ncryptsec1')) {
        await beforeWork()
        return keep(expected(opened(key, pin), only), pin)
      }
      return keep(expected(secretOf(key), only), pin)
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

function secretOf(text: string): Uint8Array {
  try {
    const decoded = decode(text)
    if (decoded.type === 'nsec') return decoded.data
  } catch {
    // The decoder throws plain errors for every malformed text: one code below.
  }
  throw new SignerError('key-invalid')
}
