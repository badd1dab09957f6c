import { bech32 } from '@scure/base'
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { parseSecret } from '../nostr/keys.ts'
import { parseRecord } from './json.ts'
import { findKey, keyTrouble } from './key-text.ts'
import type { KeyCipher } from './key-work.ts'
import { createPinTries } from './pin-tries.ts'
import { type PageSigner, SignerError } from './signer.ts'
import { signerOf } from './signer-key.ts'
import type { LastingStore } from './texts.ts'

/** A key kept on this device, encrypted under a PIN (NIP-49). */
export type KeptKey = { pubkey: string; ncryptsec: string }

/** A key that a PIN opened, and the text that was stored of it. */
type Opened = { stored: string | null; kept: KeptKey; secret: Uint8Array }

/** A thief who copies the device's storage guesses a PIN of fewer digits in minutes. */
export const pinCharsMin = 6

/** The number of scrypt's rounds in an ncryptsec, as a power of two: 64 MB, and 0.2 to 1 second. */
const costLog = 16

type Wiring = {
  /** Tells keys apart: one device may hold the merchant's and a till's. */
  name: string
  store: LastingStore
  cipher: KeyCipher
  /** Unix milliseconds. */
  now: () => number
}

type Bringing = {
  /** Opens the text where it is an encrypted key. */
  password: string
  /** Opens the key on this device from now on. */
  pin: string
  only?: string | undefined
}

/** A new key on its way into the box. */
type Coming = { pin: string; secret: Uint8Array; ncryptsec: Promise<string>; drop(): void }

/** One key of this device. Its methods throw SignerError. */
export function createKeyBox({ name, store, cipher, now }: Wiring) {
  const place = `key:${name}`
  const tries = createPinTries(`key-tries:${name}`, store, now)
  let coming: Coming | null = null

  const begin = (pin: string): Coming => {
    const secret = generateSecretKey()
    const stop = new AbortController()
    const drop = () => {
      stop.abort()
      secret.fill(0)
    }
    return { pin, secret, ncryptsec: cipher.encrypt(secret, pin, stop.signal), drop }
  }

  const keep = (secret: Uint8Array, ncryptsec: string): PageSigner => {
    const pubkey = getPublicKey(secret)
    const stored = store.read(place)
    const other = parseKept(stored)
    // It may be the only copy of a key, so that only the person can remove it.
    if (stored !== null && !other) throw new SignerError('key-unreadable')
    // Another key may be stored since before, or since this began (another tab), and it may have no backup.
    if (other && other.pubkey !== pubkey) throw new SignerError('key-kept')
    const kept: KeptKey = { pubkey, ncryptsec }
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
    if (!isWhole(kept.ncryptsec)) throw new SignerError('key-unreadable')
    const wait = tries.waitSeconds()
    if (wait > 0) throw new SignerError('pin-wait', wait)
    tries.count()
    const secret = await cipher.decrypt(kept.ncryptsec, pin)
    if (!secret) throw new SignerError('pin-wrong', tries.waitSeconds())
    tries.forget()
    return { stored, kept, secret }
  }

  /** Encrypt a key, and see that the text opens. */
  const seal = async (secret: Uint8Array, password: string): Promise<string> => {
    const ncryptsec = await cipher.encrypt(secret, password)
    const proof = await cipher.decrypt(ncryptsec, password)
    const same = proof !== null && getPublicKey(proof) === getPublicKey(secret)
    proof?.fill(0)
    if (!same) throw new Error('the key does not open by its new password')
    return ncryptsec
  }

  return {
    find,
    /** False where the browser stores nothing: closing the page loses the key. */
    lasts: () => store.lasts(place),
    /** Begin `create` while the person is still typing. Each call replaces the one before. */
    prepare(pin: string): void {
      if (coming?.pin === pin) return
      coming?.drop()
      coming = pin.length < pinCharsMin ? null : begin(pin)
      // `create` meets the failure again.
      coming?.ncryptsec.catch(() => undefined)
    },
    /** Create a key and store it under a PIN. */
    async create(pin: string): Promise<PageSigner> {
      checkLength(pin)
      const ready = coming?.pin === pin ? coming : null
      if (!ready) coming?.drop()
      coming = null
      const { secret, ncryptsec } = ready ?? begin(pin)
      return keep(secret, await ncryptsec)
    },
    /**
     * Store the key in a text that a person has, under a PIN. An encrypted one opens by its password.
     * `only`: refuse another key.
     */
    async bring(text: string, { password, pin, only }: Bringing): Promise<PageSigner> {
      const key = findKey(text)
      if (!key) throw new SignerError(keyTrouble(text))
      if (key.form !== 'ncryptsec') {
        const secret = parseSecret(key.text)
        if (!secret) throw new SignerError(key.form === 'nsec' ? 'key-cut' : 'key-invalid')
        checkLength(pin)
        return keep(expected(secret, only), await cipher.encrypt(secret, pin))
      }
      if (!isWhole(key.text)) throw new SignerError('key-cut')
      checkLength(pin)
      const secret = await cipher.decrypt(key.text, password)
      if (!secret) throw new SignerError('copy-wrong')
      expected(secret, only)
      // Another program may have written it at a lower cost.
      const same = pin === password && costOf(key.text) === costLog
      return keep(secret, same ? key.text : await cipher.encrypt(secret, pin))
    },
    /** Decrypt the stored key. `only`: refuse another key. */
    unlock: async (pin: string, only?: string) => signerOf((await open(pin, only)).secret),
    /**
     * Encrypt the stored key anew. The old text is replaced only by one that was seen to open.
     * `only`: refuse another key.
     */
    async changePin(pin: string, fresh: string, only?: string): Promise<void> {
      checkLength(fresh)
      const { stored: before, kept, secret } = await open(pin, only)
      const held = store.holds(place)
      try {
        const ncryptsec = await seal(secret, fresh)
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
    /** The stored key, encrypted under another password, for a copy. `only`: refuse another key. */
    async copy(pin: string, password: string, only?: string): Promise<string> {
      const { secret } = await open(pin, only)
      try {
        return await seal(secret, password)
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
  const kept = parseRecord(stored, 'pubkey', 'ncryptsec') as KeptKey | null
  return kept && /^[0-9a-f]{64}$/.test(kept.pubkey) ? kept : null
}

function checkLength(pin: string): void {
  if (pin.length < pinCharsMin) throw new SignerError('pin-short')
}

/** Whether the checksum of an ncryptsec is right. No PIN opens a damaged one, and the person should know why. */
function isWhole(ncryptsec: string): boolean {
  return bech32.decodeUnsafe(ncryptsec, false) !== undefined
}

/** The second byte of an ncryptsec. */
function costOf(ncryptsec: string): number | undefined {
  return bech32.decodeToBytes(ncryptsec).bytes[1]
}

function expected(secret: Uint8Array, only: string | undefined): Uint8Array {
  if (only !== undefined && getPublicKey(secret) !== only) throw new SignerError('other-key')
  return secret
}
