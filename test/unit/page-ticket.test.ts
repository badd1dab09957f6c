/** Tickets for receipt printers, on the paper of one. */
import { describe, expect, test } from 'bun:test'
import { encodeQR } from 'qr'
import { limits } from '../../src/base/limits.ts'
import { hasLetters, printable } from '../../src/ui/printer/letters.ts'
import { type PaperWidth, type Ticket, ticketBytes } from '../../src/ui/printer/ticket.ts'
import { printReceipt } from '../support/receipt-printer.ts'

const link = 'https://cupones.example/c#3q2-7wEjRWeJq83vEjRWeA'
const modules = (text: string) => encodeQR(text, 'raw', { ecc: 'medium', border: 1 }).length - 2

const ticket: Ticket = {
  shop: 'Café «La Ñ»',
  title: '2x1 en café, hasta $5.000',
  lines: ['Vale hasta el 21 de noviembre de 2026', 'Compra mínima $3.000', '¿Dudas? Preguntá.'],
  qr: { text: link, modules: modules(link), hint: 'Escanealo con tu teléfono' },
  typed: null,
  wifi: null,
}

const printers: Record<PaperWidth, { columns: number; dots: number }> = {
  58: { columns: 32, dots: 384 },
  80: { columns: 42, dots: 512 },
}
const print = (one: Ticket, width: PaperWidth, accents = true) =>
  printReceipt(ticketBytes(one, { width, accents }), printers[width])
/** Words in their order; breaks of lines and within long words do not count. */
const joined = (texts: string[]) => texts.join('').replace(/\s/g, '')

describe.each([58, 80] as const)('on paper of %d mm', (width) => {
  test('a ticket has the shop, the promise with its limits, the code and a cut', () => {
    const { lines, codes, paper } = print(ticket, width)
    expect(lines.every(({ centred }) => centred)).toBe(true)
    expect(lines[0]).toEqual({ text: 'Café «La Ñ»', big: true, bold: false, centred: true })
    expect(lines[1]).toMatchObject({ text: '2x1 en café, hasta $5.000', big: false, bold: true })
    const words = lines.map(({ text }) => text)
    expect(joined(words)).toContain(joined(ticket.lines as string[]))
    expect(codes.map(({ text }) => text)).toEqual([link])
    // Three centimetres and more, which every phone reads.
    expect(codes[0]?.dots).toBeGreaterThanOrEqual(240)
    expect(paper.indexOf(`[${link}]`)).toBeLessThan(paper.indexOf('Escanealo con tu teléfono'))
    expect(paper.at(-1)).toBe('cut')
  })

  test('nothing of the longest terms is cut', () => {
    const shop = 'Almacén y Café «La Luna de los Pájaros» de Ñandú Hermanos SRL'
    const title = 'M'.repeat(limits.nameCharsMax)
    const terms = [`${'W'.repeat(limits.descriptionCharsMax - 4)} FIN`, 'a b '.repeat(120)]
    const { lines } = print({ ...ticket, shop, title, lines: terms }, width)
    expect(joined(lines.map(({ text }) => text))).toStartWith(joined([shop, title, ...terms]))
  })

  test('a printer without the page gets letters without accents', () => {
    const { lines } = print(ticket, width, false)
    const words = lines.map(({ text }) => text)
    expect(words[0]).toBe('Cafe "La N"')
    expect(words.join(' ')).toContain('Compra minima $3.000 Dudas? Pregunta.')
  })

  test('the letters to type and the Wi-Fi follow the code, a smaller one at the end', () => {
    const code = 'WIFI:T:WPA;S:Bar;P:12345678;;'
    const wifi = { code, modules: modules(code), hint: 'Wi-Fi: Bar' }
    const { codes, paper } = print(
      { ...ticket, typed: { hint: 'Código', text: 'ABCD EFGH\nJKMN' }, wifi },
      width,
    )
    expect(codes.map(({ text }) => text)).toEqual([link, code])
    expect(codes[1]?.dots).toBeLessThan(codes[0]?.dots ?? 0)
    const order = [`[${link}]`, 'ABCD EFGH', 'JKMN', 'Wi-Fi: Bar', `[${code}]`, 'cut']
    expect(paper.filter((one) => order.includes(one))).toEqual(order)
  })

  test('a shop without a name has no line, and lines of a text stay apart', () => {
    const { paper } = print({ ...ticket, shop: null, lines: ['uno\ndos', ' ', 'tres'] }, width)
    expect(paper.slice(0, 5)).toEqual([ticket.title, 'uno', 'dos', 'tres', ''])
  })
})

test.each([12, 40])('an address of %d names gets smaller modules, so that it fits', (names) => {
  const long = `https://${'cupones.'.repeat(names)}example/c#3q2-7wEjRWeJq83vEjRWeA`
  const one = { ...ticket, qr: { ...ticket.qr, text: long, modules: modules(long) } }
  expect(print(one, 58).codes.map(({ text }) => text)).toEqual([long])
})

test.each([
  ['“Café” – ½ precio…', '"Café" - ½ precio...', '"Cafe" - 1/2 precio...'],
  ['Cafe\u0301\u00a0con\u202fleche\t✓', 'Café con leche ?', 'Cafe con leche ?'],
  ['Œuvre €5 Ž', 'OEuvre EUR5 Z', 'OEuvre EUR5 Z'],
  ['a\u2068b\u2069 👍🏽', 'ab ??', 'ab ??'],
  ['ﬁn ①', 'fin 1', 'fin 1'],
])('%j prints as %j, or as %j', (text, accented, bare) => {
  expect([printable(text, true), printable(text, false)]).toEqual([accented, bare])
})

test.each([
  ['Ñandú & Cía. €5 “½” 👍', true],
  ['Кофе', false],
  ['コーヒー', false],
  ['قهوة', false],
  ['₿ 5', false],
])('%j has letters on a printer: %p', (text, has) => {
  expect(hasLetters(text)).toBe(has)
})

test('the paper of the tests refuses what no printer takes', () => {
  const bad =
    (...bytes: number[]) =>
    () =>
      printReceipt(Uint8Array.from(bytes), printers[58])
  expect(bad(0x1b, 0x7a)).toThrow('no such command')
  expect(bad(0x1d, 0x28, 0x6b, 3, 0, 49, 0x51)).toThrow('not whole')
  expect(bad(...Array.from({ length: 33 }, () => 0x41), 0x0a)).toThrow('too wide')
  expect(bad(0x1b, 0x40, 0xa4, 0x0a)).toThrow('another page')
  expect(bad(0x41)).toThrow('without an end')
})
