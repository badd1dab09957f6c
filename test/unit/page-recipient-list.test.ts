/** Lists of recipients: typed lines, and files of spreadsheets. */
import { expect, test } from 'bun:test'
import {
  fileBytesMax,
  parseRecipientFile,
  parseRecipientLines,
  recipientLines,
} from '../../src/ui/panel/recipient-list.ts'

const named = (text: string) =>
  parseRecipientLines(text).recipients.map(({ name, phone }) => [name, phone?.digits ?? null])
const linesOf = (file: string | Uint8Array) => {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file
  const found = parseRecipientFile(bytes)
  return 'why' in found ? found : found.lines
}

test('each line is a recipient, with a phone number behind a semicolon or a tab', () => {
  const text = 'Ana\r\n\n  Pérez, Beto ; 11 2345-6789\nCaro\t+598 99 123 456\n'
  expect(named(text)).toEqual([
    ['Ana', null],
    ['Pérez, Beto', '5491123456789'],
    ['Caro', '59899123456'],
  ])
})

const wrongs = [
  ['; 11 2345-6789', 'nameless'],
  ['x'.repeat(81), 'long'],
  ['Ana\u202e', 'signs'],
  ['An\u0007a', 'signs'],
  ['\ud800', 'signs'],
  ['Ana; casa', 'phone'],
  ['Ana; 2345-6789', 'area'],
] as const

test.each(wrongs)('the line %j is refused as %s, with its number', (line, why) => {
  expect(parseRecipientLines(`Beto\n\n${line}\n`)).toMatchObject({
    recipients: [{ name: 'Beto' }],
    wrongs: [{ line: 3, why }],
  })
})

test('the lines of recipients are read as the same recipients', () => {
  const { recipients } = parseRecipientLines(
    'Ana; 11 2345-6789\nPérez, Beto\nCaro; +598 99 123 456',
  )
  expect(parseRecipientLines(recipientLines(recipients))).toEqual({ recipients, wrongs: [] })
})

test('eighty letters count as people see them', () => {
  expect(named('😀'.repeat(80))).toHaveLength(1)
})

const files: [string, ReturnType<typeof linesOf>][] = [
  ['\ufeffDestinatario;Teléfono\r\n"Ana";"11 2345-6789"\r\n', ['Ana; 11 2345-6789']],
  ["Fecha,Estado,Recipient,WhatsApp\n2026-11-02,x,Ana,'+598 99 123 456", ['Ana; +598 99 123 456']],
  ['celular\tNOMBRE\n11 2345-6789\tAna\n', ['Ana; 11 2345-6789']],
  ['Ana;1123456789\nBeto;\n;\n\n', ['Ana; 1123456789', 'Beto']],
  ['"Pérez; ""la"" Ana","11"\n"dos\nlíneas",', ['Pérez, "la" Ana; 11', 'dos líneas']],
  ['Ana\nBeto', ['Ana', 'Beto']],
  ['Nombre\nAna\n"sin cierre\nBeto\n', { why: 'quote', line: 3 }],
  ['sep=;\r\n"dos\r\nlíneas";1\r"Ana', { why: 'quote', line: 4 }],
  ['Apellido;Nombre;Tel\nPérez;Ana;11\nGómez;Ana;', ['Ana Pérez; 11', 'Ana Gómez']],
  ['sep=,\r\nApellido y nombre:,Tel.\r\n"Pérez; Ana",11', ['Pérez, Ana; 11']],
  ["Cliente\n'＝Ana", ['＝Ana']],
  ['Pérez, Ana\nGómez, Beto,\n', ['Pérez, Ana', 'Gómez, Beto']],
  ['', { why: 'empty' }],
  ['nombre;teléfono\n;\n', { why: 'empty' }],
  ['Teléfono\n1123456789', { why: 'nameless', titles: ['Teléfono'] }],
  [
    `Alumno;${'x'.repeat(40)};;Tel;Mail;Curso\nAna;1;;2;3;4`,
    { why: 'nameless', titles: ['Alumno', `${'x'.repeat(30)}…`, 'Tel', 'Mail'] },
  ],
  ['x\n'.repeat(501), { why: 'many', rows: 501 }],
  ['x'.repeat(fileBytesMax + 1), { why: 'large' }],
  ['%PDF-1.7\n1 0 obj', { why: 'kind' }],
]

test.each(files.map(([file, lines]) => [file.slice(0, 40), lines, file] as const))(
  'a file that begins with %j gives %j',
  (_, lines, file) => {
    expect(linesOf(file)).toEqual(lines)
  },
)

test('files in the code page of Windows and in UTF-16 keep their accents', () => {
  expect(linesOf(Uint8Array.from([0x4e, 0x75, 0xf1, 0x65, 0x7a]))).toEqual(['Nuñez'])
  const wide = Buffer.from('\ufeffNombre\tTel\nNuñez\t11', 'utf16le')
  expect(linesOf(wide)).toEqual(['Nuñez; 11'])
  // A Mac may write the other byte order.
  expect(linesOf(Buffer.from(wide).swap16())).toEqual(['Nuñez; 11'])
})

test('a workbook or a picture is no list, whatever names its bytes would make', () => {
  const workbook = [0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x41, 0x6e, 0x61, 0x0a, 0xe9]
  expect(linesOf(Uint8Array.from(workbook))).toEqual({ why: 'workbook' })
  const picture = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]
  expect(linesOf(Uint8Array.from(picture))).toEqual({ why: 'kind' })
})

test('a hostile file is read in a time that grows with its length', () => {
  for (const piece of ['"', '",', '\n', ' ', "'", '"\n;']) {
    const found = linesOf(piece.repeat(Math.floor(fileBytesMax / piece.length)))
    expect(Array.isArray(found) || 'why' in found).toBe(true)
  }
})
