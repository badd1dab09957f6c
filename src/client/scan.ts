/** What scanners, cameras, photos and fingers give, and the coupon that is in it. */
import { asObject, parseJson } from '../base/json.ts'
import { type NostrEvent, parseEvent } from '../nostr/event.ts'

/** `host` is there when the code carried an address; `voucher` when it carried the signed event. */
type ScannedCoupon = {
  kind: 'coupon'
  nonce: string
  host: string | null
  voucher: NostrEvent | null
}
export type Scanned =
  | ScannedCoupon
  /** Not a coupon; `looks` says what it seems to be, so that the person is told what to do. */
  | { kind: 'other'; looks: 'key' | 'payment' | 'address' | 'text' | 'nothing' }

/** The longest code that is looked into: a QR holds 2 953 bytes, a voucher pasted by hand a little more. */
export const scanCharsMax = 16 * 1024

const nonceForm = /^[\w-]{22}$/
/** The last of 22 characters carries four bits of padding, which are zero in a nonce that somebody made. */
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

/** The first reading of a scan that is a coupon, else what the first of them looks like. */
export function parseReadings(readings: string[]): Scanned {
  const parsed = readings.map(parseScan)
  return (
    parsed.find(({ kind }) => kind === 'coupon') ?? parsed[0] ?? { kind: 'other', looks: 'nothing' }
  )
}

export function isNonce(text: string): boolean {
  return nonceForm.test(text) && nonceEnd.test(text)
}

/** Without what scanners put around a code: control characters, an AIM identifier (`]Q1`), a BOM. */
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
 * The text as it stands, then as it was before a keyboard spoilt it: a scanner that types as an
 * American keyboard into a Spanish one, Caps Lock, or both.
 */
function readingsOf(text: string): string[] {
  const spanish = fromSpanishLayout(text)
  const readings = [text, spanish]
  // Only an address shows that the case was swapped: every nonce is as good as its mirror image.
  for (const reading of [text, spanish]) {
    if (/^HTTPS?:/.test(reading) && /[a-z]/.test(reading.replace(/^[^#?]*/, ''))) {
      readings.push(swapCase(reading))
    }
  }
  return [...new Set(readings)]
}

/** Where the American key of a character types another one under a Spanish or Latin American layout. */
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

/** The text as it would be without Caps Lock. */
export function swapCase(text: string): string {
  return [...text]
    .map((char) => (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase()))
    .join('')
}

function couponIn(text: string): ScannedCoupon | null {
  if (isNonce(text)) return { kind: 'coupon', nonce: text, host: null, voucher: null }
  if (text.startsWith('{')) return couponInJson(text)
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

/** `URL.parse` is younger than the tablets on many counters. */
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
