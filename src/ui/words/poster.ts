import { couponWords } from './coupon.ts'
import { createWords } from './words.ts'

/** Sentences of the page of a poster. */
export const posterWords = createWords(
  {
    title: ['Un cupón para vos', 'A coupon for you'],
    'title.of': ['Un cupón de {who}', 'A coupon from {who}'],
    take: ['Quiero mi cupón', 'I want my coupon'],
    'take.another': ['Quiero otro', 'I want another one'],
    'take.how': [
      'Queda guardado en este navegador, en «Mis cupones». No hace falta registrarse.',
      'It is saved in this browser, under “My coupons”. There is nothing to sign up for.',
    ],
    'take.unkept': [
      'Este navegador no guarda nada de esta página. Podés llevarte el cupón, pero guardá la imagen antes de cerrarla.',
      'This browser saves nothing from this page. You can take the coupon, but save the image before you close it.',
    ],
    'take.working': ['Buscando tu cupón…', 'Getting your coupon…'],
    'take.moved': [
      'Este negocio se mudó y acá ya no se dan cupones. Escaneá el afiche nuevo en el local.',
      'This shop has moved and gives no more coupons here. Scan the new poster at the shop.',
    ],
    'take.often': [
      'Hay mucha gente pidiendo a la vez. Esperamos un segundo y seguimos solos.|Hay mucha gente pidiendo a la vez. Esperamos {n} segundos y seguimos solos.',
      'Many people are asking at once. We will wait a second and carry on by ourselves.|Many people are asking at once. We will wait {n} seconds and carry on by ourselves.',
    ],
    'take.clock': [
      'La hora de este equipo está mal. Ponela en automático y probá de nuevo.',
      'This device’s clock is wrong. Set it to automatic and try again.',
    ],
    'taken.had': ['Ya te llevaste tu cupón de este afiche.', 'You have already taken your coupon.'],
    'taken.show': ['Verlo de nuevo', 'Show it again'],
    'taken.elsewhere': [
      'Tu cupón del afiche ya está en «Mis cupones».',
      'The coupon that you asked for is under “My coupons” now.',
    ],

    'state.paused': [
      'El negocio pausó este afiche. Probá más tarde.',
      'The shop has put this offer on hold. Try again later.',
    ],
    'state.not-started': [
      'Todavía no empezó. Podés llevarte tu cupón desde {when}.',
      'It has not started yet. You can take your coupon from {when}.',
    ],
    'state.ended': ['Esto ya terminó: no se dan más cupones.', 'This is over: no more coupons.'],
    'state.exhausted': ['Ya se llevaron todos los cupones.', 'All the coupons are gone.'],
    'state.today-exhausted': [
      'Por hoy no quedan cupones. Volvé mañana.',
      'There are no coupons left for today. Come back tomorrow.',
    ],
    'state.until': [
      'Podés llevarte tu cupón hasta {when}.',
      'You can take your coupon until {when}.',
    ],
    unknown: ['Este afiche ya no está', 'This offer is gone'],
    'unknown.detail': [
      'El negocio lo quitó, o la dirección está mal copiada. Escaneá el QR de nuevo.',
      'The shop took it down, or the address is wrong. Scan the QR code again.',
    ],
    'offline.detail': [
      'No pudimos abrir este afiche. Revisá la conexión y probá de nuevo.',
      'We could not open this offer. Check your connection and try again.',
    ],
  },
  couponWords,
)

/** The reason why a take was refused. Its visitor has signed nothing, as far as they know. */
export function refusalWords(code: string, message: string | null): string {
  return code === 'auth-expired'
    ? posterWords('take.clock')
    : (message ?? posterWords('state.ended'))
}
