/** Encryption of a key under a password (NIP-49). Its scrypt takes a second on a phone. */
import { decrypt, encrypt } from 'nostr-tools/nip49'

export type KeyWork =
  | { step: 'encrypt'; secret: Uint8Array; password: string }
  | { step: 'decrypt'; ncryptsec: string; password: string }

/** The ncryptsec of an encryption; the secret of a decryption, or null where the password is wrong. */
export function doKeyWork(work: KeyWork): string | Uint8Array | null {
  if (work.step === 'encrypt') return encrypt(work.secret, work.password)
  try {
    return decrypt(work.ncryptsec, work.password)
  } catch {
    // The library throws plain errors ("invalid tag"), and nearly all of them mean a wrong password.
    return null
  }
}

/** Does key work, perhaps in another thread. */
export type KeyCipher = {
  /** An aborted encryption never settles. */
  encrypt(secret: Uint8Array, password: string, signal?: AbortSignal): Promise<string>
  /** Null where the password is wrong. */
  decrypt(ncryptsec: string, password: string): Promise<Uint8Array | null>
}
