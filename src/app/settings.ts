import { limits } from '../base/limits.ts'
import { type Network, parseNetwork } from '../base/network.ts'
import { parsePubkey, parseSecret } from '../nostr/keys.ts'
import type { CardLimit } from '../wallet/cards/holder-store.ts'
import { parseLimits } from '../wallet/cards/limits.ts'
import { parseTokens, type Token } from '../wallet/ledger/token.ts'
import type { DiskFloor } from './disk.ts'

export type Setting<T> = {
  variable: string
  fallback: T
  /** Throws an Error that names the expected form. */
  parse: (text: string) => T
  /** One sentence for `--help` and the README. */
  about: string
  shown: string
  secret?: true
}

const logLevels = ['debug', 'info', 'warn', 'error'] as const
const logFormats = ['json', 'pretty'] as const
type LogLevel = (typeof logLevels)[number]
type LogFormat = (typeof logFormats)[number]

const setting = <T>(definition: Setting<T>) => definition

/** The table of settings. `--help` and the parser follow from it, and a test compares the README with it. */
export const settings = {
  host: setting({
    variable: 'HOST',
    fallback: '127.0.0.1',
    parse: (text) => text,
    about: 'Address to listen on',
    shown: '127.0.0.1',
  }),
  port: setting({
    variable: 'PORT',
    fallback: 3000,
    parse: parsePort,
    about: 'Port to listen on; 0 picks a free one',
    shown: '3000',
  }),
  // Paths of PEM files; null: those that `cuponera tls` made, if it did.
  tlsCert: setting<string | null>({
    variable: 'TLS_CERT',
    fallback: null,
    parse: (text) => text,
    about: 'File with the certificate chain, PEM',
    shown: 'what cuponera tls made, else http only',
  }),
  tlsKey: setting<string | null>({
    variable: 'TLS_KEY',
    fallback: null,
    parse: (text) => text,
    about: 'File with its private key, PEM',
    shown: 'what cuponera tls made',
  }),
  tlsPort: setting({
    variable: 'TLS_PORT',
    fallback: 3443,
    parse: parsePort,
    about: 'Port for https where there is a certificate; the same as PORT: https only',
    shown: '3443',
  }),
  dataDir: setting({
    variable: 'DATA_DIR',
    fallback: './data',
    parse: (text) => text,
    about: 'Directory of database and keys (0700)',
    shown: './data',
  }),
  // Null: the embedded engine, with a file in the data directory.
  databaseUrl: setting<string | null>({
    variable: 'DATABASE_URL',
    fallback: null,
    parse: (text) =>
      expect(/^postgres(ql)?:\/\//.test(text) ? text : null, 'postgres://user@host/name'),
    about: 'PostgreSQL in place of a file; several hosts with commas between them',
    shown: 'a file in DATA_DIR',
    secret: true,
  }),
  // Null: the name of the machine.
  nodeName: setting<string | null>({
    variable: 'NODE_NAME',
    fallback: null,
    parse: (text) => expect(/^[\w.:-]{1,64}$/.test(text) ? text : null, 'a host name'),
    about: 'Name of this node among those on the same PostgreSQL',
    shown: 'the name of the machine',
  }),
  // Null: 256 MB or 2 %, whichever is less.
  diskFloor: setting<DiskFloor | null>({
    variable: 'DISK_FLOOR',
    fallback: null,
    parse: parseFloor,
    about:
      'Free disk below which strangers cannot write: bytes, or a part such as 5%; 0 turns it off',
    shown: '256 MB or 2 %, whichever is less',
  }),
  publicUrls: setting<readonly string[]>({
    variable: 'PUBLIC_URL',
    fallback: [],
    parse: (text) => list(text).map(parseOrigin),
    about: 'Public origins that NIP-98 signatures may name, comma-separated',
    shown: 'none',
  }),
  // 32 bytes; null, here and for the next two: made once and kept in the data directory.
  managerSecret: setting<Uint8Array | null>({
    variable: 'COUPON_MANAGER_NSEC',
    fallback: null,
    parse: (text) => expect(parseSecret(text), 'an nsec or 64 hex digits'),
    about: 'Key that signs vouchers; must stay the same for ever',
    shown: 'made once, kept in DATA_DIR',
    secret: true,
  }),
  storeKey: setting<Uint8Array | null>({
    variable: 'STORE_KEY',
    fallback: null,
    parse: parseStoreKey,
    about: 'Key that seals answers that the database must repeat',
    shown: 'made once, kept in DATA_DIR',
    secret: true,
  }),
  sessionSecret: setting<string | null>({
    variable: 'SESSION_JWT_SECRET',
    fallback: null,
    parse: parseSessionSecret,
    about: 'Signs sessions; changing it ends all of them',
    shown: 'made once, kept in DATA_DIR',
    secret: true,
  }),
  // Public keys in hex; null: any key while only this machine reaches the service, else by setup code.
  merchants: setting<ReadonlySet<string> | 'open' | null>({
    variable: 'MERCHANTS',
    fallback: null,
    parse: (text) => (text === 'open' ? text : parseKeys(text)),
    about: 'Keys that may manage coupons, npub or hex, comma-separated; `open`: any key',
    shown: 'any key on this machine alone, else by setup code',
  }),
  relays: setting<readonly string[]>({
    variable: 'RELAYS',
    fallback: ['embedded'],
    parse: parseRelays,
    about: '`embedded`, ws or wss addresses, comma-separated',
    shown: 'embedded',
  }),
  // Null: the host of the first public origin, else `localhost`.
  federationId: setting<string | null>({
    variable: 'FEDERATION_ID',
    fallback: null,
    parse: (text) => expect(/^[\w.:-]{1,255}$/.test(text) ? text : null, 'a host name'),
    about: 'Name of this service for wallets and cards',
    shown: 'the host of the first PUBLIC_URL, else localhost',
  }),
  // Public keys in hex; null: the manager's and those of `merchants`.
  identityIssuers: setting<ReadonlySet<string> | null>({
    variable: 'IDENTITY_ISSUERS',
    fallback: null,
    parse: parseKeys,
    about: 'Keys that may give out nonces and register identities, npub or hex, comma-separated',
    shown: 'the manager key and MERCHANTS',
  }),
  identitySelfSignup: setting({
    variable: 'IDENTITY_SELF_SIGNUP',
    fallback: false,
    parse: (text) => choose(text, ['on', 'off']) === 'on',
    about: '`on`: anybody may register an identity for the key that signs',
    shown: 'off',
  }),
  identityReserved: setting<ReadonlySet<string>>({
    variable: 'IDENTITY_RESERVED',
    fallback: new Set(),
    parse: (text) => new Set(list(text).map((name) => name.toLowerCase())),
    about: 'Names that nobody may register, besides admin, root and the like, comma-separated',
    shown: 'none',
  }),
  // The manager key of each (hex) and its refresh address.
  voucherServices: setting<ReadonlyMap<string, string>>({
    variable: 'VOUCHER_SERVICES',
    fallback: new Map(),
    parse: parseServices,
    about:
      'Services whose vouchers are taken: npub|https://host/api/coupons/refresh, comma-separated',
    shown: 'only its own',
  }),
  allowPrivateServices: setting<ReadonlySet<string>>({
    variable: 'ALLOW_PRIVATE_SERVICES',
    fallback: new Set(),
    parse: parseOrigins,
    about:
      'For development: services that may be private and plain http, http://host:port, comma-separated',
    shown: 'none',
  }),
  cardMasterKey: setting<Uint8Array | null>({
    variable: 'CARD_MASTER_KEY',
    fallback: null,
    parse: parseCardKey,
    about: 'Master key of all cards',
    shown: 'made once, kept in DATA_DIR',
    secret: true,
  }),
  // Null: the manager's alone.
  cardWriters: setting<ReadonlySet<string> | null>({
    variable: 'CARD_WRITERS',
    fallback: null,
    parse: parseKeys,
    about: 'Keys that may initialise and wipe cards, npub or hex, comma-separated',
    shown: 'the manager key',
  }),
  defaultLimits: setting<readonly CardLimit[]>({
    variable: 'DEFAULT_LIMITS',
    fallback: [],
    parse: (text) => expect(parseLimits(text), 'name;description;token;amount;delta joined by :'),
    about: 'Limits of a new card: name;description;token;amount;seconds, joined by `:`',
    shown: 'none',
  }),
  gatewayPubkey: setting<string | null>({
    variable: 'GATEWAY_PUBKEY',
    fallback: null,
    parse: (text) => expect(parsePubkey(text), 'an npub or 64 hex digits'),
    about: 'Lightning gateway that pays invoices for cards, npub or hex',
    shown: 'none',
  }),
  tokens: setting<ReadonlyMap<string, Token>>({
    variable: 'TOKENS',
    fallback: new Map(),
    parse: (text) => expect(parseTokens(list(text)), 'NAME:decimals:issuer npub, comma-separated'),
    about: 'Tokens of the embedded ledger: NAME:decimals:issuer npub, comma-separated',
    shown: 'none',
  }),
  // Public key in hex. Null: the embedded ledger.
  ledgerPubkey: setting<string | null>({
    variable: 'LEDGER_PUBKEY',
    fallback: null,
    parse: (text) => expect(parsePubkey(text), 'an npub or 64 hex digits'),
    about: 'Key of a ledger that listens on the relays, in place of the embedded one',
    shown: 'the embedded one',
  }),
  trustedProxies: setting<readonly Network[]>({
    variable: 'TRUSTED_PROXIES',
    fallback: [],
    parse: (text) => list(text).map(parseProxy),
    about: 'Addresses or networks (CIDR) of reverse proxies, comma-separated',
    shown: 'none',
  }),
  metricsToken: setting<string | null>({
    variable: 'METRICS_TOKEN',
    fallback: null,
    parse: (text) => expect(/^[!-~]{16,}$/.test(text) ? text : null, '16 or more visible ASCII'),
    about: 'Bearer token with which another machine may read /metrics',
    shown: 'none: this machine alone reads /metrics',
    secret: true,
  }),
  rateLimit: setting({
    variable: 'RATE_LIMIT',
    fallback: true,
    parse: (text) => choose(text, ['on', 'off']) === 'on',
    about: '`off` for measurements',
    shown: 'on',
  }),
  logLevel: setting<LogLevel>({
    variable: 'LOG_LEVEL',
    fallback: 'info',
    parse: (text) => choose(text, logLevels),
    about: logLevels.join(', '),
    shown: 'info',
  }),
  logFormat: setting<LogFormat | null>({
    variable: 'LOG_FORMAT',
    fallback: null,
    parse: (text) => choose(text, logFormats),
    about: '`json` or `pretty`',
    shown: 'pretty on a terminal, else json',
  }),
}

function list(text: string): string[] {
  const items = text.split(',').map((item) => item.trim())
  const named = items.filter((item) => item !== '')
  return expect(named.length > 0 ? named : null, 'at least one entry')
}

function expect<T>(value: T | null, expected: string): T {
  if (value === null) throw new Error(`expected ${expected}`)
  return value
}

function choose<T extends string>(text: string, options: readonly T[]): T {
  return expect(options.find((option) => option === text) ?? null, options.join(' or '))
}

function parseKeys(text: string): Set<string> {
  const keys = list(text).map((key) =>
    expect(parsePubkey(key), 'npub or hex keys, comma-separated'),
  )
  return new Set(keys)
}

function parseServices(text: string): Map<string, string> {
  const services = new Map(list(text).map(parseService))
  const many = `at most ${limits.voucherServicesMax}, each key once`
  const fits = services.size === list(text).length && services.size <= limits.voucherServicesMax
  return expect(fits ? services : null, many)
}

function parseService(text: string): [pubkey: string, refreshUrl: string] {
  const expected = 'npub|https://host/api/coupons/refresh, comma-separated'
  const [key = '', address = '', ...rest] = text.split('|').map((part) => part.trim())
  const url = URL.parse(address)
  const web = url?.protocol === 'https:' || url?.protocol === 'http:'
  const plain = web && !url.username && !url.password && !url.hash
  return [
    expect(rest.length === 0 ? parsePubkey(key) : null, expected),
    expect(plain ? url.href : null, expected),
  ]
}

function parseOrigins(text: string): ReadonlySet<string> {
  const origins = list(text).map((one) => {
    const url = URL.parse(one)
    return url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
      ? url.origin
      : null
  })
  return new Set(origins.map((one) => expect(one, 'http://host:port, comma-separated')))
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return expect(port <= 65_535 ? port : null, 'a port from 0 to 65535')
}

function parseFloor(text: string): DiskFloor {
  const [, digits, percent] = /^(\d{1,15}(?:\.\d{1,3})?)( ?%)?$/.exec(text) ?? []
  const value = Number(digits ?? Number.NaN)
  const whole = percent === undefined && Number.isInteger(value)
  const part = percent !== undefined && value < 100
  return expect(
    whole ? { bytes: value } : part ? { percent: value } : null,
    'bytes, or a part of the disk below 100%',
  )
}

function parseOrigin(text: string): string {
  const url = URL.parse(text)
  const plain = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search
  return expect(
    plain && !url.username && !url.hash ? url.origin : null,
    'origins such as https://cupones.example',
  )
}

function parseStoreKey(text: string): Uint8Array {
  return expect(/^[0-9a-fA-F]{64}$/.test(text) ? Uint8Array.fromHex(text) : null, '64 hex digits')
}

function parseCardKey(text: string): Uint8Array {
  return expect(/^[0-9a-fA-F]{32}$/.test(text) ? Uint8Array.fromHex(text) : null, '32 hex digits')
}

function parseSessionSecret(text: string): string {
  return expect(Buffer.byteLength(text) >= 32 ? text : null, 'at least 32 bytes')
}

/** Each once, as one spelling. */
function parseRelays(text: string): string[] {
  const relays = [...new Set(list(text).map(parseRelay))]
  return expect(relays.length <= limits.relaysMax ? relays : null, `at most ${limits.relaysMax}`)
}

function parseRelay(text: string): string {
  if (text === 'embedded') return text
  const url = URL.parse(text)
  // The address is shown to anybody who asks where an event went.
  const secret = url && (url.username !== '' || url.password !== '' || url.search !== '')
  const short = url !== null && url.href.length <= limits.relayAddressCharsMax
  const usable = short && /^wss?:$/.test(url.protocol) && !secret && !url.hash
  // `wss://relay.example` and `wss://relay.example/` are the same; it is written the short way.
  const spelled = usable && url.pathname === '/' ? url.href.slice(0, -1) : url?.href
  return expect(
    usable && spelled ? spelled : null,
    `\`embedded\` or ws:// and wss:// addresses of up to ${limits.relayAddressCharsMax} characters, without password or query`,
  )
}

function parseProxy(text: string): Network {
  return expect(parseNetwork(text), 'addresses or networks such as 10.0.0.0/8')
}
