import { benefitWords } from './benefit-text.ts'
import { createWords } from './words.ts'

/** Sentences of every page. */
export const commonWords = createWords(
  {
    'skip.main': ['Ir al contenido', 'Skip to content'],
    close: ['Cerrar', 'Close'],
    cancel: ['Cancelar', 'Cancel'],
    'prefs.language': ['Switch to English', 'Pasar a español'],
    'prefs.dark': ['Pasar a oscuro', 'Switch to dark'],
    'prefs.light': ['Pasar a claro', 'Switch to light'],
    'coupon.until': ['Vale hasta el {day}', 'Valid until {day}'],
    'coupon.forever': ['No vence', 'Does not expire'],
    'coupon.unnamed': ['Tu cupón', 'Your coupon'],
    'print.more': [
      'El texto puede seguir en otro ticket',
      'The text may continue on another ticket',
    ],
    'print.scan': ['Escanealo con tu teléfono', 'Scan it with your phone'],
    'print.scan.network': [
      'Escanealo en el Wi-Fi del local, o mostralo en la caja',
      'Scan it on the shop’s Wi-Fi, or show it at the till',
    ],
    'hand.for': ['Para {name}', 'For {name}'],
    'print.wifi': ['Wi-Fi: {network}', 'Wi-Fi: {network}'],
    'pin.show': ['Mostrar', 'Show'],
    'pin.hide': ['Ocultar', 'Hide'],
    copy: ['Copiar', 'Copy'],
    copied: ['Copiado', 'Copied'],
    uncopied: [
      'El navegador no dejó copiar. Mantené apretado el texto.',
      'The browser did not let us copy. Press and hold the text.',
    ],
    'setting.who': [
      'Quien instaló el servicio lo tiene que iniciar con esta configuración:',
      'Whoever installed the service has to start it with this setting:',
    ],
    'read.scan': ['Escanear el QR', 'Scan the QR code'],
    'read.photo': ['Usar una foto del QR', 'Use a photo of the QR code'],
    'read.none': [
      'No encontramos un QR en esa foto. Sacala más de cerca.',
      'There is no QR code in that photo. Take it from closer up.',
    ],
    'read.camera': ['Apuntá al QR', 'Point at the QR code'],
    'read.camera.none': [
      'No pudimos usar la cámara. Probá con una foto.',
      'We could not use the camera. Try a photo.',
    ],
    'shop.unnamed': ['un negocio sin nombre', 'a shop without a name'],
    'shop.key.show': ['Ver clave', 'Show its key'],
    'qr.coupon': ['Código QR del cupón', 'QR code of the coupon'],
    'typed.title': ['Código para escribir', 'Code to type'],
    'typed.sign': [
      'Revisá el grupo {where}: tiene un signo que los códigos no llevan.',
      'Check group {where}: it has a character that no code has.',
    ],
    'typed.short': [
      'Al código le falta un carácter.|Al código le faltan {n} caracteres.',
      'The code is one character short.|The code is {n} characters short.',
    ],
    'typed.long': [
      'Al código le sobra un carácter.|Al código le sobran {n} caracteres.',
      'The code is one character too long.|The code is {n} characters too long.',
    ],
    'typed.length': [
      'Revisá el grupo {where}: cada grupo lleva 4 caracteres.',
      'Check group {where}: each group has 4 characters.',
    ],
    'typed.sum': [
      'Algo no coincide. Comparalo con el cupón, grupo por grupo.',
      'Something does not match. Compare it with the coupon, group by group.',
    ],
    'typed.sum.at': [
      'Algo no coincide. Revisá primero el grupo {where}.|Algo no coincide. Revisá primero los grupos {where}.',
      'Something does not match. Check group {where} first.|Something does not match. Check groups {where} first.',
    ],
    'local.only': [
      'Esta dirección se abre sólo en este equipo. Para que la abra otro, entrá acá por la dirección que usan los demás equipos del local.',
      'This address only opens on this device. For others to open it, use the address that the shop’s other devices use.',
    ],
    'status.minted': ['Sin usar', 'Not used yet'],
    'status.claimed': ['Canjeado', 'Redeemed'],
    'status.refreshed': ['Cambió de manos', 'Changed hands'],
    'status.voided': ['Anulado', 'Voided'],
    'status.expired': ['Vencido', 'Expired'],
  },
  benefitWords,
)
