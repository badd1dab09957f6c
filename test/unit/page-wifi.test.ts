/** The QR code by which a customer's phone joins the shop's network. */
import { describe, expect, test } from 'bun:test'
import { parseWifi, type Wifi, wifiCode, wrongField } from '../../src/ui/hand/wifi.ts'

const wifi = (network: string, key = '', hidden = false): Wifi => ({ network, key, hidden })

/** The fields of a code, as phones read them: a backslash takes the next character as it is. */
function read(code: string): Record<string, string> {
  const [, inside = ''] = /^WIFI:(.*);;$/s.exec(code) ?? []
  const fields = inside.match(/(?:\\.|[^\\;])+/gs) ?? []
  return Object.fromEntries(
    fields.map((field) => {
      const at = field.indexOf(':')
      return [field.slice(0, at), field.slice(at + 1).replace(/\\(.)/gs, '$1')]
    }),
  )
}

describe('a code', () => {
  test.each<[string, Wifi, string]>([
    ['with a key', wifi('Bar Sur', 'cafeconleche'), 'WIFI:T:WPA;S:Bar Sur;P:cafeconleche;;'],
    ['open', wifi('Bar Sur'), 'WIFI:T:nopass;S:Bar Sur;;'],
    ['hidden', wifi('Bar', '12345678', true), 'WIFI:T:WPA;S:Bar;P:12345678;H:true;;'],
    ['open and hidden', wifi('Bar', '', true), 'WIFI:T:nopass;S:Bar;H:true;;'],
    [
      'with signs',
      wifi('a;b,c:d"e\\f', '\\;,:"1234'),
      'WIFI:T:WPA;S:a\\;b\\,c\\:d\\"e\\\\f;P:\\\\\\;\\,\\:\\"1234;;',
    ],
  ])('%s', (_, given, code) => {
    expect(wifiCode(given)).toBe(code)
    const { S, P, H } = read(code)
    expect(wifi(S ?? '', P, H === 'true')).toEqual(given)
  })
})

test.each<[string, Wifi, 'network' | 'key' | null]>([
  ['no name', wifi(''), 'network'],
  ['a name of 32 bytes', wifi('ñ'.repeat(16)), null],
  ['a name of 33 bytes', wifi(`${'ñ'.repeat(16)}a`), 'network'],
  ['a name of two lines', wifi('Bar\nSur'), 'network'],
  ['a key of 7 characters', wifi('Bar', '1234567'), 'key'],
  ['a key of 8 characters', wifi('Bar', '12345678'), null],
  ['a key of 63 characters', wifi('Bar', 'z'.repeat(63)), null],
  ['a key of 64 characters', wifi('Bar', 'z'.repeat(64)), 'key'],
  ['a key of 64 digits', wifi('Bar', 'aB'.repeat(32)), null],
  ['a key with an accent', wifi('Bar', 'contraseña'), 'key'],
])('%s', (_, given, wrong) => {
  expect(wrongField(given)).toBe(wrong)
})

test('a stored network that no phone would take counts as none', () => {
  const good = wifi('Bar', '12345678', true)
  expect(parseWifi(JSON.stringify(good))).toEqual(good)
  for (const text of [null, '', '{', '[]', '{"network":"Bar"}', JSON.stringify(wifi('', 'x'))]) {
    expect(parseWifi(text)).toBeNull()
  }
})
