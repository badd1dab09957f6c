/**
 * X.509 certificates (RFC 5280) for one shop: an authority and a server certificate. pkijs builds the structures.
 * node:crypto makes keys and signatures and reads certificates, because it is synchronous.
 */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { BitString, Integer, OctetString, Sequence, Set as SetOf, Utf8String } from 'asn1js'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
  GeneralSubtree,
  NameConstraints,
  PublicKeyInfo,
  RelativeDistinguishedNames,
  Time,
  TimeType,
} from 'pkijs'
import { parseAddress } from '../base/network.ts'

/** A certificate and its private key, both PEM. */
export type CertifiedKey = { cert: string; key: string }

/** Validity, in Unix seconds. */
type Lifetime = { from: number; to: number }

type Subject = { organisation: string; name: string }

const oids = {
  commonName: '2.5.4.3',
  organisation: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
}

/**
 * Create an authority that is limited to servers under `names`, so that its key cannot certify public sites. IP
 * addresses are not limited: BoringSSL does not support that constraint, and refuses all addresses under one.
 */
export function createAuthority(
  subject: Subject,
  names: readonly string[],
  life: Lifetime,
): CertifiedKey {
  const { privateKey, publicKey } = newKeys()
  const permittedSubtrees = names.map((name) => new GeneralSubtree({ base: dnsName(name) }))
  const certificate = newCertificate(publicKey, life)
  certificate.subject = nameOf(subject)
  certificate.issuer = certificate.subject
  certificate.extensions = [
    extension('basicConstraints', true, new BasicConstraints({ cA: true, pathLenConstraint: 0 })),
    // keyCertSign, cRLSign
    extension('keyUsage', true, bits(0b0000_0110)),
    // The purpose of an authority limits its certificates too: none is valid for mail or programs.
    extension('extendedKeyUsage', false, serverAuth()),
    extension('nameConstraints', true, new NameConstraints({ permittedSubtrees })),
    extension('subjectKeyId', false, keyId(certificate)),
  ]
  return { cert: signed(certificate, privateKey), key: pemOf(privateKey) }
}

/** Create a server certificate for names and IP addresses, signed by an authority. */
export function issueCertificate(
  authority: CertifiedKey,
  hosts: readonly string[],
  life: Lifetime,
): CertifiedKey {
  const issuer = Certificate.fromBER(new X509Certificate(authority.cert).raw)
  const { privateKey, publicKey } = newKeys()
  const names = hosts.map((host) => {
    const address = parseAddress(host)
    if (!address) return dnsName(host)
    return new GeneralName({ type: 7, value: octets(Uint8Array.from(address.toByteArray())) })
  })
  const certificate = newCertificate(publicKey, life)
  certificate.subject = nameOf({ organisation: 'Cuponera', name: hosts[0] ?? 'localhost' })
  certificate.issuer = issuer.subject
  certificate.extensions = [
    extension('basicConstraints', true, new BasicConstraints({ cA: false })),
    // digitalSignature
    extension('keyUsage', true, bits(0b1000_0000)),
    extension('extendedKeyUsage', false, serverAuth()),
    extension('alternativeNames', false, new GeneralNames({ names })),
    extension('subjectKeyId', false, keyId(certificate)),
    extension(
      'authorityKeyId',
      false,
      new AuthorityKeyIdentifier({ keyIdentifier: keyId(issuer) }),
    ),
  ]
  return { cert: signed(certificate, createPrivateKey(authority.key)), key: pemOf(privateKey) }
}

/** Create the common part of a certificate, without names and extensions. */
function newCertificate(publicKey: KeyObject, life: Lifetime): Certificate {
  // A serial number must be positive (RFC 5280, 4.1.2.2), and DER allows no leading zero byte.
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const algorithm = new AlgorithmIdentifier({ algorithmId: oids.ecdsaWithSha256 })
  return new Certificate({
    version: 2,
    serialNumber: new Integer({ valueHex: serial }),
    signature: algorithm,
    signatureAlgorithm: algorithm,
    notBefore: time(life.from),
    notAfter: time(life.to),
    subjectPublicKeyInfo: PublicKeyInfo.fromBER(publicKey.export({ type: 'spki', format: 'der' })),
  })
}

/** Sign a certificate and return it as PEM. */
function signed(certificate: Certificate, signer: KeyObject): string {
  certificate.tbsView = new Uint8Array(certificate.encodeTBS().toBER())
  certificate.signatureValue = new BitString({
    valueHex: sign('sha256', certificate.tbsView, signer),
  })
  return new X509Certificate(Buffer.from(certificate.toSchema().toBER())).toString()
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Key identifier: SHA-1 of the public key (RFC 5280, 4.2.1.2). It is a name, not a proof, so SHA-1 is enough. */
function keyId({ subjectPublicKeyInfo }: Certificate): OctetString {
  const { valueHexView } = subjectPublicKeyInfo.subjectPublicKey.valueBlock
  return octets(createHash('sha1').update(valueHexView).digest())
}

/** Encode each part of a name as its own set, as openssl does. pkijs would put all parts into one set. */
function nameOf({ organisation, name }: Subject): RelativeDistinguishedNames {
  const part = (type: string, value: string) =>
    new SetOf({
      value: [new AttributeTypeAndValue({ type, value: new Utf8String({ value }) }).toSchema()],
    })
  const parts = [part(oids.organisation, organisation), part(oids.commonName, name)]
  return RelativeDistinguishedNames.fromBER(new Sequence({ value: parts }).toBER())
}

function extension(
  id: keyof typeof oids,
  critical: boolean,
  value: { toSchema(): { toBER(): ArrayBuffer } } | OctetString | BitString,
): Extension {
  const schema = 'toSchema' in value ? value.toSchema() : value
  return new Extension({ extnID: oids[id], critical, extnValue: schema.toBER() })
}

const serverAuth = () => new ExtKeyUsage({ keyPurposes: [oids.serverAuth] })
const dnsName = (value: string) => new GeneralName({ type: 2, value })
const octets = (bytes: Uint8Array) => new OctetString({ valueHex: bytes })

/** Encode one byte of named bits. DER omits the trailing zero bits. */
function bits(byte: number): BitString {
  const unusedBits = 31 - Math.clz32(byte & -byte)
  return new BitString({ valueHex: Uint8Array.of(byte), unusedBits })
}

/** Encode a time: UTCTime up to 2049, GeneralizedTime later (RFC 5280, 4.1.2.5). */
function time(seconds: number): Time {
  const value = new Date(seconds * 1000)
  const type = value.getUTCFullYear() < 2050 ? TimeType.UTCTime : TimeType.GeneralizedTime
  return new Time({ type, value })
}
