/** Recipients of coupons that are issued together: typed, one a line, or read from a file of a spreadsheet. */
import { clientLimits } from '../../base/limits-client.ts'
import { isPlainName } from '../../base/words.ts'
import { type Phone, parsePhone } from '../hand/phone.ts'
import { plainText } from './plain-text.ts'

/** `phone`: for a message from this device; no request has it. */
export type Recipient = { name: string; phone: Phone | null }
/** A line that gives no recipient, with its number in the text. */
export type WrongLine = { line: number; why: 'nameless' | 'long' | 'signs' | 'phone' | 'area' }
/** The reason why a file gives no list; with the place of the error, where it has one. */
export type WrongFile =
  | { why: 'large' | 'workbook' | 'kind' | 'empty' | 'locked' }
  | { why: 'many'; rows: number }
  /** `titles`: the first columns of the file. */
  | { why: 'nameless'; titles: string[] }
  /** A quotation mark that nothing closes, in this line of the file. */
  | { why: 'quote'; line: number }

/** A file of the largest list is a quarter of this. */
export const fileBytesMax = 200 * 1024
/** Characters of the largest list: a name of surrogate pairs and a phone number in each line. */
export const listCharsMax = clientLimits.mintCountMax * 210

/** Recipients as the lines that `parseRecipientLines` reads. */
export function recipientLines(recipients: readonly Recipient[]): string {
  return recipients.map(({ name, phone }) => (phone ? `${name}; ${phone.text}` : name)).join('\n')
}

/** Read lines of `name` or `name; phone`. Empty lines are skipped. */
export function parseRecipientLines(text: string): {
  recipients: Recipient[]
  wrongs: WrongLine[]
} {
  const recipients: Recipient[] = []
  const wrongs: WrongLine[] = []
  for (const [at, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line.trim() === '') continue
    const found = parseLine(line)
    if (typeof found === 'string') wrongs.push({ line: at + 1, why: found })
    else recipients.push(found)
  }
  return { recipients, wrongs }
}

function parseLine(line: string): Recipient | WrongLine['why'] {
  // A row that was copied from a spreadsheet has a tab.
  const end = line.search(/[;\t]/)
  const name = (end < 0 ? line : line.slice(0, end)).trim()
  const number = end < 0 ? '' : line.slice(end + 1).trim()
  if (name === '') return 'nameless'
  if ([...name].length > clientLimits.labelCharsMax) return 'long'
  if (/\p{Cc}/u.test(name) || !name.isWellFormed() || !isPlainName(name)) return 'signs'
  if (number === '') return { name, phone: null }
  const phone = parsePhone(number)
  if (typeof phone === 'object') return { name, phone }
  return phone === 'area' ? 'area' : 'phone'
}

const nameTitles = [
  ...['destinatario', 'nombre', 'cliente', 'etiqueta', 'recipient', 'name', 'label'],
  ...['nombre y apellido', 'apellido y nombre', 'nombre completo', 'full name'],
  ...['nombres', 'first name'],
]
/** A column beside that of first names. */
const surnameTitles = ['apellido', 'apellidos', 'surname', 'last name']
const phoneTitles = [
  ...['telefono', 'whatsapp', 'celular', 'movil', 'phone', 'mobile', 'tel'],
  ...['numero de telefono', 'phone number'],
]

/**
 * Read a CSV file into lines for `parseRecipientLines`. Without titles, its columns are name and phone; where no row
 * has a number, each row is a name, as in `Pérez, Ana`.
 */
export function parseRecipientFile(bytes: Uint8Array): { lines: string[] } | WrongFile {
  if (bytes.length > fileBytesMax) return { why: 'large' }
  const text = textOf(bytes)
  if (isWorkbook(bytes)) return { why: 'workbook' }
  // A picture or a PDF: its bytes would make names, too.
  if (text.includes('\0') || text.startsWith('%PDF-')) return { why: 'kind' }
  const [begin = '', declared] = /^"?sep=(.)"?(?:\r\n|\r|\n)/i.exec(text) ?? []
  const list = text.slice(begin.length)
  const { rows: all, open } = csvRows(list, declared ?? separatorOf(list))
  if (open !== null) return { why: 'quote', line: lineAt(text, begin.length + open) }
  const rows = all.filter((row) => row.some((cell) => cell !== ''))
  const [first] = rows
  if (!first) return { why: 'empty' }
  const titles = first.map((title) => plainText(title).replace(/[:.*]/g, '').trim())
  const columnOf = (known: string[]) => titles.findIndex((title) => known.includes(title))
  const titled = { name: columnOf(nameTitles), phone: columnOf(phoneTitles) }
  const hasTitles = titled.name >= 0 || titled.phone >= 0
  if (hasTitles && titled.name < 0) {
    return { why: 'nameless', titles: first.filter(Boolean).slice(0, toldTitlesMax).map(brief) }
  }
  const { name, phone } = hasTitles ? titled : { name: 0, phone: 1 }
  const surname = hasTitles ? columnOf(surnameTitles) : -1
  const nameIn = (row: string[]) => `${row[name] ?? ''} ${row[surname] ?? ''}`
  const people = hasTitles ? rows.slice(1) : rows
  const wholeRows =
    !hasTitles && !people.some((row) => row.slice(1).some((cell) => /\d/.test(cell)))
  const lines = people
    .map((row) =>
      wholeRows ? [row.filter(Boolean).join(', '), ''] : [nameIn(row), row[phone] ?? ''],
    )
    .map((cells) => cells.map(cleaned))
    // A list of issued coupons has rows without a recipient.
    .filter((cells) => cells.some((cell) => cell !== ''))
    .map(([who, number]) => (number === '' ? `${who}` : `${who}; ${number}`))
  if (lines.length === 0) return { why: 'empty' }
  const rowsMax = clientLimits.mintCountMax
  return lines.length > rowsMax ? { why: 'many', rows: lines.length } : { lines }
}

/** The first bytes of a workbook: a ZIP file (.xlsx, .ods), or an older one of Excel (.xls). */
const workbookMagic = ['504b0304', 'd0cf11e0']

function isWorkbook(bytes: Uint8Array): boolean {
  const magic = [...bytes.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return workbookMagic.includes(magic)
}

/** Columns that the sentence about a missing one names. */
const toldTitlesMax = 4
const toldTitleChars = 30

function brief(title: string): string {
  const cell = cleaned(title)
  return [...cell].length > toldTitleChars
    ? `${[...cell].slice(0, toldTitleChars).join('')}…`
    : cell
}

/** The line of a text that a place is in, counted from one. */
function lineAt(text: string, at: number): number {
  return text.slice(0, at).split(/\r\n|\r|\n/).length
}

/** Spreadsheets save UTF-8, UTF-16 of either byte order for "Unicode text", and the code page of Windows otherwise. */
function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** The separator that the first line has most of, outside of quotes. */
function separatorOf(text: string): string {
  const [line = ''] = text.replace(/"[^"]*"/g, '').match(/[^\r\n]+/) ?? []
  const counted = [';', ',', '\t'].map((one) => ({ one, times: line.split(one).length }))
  return counted.reduce((most, next) => (next.times > most.times ? next : most)).one
}

/** Rows and cells (RFC 4180). `open`: the place of a quotation mark that nothing closes, or null. */
function csvRows(text: string, separator: string): { rows: string[][]; open: number | null } {
  const rows: string[][] = []
  let opened = 0
  let row: string[] = []
  let cell = ''
  let quoted = false
  const endRow = () => {
    rows.push([...row, cell.trim()])
    row = []
    cell = ''
  }
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (quoted) {
      if (sign !== '"') cell += sign
      else if (text[at + 1] === '"') cell += text[at++]
      else quoted = false
    } else if (sign === '"' && cell.trim() === '') {
      quoted = true
      opened = at
      cell = ''
    } else if (sign === separator) {
      row.push(cell.trim())
      cell = ''
    } else if (sign === '\n' || sign === '\r') endRow()
    else cell += sign
  }
  endRow()
  return { rows, open: quoted ? opened : null }
}

/** A cell in a line of its own kind, without the apostrophe by which an export keeps it from being run. */
function cleaned(cell: string): string {
  return cell
    .replace(/^'(?=[=+\-@＝＋－＠])/, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(';', ',')
    .trim()
}
