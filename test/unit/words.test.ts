import { describe, expect, test } from 'bun:test'
import { isPlainName, isPlainText, parseForeignText } from '../../src/base/words.ts'

describe('texts of another service', () => {
  const cases: [what: string, said: unknown, shown: string | null][] = [
    ['are shown as they are', '¿Y el saldo? 🧉', '¿Y el saldo? 🧉'],
    ['are one line', ' No\r\nhay\u2028sal\tdo\u0000', 'No hay sal do'],
    ['do not turn or hide text', 'pago \u202e\u2066abc\u2069 \u200bno\ufeff', 'pago abc no'],
    ['are a terminal’s no more', '\u001b[31mrojo\u009b', '[31mrojo'],
    ['end in time', 'x'.repeat(30), 'x'.repeat(20)],
    ['end with a whole character', `${'x'.repeat(19)}🧉`, 'x'.repeat(19)],
    ['have no halves in them', 'a\ud800b\udfffc', 'abc'],
    ['are none when nothing is left', '\u200b \n\u202e', null],
    ['are none when nothing was said', '', null],
    ['are none when they are no text', { reason: 'x' }, null],
  ]
  test.each(cases)('%s', (_, said, shown) => expect(parseForeignText(said, 20)).toBe(shown))
})

describe('a name', () => {
  test.each([
    'a',
    '2 x 1',
    'Año Nuevo',
    'e\u0301',
    '👩‍🍳 Chef',
    '❤️',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '🇦🇷',
    'قهوة',
    'می‌خواهم',
    'קָפֶה',
    'न\u200dक',
    '咖啡',
    '한글',
    '\u0e33',
    'Caf\u200bé',
    '…',
  ])('may be %p', (name) => expect(isPlainName(name)).toBe(true))

  const unseen = [
    ...['', ' ', '\u00a0\u3000', '\u200b', '\u200c\u200d', '\ufeff', '\u2060', '\u00ad'],
    ...['\u034f', '\u180e', '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\ufffc'],
    ...['\ufe0f', '\u{e0100}', '\u{e0041}', '\u0301', '\u20dd', '\u2028', '\u{1d159}'],
    ...[' \u200b\u3164\u2800\ufe0f ', '\u{13441}'],
  ]
  test.each(unseen.map((name) => [JSON.stringify(name), name]))('is seen: not %s', (_, name) => {
    expect(isPlainName(name)).toBe(false)
  })

  const turning = [
    ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'],
    ...['\u2066', '\u2067', '\u2068', '\u2069'],
  ]
  test.each(turning.map((mark) => [JSON.stringify(mark), mark]))(
    'turns nothing: no %s',
    (_, mark) => {
      for (const name of [mark, `a${mark}b`, `قهوة${mark}`]) expect(isPlainName(name)).toBe(false)
    },
  )
})

describe('a description', () => {
  test.each([
    '',
    '\u200b',
    'Llamá al \u202a+54 9 11 5555\u202c',
    '\u2068قهوة\u2069 y \u2067שלום\u2069',
    '\u2066a\u202bb\u202cc\u2069\nd',
    'قهوة\u200f!',
  ])('may be %j', (text) => expect(isPlainText(text)).toBe(true))

  test.each([
    ['a forced direction', 'a\u202eb\u202c'],
    ['another forced direction', 'a\u202db\u202c'],
    ['an embedding that does not end', 'a\u202bb'],
    ['an isolate that does not end', 'a\u2067b'],
    ['one that ends in another line', '\u2067a\nb\u2069'],
    ['an end without a beginning', 'a\u202c'],
    ['an end of an isolate without a beginning', 'a\u2069'],
    ['ends in the wrong order', '\u202b\u2067a\u202c\u2069'],
    ['very many that do not end', '\u2068'.repeat(100_000)],
  ])('has not %s', (_, text) => expect(isPlainText(text)).toBe(false))
})
