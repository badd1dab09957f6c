/**
 * X.509 certificates (RFC 5280) for one shop: an authority, and a certificate of it. Keys, signatures
 * and reading are node:crypto's; what is left to do is to write down two structures. The library
 * for it would bring thirteen packages and a change of the global `Reflect`.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { parseAddress } from '../network.ts'

/** A certificate and its private key, both PEM. */
export type CertifiedKey = { cert: string; key: string }

/** From and to, Unix seconds. */
type Lifetime = { from: number; to: number }

type Subject = { organisation: string; name: string }

/**
 * Make an authority that can speak for `names` and what is below them, and for no other name.
 * Addresses stay free: BoringSSL knows no constraint of them and refuses every address under one.
 */
export function createAuthority(
  subject: Subject,
  names: readonly string[],
  life: Lifetime,
): CertifiedKey {
  const { privateKey, publicKey } = newKeys()
  const permitted = names.map((name) => sequence(tagged(2, ascii(name))))
  const extensions = [
    extension(oids.basicConstraints, true, sequence(boolean(true), integer(Buffer.of(0)))),
    // keyCertSign, cRLSign
    extension(oids.keyUsage, true, Buffer.of(0x03, 2, 1, 0x06)),
    extension(oids.nameConstraints, true, sequence(der(0xa0, ...permitted))),
    extension(oids.subjectKeyId, false, octets(keyId(publicKey))),
  ]
  const issuer = nameOf(subject)
  const parts = { issuer, subject: issuer, publicKey, extensions, life }
  return { cert: signCertificate(parts, privateKey), key: pemOf(privateKey) }
}

/** Make a server's certificate for names and addresses, signed by an authority. */
export function issueCertificate(
  authority: CertifiedKey,
  hosts: readonly string[],
  life: Lifetime,
): CertifiedKey {
  const signer = createPrivateKey(authority.key)
  const { privateKey, publicKey } = newKeys()
  const alternatives = hosts.map((host) => {
    const address = parseAddress(host)
    return address ? tagged(7, Buffer.from(address.toByteArray())) : tagged(2, ascii(host))
  })
  const extensions = [
    extension(oids.basicConstraints, true, sequence()),
    // digitalSignature
    extension(oids.keyUsage, true, Buffer.of(0x03, 2, 7, 0x80)),
    extension(oids.extendedKeyUsage, false, sequence(oid(oids.serverAuth))),
    extension(oids.alternativeNames, false, sequence(...alternatives)),
    extension(oids.subjectKeyId, false, octets(keyId(publicKey))),
    extension(
      oids.authorityKeyId,
      false,
      sequence(tagged(0, keyId(createPublicKey(authority.cert)))),
    ),
  ]
  const parts = {
    issuer: subjectBytes(authority.cert),
    subject: nameOf({ organisation: 'Cuponera', name: hosts[0] ?? 'localhost' }),
    publicKey,
    extensions,
    life,
  }
  return { cert: signCertificate(parts, signer), key: pemOf(privateKey) }
}

type Parts = {
  issuer: Uint8Array
  subject: Uint8Array
  publicKey: KeyObject
  extensions: Uint8Array[]
  life: Lifetime
}

function signCertificate(parts: Parts, signer: KeyObject): string {
  const algorithm = sequence(oid(oids.ecdsaWithSha256))
  // Sixteen random bytes, positive and without a leading zero.
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const body = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(serial),
    algorithm,
    parts.issuer,
    sequence(time(parts.life.from), time(parts.life.to)),
    parts.subject,
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...parts.extensions)),
  )
  const signature = sign('sha256', body, signer)
  const whole = sequence(body, algorithm, bits(signature))
  return new X509Certificate(whole).toString()
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** SHA-1 of the bits of the key: a name for it, not a proof (RFC 5280, 4.2.1.2). */
function keyId(key: KeyObject): Uint8Array {
  const point = key.export({ type: 'spki', format: 'der' }).subarray(-65)
  return createHash('sha1').update(point).digest()
}

/** The subject of a certificate of ours, as it is written there. */
function subjectBytes(cert: string): Uint8Array {
  const { organisation, name } = subjectOf(cert)
  return nameOf({ organisation, name })
}

/** Who a certificate of ours is for. */
export function subjectOf(cert: string): Subject {
  const fields = new Map(
    new X509Certificate(cert).subject.split('\n').map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)] as const
    }),
  )
  return { organisation: fields.get('O') ?? '', name: fields.get('CN') ?? '' }
}

// ── DER, as far as it is needed here

const oids = {
  commonName: '550403',
  organisation: '55040a',
  ecdsaWithSha256: '2a8648ce3d040302',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  extendedKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
  alternativeNames: '551d11',
  nameConstraints: '551d1e',
  subjectKeyId: '551d0e',
  authorityKeyId: '551d23',
}

function der(tag: number, ...parts: Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts)
  const { length } = content
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
const integer = (bytes: Uint8Array) => der(0x02, bytes)
const boolean = (value: boolean) => der(0x01, Buffer.of(value ? 0xff : 0))
const octets = (bytes: Uint8Array) => der(0x04, bytes)
const bits = (bytes: Uint8Array) => der(0x03, Buffer.of(0), bytes)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
/** A primitive value under a number of its context. */
const tagged = (number: number, bytes: Uint8Array) => der(0x80 | number, bytes)
const ascii = (text: string) => Buffer.from(text, 'latin1')

function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value))
}

function nameOf({ organisation, name }: Subject): Uint8Array {
  const part = (id: string, text: string) =>
    der(0x31, sequence(oid(id), der(0x0c, Buffer.from(text))))
  return sequence(part(oids.organisation, organisation), part(oids.commonName, name))
}

/** UTCTime up to 2049, as RFC 5280 wants it. */
function time(seconds: number): Uint8Array {
  const text = new Date(seconds * 1000).toISOString().replace(/\D/g, '').slice(0, 14)
  return text < '2050' ? der(0x17, ascii(`${text.slice(2)}Z`)) : der(0x18, ascii(`${text}Z`))
}
