import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, ownLikeDirectory, writeDurably } from '../base/durable.ts'
import { limits } from '../base/limits.ts'
import { machineName, readInterfaces } from '../base/machine.ts'
import { parseAddress, unspecifiedAddress } from '../base/network.ts'
import { OperatorError } from '../base/operator-error.ts'
import type { CertifiedKey } from './certificate.ts'

/** The certificate and key that https is served with. */
export type ServedCertificate = CertifiedKey & {
  /** Names and addresses that it is valid for. */
  hosts: readonly string[]
  /** End of its validity, in Unix seconds. */
  ends: number
  /** PEM of the shop's own authority, which devices must trust first. Null for a public authority. */
  authority: string | null
  /** True if other users of this machine can read the key. */
  readable: boolean
}

const files = {
  authorityCert: 'authority.pem',
  authorityKey: 'authority.key',
  cert: 'server.pem',
  key: 'server.key',
}
type File = keyof typeof files

/** Name endings that no public site has, and the name of this machine. */
const localNames = (host: string) => [
  host,
  'localhost',
  'local',
  'lan',
  'home',
  'home.arpa',
  'internal',
]

/** Path of a file of the shop's own authority and certificate. */
export function tlsPath(dataDir: string, file: File): string {
  return join(dataDir, 'tls', files[file])
}

/** Read the certificate of TLS_CERT and TLS_KEY. Throws OperatorError. */
export function readCertificate(certPath: string, keyPath: string): ServedCertificate {
  const cert = readPem('TLS_CERT', certPath)
  const key = readPem('TLS_KEY', keyPath)
  const first = parseCertificate(cert)
  if (!first) throw new OperatorError(`TLS_CERT: ${certPath} holds no certificate in PEM`)
  if (!belongs(first, key)) {
    throw new OperatorError(
      `TLS_KEY: ${keyPath} is not the key of TLS_CERT, or is encrypted or not in PEM`,
    )
  }
  const readable = process.platform !== 'win32' && (statSync(keyPath).mode & 0o077) !== 0
  return { cert, key, hosts: hostsOf(first), ends: endOf(first), authority: null, readable }
}

/** Read the certificate of `cuponera tls`, and renew it if it is due. Null if there is none. */
export async function findOwnCertificate(
  dataDir: string,
  now: number,
): Promise<ServedCertificate | null> {
  if (!existsSync(tlsPath(dataDir, 'authorityCert'))) return null
  const found = readOwn(dataDir)
  const due =
    !found ||
    found.ends < now + limits.certificateRenewSeconds ||
    // DHCP may have given this machine another address.
    wantedHosts(authorityHost(dataDir)).some((host) => !found.hosts.includes(host))
  // An operator may store the authority's key elsewhere, and renews by hand then.
  if (!due || !existsSync(tlsPath(dataDir, 'authorityKey'))) return found
  return renewOwnCertificate(dataDir, now)
}

/** Create the authority if there is none, and a new certificate in any case. */
export async function renewOwnCertificate(
  dataDir: string,
  now: number,
): Promise<ServedCertificate> {
  // Imported here, because loading the library takes 25 ms, which most starts do not need.
  const { createAuthority, issueCertificate } = await import('./certificate.ts')
  const directory = join(dataDir, 'tls')
  makeDirectory(directory)
  ownLikeDirectory(directory)
  // The validity begins earlier, because clocks of phones may be behind.
  const from = now - limits.certificateBeforeSeconds
  if (!existsSync(tlsPath(dataDir, 'authorityCert'))) {
    const host = machineName()
    const subject = { organisation: 'Cuponera', name: `Cuponera ${host}` }
    const life = { from, to: now + limits.authoritySeconds }
    const made = createAuthority(subject, localNames(host), life)
    // The key is written first: after a crash, a certificate without its key would count as complete.
    writeDurably(tlsPath(dataDir, 'authorityKey'), made.key)
    writeDurably(tlsPath(dataDir, 'authorityCert'), made.cert)
  }
  const authority = {
    cert: readPem('authority', tlsPath(dataDir, 'authorityCert')),
    key: readPem('authority', tlsPath(dataDir, 'authorityKey')),
  }
  // A new key each time, so that a leaked one is of no use after its certificate.
  const life = { from, to: now + limits.certificateSeconds }
  const made = issueCertificate(authority, wantedHosts(authorityHost(dataDir)), life)
  writeDurably(tlsPath(dataDir, 'key'), made.key)
  writeDurably(tlsPath(dataDir, 'cert'), made.cert)
  const found = readOwn(dataDir)
  if (!found) throw new OperatorError(`${directory} cannot be read back`)
  return found
}

/** The IPv4 address of this machine in its local network, or null. */
export function ownAddress(): string | null {
  const found = ownAddresses().find((address) => parseAddress(address)?.kind() === 'ipv4')
  return found ?? null
}

/** Replace the unspecified address in a URL by one of this machine, because no browser can open it. */
export function toBrowserUrl(url: string): string {
  return url.replace(unspecifiedAddress, () => ownAddress() ?? publicAddress() ?? '127.0.0.1')
}

/** The public IPv4 address of a machine, or null. */
function publicAddress(): string | null {
  const found = readInterfaces().find(({ internal, address }) => {
    const parsed = internal ? null : parseAddress(address)
    return parsed?.kind() === 'ipv4' && ['unicast', 'reserved'].includes(parsed.range())
  })
  return found?.address ?? null
}

/** The host of a certificate by which other devices of the network reach this machine. */
export function hostForOthers(hosts: readonly string[]): string {
  const outside = hosts.filter((host) => {
    const address = parseAddress(host)
    return address?.kind() === 'ipv4' && address.range() !== 'loopback'
  })
  return outside[0] ?? hosts[0] ?? 'localhost'
}

function readOwn(dataDir: string): ServedCertificate | null {
  if (!existsSync(tlsPath(dataDir, 'cert')) || !existsSync(tlsPath(dataDir, 'key'))) return null
  const cert = readPem('certificate', tlsPath(dataDir, 'cert'))
  const key = readPem('certificate', tlsPath(dataDir, 'key'))
  const authority = readPem('authority', tlsPath(dataDir, 'authorityCert'))
  const parsed = parseCertificate(cert)
  // After a crash between the two writes, the pair does not match. The caller makes a new one.
  if (!parsed || !belongs(parsed, key)) return null
  return { cert, key, hosts: hostsOf(parsed), ends: endOf(parsed), authority, readable: false }
}

/** Names and addresses of this machine that the authority is allowed to certify. */
function wantedHosts(authorityFor: string): string[] {
  const host = machineName()
  const addresses = ownAddresses()
  const names = [`${host}.local`, ...(host === authorityFor ? [host] : []), 'localhost']
  return [
    ...new Set([...names, '127.0.0.1', '::1', ...addresses.slice(0, limits.certificateHostsMax)]),
  ]
}

function ownAddresses(): string[] {
  return readInterfaces()
    .filter(({ internal, address }) => !internal && isPrivate(address))
    .map(({ address }) => parseAddress(address)?.toString() ?? address)
}

/** True for addresses of a local network. Link-local ones, which need a zone, do not work in a certificate. */
function isPrivate(text: string): boolean {
  const range = parseAddress(text)?.range()
  return range === 'private' || range === 'uniqueLocal' || range === 'carrierGradeNat'
}

function authorityHost(dataDir: string): string {
  const { subject } = new X509Certificate(readPem('authority', tlsPath(dataDir, 'authorityCert')))
  const [, name = ''] = /^CN=(.*)$/m.exec(subject) ?? []
  return name.replace(/^Cuponera /, '')
}

function readPem(what: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
    throw new OperatorError(`${what}: cannot read ${path} (${code})`)
  }
}

function parseCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem)
  } catch {
    return null
  }
}

function belongs(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

function endOf(certificate: X509Certificate): number {
  return Math.floor(Date.parse(certificate.validTo) / 1000)
}

/** Read `DNS:shop.test, IP Address:10.0.0.1` into a list, with addresses in their short form. */
function hostsOf(certificate: X509Certificate): string[] {
  return (certificate.subjectAltName ?? '').split(/, ?/).flatMap((entry) => {
    const [, kind, text = ''] = /^(DNS|IP Address):(.+)$/.exec(entry) ?? []
    if (kind === 'DNS') return [text]
    const address = kind ? parseAddress(text) : null
    return address ? [address.toString()] : []
  })
}
