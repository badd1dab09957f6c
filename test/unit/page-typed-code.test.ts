/** The typed form of a nonce: what it says about a slip of the finger, and that it never guesses. */
import { expect, test } from 'bun:test'
import { isNonce, parseScan } from '../../src/client/scan.ts'
import { groupTyped, readTyped, slipOf, typedGroups } from '../../src/client/typed-code.ts'
import { createNonce } from '../../src/coupons/nonce.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const seed = chooseSeed()
const typedText = (nonce: string) => typedGroups(nonce)!.join(' ')
const zero = 'A'.repeat(22)

test('a nonce has one typed form, of seven groups of four', () => {
  expect(typedText(zero)).toBe('0000 0000 0000 0000 0000 0000 0000')
  // The bits of the nonce, five at a time, and two sums.
  expect(typedText('_____________________w')).toMatch(/^(ZZZZ ){6}ZW/)
  for (let at = 0; at < 200; at++) {
    const nonce = createNonce()
    const groups = typedGroups(nonce)!
    expect(groups).toHaveLength(7)
    expect(groups.join('')).toMatch(/^[0-9A-HJKMNP-TV-Z]{28}$/)
    expect(readTyped(groups.join(' '))).toEqual({ nonce })
  }
})

test('the typed form of the documentation is the one of its nonce', async () => {
  const text = await Bun.file(new URL('../../docs/api/ground-rules.md', import.meta.url)).text()
  const [, code = '', nonce = ''] = /`((?:\w{4} ){6}\w{4})` for `([\w-]{22})`/.exec(text) ?? []
  expect([typedText(nonce), readTyped(code)]).toEqual([code, { nonce }])
})

test.each(['', 'A'.repeat(21), 'A'.repeat(23), `${'A'.repeat(21)}B`, `${'A'.repeat(21)}=`, 'ñ'])(
  'a code of another service that is no nonce has no typed form: %p',
  (code) => {
    expect(typedGroups(code)).toBeNull()
  },
)

test('a typed code is read in any case and grouping, with letters for the digits they look like', () => {
  for (let at = 0; at < 100; at++) {
    const nonce = createNonce()
    const code = typedText(nonce)
    const forms = [code.toLowerCase(), code.replaceAll(' ', '-'), code.replaceAll(' ', '')]
    forms.push(` ${code.replaceAll(' ', ' – ')}\n`, code.replaceAll('0', 'o').replaceAll('1', 'l'))
    forms.push(code.replaceAll('0', 'O').replaceAll('1', 'I'))
    for (const form of forms) expect(readTyped(form)).toEqual({ nonce })
    expect(parseScan(code.toLowerCase())).toMatchObject({ kind: 'coupon', nonce, host: null })
  }
})

const group = (place: number) => Math.floor(place / 4) + 1

test('one wrong character is found, wherever it is', () => {
  for (let round = 0; round < 20; round++) {
    const code = typedGroups(createNonce())!.join('')
    for (let place = 0; place < 28; place++) {
      for (const letter of letters) {
        if (letter === code[place]) continue
        const typed = code.slice(0, place) + letter + code.slice(place + 1)
        expect(readTyped(typed)).toMatchObject({
          nonce: null,
          wrong: 'sum',
          groups: [group(place)],
        })
      }
    }
  }
})

test('any two wrong characters are noticed', () => {
  const code = [...typedGroups(createNonce())!.join('')]
  for (let one = 0; one < 28; one++) {
    for (let other = one + 1; other < 28; other++) {
      for (const first of letters) {
        for (const second of letters) {
          if (first === code[one] || second === code[other]) continue
          const typed = code.with(one, first).with(other, second).join('')
          if (readTyped(typed).nonce !== null) throw new Error(`${typed} is taken for a code`)
        }
      }
    }
  }
})

test('neighbours that changed places are noticed, and mostly found', () => {
  let [swaps, found] = [0, 0]
  for (let round = 0; round < 100; round++) {
    const code = [...typedGroups(createNonce())!.join('')]
    for (let place = 0; place < 27; place++) {
      const [one = '', other = ''] = code.slice(place)
      if (one === other) continue
      const reading = readTyped(
        code
          .with(place, other)
          .with(place + 1, one)
          .join(''),
      )
      if (reading.nonce !== null) throw new Error('it is taken for a code')
      swaps++
      if (reading.groups.length === 0) continue
      found++
      const at = [group(place), group(place + 1)]
      expect(reading.groups.some((one) => at.includes(one))).toBe(true)
    }
  }
  expect(found / swaps).toBeGreaterThan(0.8)
})

test.each([
  [
    'a sign that no code has',
    (code: string) => `${code.slice(0, 11)}U${code.slice(12)}`,
    'sign',
    [3],
  ],
  ['such a sign, before the rest is typed', (code: string) => `${code.slice(0, 7)}Ñ`, 'sign', [2]],
  ['a character too few', (code: string) => code.slice(0, 27), 'short', []],
  ['a character too many', (code: string) => `${code}7`, 'long', []],
  [
    'a group that lacks one',
    (code: string) =>
      typedGroups(nonceOf(code))!
        .join(' ')
        .replace(/^(.{10})./, '$1'),
    'short',
    [3],
  ],
  [
    'a group with one too many',
    (code: string) =>
      typedGroups(nonceOf(code))!
        .join('-')
        .replace(/^(.{20})/, '$17'),
    'long',
    [5],
  ],
  ['nothing', () => '', 'short', []],
  ['a long text', () => 'A'.repeat(10_000), 'long', []],
] as const)('%s is reported', (_what, spoil, why, groups) => {
  const code = typedGroups(createNonce())!.join('')
  expect(readTyped(spoil(code))).toMatchObject({ nonce: null, wrong: why, groups: [...groups] })
})

function nonceOf(code: string): string {
  return readTyped(code).nonce ?? ''
}

test('a code is grouped while it is typed, and a nonce stays as it is', () => {
  expect(groupTyped('7k3f9')).toBe('7k3f 9')
  expect(groupTyped('7K3F 9QW')).toBe('7K3F 9QW')
  expect(groupTyped('7K3F ')).toBe('7K3F')
  for (let at = 0; at < 100; at++) {
    const code = typedGroups(createNonce())!.join('')
    expect(groupTyped(code)).toBe(typedText(nonceOf(code)))
    expect(groupTyped(groupTyped(code).toLowerCase())).toBe(typedText(nonceOf(code)).toLowerCase())
  }
  for (const text of [
    'Anf-OSv8elgEZg1_GQowWQ',
    '0JqmII8jrhwXpBMHzbGQPw',
    'https://x/c#A',
    'AB-CD',
  ]) {
    expect(groupTyped(text)).toBe(text)
  }
})

test('a slip is told as soon as it can be known, and a nonce is no slip', () => {
  const code = typedGroups(createNonce())!.join('')
  const typed = (text: string, whole = false) => slipOf(groupTyped(text), whole)
  for (let count = 0; count <= 28; count++) expect(typed(code.slice(0, count))).toBeNull()
  expect(typed(code.slice(0, 20), true)).toMatchObject({ wrong: 'short', count: 8 })
  // The field groups anew, so that its short end does not show where a character is missing.
  for (const place of [0, 17, 27]) {
    const lacking = code.slice(0, place) + code.slice(place + 1)
    expect(typed(lacking, true)).toMatchObject({ wrong: 'short', groups: [], count: 1 })
  }
  expect(typed('hola', true)).toBeNull()
  // A group that is not complete may still be changed.
  expect([typed('abcdu'), typed('abcdu23')]).toEqual([null, null])
  expect(typed('abcdu234')).toMatchObject({ wrong: 'sign', groups: [2] })
  expect(typed('ABÑD')).toMatchObject({ wrong: 'sign', groups: [1] })
  const wrong = code.slice(0, 13) + (code[13] === '7' ? '8' : '7') + code.slice(14)
  expect(typed(wrong)).toMatchObject({ wrong: 'sum', groups: [4] })
  expect(typed(wrong.replace(/.{4}/g, '$&-'))).toMatchObject({ wrong: 'sum', groups: [4] })
  expect(typed(`${code}0`)).toMatchObject({ wrong: 'long', count: 1 })
  for (const text of ['Anf-OSv8elgEZg1_GQowWQ', 'https://cupones.example/c#x', 'Hola']) {
    for (let count = 6; count <= text.length; count++) {
      expect(typed(text.slice(0, count), true)).toBeNull()
    }
  }
})

test('a nonce is taken for itself, never for a typed code', () => {
  for (let at = 0; at < 200; at++) {
    const nonce = createNonce()
    expect(isNonce(nonce)).toBe(true)
    expect(parseScan(nonce)).toMatchObject({ kind: 'coupon', nonce })
    // A field groups the beginning of some.
    expect(parseScan(`${nonce.slice(0, 4)} ${nonce.slice(4)}`)).toMatchObject({ nonce })
  }
})

test(`no text makes the reading throw: SEED=${seed}`, () => {
  const random = new Random(seed)
  for (let at = 0; at < 3000; at++) {
    const text = Array.from({ length: random.below(60) }, () =>
      String.fromCodePoint(random.below(4) ? 32 + random.below(96) : random.below(0x3000)),
    ).join('')
    const { nonce } = readTyped(text)
    if (nonce !== null) expect(typedText(nonce)).not.toBeNull()
    expect(groupTyped(text).replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
  }
})
