import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSchnorr, type SchnorrEngine, tryNative } from '../../src/crypto/schnorr.ts'
import { systemLibraries } from '../../src/crypto/schnorr-native.ts'
import { openPureSchnorr } from '../../src/crypto/schnorr-pure.ts'
import { checkVectors, schnorrVectors } from '../../src/crypto/schnorr-vectors.ts'
import { createSigner, createVerifier } from '../../src/crypto/sign-event.ts'
import { eventId, type NostrEvent } from '../../src/nostr/event.ts'

const seed = Number(process.env.SEED ?? 340)
const curveOrder = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'

const opened = openSchnorr()
const pure = openPureSchnorr('noble')
const engines: SchnorrEngine[] = opened.name === 'noble' ? [pure] : [opened, pure]

/** sk 3, aux 0. */
const nip98: NostrEvent = {
  id: '8d6234e1afd35c049f65c43b8a41e1922530a1fc7bacfe375515d7956a1b3ecb',
  pubkey: 'f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9',
  created_at: 1764630000,
  kind: 27235,
  tags: [
    ['u', 'https://merchant.example/api/coupons/mint'],
    ['method', 'POST'],
    ['payload', '8c0241b9c281b0dd488c81b083fb44a94509a10d7bf487fed78ab65518aaba69'],
    ['nonce', 'k3f9xq2'],
  ],
  content: '',
  sig: '6ca4b77d802f252ab937de022a416be75f05b791083f250c7f8fdddc222d6edcbc738c5219e0b2dba92a5a52e8f268bf7dba937f4e8f31b83782e909adfc873f',
}

/** Published on relays in 2023: content with JSON in it. */
const activation: NostrEvent = {
  id: '8fad06887f4f0475889f93e2291d0151da1157d2b7551a38afb865d47554b2e8',
  pubkey: '49001062a54bc52153dcc69b65927833be519104249324e462eab45d494a0c46',
  created_at: 1698091892,
  kind: 21111,
  tags: [
    ['p', '75a66127dea5733b9402bddf697d0b27d7a094dfad62d22d85fd7f9eb6973a6f'],
    ['t', 'card-activation-request'],
  ],
  content:
    '{"otc":"weirdcode","delegation":{"conditions":"kind=1112&created_at<1700762400&created_at>1698080400","token":"dbf1ef362920cf20f9b1c1861e5491061dfb386437edf09d00f53d3f987265057d0b731e7d71d7a3eeef3c870881cca5b82647a6efa8caf04f25e0ba52606aa5"}}',
  sig: '285cbf75456456d7799a7450ac80b68d6ed31e833314a71609d2410016df34ef84d4c2187ae5670829909e60d0fdd73289250213e6ee90d98f7accce65317d2e',
}

function bytes(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromHex(hex)
}

/** mulberry32: the same bytes for the same seed. */
function seededBytes(start: number): (length: number) => Uint8Array {
  let state = start
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) & 255
  }
  return (length) => Uint8Array.from({ length }, next)
}

describe.each(engines)('the engine $name', (engine) => {
  test.each(schnorrVectors)('agrees with the published vector "$name"', (vector) => {
    const message = bytes(vector.message)
    expect(engine.verify(bytes(vector.signature), message, bytes(vector.pubkey))).toBe(vector.valid)
    if (!vector.secret || !vector.aux) return
    const pair = engine.keypair(bytes(vector.secret))
    expect(pair.pubkey.toHex()).toBe(vector.pubkey)
    expect(pair.sign(message, bytes(vector.aux)).toHex()).toBe(vector.signature)
  })

  test('signs the same message differently each time, and both signatures are valid', () => {
    const pair = engine.keypair(bytes('7'.padStart(64, '0')))
    const message = new Uint8Array(32).fill(9)
    const [first, second] = [pair.sign(message), pair.sign(message)]
    expect(first).not.toEqual(second)
    expect(engine.verify(first, message, pair.pubkey)).toBe(true)
    expect(engine.verify(second, message, pair.pubkey)).toBe(true)
  })

  test('keeps its key when the caller wipes the secret', () => {
    const secret = bytes('7'.padStart(64, '0'))
    const pair = engine.keypair(secret)
    secret.fill(0)
    const message = new Uint8Array(32).fill(9)
    expect(engine.verify(pair.sign(message), message, pair.pubkey)).toBe(true)
  })

  test.each([0, 1, 31, 33, 63, 65, 128])('returns false for any part of %d bytes', (length) => {
    const [signature, message, pubkey] = [bytes(nip98.sig), bytes(nip98.id), bytes(nip98.pubkey)]
    const wrong = new Uint8Array(length)
    expect(engine.verify(signature, message, pubkey)).toBe(true)
    expect(engine.verify(wrong, message, pubkey)).toBe(false)
    expect(engine.verify(signature, wrong, pubkey)).toBe(false)
    expect(engine.verify(signature, message, wrong)).toBe(false)
  })

  test.each([[null], [undefined], [7], [nip98.sig], [[1, 2]], [{}], [new ArrayBuffer(64)]])(
    'returns false for %p in place of bytes',
    (value) => {
      const garbage = value as never
      expect(engine.verify(garbage, bytes(nip98.id), bytes(nip98.pubkey))).toBe(false)
      expect(engine.verify(bytes(nip98.sig), garbage, bytes(nip98.pubkey))).toBe(false)
      expect(engine.verify(bytes(nip98.sig), bytes(nip98.id), garbage)).toBe(false)
    },
  )

  test.each(['', '00'.repeat(32), curveOrder, 'ff'.repeat(32), '01'.repeat(31), '01'.repeat(33)])(
    'refuses the secret key %p',
    (hex) => {
      expect(() => engine.keypair(bytes(hex))).toThrow(RangeError)
    },
  )

  test('refuses to sign anything but 32 bytes', () => {
    const pair = engine.keypair(bytes('7'.padStart(64, '0')))
    for (const length of [0, 31, 33, 64]) {
      expect(() => pair.sign(new Uint8Array(length))).toThrow(RangeError)
      expect(() => pair.sign(new Uint8Array(32), new Uint8Array(length))).toThrow(RangeError)
    }
  })

  test(`refuses every signature with one bit changed (SEED=${seed})`, () => {
    const random = seededBytes(seed)
    const pair = engine.keypair(random(32))
    const message = random(32)
    const signature = pair.sign(message, random(32))
    for (const [index] of signature.entries()) {
      const changed = Uint8Array.from(signature)
      changed[index] = (changed[index] ?? 0) ^ (1 << (index % 8))
      expect(engine.verify(changed, message, pair.pubkey)).toBe(false)
    }
  })

  test('verifies the published events', () => {
    const verify = createVerifier(engine)
    expect(verify(nip98)).toBe(true)
    expect(verify(activation)).toBe(true)
  })

  test.each<[string, Partial<Record<keyof NostrEvent, unknown>>]>([
    ['a changed id', { id: nip98.id.replace(/^8/, '9') }],
    ['an id in upper case', { id: nip98.id.toUpperCase() }],
    ['a truncated id', { id: nip98.id.slice(0, 62) }],
    ['an id that is no hex', { id: 'zz'.repeat(32) }],
    ['a public key in upper case', { pubkey: nip98.pubkey.toUpperCase() }],
    ['a truncated public key', { pubkey: nip98.pubkey.slice(2) }],
    ['the public key of another', { pubkey: activation.pubkey }],
    ['a signature that is too long', { sig: `${nip98.sig}00` }],
    ['a signature that is too short', { sig: nip98.sig.slice(2) }],
    ['a signature in upper case', { sig: nip98.sig.toUpperCase() }],
    ['a signature with a line end', { sig: `${nip98.sig}\n` }],
    ['the signature of another event', { sig: activation.sig }],
    ['a changed content', { content: ' ' }],
    ['another kind', { kind: 27236 }],
    ['another time', { created_at: nip98.created_at + 1 }],
    ['a tag less', { tags: nip98.tags.slice(1) }],
    ['tags that are no strings', { tags: [[1]] }],
    ['a time that is no integer', { created_at: 1.5 }],
  ])('refuses an event with %s', (_name, change) => {
    expect(createVerifier(engine)({ ...nip98, ...change } as NostrEvent)).toBe(false)
  })

  test.each([[null], [undefined], ['event'], [5], [[]], [{}]])(
    'refuses %p as an event',
    (value) => {
      expect(createVerifier(engine)(value as never)).toBe(false)
    },
  )

  test('refuses a self-consistent event whose key is not on the curve', () => {
    const pubkey = 'eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34'
    const event = { ...nip98, pubkey }
    expect(createVerifier(engine)({ ...event, id: eventId(event) })).toBe(false)
  })

  test('creates events that the verifier accepts, from hex or bytes', () => {
    const hex = '3'.padStart(64, '0')
    for (const secret of [hex, bytes(hex)]) {
      const signer = createSigner(engine, secret)
      expect(signer.pubkey).toBe(nip98.pubkey)
      const event = signer.sign({
        created_at: 1,
        kind: 1,
        tags: [['t', 'ñandú']],
        content: '☕\n"',
      })
      expect(event.pubkey).toBe(signer.pubkey)
      expect(createVerifier(engine)(event)).toBe(true)
    }
  })

  test.each(['', '3', '3'.padStart(63, '0'), 'A'.repeat(64), `${'3'.padStart(64, '0')}00`])(
    'creates no signer from the secret %p',
    (secret) => {
      expect(() => createSigner(engine, secret)).toThrow(RangeError)
    },
  )
})

describe('openSchnorr', () => {
  test('names its engine, and with the pure one explains how to get the fast one', () => {
    if (opened.name === 'libsecp256k1') expect(opened.detail).toMatch(/^libsecp256k1 \(.+\)$/)
    else expect(opened.detail).toMatch(/^noble \(pure JavaScript; slower\).*libsecp256k1/)
  })

  test(`agrees with the pure engine in both directions (SEED=${seed})`, () => {
    const random = seededBytes(seed)
    for (let round = 0; round < 40; round++) {
      const [secret, message, aux] = [random(32), random(32), random(32)]
      const [one, other] = [opened.keypair(secret), pure.keypair(secret)]
      expect(one.pubkey).toEqual(other.pubkey)
      const signature = one.sign(message, aux)
      expect(signature).toEqual(other.sign(message, aux))
      expect(opened.verify(other.sign(message), message, one.pubkey)).toBe(true)
      expect(pure.verify(one.sign(message), message, one.pubkey)).toBe(true)
      const another = random(32)
      expect(opened.verify(signature, another, one.pubkey)).toBe(false)
      expect(pure.verify(signature, another, one.pubkey)).toBe(false)
    }
  })

  test('verifies correctly for more keys than it remembers', () => {
    const message = new Uint8Array(32).fill(4)
    const random = seededBytes(seed)
    const signed = Array.from({ length: opened.name === 'noble' ? 20 : 1100 }, () => {
      const pair = opened.keypair(random(32))
      return { pubkey: pair.pubkey, signature: pair.sign(message) }
    })
    const [first] = signed
    for (const { pubkey, signature } of [...signed, ...signed.slice(0, 50)]) {
      expect(opened.verify(signature, message, pubkey)).toBe(true)
      if (pubkey !== first?.pubkey) {
        expect(opened.verify(first?.signature ?? signature, message, pubkey)).toBe(false)
      }
    }
  })

  test('uses no library that is missing or lacks the functions', () => {
    const folder = mkdtempSync(join(tmpdir(), 'schnorr-'))
    try {
      const text = join(folder, 'libsecp256k1.so')
      writeFileSync(text, 'not a library')
      expect(tryNative(text, 'text')).toBeNull()
      expect(tryNative(join(folder, 'absent.so'), 'absent')).toBeNull()
      expect(tryNative('libc.so.6', 'another library')).toBeNull()
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('loads no library from the working directory', () => {
    const folder = mkdtempSync(join(tmpdir(), 'schnorr-'))
    const before = process.cwd()
    try {
      for (const name of systemLibraries()) {
        if (!name.includes('/')) writeFileSync(join(folder, name), 'planted')
      }
      process.chdir(folder)
      expect(systemLibraries().filter((name) => !name.startsWith('/'))).toEqual([])
    } finally {
      process.chdir(before)
      rmSync(folder, { recursive: true })
    }
  })

  test.each<[string, Partial<SchnorrEngine>]>([
    ['accepts everything', { verify: () => true }],
    ['refuses everything', { verify: () => false }],
    [
      'ignores the end of a signature',
      { verify: (signature, ...rest) => pure.verify(signature.slice(0, 64), ...rest) },
    ],
    [
      'ignores the end of a message',
      {
        verify: (signature, message, pubkey) =>
          pure.verify(signature, message.slice(0, 32), pubkey),
      },
    ],
    [
      'accepts a truncated public key',
      {
        verify: (signature, message, pubkey) =>
          pubkey.length === 31 || pure.verify(signature, message, pubkey),
      },
    ],
    ['has another public key', { keypair: (secret) => pure.keypair(secret.toReversed()) }],
    [
      'signs wrongly',
      { keypair: (secret) => ({ ...pure.keypair(secret), sign: () => new Uint8Array(64) }) },
    ],
    [
      'signs wrongly with fresh randomness only',
      {
        keypair(secret) {
          const pair = pure.keypair(secret)
          return {
            pubkey: pair.pubkey,
            sign: (message, aux) => (aux ? pair.sign(message, aux) : new Uint8Array(64)),
          }
        },
      },
    ],
  ])('would not use an engine that %s', (_name, fault) => {
    expect(checkVectors(pure)).toBeNull()
    expect(checkVectors({ ...pure, ...fault })).not.toBeNull()
  })
})
