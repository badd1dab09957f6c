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
import { cardActivation, nip98Vector } from '../support/published-events.ts'

const seed = Number(process.env.SEED ?? 340)
const curveOrder = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'

const opened = openSchnorr()
const pure = openPureSchnorr('noble')
const engines: SchnorrEngine[] = opened.name === 'noble' ? [pure] : [opened, pure]

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
    const [signature, message, pubkey] = [
      bytes(nip98Vector.sig),
      bytes(nip98Vector.id),
      bytes(nip98Vector.pubkey),
    ]
    const wrong = new Uint8Array(length)
    expect(engine.verify(signature, message, pubkey)).toBe(true)
    expect(engine.verify(wrong, message, pubkey)).toBe(false)
    expect(engine.verify(signature, wrong, pubkey)).toBe(false)
    expect(engine.verify(signature, message, wrong)).toBe(false)
  })

  test.each([[null], [undefined], [7], [nip98Vector.sig], [[1, 2]], [{}], [new ArrayBuffer(64)]])(
    'returns false for %p in place of bytes',
    (value) => {
      const garbage = value as never
      expect(engine.verify(garbage, bytes(nip98Vector.id), bytes(nip98Vector.pubkey))).toBe(false)
      expect(engine.verify(bytes(nip98Vector.sig), garbage, bytes(nip98Vector.pubkey))).toBe(false)
      expect(engine.verify(bytes(nip98Vector.sig), bytes(nip98Vector.id), garbage)).toBe(false)
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
    expect(verify(nip98Vector)).toBe(true)
    expect(verify(cardActivation)).toBe(true)
  })

  test.each<[string, Partial<Record<keyof NostrEvent, unknown>>]>([
    ['a changed id', { id: nip98Vector.id.replace(/^8/, '9') }],
    ['an id in upper case', { id: nip98Vector.id.toUpperCase() }],
    ['a truncated id', { id: nip98Vector.id.slice(0, 62) }],
    ['an id that is no hex', { id: 'zz'.repeat(32) }],
    ['a public key in upper case', { pubkey: nip98Vector.pubkey.toUpperCase() }],
    ['a truncated public key', { pubkey: nip98Vector.pubkey.slice(2) }],
    ['the public key of another', { pubkey: cardActivation.pubkey }],
    ['a signature that is too long', { sig: `${nip98Vector.sig}00` }],
    ['a signature that is too short', { sig: nip98Vector.sig.slice(2) }],
    ['a signature in upper case', { sig: nip98Vector.sig.toUpperCase() }],
    ['a signature with a line end', { sig: `${nip98Vector.sig}\n` }],
    ['the signature of another event', { sig: cardActivation.sig }],
    ['a changed content', { content: ' ' }],
    ['another kind', { kind: 27236 }],
    ['another time', { created_at: nip98Vector.created_at + 1 }],
    ['a tag less', { tags: nip98Vector.tags.slice(1) }],
    ['tags that are no strings', { tags: [[1]] }],
    ['a time that is no integer', { created_at: 1.5 }],
  ])('refuses an event with %s', (_name, change) => {
    expect(createVerifier(engine)({ ...nip98Vector, ...change } as NostrEvent)).toBe(false)
  })

  test.each([[null], [undefined], ['event'], [5], [[]], [{}]])(
    'refuses %p as an event',
    (value) => {
      expect(createVerifier(engine)(value as never)).toBe(false)
    },
  )

  test('refuses a self-consistent event whose key is not on the curve', () => {
    const pubkey = 'eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34'
    const event = { ...nip98Vector, pubkey }
    expect(createVerifier(engine)({ ...event, id: eventId(event) })).toBe(false)
  })

  test('creates events that the verifier accepts, from hex or bytes', () => {
    const hex = '3'.padStart(64, '0')
    for (const secret of [hex, bytes(hex)]) {
      const signer = createSigner(engine, secret)
      expect(signer.pubkey).toBe(nip98Vector.pubkey)
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
