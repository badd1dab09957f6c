import { createWords } from '../client/language.ts'
import { benefitWords } from './benefit.ts'

/** What every page says. */
export const commonWords = createWords(
  {
    'skip.main': ['Ir al contenido', 'Skip to content'],
    close: ['Cerrar', 'Close'],
    cancel: ['Cancelar', 'Cancel'],
    working: ['Un momento…', 'One moment…'],
    'prefs.language': ['Switch to English', 'Pasar a español'],
    'prefs.dark': ['Pasar a oscuro', 'Switch to dark'],
    'prefs.light': ['Pasar a claro', 'Switch to light'],
    'coupon.until': ['Vale hasta el {day}', 'Valid until {day}'],
    'coupon.forever': ['No vence', 'Never expires'],
    'coupon.unnamed': ['Tu cupón', 'Your coupon'],
    'print.scan': ['Escanealo con tu teléfono', 'Scan it with your phone'],
    'qr.coupon': ['Código QR del cupón', 'QR code of the coupon'],
    'status.minted': ['Sin usar', 'Not used yet'],
    'status.claimed': ['Canjeado', 'Redeemed'],
    'status.refreshed': ['Pasó a otra mano', 'Moved on'],
    'status.voided': ['Anulado', 'Voided'],
    'status.expired': ['Vencido', 'Expired'],
  },
  benefitWords,
)
