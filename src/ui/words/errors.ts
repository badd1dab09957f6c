import type { RefusalCode } from '../../base/refusal.ts'
import { ApiError } from '../../client/api-error.ts'
import { language } from '../browser/language.ts'
import { createWords } from './words.ts'

/** Sentences that the service cannot give. Its own are in src/base/refusal.ts, in Spanish only. */
const own = {
  unreachable: [
    'No pudimos hablar con el servicio. Revisá la conexión y probá de nuevo.',
    'The service cannot be reached. Check the connection and try again.',
  ],
  'signed-out': ['Cerraste la sesión. Entrá de nuevo.', 'You signed out. Sign in again.'],
  'answer-invalid': [
    'Recibimos una respuesta que no entendemos. Actualizá la página.',
    'We got an answer that makes no sense. Reload the page.',
  ],
  // Its readers are a merchant and a cashier, so it says what happens to the coupons that they gave out.
  'disk-low': [
    'El disco del servicio está casi lleno y por ahora no guarda nada nuevo. Los cupones que ya entregaste se canjean igual. Avisale a quien maneja el servicio.',
    'The disk of the service is nearly full, and for now it keeps nothing new. The coupons that are out can be redeemed all the same. Tell whoever runs the service.',
  ],
  'limited.for': [
    'Hiciste demasiados pedidos seguidos. Probá de nuevo en un segundo.|Hiciste demasiados pedidos seguidos. Probá de nuevo en {n} segundos.',
    'Too many requests in a row. Try again in a second.|Too many requests in a row. Try again in {n} seconds.',
  ],
  unexpected: [
    'Algo salió mal. Actualizá la página y probá de nuevo.',
    'Something went wrong. Reload the page and try again.',
  ],
  refused: [
    'El servicio no lo aceptó ({code}).',
    'The service did not accept it ({code}). Check it and try again.',
  ],
} as const

const english = {
  'shutting-down': 'The service is restarting. Try again in a few seconds.',
  'too-large': 'What you sent is too large. Send less.',
  'request-timeout': 'Your request took too long to arrive. Try again.',
  'rate-limited': 'Too many requests in a row. Wait a moment and try again.',
  'auth-missing': 'You are not signed in. Sign in.',
  'auth-malformed': 'The signature is not valid. Sign again.',
  'auth-expired': 'The signature is too old. Check the clock of your device and sign again.',
  'auth-url-mismatch': 'The signature is for another address. Sign again.',
  'auth-origin-unknown':
    'The service does not know this address as its own. Set PUBLIC_URL={origin} and sign again.',
  'auth-replay': 'That signature was used before. Sign again.',
  'auth-session-expired': 'Your session has ended. Sign in again.',
  'auth-session-invalid': 'Your session is not valid. Sign in again.',
  'field-invalid': 'Something you entered is not valid. Correct it and try again.',
  'benefit-invalid': 'The benefit is not valid. Check its details.',
  'expiry-past': 'That date is past. Choose one to come.',
  'nothing-to-change': 'There is nothing to change.',
  'minter-is-owner': 'That key is yours: you can issue your coupons already.',
  'nonce-invalid': 'That is not the code of a coupon. Scan it again.',
  'announcement-future': 'The announcement is dated ahead. Check the clock of your device.',
  'merchant-not-allowed': 'Your key is not enabled as a merchant on this service.',
  'setup-code-wrong':
    'That code is not right, or was used before. Check it, or ask whoever runs the service for the current one.',
  'merchants-owner-only': 'Only the one who set the service up can add or remove shops.',
  'merchant-unknown': 'That key is none of the shops. Check it.',
  'merchants-by-setting': 'Here the shops are chosen in the settings of the service.',
  'merchant-is-owner': 'That key can be removed only on the computer where the service runs.',
  'merchants-full': 'You have as many shops as fit. Remove one that is gone.',
  'mint-not-allowed': 'You may not issue this coupon. Ask the merchant.',
  'coupon-unknown': 'That coupon does not exist.',
  'voucher-unknown': 'That code belongs to no coupon. Check it.',
  'minter-unknown': 'We did not find that key. Check what you typed.',
  'other-merchant': 'This coupon is of another merchant. It is redeemed at the one that issued it.',
  'voucher-claimed': 'This coupon was redeemed already.',
  'voucher-refreshed': 'This code was swapped for another: the coupon has moved on.',
  'voucher-voided': 'The merchant had voided this coupon already.',
  'voucher-moved': 'This code is worth nothing any more: the coupon has moved on.',
  'voucher-cancelled': 'The merchant voided this coupon.',
  'voucher-expired': 'This coupon has expired.',
  'coupon-archived': 'This coupon is archived and no longer issued.',
  'coupon-expired': 'This coupon has expired and is no longer issued.',
  'coupon-exhausted': 'All the coupons there were have been issued.',
  'announcement-older': 'A newer announcement is stored already. Sign one dated now.',
  'definitions-full': 'You have as many coupons as fit. Delete one that you do not use.',
  'minters-full': 'You have as many tills as fit. Remove one that you do not use.',
  'vouchers-day-full': 'No more coupons can be issued today on this service. Go on tomorrow.',
  'bytes-day-full': 'No more can be stored today on this service. Go on tomorrow.',
  'clock-behind': 'The clock of the service is behind. Tell the merchant.',
  'outbox-full': 'Too much is waiting for the relays. Try again later.',
  overloaded: 'The service is busy. Try again in a few seconds.',
  unavailable: 'The service cannot answer now. Try again in a few seconds.',
} as const satisfies Partial<Record<RefusalCode, string>>

/** Failures for which the pages have a better sentence than the service, in both languages. */
const ownWords: ReadonlySet<string> = new Set(Object.keys(own))

type ErrorKey = keyof typeof own | keyof typeof english

/** Sentences about failures by code. A code without a sentence gives itself. */
const errorWords = createWords(
  Object.fromEntries([
    ...Object.entries(own),
    ...Object.entries(english).map(([code, text]) => [code, [text, text]] as const),
  ]) as Record<ErrorKey, readonly [string, string]>,
)

/** The sentence about any thrown value, in the language of the page. */
export function errorText(cause: unknown): string {
  if (!(cause instanceof ApiError)) return errorWords('unexpected')
  const ours = cause.code as ErrorKey
  const { retryAfter } = cause
  if (ours === 'rate-limited' && retryAfter) return errorWords('limited.for', { n: retryAfter })
  const theirs = language.value === 'es' && cause.sentence !== '' && !ownWords.has(ours)
  if (theirs) return cause.sentence
  return errorWords(ours, { code: cause.code }) === ours
    ? errorWords('refused', { code: cause.code })
    : errorWords(ours, { origin: location.origin })
}
