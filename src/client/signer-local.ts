import { decrypt, encrypt } from 'nostr-tools/nip49'
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { parseSecret } from '../nostr/keys.ts'
import { parseRecord } from './json.ts'
import { findKey } from './key-text.ts'
import { createPinTries } from './pin-tries.ts'
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
  /** Unix milliseconds. */
  now: () => number
}

/** One key of this device. Its methods throw SignerError. */
export function createKeyBox({ name, store, beforeWork, now }: Wiring) {
  const place = `key:${name}`
  const tries = createPinTries(`key-tries:${name}`, store, now)

  const keep = async (secret: Uint8Array, pin: string): Promise<PageSigner> => {
    if (pin.length < pinCharsMin) throw new SignerError('pin-short')
    await beforeWork()
    const kept: KeptKey = { pubkey: getPublicKey(secret), ncryptsec: encrypt(secret, pin) }
    store.write(place, JSON.stringify(kept))
    tries.forget()
    return signerOf(secret)
  }

  const find = () => parseRecord(store.read(place), 'pubkey', 'ncryptsec') as KeptKey | null

  /** The stored key and its secret. Wrong PINs make the next try wait. */
  const open = async (pin: string): Promise<{ kept: KeptKey; secret: Uint8Array }> => {
    const kept = find()
    if (!kept) throw new SignerError('key-invalid')
    const wait = tries.waitSeconds()
    if (wait > 0) throw new SignerError('pin-wait', wait)
    tries.count()
    await beforeWork()
    const secret = decryptOrNull(kept.ncryptsec, pin)
    if (!secret) throw new SignerError('pin-wrong', tries.waitSeconds())
    tries.forget()
    return { kept, secret }
  }

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
    unlock: async (pin: string) => signerOf((await open(pin)).secret),
    /** Encrypt the stored key anew. The old text is replaced only by one that was seen to open. */
    async changePin(pin: string, fresh: string): Promise<void> {
      if (fresh.length < pinCharsMin) throw new SignerError('pin-short')
      const { kept, secret } = await open(pin)
      const lasting = store.lasts(place)
      try {
        await beforeWork()
        const ncryptsec = encrypt(secret, fresh)
        await beforeWork()
        const proof = decrypt(ncryptsec, fresh)
        const same = getPublicKey(proof) === kept.pubkey
        proof.fill(0)
        if (!same) throw new Error('the key does not open by its new PIN')
        const stored = store.write(place, JSON.stringify({ pubkey: kept.pubkey, ncryptsec }))
        if (lasting && !stored) {
          // The old text is what the next page reads, so this one goes on with it, too.
          store.write(place, JSON.stringify(kept))
          throw new SignerError('pin-not-stored')
        }
      } finally {
        secret.fill(0)
      }
    },
    remove() {
      store.remove(place)
      tries.forget()
    },
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
  const secret = decryptOrNull(ncryptsec, pin)
  if (!secret) throw new SignerError('pin-wrong')
  return secret
}

function decryptOrNull(ncryptsec: string, pin: string): Uint8Array | null {
  try {
    return decrypt(ncryptsec, pin)
  } catch {
    // The library throws plain errors ("invalid tag"), and nearly all of them mean a wrong PIN.
    return null
  }
}
