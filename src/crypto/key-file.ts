import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { bytesOf } from '../base/bytes.ts'
import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'

/** Each try of a passphrase costs half a second and 128 MiB. */
const scrypt = { N: 2 ** 17, r: 8, p: 1 } as const

/** The text form of sealed keys: JSON, every byte string in hex. */
type KeyFile = {
  format: 'cuponera-keys'
  version: 1
  /** Owner of the keys. Not secret, but authenticated together with the sealed text. */
  npub: string
  kdf: { name: 'scrypt'; N: number; r: number; p: number; salt: string }
  cipher: { name: 'aes-256-gcm'; iv: string; tag: string }
  sealed: string
}

/** Encrypt a text with a passphrase: scrypt (RFC 7914), then AES-256-GCM, which also authenticates the header. */
export function sealKeyFile(text: string, npub: string, passphrase: string): string {
  const kdf = { name: 'scrypt', ...scrypt, salt: randomBytes(16).toString('hex') } as const
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(passphrase, kdf), iv)
  cipher.setAAD(headerOf(npub, kdf))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]).toString('hex')
  const file: KeyFile = {
    format: 'cuponera-keys',
    version: 1,
    npub,
    kdf,
    cipher: {
      name: 'aes-256-gcm',
      iv: iv.toString('hex'),
      tag: cipher.getAuthTag().toString('hex'),
    },
    sealed,
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

/** Decrypt a file of `sealKeyFile`. Throws OperatorError on another format or a wrong passphrase. */
export function openKeyFile(content: string, passphrase: string): string {
  const file = parseKeyFile(content)
  const key = deriveKey(passphrase, file.kdf)
  const decipher = createDecipheriv('aes-256-gcm', key, bytesOf(file.cipher.iv), {
    authTagLength: 16,
  })
  decipher.setAAD(headerOf(file.npub, file.kdf))
  decipher.setAuthTag(bytesOf(file.cipher.tag))
  const sealed = bytesOf(file.sealed)
  try {
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8')
  } catch {
    // GCM cannot tell the two apart.
    throw new OperatorError('wrong passphrase (or the file was changed)')
  }
}

/** Read a file of `sealKeyFile`. Scrypt costs are bounded, because a prepared file could exhaust the memory. */
function parseKeyFile(content: string): KeyFile {
  const file: Untrusted | null = parseJsonObject(content, limits.keyFileBytesMax)
  if (file?.format !== 'cuponera-keys') {
    throw new OperatorError('this is not a file of "cuponera keys export"')
  }
  if (file.version !== 1) throw new OperatorError('the file is of a newer version: upgrade first')
  const { kdf, cipher } = file
  const { N = 0, r, p } = kdf ?? {}
  const sound =
    typeof file.npub === 'string' &&
    kdf?.name === 'scrypt' &&
    cipher?.name === 'aes-256-gcm' &&
    Number.isInteger(Math.log2(N)) &&
    N >= 2 ** 14 &&
    N <= limits.scryptCostMax &&
    r === 8 &&
    p === 1 &&
    isHex(kdf.salt, 16) &&
    isHex(cipher.iv, 12) &&
    isHex(cipher.tag, 16) &&
    isHex(file.sealed, null)
  if (!sound) throw new OperatorError('the file of keys is damaged')
  return file as KeyFile
}

type Untrusted = Partial<Omit<KeyFile, 'kdf' | 'cipher' | 'version'>> & {
  version?: number
  kdf?: Partial<KeyFile['kdf']>
  cipher?: Partial<KeyFile['cipher']>
}

function isHex(value: unknown, bytes: number | null): boolean {
  if (typeof value !== 'string' || !/^([0-9a-f]{2})+$/.test(value)) return false
  return bytes === null || value.length === bytes * 2
}

function deriveKey(passphrase: string, { N, r, p, salt }: KeyFile['kdf']): Buffer {
  // Other systems may encode the same letters as other code points.
  const text = passphrase.normalize('NFKC')
  const maxmem = 128 * N * r * 2
  return scryptSync(text, bytesOf(salt), 32, { N, r, p, maxmem })
}

function headerOf(npub: string, { name, N, r, p, salt }: KeyFile['kdf']): Buffer {
  return Buffer.from(['cuponera-keys', 1, npub, name, N, r, p, salt].join(' '))
}
