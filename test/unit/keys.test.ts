import { describe, expect, test } from 'bun:test'
import { bech32 } from 'bech32'
import { limits as bounds } from '../../src/base/limits.ts'
import { npubOf, nsecOf, parsePubkey, parseSecret } from '../../src/nostr/keys.ts'

// The examples of NIP-19.
const profileHex = '3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d'
const nprofile =
  'nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz4mhxue69uhkg6nzv9ejuumpv34kytnrdaksjlyr9p'
const hex = '7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e'
const npub = 'npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg'
const secretHex = '67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa'
const nsec = 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5'
const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'

/** Bech32 of those bytes with a right checksum, whatever their meaning. */
function encode(prefix: string, bytes: number[]): string {
  return bech32.encode(prefix, bech32.toWords(Uint8Array.from(bytes)), 5000)
}

function bytes(count: number): number[] {
  return Array.from({ length: count }, () => 7)
}

describe('a public key', () => {
  const accepted: [what: string, text: string, key: string][] = [
    ['an npub', npub, hex],
    ['an npub in capitals', npub.toUpperCase(), hex],
    ['an nprofile with relays', nprofile, profileHex],
    ['an nprofile without relays', encode('nprofile', [0, 32, ...bytes(32)]), '07'.repeat(32)],
    ['hex', hex, hex],
    ['hex in capitals', hex.toUpperCase(), hex],
    ['hex of a point off the curve', 'f'.repeat(64), 'f'.repeat(64)],
    ['an npub after nostr:', `nostr:${npub}`, hex],
    ['an nprofile after nostr:', `nostr:${nprofile}`, profileHex],
    ['hex after nostr:', `nostr:${hex}`, hex],
    ['a scheme in capitals', `NOSTR:${npub}`, hex],
    ['white space around', ` \t\n${npub}\r\n `, hex],
  ]
  test.each(accepted)('is read from %s', (_, text, key) => {
    expect(parsePubkey(text)).toBe(key)
  })

  const refused: [what: string, text: string][] = [
    ['nothing', ''],
    ['a bare scheme', 'nostr:'],
    ['a scheme twice', `nostr:nostr:${npub}`],
    ['another scheme', `web+nostr:${npub}`],
    ['space after the scheme', `nostr: ${npub}`],
    ['63 hex digits', hex.slice(1)],
    ['65 hex digits', `${hex}0`],
    ['hex with a letter past f', `g${hex.slice(1)}`],
    ['hex after 0x', `0x${hex}`],
    ['hex of a compressed point', `02${hex}`],
    ['an npub with one letter changed', npub.replace('elf', 'elg')],
    ['an npub with two letters swapped', npub.replace('elf', 'efl')],
    ['an npub cut short', npub.slice(0, -1)],
    ['an npub of mixed case', npub.replace('elf', 'ELF')],
    ['an npub of 31 bytes', encode('npub', bytes(31))],
    ['an npub of 33 bytes', encode('npub', bytes(33))],
    ['an empty npub', encode('npub', [])],
    ['a bare prefix', 'npub1'],
    ['an nprofile of nothing', encode('nprofile', [])],
    ['an nprofile without a key', encode('nprofile', [1, 1, 65])],
    ['an nprofile with a short key', encode('nprofile', [0, 31, ...bytes(31)])],
    ['an nprofile that ends inside its key', encode('nprofile', [0, 32, ...bytes(31)])],
    ['an nprofile that ends inside a header', encode('nprofile', [0, 32, ...bytes(32), 1])],
    ['an nsec', nsec],
    ['a note', encode('note', bytes(32))],
    ['two keys', `${npub} ${npub}`],
    ['a NIP-05 identifier', 'ana@tienda.example'],
  ]
  test.each(refused)('is not read from %s', (_, text) => {
    expect(parsePubkey(text)).toBeNull()
  })

  test('is searched only in a text of bounded length', () => {
    expect(parsePubkey(npub.padEnd(bounds.keyTextMax))).toBe(hex)
    expect(parsePubkey(npub.padEnd(bounds.keyTextMax + 1))).toBeNull()
    const relay = [1, 200, ...bytes(200)]
    const long = encode('nprofile', [0, 32, ...bytes(32), ...relay, ...relay, ...relay])
    expect(long.length).toBeGreaterThan(bounds.keyTextMax)
    expect(parsePubkey(long)).toBeNull()
  })
})

describe('a secret key', () => {
  test('is read from an nsec, from hex of any case, and with white space around', () => {
    for (const text of [
      nsec,
      nsec.toUpperCase(),
      secretHex,
      secretHex.toUpperCase(),
      ` ${nsec}\n`,
    ]) {
      expect(Buffer.from(parseSecret(text)!).toString('hex')).toBe(secretHex)
    }
  })

  test('is at least one and less than the order of the curve', () => {
    const one = `${'0'.repeat(63)}1`
    const last = order.replace(/1$/, '0')
    const past = order.replace(/1$/, '2')
    expect(parseSecret(one)).toHaveLength(32)
    expect(parseSecret(last)).toHaveLength(32)
    for (const text of ['0'.repeat(64), order, order.toUpperCase(), past, 'f'.repeat(64)]) {
      expect(parseSecret(text)).toBeNull()
    }
    expect(
      parseSecret(
        encode(
          'nsec',
          Array.from({ length: 32 }, () => 0),
        ),
      ),
    ).toBeNull()
    expect(parseSecret(encode('nsec', [...Buffer.from(order, 'hex')]))).toBeNull()
  })

  const refused: [what: string, text: string][] = [
    ['nothing', ''],
    ['an npub', npub],
    ['an nsec with a wrong checksum', nsec.replace('029', '028')],
    ['an nsec of 31 bytes', encode('nsec', bytes(31))],
    ['an nsec of 33 bytes', encode('nsec', bytes(33))],
    ['an nsec in a link, which NIP-21 forbids', `nostr:${nsec}`],
    ['63 hex digits', secretHex.slice(1)],
    ['too long a text', nsec.padEnd(bounds.keyTextMax + 1)],
  ]
  test.each(refused)('is not read from %s', (_, text) => {
    expect(parseSecret(text)).toBeNull()
  })
})

describe('the bech32 form', () => {
  test('is that of NIP-19', () => {
    expect(npubOf(hex)).toBe(npub)
    expect(nsecOf(Buffer.from(secretHex, 'hex'))).toBe(nsec)
  })

  test('stays correct while the cache of npubs fills and starts over', () => {
    for (let i = 0; i < bounds.npubsCachedMax + 10; i += 1) {
      const key = i.toString(16).padStart(64, '0')
      expect(parsePubkey(npubOf(key))).toBe(key)
      expect(npubOf(key)).toBe(npubOf(key))
    }
    expect(npubOf(hex)).toBe(npub)
  })
})
