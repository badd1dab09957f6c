/** A ticket as the bytes of ESC/POS, the language of receipt printers. */
import { encodeLetters, printable } from './letters.ts'

export type PaperWidth = 58 | 80

export type Ticket = {
  /** Null where its name is unknown. */
  shop: string | null
  title: string
  /** The promise and its limits, a paragraph each. None is ever cut. */
  lines: readonly string[]
  /** The code of the coupon: its text, the modules of a side, and a sentence below it. */
  qr: { text: string; modules: number; hint: string }
  /** The same as letters to type. */
  typed: { hint: string; text: string } | null
  wifi: { code: string; modules: number; hint: string } | null
}

type TicketLook = {
  width: PaperWidth
  /** Whether the printer has code page 850. */
  accents: boolean
}

/**
 * Letters on a line, and dots of the printing area. Printers of 80 mm have 42 or 48 letters of 512 or 576 dots; the narrower
 * of them shows which line breaks are safe.
 */
const sizes: Record<PaperWidth, { columns: number; dots: number }> = {
  58: { columns: 32, dots: 384 },
  80: { columns: 42, dots: 512 },
}
const [esc, group, fileSeparator, lineFeed] = [0x1b, 0x1d, 0x1c, 0x0a]
/** Page 850 in `ESC t`: the same number with every maker that we know. */
const westernPage = 2
/** Largest module of a QR, in dots of an eighth of a millimetre. */
const moduleMax = 8
/** Free modules around a code (ISO/IEC 18004), on both sides. */
const quietModules = 8

/** Begin, letters of the ticket, cut. */
export function ticketBytes(ticket: Ticket, look: TicketLook): Uint8Array<ArrayBuffer> {
  const { columns, dots } = sizes[look.width]
  const words = (text: string, big = false) =>
    wrapped(printable(text, look.accents), big ? columns / 2 : columns).flatMap((line) => [
      ...encodeLetters(line),
      lineFeed,
    ])
  const { shop, title, lines, qr, typed, wifi } = ticket
  return Uint8Array.from([
    ...begin,
    ...(shop === null ? [] : [...big(true), ...words(shop, true), ...big(false), lineFeed]),
    ...bold(true),
    ...words(title),
    ...bold(false),
    ...lines.filter((line) => line.trim() !== '').flatMap((line) => words(line)),
    lineFeed,
    ...qrCode(qr.text, moduleOf(qr.modules, dots)),
    ...words(qr.hint),
    ...(typed === null
      ? []
      : [...words(typed.hint), ...bold(true), ...words(typed.text), ...bold(false)]),
    ...(wifi === null ? [] : wifiPart(wifi, dots, words)),
    ...feedAndCut,
  ])
}

/** Reset, no Chinese letters, the page of western letters, all in the middle. */
const begin = [
  ...[esc, 0x40],
  ...[fileSeparator, 0x2e],
  ...[esc, 0x74, westernPage],
  ...[esc, 0x61, 1],
]
/** Feeds to the knife and cuts; a printer without a knife only feeds. */
const feedAndCut = [...[esc, 0x64, 4], ...[group, 0x56, 66, 0]]

/** Letters of double width and height. */
const big = (on: boolean) => [group, 0x21, on ? 0x11 : 0]
const bold = (on: boolean) => [esc, 0x45, on ? 1 : 0]

/** Away from the code that the till reads. */
function wifiPart(
  wifi: NonNullable<Ticket['wifi']>,
  dots: number,
  words: (text: string) => number[],
): number[] {
  const small = Math.min(moduleOf(wifi.modules, dots), 4)
  return [lineFeed, lineFeed, ...words(wifi.hint), ...qrCode(wifi.code, small)]
}

/** The largest module with which a code and its quiet zone fit the paper. */
function moduleOf(modules: number, dots: number): number {
  return Math.max(1, Math.min(moduleMax, Math.floor(dots / (modules + quietModules))))
}

/** Model 2, size of a module, error correction M, the text, print (`GS ( k`, functions 165, 167, 169, 180, 181). */
function qrCode(text: string, module: number): number[] {
  const data = [...new TextEncoder().encode(text)]
  const length = data.length + 3
  return [
    ...qrStep(4, 0x41, 50, 0),
    ...qrStep(3, 0x43, module),
    ...qrStep(3, 0x45, 49),
    ...qrStep(length, 0x50, 48, ...data),
    ...qrStep(3, 0x51, 48),
  ]
}

function qrStep(length: number, step: number, ...values: number[]): number[] {
  return [group, 0x28, 0x6b, length & 0xff, length >> 8, 49, step, ...values]
}

/** Lines of at most `columns` letters. A longer word goes on in the next line. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const paragraph of text.split(/\r?\n|\r/)) {
    let line = ''
    for (const word of paragraph.split(' ').filter(Boolean)) {
      const longer = line === '' ? word : `${line} ${word}`
      if (longer.length <= columns) {
        line = longer
        continue
      }
      if (line !== '') lines.push(line)
      let rest = word
      while (rest.length > columns) {
        lines.push(rest.slice(0, columns))
        rest = rest.slice(columns)
      }
      line = rest
    }
    if (line !== '') lines.push(line)
  }
  return lines
}
