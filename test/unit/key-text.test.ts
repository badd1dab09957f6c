/** Keys in texts that people paste, and the key box that takes them. */
import { describe, expect, test } from 'bun:test'
import { encrypt } from 'nostr-tools/nip49'
import { getPublicKey } from 'nostr-tools/pure'
import { findKey, keyTextCharsMax, keyTrouble } from '../../src/client/key-text.ts'
import { npubOf, nsecOf } from '../../src/nostr/keys.ts'
import { endMs, expectEnd } from '../support/ends.ts'

const secret = new Uint8Array(32).fill(7)
const hex = '07'.repeat(32)
const nsec = nsecOf(secret)
const other = nsecOf(new Uint8Array(32).fill(8))
const npub = npubOf(getPublicKey(secret))
// A low cost: the key is only looked for here.
const ncryptsec = encrypt(secret, '246810', 4)
const publicHex = getPublicKey(secret)
const halves = (key: string, by: string) => `${key.slice(0, 70)}${by}${key.slice(70)}`

describe('a key is found', () => {
  const cases: [how: string, text: string, form: string, key: string][] = [
    ['alone', ncryptsec, 'ncryptsec', ncryptsec],
    ['in a backup of an older version', `${npub}\n${ncryptsec}\n`, 'ncryptsec', ncryptsec],
    ['in a backup whose lines a field has joined', `${npub}${ncryptsec}`, 'ncryptsec', ncryptsec],
    ['before more text without a space', `clave:${ncryptsec}cuidala`, 'ncryptsec', ncryptsec],
    ['in capitals, as a QR holds it', ncryptsec.toUpperCase(), 'ncryptsec', ncryptsec],
    ['broken by a mail program', halves(ncryptsec, '\r\n'), 'ncryptsec', ncryptsec],
    ['broken by a mail program with =', halves(ncryptsec, '=\n'), 'ncryptsec', ncryptsec],
    [
      'broken, in a mail that answers',
      `> ${halves(ncryptsec, '\r\n> > ')}`,
      'ncryptsec',
      ncryptsec,
    ],
    ['with signs that nobody sees', halves(ncryptsec, '\u200b\u00ad'), 'ncryptsec', ncryptsec],
    ['twice the same', `${ncryptsec} ${ncryptsec}`, 'ncryptsec', ncryptsec],
    ['encrypted beside an open one', `${nsec}\n${ncryptsec}`, 'ncryptsec', ncryptsec],
    ['open, in an address', `nostr:${nsec}`, 'nsec', nsec],
    ['open, in a sentence', `Mi clave es «${nsec}».`, 'nsec', nsec],
    [
      'broken, beside a public key',
      `pubkey: ${publicHex}\n${halves(ncryptsec, '\n')}`,
      'ncryptsec',
      ncryptsec,
    ],
    [
      'open and broken, beside a public key',
      `${publicHex}\n${nsec.slice(0, 30)}\n${nsec.slice(30)}`,
      'nsec',
      nsec,
    ],
    ['as hex alone', ` ${hex.toUpperCase()}\n`, 'hex', hex],
    [
      'as hex beside a public key in JSON',
      JSON.stringify({ pubkey: publicHex, secretKey: hex }, null, 1),
      'hex',
      hex,
    ],
    ['as hex in quotes', `"${hex}"`, 'hex', hex],
    ['as hex that a program marks', `0x${hex}`, 'hex', hex],
    ['as hex in a short field', `{"sk": "0x${hex}"}`, 'hex', hex],
    ['as hex in JSON', JSON.stringify({ privateKey: hex }), 'hex', hex],
  ]
  test.each(cases)('%s', (_, text, form, key) => {
    expect(findKey(text)).toEqual({ form, text: key } as never)
  })
})

describe('no key is found', () => {
  const cases: [where: string, text: string][] = [
    ['in nothing', ''],
    ['in a public key', npub],
    ['in two lines of hex', `secret: ${hex}\npubkey: ${publicHex}`],
    ['in hex that JSON calls public', JSON.stringify({ pubkey: publicHex })],
    ['in the address of a signer', `bunker://${publicHex}?relay=wss%3A%2F%2Fr.example&secret=abc`],
    ['in the address of a profile', `https://example.com/p/${publicHex}`],
    ['in half a key beside a public one', `pubkey: ${publicHex}\n${ncryptsec.slice(0, 100)}`],
    ['in a whole key and a broken one', `${nsec}\n${other.slice(0, 20)}\n${other.slice(20)}`],
    ['in half a key', ncryptsec.slice(0, 100)],
    ['in two different keys', `${nsec} ${other}`],
    ['in longer hex', `${hex}07`],
    ['beyond the longest text', ' '.repeat(keyTextCharsMax) + nsec],
  ]
  test.each(cases)('%s', (_, text) => expect(findKey(text)).toBeNull())
})

describe('the reason why no key is found', () => {
  const cases: [where: string, text: string, why: string][] = [
    ['in nothing', '', 'key-invalid'],
    ['in a letter', 'Hola, te paso la copia.', 'key-invalid'],
    ['in two different keys', `${nsec} ${other}`, 'key-several'],
    ['in half a key', ncryptsec.slice(0, 100), 'key-cut'],
    ['in a key with a letter that none has', nsec.replace(/.$/, 'b'), 'key-cut'],
    ['in a public key', `nostr:${npub}`, 'key-public'],
    ['in two lines of hex', `secret: ${hex}\npubkey: ${publicHex}`, 'key-unsure'],
    ['in hex that JSON calls public', JSON.stringify({ pubkey: publicHex }), 'key-unsure'],
    ['in the password of a signer', JSON.stringify({ secret: hex }), 'key-unsure'],
  ]
  test.each(cases)('%s', (_, text, why) => {
    expect(findKey(text)).toBeNull()
    expect(keyTrouble(text)).toBe(why as never)
  })
})

test(
  'a text of megabytes is searched without a second look at any part',
  () =>
    expectEnd(`
      import { findKey } from './src/client/key-text.ts'
      for (const text of ['nsec1', 'a', 'ncryptsec1q', '= \\n']) findKey(text.repeat(1_000_000))
    `),
  2 * endMs,
)
