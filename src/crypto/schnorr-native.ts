import { dlopen } from 'bun:ffi'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isBytes } from './bytes.ts'
import type { Keypair, SchnorrEngine } from './schnorr.ts'

const contextSignAndVerify = 0x301
const keypairBytes = 96
const parsedPubkeyBytes = 64
/** Cached public keys. Parsing one takes an eighth of a verification. Each has about 300 bytes. */
const parsedPubkeysMax = 1024

const symbols = {
  secp256k1_context_create: { args: ['u32'], returns: 'ptr' },
  secp256k1_context_randomize: { args: ['ptr', 'ptr'], returns: 'i32' },
  secp256k1_keypair_create: { args: ['ptr', 'ptr', 'ptr'], returns: 'i32' },
  secp256k1_keypair_xonly_pub: { args: ['ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
  secp256k1_xonly_pubkey_parse: { args: ['ptr', 'ptr', 'ptr'], returns: 'i32' },
  secp256k1_xonly_pubkey_serialize: { args: ['ptr', 'ptr', 'ptr'], returns: 'i32' },
  // Libraries without sign32 are refused: their schnorrsig_verify has no length argument.
  secp256k1_schnorrsig_sign32: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
  secp256k1_schnorrsig_verify: { args: ['ptr', 'ptr', 'ptr', 'usize', 'ptr'], returns: 'i32' },
} as const

/** Open BIP-340 with the library of that path or name, or null. The caller must check it against the vectors. */
export function openNativeSchnorr(path: string, detail: string): SchnorrEngine | null {
  const library = load(path)
  if (!library) return null
  const native = library.symbols
  const context = native.secp256k1_context_create(contextSignAndVerify)
  if (context === null) return null
  // A randomised context protects secret keys against timing and power measurements.
  const seed = crypto.getRandomValues(new Uint8Array(32))
  if (native.secp256k1_context_randomize(context, seed) !== 1) return null
  seed.fill(0)

  // One buffer for all signatures. Signing is synchronous, so nobody else writes to it meanwhile.
  const freshAux = new Uint8Array(32)
  const parsedPubkeys = new Map<string, Uint8Array>()

  function keypair(secret: Uint8Array): Keypair {
    // The library aborts the process on wrong arguments, so each length is checked before a call.
    if (!isBytes(secret, 32)) throw new RangeError('a secret key has 32 bytes')
    const pair = new Uint8Array(keypairBytes)
    if (native.secp256k1_keypair_create(context, pair, secret) !== 1) {
      throw new RangeError('a secret key is a number from 1 to n-1')
    }
    const parsed = new Uint8Array(parsedPubkeyBytes)
    const pubkey = new Uint8Array(32)
    native.secp256k1_keypair_xonly_pub(context, parsed, null, pair)
    native.secp256k1_xonly_pubkey_serialize(context, pubkey, parsed)
    return {
      pubkey,
      sign(message, aux = crypto.getRandomValues(freshAux)) {
        if (!isBytes(message, 32) || !isBytes(aux, 32)) {
          throw new RangeError('a signed message has 32 bytes')
        }
        const signature = new Uint8Array(64)
        const signed = native.secp256k1_schnorrsig_sign32(context, signature, message, pair, aux)
        if (signed !== 1) throw new Error('libsecp256k1 did not sign')
        return signature
      },
    }
  }

  function parsePubkey(pubkey: Uint8Array): Uint8Array | null {
    const name = pubkey.toHex()
    const known = parsedPubkeys.get(name)
    if (known) return known
    const parsed = new Uint8Array(parsedPubkeyBytes)
    if (native.secp256k1_xonly_pubkey_parse(context, parsed, pubkey) !== 1) return null
    if (parsedPubkeys.size >= parsedPubkeysMax) parsedPubkeys.clear()
    parsedPubkeys.set(name, parsed)
    return parsed
  }

  return {
    name: 'libsecp256k1',
    detail,
    keypair,
    verify(signature, message, pubkey) {
      if (!isBytes(signature, 64) || !isBytes(message, 32) || !isBytes(pubkey, 32)) return false
      const parsed = parsePubkey(pubkey)
      if (!parsed) return false
      return native.secp256k1_schnorrsig_verify(context, signature, message, 32, parsed) === 1
    },
  }
}

/** File names of the library on this platform, the most common first. */
function libraryNames(platform: string): string[] {
  if (platform === 'linux') {
    return ['1', '2', '6', '5', '0']
      .map((abi) => `libsecp256k1.so.${abi}`)
      .concat('libsecp256k1.so')
  }
  if (platform === 'darwin') {
    return ['libsecp256k1.dylib', 'libsecp256k1.6.dylib', 'libsecp256k1.2.dylib']
  }
  return []
}

/** Libraries to try, in order: names for the system's loader, then files in the usual folders. */
export function systemLibraries(): string[] {
  const names = libraryNames(process.platform)
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const folders =
    process.platform === 'darwin'
      ? ['/opt/homebrew/lib', '/usr/local/lib', '/opt/local/lib']
      : [`/usr/lib/${machine}-linux-gnu`, '/usr/lib64', '/usr/lib', '/usr/local/lib']
  const files = folders.flatMap((folder) => names.map((name) => join(folder, name)))
  // Bun looks for a bare name in the working directory too. Code must never be loaded from there.
  return [...names.filter((name) => !existsSync(resolve(name))), ...files.filter(existsSync)]
}

function load(path: string) {
  try {
    return dlopen(path, symbols)
  } catch (error) {
    // A missing file, another architecture, noexec or a missing symbol: the next library is tried.
    if (error instanceof Error) return null
    throw error
  }
}
