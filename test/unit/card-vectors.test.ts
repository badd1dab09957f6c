/** Taps and keys of NTAG 424 DNA against published vectors. */
import { expect, test } from 'bun:test'
import { cmac } from '@noble/ciphers/aes.js'
import { createKeyDerivation, parseUid } from '../../src/wallet/cards/tag.ts'
import { createTap, openTap, parseTap, tapIsGenuine } from '../../src/wallet/cards/tap.ts'

const hex = (text: string) => Uint8Array.fromHex(text)
const zeros = new Uint8Array(16)

function tap(p: string, c: string) {
  const parsed = parseTap(p, c)
  if (!parsed) throw new Error('not a tap')
  return parsed
}

test.each([
  ['', 'bb1d6929e95937287fa37d129b756746'],
  ['6bc1bee22e409f96e93d7e117393172a', '070a16b46b4d4144f79bdd9dd04a287c'],
  [
    '6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411',
    'dfa66747de9ae63030ca32611497c827',
  ],
  [
    '6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710',
    '51f0bebf7e3b9d92fc49741779363cfe',
  ],
])('AES-CMAC of %p as RFC 4493 has it', (message, mac) => {
  expect(cmac(hex(message), hex('2b7e151628aed2a6abf7158809cf4f3c')).toHex()).toBe(mac)
})

test('the tap of NXP AN12196 is genuine: its UID, its counter, its MAC over nothing', () => {
  const published = tap('EF963FF7828658A599F3041510671E88', '94EED9EE65337086')
  const picc = openTap(published, zeros)
  expect(picc).toEqual({ uid: hex('04DE5F1EACC040'), counter: 61 })
  expect(picc && tapIsGenuine(published, picc, zeros)).toBe(true)
  // Its session key and whole MAC, step by step.
  const session = cmac(hex('3CC30001008004DE5F1EACC0403D0000'), zeros)
  expect(session.toHex()).toBe('3fb5f6e3a807a03d5e3570ace393776f')
  expect(cmac(new Uint8Array(), session).toHex()).toBe('e194c7ee12d9f7ee8a65c8331b704386')
})

test('the tap of the same note with a longer MAC input is not genuine', () => {
  const other = tap('FD91EC264309878BE6345CBE53BADF40', 'ECC1E7F6C6C73BF6')
  const picc = openTap(other, zeros)
  expect(picc && tapIsGenuine(other, picc, zeros)).toBe(false)
})

test.each([
  ['4E2E289D945A66BB13377A728884E867', 'E19CCB1FED8892CE', 3],
  ['00F48C4F8E386DED06BCDC78FA92E2FE', '66B4826EA4C155B4', 5],
])('the boltcard tap %s is genuine in either case', (p, c, counter) => {
  const k1 = hex('0c3b25d92b38ae443229dd59ad34b85d')
  const k2 = hex('b45775776cb224c75bcde7ca3704e933')
  for (const published of [tap(p, c), tap(p.toLowerCase(), c.toLowerCase())]) {
    const picc = openTap(published, k1)
    expect(picc).toEqual({ uid: hex('04996c6a926980'), counter })
    expect(picc && tapIsGenuine(published, picc, k2)).toBe(true)
  }
  const wrong = tap(p, `${c.slice(0, -1)}${c.endsWith('0') ? '1' : '0'}`)
  const picc = openTap(wrong, k1)
  expect(picc && tapIsGenuine(wrong, picc, k2)).toBe(false)
  expect(openTap(wrong, k2)).toBeNull()
})

test('keys are derived from issuer key, UID and version as boltcards do', () => {
  const uid = parseUid('04A39493CC8680')
  const issuer = hex('00000000000000000000000000000001')
  if (!uid) throw new Error('not a UID')
  const keys = createKeyDerivation(issuer).keysOf(uid, 1)
  expect(
    Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key.toHex()])),
  ).toEqual({
    k0: 'a29119fcb48e737d1591d3489557e49b',
    k1: '55da174c9608993dc27bb3f30a4a7314',
    k2: 'f4b404be700ab285e333e32348fa3d3b',
    k3: '73610ba4afe45b55319691cb9489142f',
    k4: 'addd03e52964369be7f2967736b7bdb5',
  })
  expect(createKeyDerivation(issuer).k2Of(uid, 1)).toEqual(keys.k2)
  const second = createKeyDerivation(issuer).keysOf(uid, 2)
  expect(second.k1).toEqual(keys.k1)
  for (const name of ['k0', 'k2', 'k3', 'k4'] as const) expect(second[name]).not.toEqual(keys[name])
})

test('a simulated tap opens again, and only with its own key', () => {
  const keys = createKeyDerivation(hex('000102030405060708090a0b0c0d0e0f'))
  for (const counter of [0, 1, 255, 256, 65_536, 0xff_ffff]) {
    const uid = crypto.getRandomValues(new Uint8Array(7))
    const { k1, k2 } = keys.keysOf(uid, 1)
    const made = createTap({ uid, counter }, { k1, k2 }, crypto.getRandomValues(new Uint8Array(5)))
    const parsed = tap(made.p, made.c)
    const picc = openTap(parsed, k1)
    expect(picc).toEqual({ uid, counter })
    expect(picc && tapIsGenuine(parsed, picc, k2)).toBe(true)
    expect(picc && tapIsGenuine(parsed, picc, keys.keysOf(uid, 2).k2)).toBe(false)
  }
})

test.each([
  [undefined, undefined],
  ['4E2E289D945A66BB13377A728884E867', undefined],
  ['4E2E289D945A66BB13377A728884E86', 'E19CCB1FED8892CE'],
  ['4E2E289D945A66BB13377A728884E8677', 'E19CCB1FED8892CE'],
  ['4E2E289D945A66BB13377A728884E86G', 'E19CCB1FED8892CE'],
  ['4E2E289D945A66BB13377A728884E867', 'E19CCB1FED8892C'],
  [' E2E289D945A66BB13377A728884E867', 'E19CCB1FED8892CE'],
  [['4E2E289D945A66BB13377A728884E867'], 'E19CCB1FED8892CE'],
])('%p and %p are no tap', (p, c) => {
  expect(parseTap(p, c)).toBeNull()
})
