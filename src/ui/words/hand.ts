import { commonWords } from './common.ts'
import { createWords } from './words.ts'

/** Sentences about handing a coupon over, on every page. */
export const handWords = createWords(
  {
    'reach.network': [
      'Para abrirlo, tu cliente tiene que estar en el Wi-Fi del local, o guardar la imagen: la caja la lee igual.',
      'To open it, your customer has to be on the shop’s Wi-Fi, or keep the picture: the till reads it just the same.',
    ],
    'reach.device': [
      'El teléfono de tu cliente no puede abrir este código, porque entraste por una dirección que es solo de este equipo. Entrá por la que usan los demás equipos del local, o dale la imagen: la caja la lee igual.',
      'Your customer’s phone cannot open this code, since you came in by an address of this device alone. Come in by the one that the other devices of the shop use, or give them the picture: the till reads it just the same.',
    ],
    'hand.link': ['Copiar el enlace', 'Copy the link'],
    'hand.links': ['Copiar los enlaces', 'Copy the links'],
    'hand.copied': ['Enlace copiado.', 'Link copied.'],
    'hand.uncopied': [
      'El navegador no dejó copiar. Mantené apretado el enlace.',
      'The browser did not let us copy. Press and hold the link.',
    ],
    'hand.share': ['Compartir', 'Share'],
    'hand.whatsapp': ['WhatsApp', 'WhatsApp'],
    'hand.image': ['Guardar imagen', 'Save image'],
    'hand.url': ['Dirección del cupón', 'Address of the coupon'],
    'message.opening': ['Te paso un cupón:', 'Here is a coupon for you:'],
    'message.shop': ['Te paso un cupón de {shop}:', 'Here is a coupon for you from {shop}:'],
    'message.open': ['Abrilo en tu teléfono:', 'Open it on your phone:'],
    'message.open.network': [
      'Abrilo en tu teléfono, en el Wi-Fi del local:',
      'Open it on your phone, on the shop’s Wi-Fi:',
    ],
  },
  commonWords,
)
