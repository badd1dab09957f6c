import { findCarriedLibrary } from './embedded.ts'
import { openNativeSchnorr, systemLibraries } from './schnorr-native.ts'
import { openPureSchnorr } from './schnorr-pure.ts'
import { checkVectors } from './schnorr-vectors.ts'

/** A secret key that can sign. */
export type Keypair = {
  /** The x-only public key, 32 bytes. */
  pubkey: Uint8Array
  /** Sign 32 bytes (BIP-340, 64 bytes). `aux` is fresh randomness; only the published vectors fix it. */
  sign(message: Uint8Array, aux?: Uint8Array): Uint8Array
}

/** BIP-340 signatures over secp256k1. */
export type SchnorrEngine = {
  name: 'libsecp256k1' | 'noble'
  /** Description for the operator, printed at the start. */
  detail: string
  /** Throws RangeError if the secret is not 32 bytes in 1..n-1. */
  keypair(secret: Uint8Array): Keypair
  /** False for any invalid input, wrong lengths included. Never throws. */
  verify(signature: Uint8Array, message: Uint8Array, pubkey: Uint8Array): boolean
}

/** Open the fastest engine that passes the published vectors: the shipped library, a system one, or JavaScript. */
export function openSchnorr(): SchnorrEngine {
  let advice = libraryAdvice(process.platform)
  const carried = findCarriedLibrary()
  if (carried) {
    const engine = tryNative(carried.path, `libsecp256k1 (${carried.origin})`)
    if (engine) return engine
    // The embedded library is unpacked into the temp directory. It cannot be loaded there if noexec is set.
    advice = 'allow executing files in the temp directory (noexec?), or install libsecp256k1'
  }
  for (const path of systemLibraries()) {
    const engine = tryNative(path, `libsecp256k1 (system: ${path})`)
    if (engine) return engine
  }
  const engine = openPureSchnorr(
    `noble (pure JavaScript; slower). For the fast engine ${advice}, and start again`,
  )
  const failed = checkVectors(engine)
  if (failed) throw new Error(`the pure signature engine fails a BIP-340 vector: ${failed}`)
  return engine
}

/** Open the engine of one library file or name. Null if it cannot be loaded or fails a published vector. */
export function tryNative(path: string, detail: string): SchnorrEngine | null {
  const engine = openNativeSchnorr(path, detail)
  return engine && checkVectors(engine) === null ? engine : null
}

function libraryAdvice(platform: string): string {
  if (platform === 'linux') {
    return "install your distribution's libsecp256k1 (Debian 12: apt install libsecp256k1-1)"
  }
  if (platform === 'darwin') return 'install libsecp256k1 (brew install secp256k1)'
  return 'run it on Linux or macOS'
}
