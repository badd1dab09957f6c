import { describe, expect, test } from 'bun:test'
import { parseNip05, readNip05 } from '../../src/nostr/nip05.ts'

const key = '3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d'
const label63 = 'a'.repeat(63)
/** 253 characters, the longest host name there is. */
const host253 = `${label63}.${label63}.${label63}.${'a'.repeat(61)}`

describe('an internet identifier', () => {
  const accepted: [text: string, name: string, domain: string][] = [
    ['ana@tienda.example', 'ana', 'tienda.example'],
    ['tienda.example', '_', 'tienda.example'],
    ['_@tienda.example', '_', 'tienda.example'],
    ['a.n-a_1@tienda.example', 'a.n-a_1', 'tienda.example'],
    ['ANA@Tienda.EXAMPLE', 'ana', 'tienda.example'],
    ['  ana@tienda.example\n', 'ana', 'tienda.example'],
    ['ana@a.b.c.d.tienda.com.ar', 'ana', 'a.b.c.d.tienda.com.ar'],
    ['ana@ñandú.com.ar', 'ana', 'xn--and-6ma2c.com.ar'],
    ['ana@xn--and-6ma2c.com.ar', 'ana', 'xn--and-6ma2c.com.ar'],
    ['ana@tienda。example', 'ana', 'tienda.example'],
    ['ana@1.tienda', 'ana', '1.tienda'],
    ['ana@0x7f.example', 'ana', '0x7f.example'],
    ['__proto__@tienda.example', '__proto__', 'tienda.example'],
    [`ana@${label63}.example`, 'ana', `${label63}.example`],
    [host253, '_', host253],
    [`a@${host253}`, 'a', host253],
  ]
  test.each(accepted)('is read from %p', (text, name, domain) => {
    expect(parseNip05(text)).toEqual({ name, domain })
  })

  const refused: string[] = [
    '',
    '@',
    'ana',
    'ana@',
    '@tienda.example',
    'ana@tienda',
    'localhost',
    'ana@localhost',
    'ana@@tienda.example',
    'ana@casa@tienda.example',
    'ñata@tienda.example',
    'ana maria@tienda.example',
    'ana+1@tienda.example',
    'ana@tienda.example.',
    'ana@.tienda.example',
    'ana@tienda..example',
    'ana@-tienda.example',
    'ana@tienda-.example',
    'ana@mi_tienda.example',
    'ana@tienda.example:443',
    'ana@tienda.example/',
    'ana@tienda.example/.well-known',
    'ana@tienda.example?x=1',
    'ana@tienda.example#x',
    'ana@tienda.example\\x',
    'ana@tienda.%65xample',
    'ana@tien\tda.example',
    'ana@tien da.example',
    'ana@tien\u200bda.example',
    'ana@tien\u00adda.example',
    'ana@tienda.example\u0000',
    'https://tienda.example',
    'nostr:ana@tienda.example',
    // Addresses, in every spelling that a URL turns into one.
    '127.0.0.1',
    'ana@127.0.0.1',
    'ana@8.8.8.8',
    'ana@127.1',
    'ana@0177.0.0.1',
    'ana@0x7f.0.0.1',
    'ana@0x7f.1',
    'ana@1.2.3.0x4',
    'ana@2130706433',
    'ana@１２７.0.0.1',
    'ana@127。0。0。1',
    'ana@[::1]',
    'ana@[2606:4700::1111]',
    'ana@::1',
    'ana@tienda.123',
    'ana@tienda.1a',
    `ana@${label63}a.example`,
    `a${host253}`,
    `ab@${host253}`,
    `${'a'.repeat(255)}@tienda.example`,
    `ana@tienda.example${' '.repeat(300)}`,
    'xn--a.example',
    // Short enough as written, too long in punycode.
    `${'a'.repeat(222)}@${'ñ'.repeat(24)}.example`,
  ]
  test.each(refused)('is not read from %p', (text) => {
    expect(parseNip05(text)).toBeNull()
  })
})

describe('a nostr.json document', () => {
  test('yields the key of exactly that name', () => {
    expect(readNip05({ names: { ana: key, eva: 'x' }, relays: {} }, 'ana')).toBe(key)
    expect(readNip05({ names: { ana: key } }, 'an')).toBeNull()
    expect(readNip05({ names: { Ana: key } }, 'ana')).toBeNull()
  })

  test('yields the key of a name that is also a property of every object', () => {
    expect(readNip05(JSON.parse(`{"names":{"__proto__":"${key}"}}`), '__proto__')).toBe(key)
    expect(readNip05({ names: Object.create({ ana: key }) }, 'ana')).toBeNull()
    for (const name of ['__proto__', 'constructor', 'tostring']) {
      expect(readNip05({ names: {} }, name)).toBeNull()
    }
  })

  const refused: [what: string, json: unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['a text', key],
    ['a number', 5],
    ['a list', [key]],
    ['an empty object', {}],
    ['names of null', { names: null }],
    ['names of text', { names: 'ana' }],
    ['a key in capitals', { names: { ana: key.toUpperCase() } }],
    ['a short key', { names: { ana: key.slice(1) } }],
    ['a long key', { names: { ana: `${key}0` } }],
    ['a key with a line end', { names: { ana: `${key}\n` } }],
    ['an npub', { names: { ana: `npub1${'q'.repeat(58)}` } }],
    ['a key that is a number', { names: { ana: 5 } }],
    ['a key that is null', { names: { ana: null } }],
    ['a key in a list', { names: { ana: [key] } }],
  ]
  test.each(refused)('yields null when it is %s', (_, json) => {
    expect(readNip05(json, 'ana')).toBeNull()
  })
})
