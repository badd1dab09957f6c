import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npubEncode, nsecEncode } from 'nostr-tools/nip19'
import { type Environment, flagOf, readConfig } from '../../src/app/config.ts'
import { settings } from '../../src/app/settings.ts'
import { OperatorError } from '../../src/base/operator-error.ts'

const directory = mkdtempSync(join(tmpdir(), 'cuponera-config-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const read = (env: Environment, flags: Record<string, string> = {}, terminal = false) =>
  readConfig(new Map(Object.entries(flags)), env, terminal)
const config = (env: Environment, flags: Record<string, string> = {}) => read(env, flags).config

/** The lines of the refusal, or none. */
function problems(env: Environment, flags: Record<string, string> = {}): string[] {
  try {
    read(env, flags)
    return []
  } catch (refused) {
    if (!(refused instanceof OperatorError)) throw refused
    return refused.message.split('\n')
  }
}

let files = 0
function fileWith(text: string): string {
  const path = join(directory, `file-${files++}`)
  writeFileSync(path, text)
  return path
}

const secretHex = '11'.repeat(32)
const secret = Uint8Array.fromHex(secretHex)
const key = 'ab'.repeat(32)
const other = 'cd'.repeat(32)

test('without any setting every value is the default', () => {
  expect(config({})).toEqual({
    host: '127.0.0.1',
    port: 3000,
    databaseUrl: null,
    nodeName: null,
    tlsCert: null,
    tlsKey: null,
    tlsPort: 3443,
    dataDir: './data',
    diskFloor: null,
    publicUrls: [],
    managerSecret: null,
    storeKey: null,
    sessionSecret: null,
    merchants: null,
    relays: ['embedded'],
    federationId: null,
    identityIssuers: null,
    voucherServices: new Map(),
    allowPrivateServices: new Set(),
    cardMasterKey: null,
    cardWriters: null,
    defaultLimits: [],
    gatewayPubkey: null,
    tokens: new Map(),
    ledgerPubkey: null,
    identitySelfSignup: false,
    identityReserved: new Set(),
    trustedProxies: [],
    metricsToken: null,
    rateLimit: true,
    logLevel: 'info',
    logFormat: 'json',
  })
})

test('logs are for people on a terminal by default', () => {
  expect(read({}, {}, true).config.logFormat).toBe('pretty')
  expect(read({ LOG_FORMAT: 'json' }, {}, true).config.logFormat).toBe('json')
  expect(read({ LOG_FORMAT: 'pretty' }).config.logFormat).toBe('pretty')
})

test('the config is frozen', () => {
  expect(Object.isFrozen(config({}))).toBe(true)
})

const good: [variable: string, text: string, name: keyof typeof settings, value: unknown][] = [
  ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
  ['HOST', ' ::1 ', 'host', '::1'],
  ['PORT', '0', 'port', 0],
  ['PORT', '65535', 'port', 65_535],
  ['DATA_DIR', '/var/lib/cuponera', 'dataDir', '/var/lib/cuponera'],
  ['DISK_FLOOR', '0', 'diskFloor', { bytes: 0 }],
  ['DISK_FLOOR', '268435456', 'diskFloor', { bytes: 268_435_456 }],
  ['DISK_FLOOR', '2.5%', 'diskFloor', { percent: 2.5 }],
  ['DISK_FLOOR', '0 %', 'diskFloor', { percent: 0 }],
  ['PUBLIC_URL', 'https://a.example', 'publicUrls', ['https://a.example']],
  [
    'PUBLIC_URL',
    'https://A.example:443/, http://b.example:8080',
    'publicUrls',
    ['https://a.example', 'http://b.example:8080'],
  ],
  ['COUPON_MANAGER_NSEC', secretHex, 'managerSecret', secret],
  ['COUPON_MANAGER_NSEC', secretHex.toUpperCase(), 'managerSecret', secret],
  ['COUPON_MANAGER_NSEC', nsecEncode(secret), 'managerSecret', secret],
  ['STORE_KEY', key, 'storeKey', Uint8Array.fromHex(key)],
  ['STORE_KEY', key.toUpperCase(), 'storeKey', Uint8Array.fromHex(key)],
  ['SESSION_JWT_SECRET', 's'.repeat(32), 'sessionSecret', 's'.repeat(32)],
  ['SESSION_JWT_SECRET', 'ñ'.repeat(16), 'sessionSecret', 'ñ'.repeat(16)],
  ['MERCHANTS', `${key}, ${npubEncode(other)},`, 'merchants', new Set([key, other])],
  ['MERCHANTS', 'open', 'merchants', 'open'],
  [
    'RELAYS',
    'wss://a.example,embedded,ws://b.example/x',
    'relays',
    ['wss://a.example', 'embedded', 'ws://b.example/x'],
  ],
  [
    'VOUCHER_SERVICES',
    `${npubEncode(key)}|https://A.example/api/coupons/refresh, ${other} | https://b.example:8443/r`,
    'voucherServices',
    new Map([
      [key, 'https://a.example/api/coupons/refresh'],
      [other, 'https://b.example:8443/r'],
    ]),
  ],
  ['CARD_MASTER_KEY', secretHex.slice(32), 'cardMasterKey', secret.slice(16)],
  ['CARD_WRITERS', `${key},${npubEncode(other)}`, 'cardWriters', new Set([key, other])],
  [
    'DEFAULT_LIMITS',
    'Por día;Lo de un día;PESO;5000;86400:Un pago;;BTC;9007199254740993;0',
    'defaultLimits',
    [
      { name: 'Por día', description: 'Lo de un día', token: 'PESO', amount: 5000n, delta: 86_400 },
      { name: 'Un pago', description: '', token: 'BTC', amount: 9_007_199_254_740_993n, delta: 0 },
    ],
  ],
  ['GATEWAY_PUBKEY', npubEncode(key), 'gatewayPubkey', key],
  [
    'TOKENS',
    `ARS:2:${key}, peso-x:0:${npubEncode(other)}`,
    'tokens',
    new Map([
      ['ARS', { name: 'ARS', decimals: 2, issuer: key }],
      ['peso-x', { name: 'peso-x', decimals: 0, issuer: other }],
    ]),
  ],
  ['LEDGER_PUBKEY', npubEncode(other), 'ledgerPubkey', other],
  ['METRICS_TOKEN', '16-characters-ok', 'metricsToken', '16-characters-ok'],
  ['RATE_LIMIT', 'off', 'rateLimit', false],
  ['RATE_LIMIT', 'on', 'rateLimit', true],
  ['LOG_LEVEL', 'debug', 'logLevel', 'debug'],
]
for (const [variable, text, name, value] of good) {
  test(`${variable}=${text.slice(0, 40)} is read as variable, as flag and from a file`, () => {
    expect(config({ [variable]: text })[name as never]).toEqual(value as never)
    expect(config({}, { [flagOf(name)]: text })[name as never]).toEqual(value as never)
    const file = fileWith(`${text}\n`)
    expect(config({ [`${variable}_FILE`]: file })[name as never]).toEqual(value as never)
  })
}

test('TRUSTED_PROXIES accepts addresses and networks', () => {
  const { trustedProxies } = config({ TRUSTED_PROXIES: '10.0.0.0/8, 192.168.1.1, fd00::/8, ::1' })
  expect(trustedProxies.map(([address, bits]) => `${address}/${bits}`)).toEqual([
    '10.0.0.0/8',
    '192.168.1.1/32',
    'fd00::/8',
    '::1/128',
  ])
})

const bad: [variable: string, texts: string[]][] = [
  ['PORT', ['-1', '65536', '80a', '3e3', '0x50', '1.5', 'http']],
  [
    'PUBLIC_URL',
    [
      'a.example',
      'ftp://a.example',
      'https://a.example/path',
      'https://a.example/?x',
      'https://a.example/#x',
      'https://me@a.example',
      'https://',
      ',',
      'https://a.example;https://b.example',
    ],
  ],
  [
    'COUPON_MANAGER_NSEC',
    [
      'x',
      secretHex.slice(1),
      '0'.repeat(64),
      'f'.repeat(64),
      npubEncode(key),
      nsecEncode(secret).slice(0, -1),
    ],
  ],
  ['STORE_KEY', ['x', key.slice(2), `${key}00`, 'g'.repeat(64), nsecEncode(secret)]],
  ['SESSION_JWT_SECRET', ['short', 's'.repeat(31), 'ñ'.repeat(15)]],
  [
    'MERCHANTS',
    [',', 'x', `open,${key}`, 'Open', key.slice(1), `${key};${other}`, nsecEncode(secret)],
  ],
  [
    'RELAYS',
    [
      ',',
      'a.example',
      'https://a.example',
      'Embedded',
      'wss://me@a.example',
      'wss://a.example/#x',
      'wss://:pw@a.example',
      'wss://a.example/?token=t',
      `wss://a.example/${'x'.repeat(500)}`,
    ],
  ],
  [
    'TOKENS',
    [
      ',',
      'ARS',
      `ARS:2:${key.slice(1)}`,
      `ARS:-1:${key}`,
      `ARS:19:${key}`,
      `A:R:2:${key}`,
      `${'x'.repeat(17)}:2:${key}`,
      `ARS:2:${key},ARS:0:${other}`,
      `ARS:2:${nsecEncode(secret)}`,
    ],
  ],
  ['LEDGER_PUBKEY', ['x', key.slice(1), nsecEncode(secret)]],
  ['TRUSTED_PROXIES', [',', 'proxy', '10.0.0.0/33', '10.0.0.1/x', '300.1.1.1', '::1/129']],
  ['CARD_MASTER_KEY', [secretHex, secretHex.slice(33), 'g'.repeat(32)]],
  ['CARD_WRITERS', [',', 'x', `${key};${other}`]],
  [
    'DEFAULT_LIMITS',
    ['x', 'a;b;T;1', 'a;b;T;1;2;3', 'a;b;T;-1;0', 'a;b;T;1.5;0', 'a;b;T!;1;0', 'a;b;T;1;400000000'],
  ],
  [
    'VOUCHER_SERVICES',
    [
      'https://a.example/r',
      `${key}|`,
      `x|https://a.example/r`,
      `${key}|http://a.example/r`,
      `${key}|https://a:b@a.example/r`,
      `${key}|https://a.example/r#x`,
      `${key}|https://a.example/r|x`,
      `${key}|https://a.example/r,${npubEncode(key)}|https://b.example/r`,
    ],
  ],
  ['GATEWAY_PUBKEY', ['x', key.slice(1)]],
  ['DISK_FLOOR', ['x', '-1', '1.5', '256MB', '100%', '%', '1e9', '9'.repeat(16), '5%%']],
  ['METRICS_TOKEN', ['15-characters-x', 'with a space in the middle', 'eñe-of-many-characters']],
  ['RATE_LIMIT', ['true', '0', 'ON', 'no']],
  ['LOG_LEVEL', ['trace', 'INFO']],
  ['LOG_FORMAT', ['text', 'JSON']],
]
for (const [variable, texts] of bad) {
  test(`a malformed ${variable} is one line that names it and never shows its value`, () => {
    for (const text of texts) {
      for (const env of [{ [variable]: text }, { [`${variable}_FILE`]: fileWith(text) }]) {
        const lines = problems(env)
        expect({ text, lines }).toEqual({
          text,
          lines: [expect.stringMatching(new RegExp(`^${variable}: expected .`))],
        })
        if (text.length > 8) expect(lines.join()).not.toContain(text)
      }
    }
  })
}

describe('a setting counts as unset', () => {
  test('when its variable is empty or white space', () => {
    for (const empty of ['', ' ', '\t\n']) {
      const env = Object.fromEntries(
        Object.values(settings).map(({ variable }) => [variable, empty]),
      )
      expect(config(env)).toEqual(config({}))
    }
  })

  test('when its X_FILE and the variable beside it are empty', () => {
    expect(config({ PORT_FILE: '' }).port).toBe(3000)
    expect(config({ PORT: '', PORT_FILE: fileWith('4000\n') }).port).toBe(4000)
  })
})

describe('precedence', () => {
  test('a flag overrides a variable, and a variable its file', () => {
    const env = { PORT: '2', PORT_FILE: fileWith('3') }
    expect(config(env, { port: '1' }).port).toBe(1)
    expect(config(env).port).toBe(2)
    expect(config({ PORT_FILE: env.PORT_FILE }).port).toBe(3)
  })
})

describe('problems', () => {
  test('an unreadable file is reported by its variable', () => {
    for (const path of [join(directory, 'nothing'), directory]) {
      expect(problems({ STORE_KEY_FILE: path })).toEqual([
        'STORE_KEY: the file that STORE_KEY_FILE names cannot be read',
      ])
    }
  })

  test('an unknown flag stops the start', () => {
    for (const flag of ['prot', 'PORT', 'store_key', 'toString', '']) {
      expect(problems({}, { [flag]: '1' })).toEqual([`unknown flag --${flag}`])
    }
  })

  test('all problems are reported at once', () => {
    const env = { PORT: 'x', STORE_KEY: 'y', RELAYS: 'z', LOG_LEVEL: 'info' }
    const lines = problems(env, { verbose: 'on', 'rate-limit': 'maybe' })
    expect(lines.map((line) => line.split(/[: ]/)[0])).toEqual([
      'unknown',
      'PORT',
      'STORE_KEY',
      'RELAYS',
      'RATE_LIMIT',
    ])
  })
})

describe('variables that look like misspelt settings', () => {
  const near: [variable: string, meant: string][] = [
    ['PUBLIC_URLS', 'PUBLIC_URL'],
    ['PUBLICURL', 'PUBLIC_URL'],
    ['public_url', 'PUBLIC_URL'],
    ['port', 'PORT'],
    ['COUPON_MANAGER_NESC', 'COUPON_MANAGER_NSEC'],
    ['MERCHANT', 'MERCHANTS'],
    ['RATELIMIT', 'RATE_LIMIT'],
    ['STORE_KEYFILE', 'STORE_KEY_FILE'],
    ['XUBLIC_URX', 'PUBLIC_URL'],
    ['PUBXIC_URX', 'PUBLIC_URL'],
    ['XUBLIX_URL', 'PUBLIC_URL'],
  ]
  for (const [variable, meant] of near) {
    test(`${variable} gets a warning that names ${meant}, and not its value`, () => {
      const { warnings } = read({ [variable]: 'a secret value' })
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toContain(`${variable} `)
      expect(warnings[0]).toContain(meant)
      expect(warnings[0]).not.toContain('a secret value')
    })
  }

  test('real settings and variables of the system get no warning', () => {
    const ours = Object.values(settings).map(({ variable }) => [`${variable}_FILE`, ''])
    const system = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'USER',
      'LANG',
      'PWD',
      'SHELL',
      'TERM',
      'DISPLAY',
      'NODE_ENV',
      'HTTP_PROXY',
      'http_proxy',
      'LOGNAME',
      'EDITOR',
      'TZ',
    ]
    const env = Object.fromEntries([...ours, ...system.map((name) => [name, 'x'])])
    expect(read(env).warnings).toEqual([])
  })
})

test('every setting has a description, and secrets are marked', () => {
  for (const { variable, about, shown } of Object.values(settings)) {
    expect(variable).toMatch(/^[A-Z_]+$/)
    expect(about.length).toBeGreaterThan(3)
    expect(shown.length).toBeGreaterThan(0)
  }
  const secrets = Object.values(settings).filter((one) => one.secret)
  expect(secrets.map(({ variable }) => variable)).toEqual([
    'DATABASE_URL',
    'COUPON_MANAGER_NSEC',
    'STORE_KEY',
    'SESSION_JWT_SECRET',
    'CARD_MASTER_KEY',
    'METRICS_TOKEN',
  ])
})
