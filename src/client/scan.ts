/** Texts that a scanner, a camera, a photo or a person gives, and the coupon in them. */
import { asObject, parseJson } from '../base/json.ts'
import { type NostrEvent, parseEvent } from '../nostr/event.ts'
import { readTyped } from './typed-code.ts'

/** `host`: of the address in the code, if it had one. `voucher`: the signed event in the code, if it had one. */
type ScannedCoupon = {
  kind: 'coupon'
  nonce: string
  host: string | null
  voucher: NostrEvent | null
}
export type Scanned =
  | ScannedCoupon
  /** No coupon. `looks` is a guess at the text, so that the till can tell the person what to do. */
  | { kind: 'other'; looks: 'key' | 'payment' | 'address' | 'text' | 'nothing' }

/** Bounds the work: a QR holds 2 953 bytes, a voucher pasted by hand a little more. */
export const scanCharsMax = 16 * 1024

const nonceForm = /^[\w-]{22}$/
/** A nonce has 16 bytes, so the last of its 22 characters carries four bits of padding, which are zero. */
const nonceEnd = /[AQgw]$/

/** The coupon in a scanned text. Never throws. */
export function parseScan(text: string): Scanned {
  if (text.length > scanCharsMax) return { kind: 'other', looks: 'text' }
  const bare = withoutFrame(text)
  if (bare === '') return { kind: 'other', looks: 'nothing' }
  for (const reading of readingsOf(bare)) {
    const coupon = couponIn(reading)
    if (coupon) return coupon
  }
  return { kind: 'other', looks: looksOf(bare) }
}

/** The first reading of a scan that is a coupon, else the result of its first reading. */
export function parseReadings(readings: string[]): Scanned {
  const parsed = readings.map(parseScan)
  return (
    parsed.find(({ kind }) => kind === 'coupon') ?? parsed[0] ?? { kind: 'other', looks: 'nothing' }
  )
}

/** A hand that shakes loses the code for less; a phone that is put away, for longer. */
const awayMs = 1000

type Film = {
  /** Take one frame: its coupon, or null without one. True for a read that is new: see `createFilm`. */
  frame(nonce: string | null, atMs: number): boolean
  /** The coupon that was read last. */
  last(): string | null
  /** The camera closed or sees nothing: until its next frame, time does not count. */
  pause(): void
  forget(): void
}

/**
 * The reads of a camera, which sees the same code many times a second. Its coupon is new when it is
 * another one, or was out of the picture for a second.
 */
export function createFilm(): Film {
  let read: string | null = null
  let awaySinceMs: number | null = null
  return {
    frame(nonce, atMs) {
      if (nonce === null) {
        awaySinceMs ??= atMs
        return false
      }
      const isNew = nonce !== read || (awaySinceMs !== null && atMs - awaySinceMs >= awayMs)
      read = nonce
      awaySinceMs = null
      return isNew
    },
    last: () => read,
    pause() {
      awaySinceMs = null
    },
    forget() {
      read = null
      awaySinceMs = null
    },
  }
}

export function isNonce(text: string): boolean {
  return nonceForm.test(text) && nonceEnd.test(text)
}

/** Strips the prefix and suffix of a scanner: control characters, an AIM identifier (`]Q1`), a BOM. */
function withoutFrame(text: string): string {
  return [...text]
    .filter(
      (char) => char > '\u001f' && char !== '\u007f' && char !== '\ufeff' && char !== '\u200b',
    )
    .join('')
    .trim()
    .replace(/^\][A-Za-z][0-9A-Za-z]/, '')
    .trim()
}

/**
 * The text as it stands, then corrected: for a scanner that types as an American keyboard into a Spanish
 * layout, for Caps Lock, and for both.
 */
function readingsOf(text: string): string[] {
  const spanish = fromSpanishLayout(text)
  const readings = [text, spanish]
  // Only an address shows that the case was swapped: a nonce with its case swapped is a nonce, too.
  for (const reading of [text, spanish]) {
    if (/^HTTPS?:/.test(reading) && /[a-z]/.test(reading.replace(/^[^#?]*/, ''))) {
      readings.push(swapCase(reading))
    }
  }
  return [...new Set(readings)]
}

/** Characters that a Spanish or Latin American layout gives for an American key, and that key's own. */
const spanishKeys: Record<string, string> = {
  Ñ: ':',
  ñ: ';',
  '-': '/',
  "'": '-',
  '´': '[',
  '·': '#',
  '?': '_',
  _: '?',
  '"': '@',
  '¡': '=',
  '¿': '=',
}

function fromSpanishLayout(text: string): string {
  return [...text].map((char) => spanishKeys[char] ?? char).join('')
}

/** The text with its case swapped, as without Caps Lock. */
export function swapCase(text: string): string {
  return [...text]
    .map((char) => (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase()))
    .join('')
}

function couponIn(text: string): ScannedCoupon | null {
  if (text.startsWith('{')) return couponInJson(text)
  // A field that groups what is typed may have put spaces into a nonce.
  const bare = text.replace(/\s/g, '')
  const nonce = isNonce(bare) ? bare : readTyped(text).nonce
  if (nonce !== null) return { kind: 'coupon', nonce, host: null, voucher: null }
  return couponInAddress(text)
}

function couponInAddress(text: string): ScannedCoupon | null {
  if (!/^(https?:)?\/\/|^[\w.-]+(:\d+)?\/c[/#]/i.test(text)) return null
  const url = urlOrNull(/^https?:/i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`)
  if (!url) return null
  const candidates = [url.hash.slice(1), url.searchParams.get('nonce') ?? '']
  const nonce = candidates.find(isNonce)
  return nonce ? { kind: 'coupon', nonce, host: url.host, voucher: null } : null
}

/** Old tablets have no `URL.parse`. */
function urlOrNull(text: string): URL | null {
  try {
    return new URL(text)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/** A voucher event, or a voucher result that has one inside. */
function couponInJson(text: string): ScannedCoupon | null {
  const value = parseJson(text, scanCharsMax)
  const outer = asObject(value)
  const voucher = parseEvent(outer?.voucher) ?? parseEvent(value)
  const nonces = [outer?.nonce, voucher?.tags.find(([name]) => name === 'nonce')?.[1]]
  const nonce = nonces.find((one): one is string => typeof one === 'string' && isNonce(one))
  return nonce ? { kind: 'coupon', nonce, host: null, voucher } : null
}

function looksOf(text: string): Extract<Scanned, { kind: 'other' }>['looks'] {
  if (/^(nostr:)?(npub|nprofile|nsec)1/i.test(text)) return 'key'
  if (/^(lightning:|lnbc|lnurl)/i.test(text)) return 'payment'
  if (/^https?:/i.test(text)) return 'address'
  return 'text'
}
