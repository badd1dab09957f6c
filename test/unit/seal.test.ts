import { expect, test } from 'bun:test'
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { type Binding, mac, sameMac, seal, unseal } from '../../src/crypto/seal.ts'

const storeKey = new Uint8Array(randomBytes(32))
const binding: Binding = { purpose: 'refresh', secret: 'the old nonce', key: 'the key' }
const others: Binding[] = [
  { ...binding, purpose: 'answer' },
  { ...binding, purpose: 'request' },
  { ...binding, purpose: 'fingerprint' },
  { ...binding, secret: 'another nonce' },
  { ...binding, key: 'another key' },
  { ...binding, secret: '' },
  { ...binding, key: '' },
]

test.each(['', 'a', JSON.stringify({ nonce: 'ñandú 🧉' }), 'x'.repeat(100_000)])(
  'a sealed text opens to the same text (%#)',
  (text) => {
    expect(unseal(storeKey, binding, seal(storeKey, binding, text))).toBe(text)
  },
)

test('the same text sealed twice differs, and never contains the text', () => {
  const text = 'the successor’s nonce, which nobody may read'
  const [one, two] = [seal(storeKey, binding, text), seal(storeKey, binding, text)]
  expect(Buffer.from(one).equals(two)).toBe(false)
  for (const sealed of [one, two]) expect(Buffer.from(sealed).includes('successor')).toBe(false)
})

test('only the same purpose, secret and key open it', () => {
  const sealed = seal(storeKey, binding, 'text')
  for (const other of others) expect(() => unseal(storeKey, other, sealed)).toThrow()
})

test('only the same store key opens it', () => {
  const sealed = seal(storeKey, binding, 'text')
  const other = Uint8Array.from(storeKey)
  other[31] = (other[31] ?? 0) ^ 1
  expect(() => unseal(other, binding, sealed)).toThrow()
})

test('one changed bit anywhere, or one byte less, is detected', () => {
  const sealed = seal(storeKey, binding, 'some text')
  for (let at = 0; at < sealed.length; at++) {
    const changed = Uint8Array.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
    expect(() => unseal(storeKey, binding, changed)).toThrow()
    expect(() => unseal(storeKey, binding, sealed.subarray(0, at))).toThrow()
  }
})

test('the sealed form is AES-256-GCM under HKDF-SHA256, with IV, tag and text in that order', async () => {
  const sealed = seal(storeKey, binding, 'text')
  expect(sealed.length).toBe(12 + 16 + 'text'.length)
  const raw = hkdfSync('sha256', storeKey, binding.secret, 'cuponera refresh the key', 32)
  const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['decrypt'])
  // Web Crypto wants the tag at the end.
  const tagged = Buffer.concat([sealed.subarray(28), sealed.subarray(12, 28)])
  const opened = await crypto.subtle.decrypt(
    { name: 'AES-GCM', iv: Buffer.from(sealed.subarray(0, 12)) },
    key,
    tagged,
  )
  expect(new TextDecoder().decode(opened)).toBe('text')
})

test('a MAC depends on the store key and on each part, and parts cannot run into each other', () => {
  const all = [binding, ...others, { ...binding, secret: 'the old nonceth', key: 'e key' }]
  const macs = all.map((one) => Buffer.from(mac(storeKey, one)).toString('hex'))
  expect(new Set(macs).size).toBe(all.length)
  expect(macs.every((one) => one.length === 64)).toBe(true)
  expect(sameMac(mac(storeKey, binding), mac(storeKey, { ...binding }))).toBe(true)
  expect(sameMac(mac(storeKey, binding), mac(randomBytes(32), binding))).toBe(false)
})

test('a MAC is HMAC-SHA256 over the length-prefixed parts', () => {
  const part = (text: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(Buffer.byteLength(text))
    return Buffer.concat([length, Buffer.from(text)])
  }
  const parts = ['refresh', 'ñ', 'k'].map(part)
  const expected = createHmac('sha256', storeKey).update(Buffer.concat(parts)).digest()
  const found = mac(storeKey, { purpose: 'refresh', secret: 'ñ', key: 'k' })
  expect(Buffer.from(found).equals(expected)).toBe(true)
})

test('MACs of different lengths are unequal, and comparing them does not throw', () => {
  expect(sameMac(new Uint8Array(32), new Uint8Array(31))).toBe(false)
  expect(sameMac(new Uint8Array(), new Uint8Array())).toBe(true)
})
