import { commonWords } from './common.ts'
import { createWords } from './words.ts'

/** Sentences about handing a coupon over, on every page. */
export const handWords = createWords(
  {
    'reach.network': [
      'Para abrirlo, tu cliente tiene que estar en el Wi-Fi del local, o guardar la imagen: la caja la lee igual.',
      'To open it, your customer has to be on the shop’s Wi-Fi, or save the image: the till reads it just as well.',
    ],
    'reach.device': [
      'El teléfono de tu cliente no puede abrir este código, porque entraste por una dirección que es sólo de este equipo. Entrá por la que usan los demás equipos del local, o dale la imagen: la caja la lee igual.',
      'Your customer’s phone cannot open this code, because you opened this page at an address that only works on this device. Open it at the address that the shop’s other devices use, or give them the image: the till reads it just as well.',
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
    'hand.whatsapp.to': ['WhatsApp al {number}', 'WhatsApp to {number}'],
    'hand.image.share': ['Compartir imagen', 'Share image'],
    'hand.image': ['Guardar imagen', 'Save image'],
    'hand.url': ['Enlace y código para escribir', 'Link and code to type'],
    'number.offer': ['WhatsApp a un número', 'WhatsApp to a number'],
    'number.label': ['Número de teléfono', 'Phone number'],
    'number.hint': [
      'Con código de área, como 11 2345-6789. De otro país, con + adelante.',
      'With the area code, such as 11 2345-6789. For another country, begin with +.',
    ],
    'number.used': ['Va a {number}.', 'It goes to {number}.'],
    'number.area': [
      'Falta el código de área, como 11 o 351.',
      'The area code, such as 11 or 351, is missing.',
    ],
    'number.wrong': [
      'Revisá el número: no puede ser ese.',
      'Check the number: it cannot be right.',
    ],
    'number.do': ['Abrir WhatsApp', 'Open WhatsApp'],
    'number.recent': [
      'Los últimos, guardados sólo en este equipo',
      'The latest, kept on this device only',
    ],
    'number.forget': ['Quitar {number}', 'Remove {number}'],
    'wifi.title': ['El Wi-Fi del local', 'The shop’s Wi-Fi'],
    'wifi.offer': ['Mostrar también un QR del Wi-Fi', 'Show a QR code for the Wi-Fi as well'],
    'wifi.how': [
      'Primero, que se conecte a «{network}» con este otro código.',
      'First, let them join “{network}” with this other code.',
    ],
    'wifi.qr': ['Código QR del Wi-Fi {network}', 'QR code of the Wi-Fi {network}'],
    'wifi.settings': ['Imprimir o cambiar el Wi-Fi', 'Print or change the Wi-Fi'],
    'wifi.print': ['Imprimirlo en tickets y afiches', 'Print it on tickets and posters'],
    'wifi.edit': ['Cambiarlo', 'Change it'],
    'wifi.forget': ['Quitarlo', 'Remove it'],
    'wifi.private': [
      'Queda guardado sólo en este equipo. Usá la red para clientes: quien lea el código se conecta.',
      'It stays on this device only. Use the network for customers: whoever reads the code can join.',
    ],
    'wifi.unkept': [
      'Este navegador no lo guarda para la próxima vez.',
      'This browser does not save it for next time.',
    ],
    'wifi.network': ['Nombre de la red', 'Name of the network'],
    'wifi.network.wrong': [
      'Escribí el nombre tal como lo muestra el teléfono, de hasta 32 letras.',
      'Type the name as the phone shows it, with up to 32 letters.',
    ],
    'wifi.key': ['Contraseña del Wi-Fi (opcional)', 'Wi-Fi password (optional)'],
    'wifi.key.hint': [
      'Vacía si la red no pide una.',
      'Leave it empty if the network asks for none.',
    ],
    'wifi.key.wrong': [
      'Una contraseña de Wi-Fi tiene de 8 a 63 letras, números o signos, sin acentos.',
      'A Wi-Fi password has 8 to 63 letters, digits or symbols, without accents.',
    ],
    'wifi.hidden': ['La red está oculta', 'The network is hidden'],
    'wifi.do': ['Mostrar el código', 'Show the code'],
    'message.opening': ['Te paso un cupón:', 'Here is a coupon for you:'],
    'message.shop': ['Te paso un cupón de {shop}:', 'Here is a coupon for you from {shop}:'],
    'message.open.anywhere': ['Abrilo en tu teléfono:', 'Open it on your phone:'],
    'message.code': ['O mostrá este código en la caja:', 'Or show this code at the till:'],
    'message.code.only': ['Mostrá este código en la caja:', 'Show this code at the till:'],
    'message.open.network': [
      'Abrilo en tu teléfono, en el Wi-Fi del local:',
      'Open it on your phone, on the shop’s Wi-Fi:',
    ],
    'message.take.anywhere': [
      'Abrilo en tu teléfono y tocá «Hacelo mío», así es sólo tuyo:',
      'Open it on your phone and tap “Make it mine”, so that it is only yours:',
    ],
    'message.take.network': [
      'Abrilo en tu teléfono, en el Wi-Fi del local, y tocá «Hacelo mío», así es sólo tuyo:',
      'Open it on your phone, on the shop’s Wi-Fi, and tap “Make it mine”, so that it is only yours:',
    ],
    'pass.title': ['Pasárselo a alguien', 'Pass it on'],
    'pass.copy': [
      'Tu copia también va a servir hasta que la otra persona toque «Hacelo mío»: la usa quien llega primero. No lo uses vos ni se lo pases a nadie más.',
      'Your copy keeps working until the other person taps “Make it mine”, and only the first to use it gets the benefit. Don’t use it yourself or pass it to anyone else.',
    ],
    'pass.network': [
      'Sólo se abre en el Wi-Fi del local. Si esa persona no está ahí, mejor pasale la imagen.',
      'It opens on the shop’s Wi-Fi only. If the other person is not there, send them the image instead.',
    ],
    'pass.others': [
      'Además, quien te lo pasó a vos todavía tiene el mismo código. Antes de pasarlo, hacelo tuyo.',
      'The person who sent it to you still has the same code, too. Make it yours before you pass it on.',
    ],
  },
  commonWords,
)
