/** Phone numbers as WhatsApp wants them: the digits of the international number, without a plus sign. */

/** `text`: the number as a person reads it. */
export type Phone = { digits: string; text: string }
/** The reason why a text gives no number: not a number at all, or a local one whose city nobody can tell. */
type Trouble = 'wrong' | 'area'

/** Area codes of three digits (Argentina's numbering plan); Buenos Aires has `11`, all others four digits. */
const threeDigitAreas: ReadonlySet<string> = new Set([
  ...['220', '221', '223', '230', '236', '237', '249', '260', '261', '263', '264', '266', '280'],
  ...['291', '297', '298', '299', '336', '341', '342', '343', '345', '348', '351', '353', '358'],
  ...['362', '364', '370', '376', '379', '380', '381', '383', '385', '387', '388'],
])
/** Signs that people put between digits. */
const separators = /[\s().\-/\u00a0\u2010-\u2015\u2060\u202a-\u202e]/g
/** Digits of an area code with its number. */
const nationalLength = 10

/**
 * Read a number as typed or pasted. A number without its country is Argentine. Those get the 9 of mobiles and lose the trunk
 * prefixes 0 and 15, which WhatsApp does not know.
 */
export function parsePhone(typed: string): Phone | Trouble {
  const text = typed.normalize('NFKC').replace(separators, '')
  if (!/^\+?\d{1,20}$/.test(text)) return 'wrong'
  const abroad = /^(?:\+|00)(\d+)$/.exec(text)?.[1]
  if (abroad !== undefined && !abroad.startsWith('54')) return foreign(abroad)
  if (abroad !== undefined) return argentine(abroad.slice(2))
  // A country code without its plus sign, as in a pasted link.
  const known = /^54(?=9?\d{10,12}$)(\d+)$/.exec(text)?.[1]
  return argentine(known ?? text)
}

/** E.164: up to fifteen digits, and none begins with a zero. */
function foreign(digits: string): Phone | Trouble {
  return /^[1-9]\d{7,14}$/.test(digits) ? { digits, text: `+${digits}` } : 'wrong'
}

function argentine(national: string): Phone | Trouble {
  const dialled = national.replace(/^0/, '')
  const mobile = dialled.length > nationalLength ? dialled.replace(/^90?/, '') : dialled
  const whole = withoutTrunk(mobile)
  if (whole.length < nationalLength && whole.length >= 6) return 'area'
  // Area codes begin with 11, 2 or 3.
  if (whole.length !== nationalLength || !/^(11|[23])/.test(whole)) return 'wrong'
  const area = whole.slice(0, areaLength(whole))
  const local = whole.slice(area.length)
  return {
    digits: `549${whole}`,
    text: `+54 9 ${area} ${local.slice(0, -4)}-${local.slice(-4)}`,
  }
}

/** The number without the 15 of mobiles, which stands between area code and number. */
function withoutTrunk(mobile: string): string {
  // Eight digits after it: only Buenos Aires has so many.
  if (/^15\d{8}$/.test(mobile)) return `11${mobile.slice(2)}`
  const at = areaLength(mobile)
  const trunk = mobile.length === nationalLength + 2 && mobile.slice(at, at + 2) === '15'
  return trunk ? mobile.slice(0, at) + mobile.slice(at + 2) : mobile
}

function areaLength(digits: string): 2 | 3 | 4 {
  if (digits.startsWith('11')) return 2
  return threeDigitAreas.has(digits.slice(0, 3)) ? 3 : 4
}
