/** A USB or Bluetooth scanner is a keyboard that types fast: tells its bursts from a person's keys. */
import { scanCharsMax, swapCase } from '../../client/scan.ts'

/** What of a key press is looked at. */
type Stroke = {
  key: string
  /** The place of the key (`KeyA`, `Digit3`), whatever the layout makes of it. */
  code: string
  shift: boolean
  capsLock: boolean
  atMs: number
}

/** Slower than this between two keys is a person: scanners take 2 to 40 ms, tired Bluetooth ones 80. */
export const burstGapMs = 100
/** A coupon's code has 22 characters; a burst may lose none of them. */
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

/** What an American keyboard, which is what scanners pretend to be, types with a key of that place. */
function americanKey({ code, shift }: Stroke): string {
  const letter = /^Key([A-Z])$/.exec(code)?.[1]
  if (letter) return shift ? letter : letter.toLowerCase()
  const plain = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1] ?? places[code] ?? ''
  return shift ? (shifted[plain] ?? plain) : plain
}

export type Wedge = {
  /** Take a key press. What was scanned, read in every way it may have been meant, once a burst ends. */
  stroke(stroke: Stroke): string[] | null
  /** The readings of a burst that nothing ended, if it is long enough for one: to be asked after a pause. */
  flush(): string[] | null
  /** Whether a burst is under way, so that its keys are not taken for shortcuts. */
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
      // A dead key types nothing and has a place all the same.
      if ([...stroke.key].length === 1) typed += stroke.key
      placed += american
      capsLock = stroke.capsLock
      if (typed.length > scanCharsMax || placed.length > scanCharsMax) take()
      return null
    },
    // A busy device hands over late what was typed in time: that is no end of a burst.
    flush: () => (whole() ? take() : null),
    busy: () => Math.max(typed.length, placed.length) > 3,
  }
}
