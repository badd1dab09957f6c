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
    'We received an answer that we do not understand. Reload the page.',
  ],
  // Its readers are a merchant and a cashier, so it says what happens to the coupons that they gave out.
  'disk-low': [
    'El disco del servicio está casi lleno y por ahora no guarda nada nuevo. Los cupones que ya entregaste se canjean igual. Avisale a quien maneja el servicio.',
    'The service’s disk is nearly full, and for now it cannot save anything new. Coupons already handed over can be redeemed as usual. Tell whoever runs the service.',
  ],
  'limited.for': [
    'Hiciste demasiados pedidos seguidos. Probá de nuevo en un segundo.|Hiciste demasiados pedidos seguidos. Probá de nuevo en {n} segundos.',
    'Too many requests in a row. Try again in a second.|Too many requests in a row. Try again in {n} seconds.',
  ],
  unexpected: [
    'Algo salió mal. Actualizá la página y probá de nuevo.',
    'Something went wrong. Reload the page and try again.',
  ],
  // The setting that helps stands below it, for the person who installed the service.
  'auth-origin-unknown': [
    'El servicio no reconoce esta dirección como propia. Abrilo por su dirección de siempre.',
    'The service does not recognise this address as its own. Open it at its usual address.',
  ],
  'auth-url-mismatch': [
    'La firma es para otra dirección. Entrá de nuevo.',
    'The signature is for another address. Sign in again.',
  ],
  'announcement-future': [
    'El reloj de tu equipo está adelantado. Ponelo en hora y publicá de nuevo.',
    'Your device’s clock is ahead. Set it right and publish again.',
  ],
  'announcement-older': [
    'Publicaste de nuevo mientras tanto. Recargá la página.',
    'You published again in the meantime. Reload the page.',
  ],
  'minters-full': [
    'No entran más cajas. Quitá alguna que no uses.',
    'There is no room for more tills. Remove one that you do not use.',
  ],
  moved: [
    'Este negocio se mudó a otra computadora. Acá ya no se canjea nada: usá su dirección nueva.',
    'This shop has moved to another computer. Nothing is redeemed here any more: use its new address.',
  ],
  'move-in-clear': [
    'La mudanza lleva todas las claves: hacela en la misma computadora de la Cuponera, o por su dirección segura.',
    'The move carries all the keys: do it on the service’s own computer, or at its secure address.',
  ],
  'move-not-begun': [
    'Esta computadora está abierta: no hay ninguna mudanza.',
    'This computer is open: there is no move under way.',
  ],
  refused: [
    'El servicio no lo aceptó ({code}).',
    'The service did not accept it ({code}). Check it and try again.',
  ],
} as const

const english = {
  'shutting-down': 'The service is restarting. Try again in a few seconds.',
  'too-large': 'What you sent is too large. Send something smaller.',
  'request-timeout': 'Your request took too long to arrive. Try again.',
  'rate-limited': 'Too many requests in a row. Wait a moment and try again.',
  'auth-missing': 'You are not signed in. Sign in.',
  'auth-malformed': 'The signature is not valid. Sign again.',
  'auth-expired': 'The signature is too old. Check your device’s clock and sign again.',
  'auth-replay': 'That signature has already been used. Sign again.',
  'auth-session-expired': 'Your session has ended. Sign in again.',
  'auth-session-invalid': 'Your session is not valid. Sign in again.',
  'field-invalid': 'Something you entered is not valid. Correct it and try again.',
  'benefit-invalid': 'The benefit is not valid. Check the details.',
  'expiry-past': 'That date is in the past. Choose a later one.',
  'picture-invalid': 'That photo cannot be read. Choose another one.',
  'picture-too-wide': 'That photo is too large. Choose a smaller one.',
  'picture-unknown': 'That photo is no longer stored. Upload it again.',
  'pictures-full':
    'You have as many photos in use as you can have. Archive a coupon that is over, or use a photo that you uploaded before.',
  'nothing-to-change': 'There is nothing to change.',
  'batch-unknown': 'That batch does not exist.',
  'batch-full': 'That batch is full. Begin another one.',
  'batches-full':
    'This coupon has as many batches as it can have. Duplicate it and carry on with the copy.',
  'poster-unknown': 'That poster does not exist, or the shop took it down.',
  'poster-ended': 'This offer is over.',
  'poster-paused': 'The shop has put this offer on hold. Try again later.',
  'poster-taken': 'You already have your coupon. Look for it under “My coupons”.',
  'poster-exhausted': 'All the coupons are gone.',
  'poster-today': 'There are no coupons left for today. Come back tomorrow.',
  'posters-full': 'You have as many posters as you can have. Delete one that you no longer use.',
  'minter-is-owner': 'That key is yours: you can already issue your coupons.',
  'nonce-invalid': 'That is not a coupon’s code. Scan it again.',
  'merchant-not-allowed': 'Your shop has not been added to this service.',
  'setup-code-wrong':
    'That code is wrong, or has already been used. Check it, or ask whoever runs the service for the current one.',
  'merchants-owner-only': 'Only the person who set up the service can add or remove shops.',
  'merchant-unknown': 'No shop here has that key. Check it.',
  'merchants-by-setting': 'On this service, shops are chosen in its settings.',
  'merchant-is-owner': 'That key can only be removed on the computer where the service runs.',
  'merchants-full': 'There is no room for more shops. Remove one that has left.',
  'mint-not-allowed': 'You are not allowed to issue this coupon. Ask the shop.',
  'coupon-unknown': 'That coupon does not exist.',
  'voucher-unknown': 'No coupon has that code. Check it.',
  'minter-unknown': 'We could not find that key. Check what you typed.',
  'other-merchant': 'This coupon belongs to another shop. It can only be redeemed there.',
  'voucher-claimed': 'This coupon has already been redeemed.',
  'voucher-refreshed': 'This code was swapped for another: the coupon has changed hands.',
  'voucher-voided': 'The shop has already voided this coupon.',
  'voucher-moved': 'This code is no longer valid: the coupon has changed hands.',
  'voucher-cancelled': 'The shop voided this coupon.',
  'voucher-expired': 'This coupon has expired.',
  'not-now': 'This cannot be done now. Check from when and at what times it is valid.',
  'minimum-not-met': 'The purchase is below the minimum for this coupon.',
  'coupon-archived': 'This coupon is archived and is no longer issued.',
  'coupon-expired': 'This coupon has expired and is no longer issued.',
  'coupon-exhausted': 'All of these coupons have been issued.',
  'definitions-full': 'There is no room for more coupons. Delete one that you do not use.',
  'vouchers-day-full': 'No more coupons can be issued on this service today. Carry on tomorrow.',
  'bytes-day-full': 'Nothing more can be saved on this service today. Carry on tomorrow.',
  'move-passphrase-wrong': 'Those words do not open the move file. Check them and try again.',
  'move-file-damaged':
    'The move file is damaged or incomplete. Bring it again from the other computer.',
  'move-not-allowed': 'Only the person who set up the service can move it.',
  'move-not-empty': 'This service already has data. A move only goes into a newly installed one.',
  'clock-behind': 'The service’s clock is slow. Tell the shop.',
  'outbox-full': 'Too much is waiting to be sent. Try again later.',
  overloaded: 'The service is busy. Try again in a few seconds.',
  unavailable: 'The service cannot answer right now. Try again in a few seconds.',
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
    : errorWords(ours)
}
