import { schnorr } from '@noble/curves/secp256k1.js'
import { isBytes } from './bytes.ts'
import type { SchnorrEngine } from './schnorr.ts'

/** Open BIP-340 in JavaScript, for machines without the library. The caller must check it against the vectors. */
export function openPureSchnorr(detail: string): SchnorrEngine {
  return {
    name: 'noble',
    detail,
    keypair(secret) {
      if (!isBytes(secret, 32)) throw new RangeError('a secret key has 32 bytes')
      // A copy: the caller may overwrite its bytes.
      const own = Uint8Array.from(secret)
      return {
        pubkey: publicKey(own),
        sign(message, aux = crypto.getRandomValues(new Uint8Array(32))) {
          if (!isBytes(message, 32) || !isBytes(aux, 32)) {
            throw new RangeError('a signed message has 32 bytes')
          }
          return schnorr.sign(message, own, aux)
        },
      }
    },
    verify(signature, message, pubkey) {
      if (!isBytes(signature, 64) || !isBytes(message, 32) || !isBytes(pubkey, 32)) return false
      return schnorr.verify(signature, message, pubkey)
    },
  }
}

/** The x-only public key. Throws RangeError, as the native engine does. */
function publicKey(secret: Uint8Array): Uint8Array {
  try {
    return schnorr.getPublicKey(secret)
  } catch (error) {
    throw new RangeError('a secret key is a number from 1 to n-1', { cause: error })
  }
}
