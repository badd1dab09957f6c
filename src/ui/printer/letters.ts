/** Text for printers that know one byte per letter. */

/** The upper half of code page 850, which has the letters of western Europe. */
const upper =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0'
const bytes: ReadonlyMap<string, number> = new Map(
  [...upper].map((letter, at) => [letter, 0x80 + at]),
)

/** Signs without a place in the page, as people would type them. */
const plain: Readonly<Record<string, string>> = {
  ...{ '“': '"', '”': '"', '„': '"', '‘': "'", '’': "'", '‚': "'", '′': "'", '‹': '<', '›': '>' },
  ...{ '‐': '-', '‑': '-', '‒': '-', '–': '-', '—': '-', '−': '-', '…': '...', '•': '-' },
  ...{ '€': 'EUR', œ: 'oe', Œ: 'OE', '™': 'TM', '≤': '<=', '≥': '>=' },
}
/** In place of accents and of signs that only the page has, for printers with another page. */
const plainest: Readonly<Record<string, string>> = {
  ...{ '«': '"', '»': '"', '¿': '', '¡': '', '×': 'x', '°': 'o', º: 'o', ª: 'a', ß: 'ss' },
  ...{ '½': '1/2', '¼': '1/4', '¾': '3/4', '·': '-', '´': "'", '²': '2', '³': '3', ø: 'o', Ø: 'O' },
  ...{ æ: 'ae', Æ: 'AE', '¢': 'c', '±': '+-', '÷': '/' },
}
/** Signs that are not drawn: marks of direction, joiners and variants. */
const undrawn = /[\p{Cf}\p{Variation_Selector}]/gu
const space = /[\p{Zs}\t]/gu

/**
 * The text in letters that the printer has: accents where it has the page (`accents`), else none. A letter without any
 * form becomes a question mark.
 */
export function printable(text: string, accents: boolean): string {
  return [...drawnPart(text)].map((letter) => lettered(letter, accents)).join('')
}

/** Whether each letter, digit and sign of money of the text has a form on the printer. */
export function hasLetters(text: string): boolean {
  return [...drawnPart(text)].every(
    (letter) => !/[\p{L}\p{N}\p{Sc}]/u.test(letter) || lettered(letter, true) !== '?',
  )
}

/** The bytes of a printable text. */
export function encodeLetters(text: string): number[] {
  return [...text].map((letter) => {
    const code = letter.charCodeAt(0)
    return code < 0x80 ? code : (bytes.get(letter) ?? question)
  })
}

function drawnPart(text: string): string {
  return text.normalize('NFC').replace(space, ' ').replace(undrawn, '')
}

const question = '?'.charCodeAt(0)

function lettered(letter: string, accents: boolean): string {
  if (/^[ -~\r\n]$/.test(letter)) return letter
  if (accents && bytes.has(letter)) return letter
  const typed = plain[letter] ?? plainest[letter]
  if (typed !== undefined) return typed
  const bare = letter.normalize('NFKD').replace(/\p{M}/gu, '')
  return /^[ -~]+$/.test(bare) ? bare : '?'
}
