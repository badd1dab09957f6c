import { expect, test } from 'bun:test'
import { createFilm, parseReadings, parseScan } from '../../src/client/scan.ts'
import { burstGapMs, createWedge, type Wedge } from '../../src/ui/till/wedge.ts'
import { newSigner } from '../support/client.ts'

const nonce = 'Anf-OSv8elgEZg1_GQowWQ'
/** The same keys in a Spanish layout. */
const spoilt = "Anf'OSv8elgEZg1?GQowWQ"
const address = `https://cafe.example/c#${nonce}`

const event = newSigner().sign({
  kind: 20_402,
  created_at: 1_795_270_913,
  tags: [['nonce', nonce]],
  content: '{}',
})

test.each([
  ['an address', address, 'cafe.example'],
  [
    'an address on plain http with a port',
    `http://192.168.1.5:3000/c#${nonce}`,
    '192.168.1.5:3000',
  ],
  ['an address without scheme', `cafe.example/c#${nonce}`, 'cafe.example'],
  [
    'an address with the nonce in its query',
    `https://cafe.example/x?nonce=${nonce}`,
    'cafe.example',
  ],
  ['a bare nonce', nonce, null],
  ['a nonce in white space', `  ${nonce}\r\n`, null],
  ['a nonce with an AIM identifier', `]Q1${nonce}`, null],
  ['a nonce between control characters', `\u0002${nonce}\u0003\t`, null],
  ['a voucher result', JSON.stringify({ nonce, name: 'Café' }), null],
  ['a voucher event', JSON.stringify(event), null],
  ['a voucher result with its event', JSON.stringify({ voucher: event }), null],
  ['an address typed on a Spanish layout', `httpsÑ--cafe.example-c·${spoilt}`, 'cafe.example'],
  [
    'an address typed on a Latin American layout',
    `httpsÑ--cafe.example-c#${spoilt}`,
    'cafe.example',
  ],
  ['a nonce typed on a Spanish layout', spoilt, null],
  ['an address under Caps Lock', 'HTTPS://CAFE.EXAMPLE/C#aNF-osV8ELGezG1_gqOWwq', 'cafe.example'],
])('finds the coupon in %s', (_what, text, host) => {
  expect(parseScan(text)).toMatchObject({ kind: 'coupon', nonce, host })
})

test('keeps the signed event of the code', () => {
  expect(parseScan(JSON.stringify(event))).toMatchObject({ voucher: { id: event.id } })
  expect(parseScan(nonce)).toMatchObject({ voucher: null })
})

test.each([
  ['', 'nothing'],
  [' \r\n', 'nothing'],
  ['npub1mtkz48wps2wlzcea3edsy0yr5wa57ce6p58e40pyfkeegklxwx4qx06tql', 'key'],
  ['lnbc100n1pjn6ey0', 'payment'],
  ['https://otra.example/menu', 'address'],
  ['7790001000012', 'text'],
  [nonce.slice(1), 'text'],
  [`${nonce.slice(0, -1)}B`, 'text'],
  ['{"nonce":', 'text'],
  ['{"nonce":7}', 'text'],
  ['[]', 'text'],
  ['https://', 'address'],
  ['x'.repeat(20_000), 'text'],
])('says that %p is no coupon but %p', (text, looks) => {
  expect(parseScan(text)).toEqual({ kind: 'other', looks } as ReturnType<typeof parseScan>)
})

/** The key presses of an American scanner, as a layout turns them into characters. */
function strokesOf(
  text: string,
  layout: (char: string) => string = (char) => char,
  capsLock = false,
) {
  const places: Record<string, [string, boolean]> = {
    ':': ['Semicolon', true],
    '/': ['Slash', false],
    '#': ['Digit3', true],
    '-': ['Minus', false],
    _: ['Minus', true],
    '.': ['Period', false],
  }
  return [...text].map((char) => {
    const upper = char !== char.toLowerCase()
    const letter: [string, boolean] = [`Key${char.toUpperCase()}`, upper]
    const digit: [string, boolean] = [`Digit${char}`, false]
    const [code, shift] = places[char] ?? (/\d/.test(char) ? digit : letter)
    return { key: layout(char), code, shift, capsLock }
  })
}

function scan(strokes: ReturnType<typeof strokesOf>, gapMs = 8): string[] | null {
  const wedge = createWedge()
  let atMs = 1000
  for (const stroke of strokes) {
    atMs += gapMs
    const early = wedge.stroke({ ...stroke, atMs })
    if (early) return early
  }
  return wedge.stroke({ ...enter, atMs: atMs + gapMs })
}

const spanish: Record<string, string> = { ':': 'Ñ', '/': '-', '#': '·', '-': "'", _: '?' }
const french: Record<string, string> = {
  a: 'q',
  q: 'a',
  A: 'Q',
  Q: 'A',
  '-': ')',
  _: '°',
  '1': '&',
}

test.each([
  ['an American layout', (char: string) => char, false],
  ['a Spanish layout', (char: string) => spanish[char] ?? char, false],
  ['a French layout', (char: string) => french[char] ?? char, false],
  ['a layout with dead keys', (char: string) => (char === '-' ? 'Dead' : char), false],
  ['keys that no layout names', () => 'Unidentified', false],
  [
    'Caps Lock',
    (char: string) => (/[a-z]/.test(char) ? char.toUpperCase() : char.toLowerCase()),
    true,
  ],
])('reads what a scanner types through %s', (_what, layout, capsLock) => {
  for (const text of [nonce, address]) {
    const readings = scan(strokesOf(text, layout, capsLock))
    expect(parseReadings(readings ?? [])).toMatchObject({ kind: 'coupon', nonce })
  }
})

test('typing by a person is not taken for a scanner', () => {
  expect(scan(strokesOf(nonce), burstGapMs + 20)).toBeNull()
  expect(scan(strokesOf('hola'))).toBeNull()
})

function type(wedge: Wedge, strokes: ReturnType<typeof strokesOf>, fromMs: number) {
  return strokes.map((stroke, at) => wedge.stroke({ ...stroke, atMs: fromMs + at * 5 })).at(-1)
}

const enter = { key: 'Enter', code: 'Enter', shift: false, capsLock: false }

test('a burst without an end is returned on request', () => {
  const wedge = createWedge()
  type(wedge, strokesOf(nonce), 0)
  expect(wedge.busy()).toBe(true)
  expect(parseReadings(wedge.flush() ?? [])).toMatchObject({ nonce })
  expect(wedge.busy()).toBe(false)
})

test('two consecutive scans are separate', () => {
  const wedge = createWedge()
  for (const fromMs of [0, 130]) {
    const readings = type(wedge, [...strokesOf(nonce), enter], fromMs)
    expect(parseReadings(readings ?? [])).toMatchObject({ nonce })
  }
})

// ── The film of the camera

/** Whether each frame, at its millisecond, is a new read. */
function readsOf(frames: readonly (readonly [number, string | null])[]): boolean[] {
  const film = createFilm()
  return frames.map(([atMs, code]) => film.frame(code, atMs))
}

test.each([
  [
    'a code that stays is read once',
    [
      [0, nonce],
      [120, nonce],
      [9000, nonce],
    ],
    [0],
  ],
  [
    'another code is new at once',
    [
      [0, nonce],
      [120, 'other'],
      [240, nonce],
    ],
    [0, 1, 2],
  ],
  [
    'a code that was away for a second is new',
    [
      [0, nonce],
      [120, null],
      [600, null],
      [1120, nonce],
      [1240, nonce],
    ],
    [0, 3],
  ],
  [
    'a code that is lost for less is not',
    [
      [0, nonce],
      [120, null],
      [1119, nonce],
      [1300, null],
      [2200, nonce],
    ],
    [0],
  ],
  [
    'time without frames does not count',
    [
      [0, nonce],
      [60_000, nonce],
      [60_120, null],
    ],
    [0],
  ],
] as const)('%s', (_name, frames, isNew) => {
  const reads = readsOf(frames)
  expect(reads.flatMap((one, at) => (one ? [at] : []))).toEqual([...isNew])
})

test('a film that forgot its coupon reads it again', () => {
  const film = createFilm()
  film.frame(nonce, 0)
  expect(film.last()).toBe(nonce)
  film.forget()
  expect(film.last()).toBeNull()
  expect(film.frame(nonce, 120)).toBe(true)
})

test('time with the camera closed does not count as away', () => {
  const film = createFilm()
  film.frame(nonce, 0)
  film.frame(null, 300)
  film.pause()
  expect(film.frame(nonce, 9000)).toBe(false)
  film.frame(null, 9100)
  expect(film.frame(nonce, 10_100)).toBe(true)
})
