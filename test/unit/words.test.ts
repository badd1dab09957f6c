import { describe, expect, test } from 'bun:test'
import { foreignWords } from '../../src/base/words.ts'

describe('the words of another service', () => {
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
  test.each(cases)('%s', (_, said, shown) => expect(foreignWords(said, 20)).toBe(shown))
})
