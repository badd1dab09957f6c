/** Detects the bursts of a USB or Bluetooth scanner, which types like a fast keyboard. */
import { scanCharsMax, swapCase } from '../../client/scan.ts'

/** The parts of a key press that matter. */
type Stroke = {
  key: string
  /** The position of the key (KeyA, Digit3), independent of the layout. */
  code: string
  shift: boolean
  capsLock: boolean
  atMs: number
}

/** Longest gap inside a burst: scanners take 2 to 40 ms between keys, Bluetooth ones up to 80. */
export const burstGapMs = 100
/** A nonce has 22 characters; a shorter burst is a person. */
const burstCharsMin = 20

const shifted: Record<string, string> = {
  '1': '!',
  '2': '@',
  '3': '#',
  '4': '$',
  '5': '%',
  '6': '^',
  '7': '&',
  '8': '*',
  '9': '(',
  '0': ')',
  '-': '_',
  '=': '+',
  ';': ':',
  "'": '"',
  ',': '<',
  '.': '>',
  '/': '?',
  '[': '{',
  ']': '}',
  '\\': '|',
}

const places: Record<string, string> = {
  Minus: '-',
  Equal: '=',
  Semicolon: ';',
  Quote: "'",
  Comma: ',',
  Period: '.',
  Slash: '/',
  BracketLeft: '[',
  BracketRight: ']',
  Backslash: '\\',
  Space: ' ',
}

/** The character of a key on an American keyboard, as which scanners present themselves. */
function americanKey({ code, shift }: Stroke): string {
  const letter = /^Key([A-Z])$/.exec(code)?.[1]
  if (letter) return shift ? letter : letter.toLowerCase()
  const plain = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1] ?? places[code] ?? ''
  return shift ? (shifted[plain] ?? plain) : plain
}

export type Wedge = {
  /** Take a key press. Returns the readings of a burst when this key ends it, else null. */
  stroke(stroke: Stroke): string[] | null
  /** The readings of a burst without an end key, called after a pause; null where it is too short. */
  flush(): string[] | null
  /** Whether a burst is under way, so that the page can ignore its keys. */
  busy(): boolean
}

export function createWedge(): Wedge {
  let typed = ''
  let placed = ''
  let capsLock = false
  let lastMs = Number.NEGATIVE_INFINITY

  const whole = () => Math.max(typed.length, placed.length) >= burstCharsMin
  const take = () => {
    const readings = capsLock ? [swapCase(typed), placed, typed] : [typed, placed]
    const enough = whole()
    typed = ''
    placed = ''
    return enough ? [...new Set(readings)].filter((text) => text !== '') : null
  }

  return {
    stroke(stroke) {
      if (stroke.atMs - lastMs > burstGapMs) take()
      lastMs = stroke.atMs
      if (stroke.key === 'Enter' || stroke.key === 'Tab') return take()
      const american = americanKey(stroke)
      // A dead key types nothing, but its position counts.
      if ([...stroke.key].length === 1) typed += stroke.key
      placed += american
      capsLock = stroke.capsLock
      if (typed.length > scanCharsMax || placed.length > scanCharsMax) take()
      return null
    },
    // A busy device delivers keys late, so a short text after a pause may be the start of a burst.
    flush: () => (whole() ? take() : null),
    busy: () => Math.max(typed.length, placed.length) > 3,
  }
}
