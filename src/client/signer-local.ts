import { bech32 } from 'bech32'
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

/** A key that a PIN opened, and the text that was stored of it. */
type Opened = { stored: string | null; kept: KeptKey; secret: Uint8Array }

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
    // Another key may be stored since before, or since this began (another tab), and it may have no backup.
    if ((find()?.pubkey ?? kept.pubkey) !== kept.pubkey) throw new SignerError('key-kept')
    store.write(place, JSON.stringify(kept))
    tries.forget()
    return signerOf(secret)
  }

  const find = () => parseKept(store.read(place))

  /** The stored key, which is `only` where given, and its secret. Wrong PINs make the next try wait. */
  const open = async (pin: string, only?: string): Promise<Opened> => {
    const stored = store.read(place)
    const kept = parseKept(stored)
    // The page showed a key: another tab removed or replaced it.
    if (!kept || (only !== undefined && kept.pubkey !== only)) throw new SignerError('key-changed')
    if (!isWhole(kept.ncryptsec)) throw new SignerError('key-invalid')
    const wait = tries.waitSeconds()
    if (wait > 0) throw new SignerError('pin-wait', wait)
    tries.count()
    await beforeWork()
    const secret = decryptOrNull(kept.ncryptsec, pin)
    if (!secret) throw new SignerError('pin-wrong', tries.waitSeconds())
    tries.forget()
    return { stored, kept, secret }
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
        if (!isWhole(key.text)) throw new SignerError('key-invalid')
        await beforeWork()
        return keep(expected(opened(key.text, pin), only), pin)
      }
      const secret = parseSecret(key.text)
      if (!secret) throw new SignerError('key-invalid')
      return keep(expected(secret, only), pin)
    },
    /** Decrypt the stored key. `only`: refuse another key. */
    unlock: async (pin: string, only?: string) => signerOf((await open(pin, only)).secret),
    /**
     * Encrypt the stored key anew. The old text is replaced only by one that was seen to open.
     * `only`: refuse another key.
     */
    async changePin(pin: string, fresh: string, only?: string): Promise<void> {
      if (fresh.length < pinCharsMin) throw new SignerError('pin-short')
      const { stored: before, kept, secret } = await open(pin, only)
      const held = store.holds(place)
      try {
        await beforeWork()
        const ncryptsec = encrypt(secret, fresh)
        await beforeWork()
        const proof = decrypt(ncryptsec, fresh)
        const same = getPublicKey(proof) === kept.pubkey
        proof.fill(0)
        if (!same) throw new Error('the key does not open by its new PIN')
        // Another tab may have stored another key, or forgotten this one. No await from here to the write.
        if (store.read(place) !== before) throw new SignerError('key-changed')
        const stored = store.write(place, JSON.stringify({ pubkey: kept.pubkey, ncryptsec }))
        if (held && !stored) {
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

function parseKept(stored: string | null): KeptKey | null {
  return parseRecord(stored, 'pubkey', 'ncryptsec') as KeptKey | null
}

/** Whether the checksum of an ncryptsec is right. No PIN opens a damaged one, and the person should know why. */
function isWhole(ncryptsec: string): boolean {
  return bech32.decodeUnsafe(ncryptsec, ncryptsec.length) !== undefined
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
