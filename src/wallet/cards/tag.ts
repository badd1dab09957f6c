import { cmac } from '@noble/ciphers/aes.js'

/** The five AES-128 keys of an NTAG 424 DNA tag. */
type TagKeys = {
  k0: Uint8Array
  /** Decrypts the `p` of every tap. All cards share it, so that no address gives a card away. */
  k1: Uint8Array
  /** Checks the `c` of a tap. */
  k2: Uint8Array
  k3: Uint8Array
  k4: Uint8Array
}

/** A tag's keys from its UID (7 bytes) and their version. They follow from these, so none is stored. */
export type KeyDerivation = {
  k1: Uint8Array
  keysOf(uid: Uint8Array, version: number): TagKeys
  /** `k2` alone, which every tap needs. */
  k2Of(uid: Uint8Array, version: number): Uint8Array
}

/** The first version of a tag's keys, and the highest one. */
export const keyVersions = { first: 1, last: 255 } as const

const purpose = (last: number) => Uint8Array.of(0x2d, 0x00, 0x3f, last)

/** Keys as the boltcard scheme derives them from its issuer key (16 bytes), here CARD_MASTER_KEY. */
export function createKeyDerivation(masterKey: Uint8Array): KeyDerivation {
  const k1 = prf(masterKey, purpose(0x77))
  const cardKeyOf = (uid: Uint8Array, version: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(version)
    return prf(masterKey, Buffer.concat([purpose(0x75), uid, bytes]))
  }
  return {
    k1,
    k2Of: (uid, version) => prf(cardKeyOf(uid, version), purpose(0x78)),
    keysOf(uid, version) {
      const cardKey = cardKeyOf(uid, version)
      return {
        k0: prf(cardKey, purpose(0x76)),
        k1,
        k2: prf(cardKey, purpose(0x78)),
        k3: prf(cardKey, purpose(0x79)),
        k4: prf(cardKey, purpose(0x7a)),
      }
    },
  }
}

/** The UID in 14 hex digits of either case, or null. */
export function parseUid(text: unknown): Uint8Array | null {
  return typeof text === 'string' && /^[0-9a-f]{14}$/i.test(text) ? Uint8Array.fromHex(text) : null
}

function prf(key: Uint8Array, message: Uint8Array): Uint8Array {
  return cmac(message, key)
}
