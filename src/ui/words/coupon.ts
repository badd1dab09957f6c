import { createWords } from './words.ts'

export const couponWords = createWords({
  title: ['Tu cupón', 'Your coupon'],
  'title.of': ['Tu cupón de {who}', 'Your coupon from {who}'],
  mine: ['Mis cupones', 'My coupons'],
  'mine.lead': [
    'Los que abriste quedan en este equipo. Si lo perdés, se pierden con él.',
    'Coupons that you have opened stay on this device. If you lose it, you lose them too.',
  ],
  'mine.none.title': ['Todavía no tenés cupones', 'You have no coupons yet'],
  'mine.none.detail': [
    'Cuando escanees el QR de un cupón, queda guardado acá.',
    'When you scan a coupon’s QR code, it is saved here.',
  ],
  terms: ['Condiciones', 'Conditions'],
  'mine.checked': ['Revisado {when}', 'Checked {when}'],
  'mine.refresh': ['Revisar de nuevo', 'Check again'],
  remove: ['Quitar', 'Remove'],
  'mine.remove': ['Quitar de este equipo', 'Remove from this device'],
  'mine.remove.of': ['Quitar de este equipo: {name}', 'Remove from this device: {name}'],
  'mine.remove.sure': [
    'Todavía se puede usar. Si lo quitás, lo abrís de nuevo sólo con su QR o su enlace. ¿Quitarlo?',
    'It can still be used. If you remove it, only its QR code or its link opens it again. Remove it?',
  ],
  'mine.remove.only': [
    'Todavía se puede usar, y este código lo tenés sólo vos: si lo quitás, nadie te lo puede devolver. ¿Quitarlo?',
    'It can still be used, and you are the only one with this code: if you remove it, nobody can give it back to you. Remove it?',
  ],
  'mine.remove.overdue': [
    'Puede que todavía valga, y si lo quitás no vuelve a esta lista. ¿Quitarlo?',
    'It may still be good, and once removed it does not come back to this list. Remove it?',
  ],
  'mine.remove.yes': ['Sí, quitarlo', 'Yes, remove it'],
  'mine.removed': ['Lo quitamos de este equipo.', 'We removed it from this device.'],
  'unseen.title': ['Cupón sin revisar', 'Coupon not checked yet'],
  'unseen.detail': [
    'Lo abriste {when}, sin conexión. Lo revisamos apenas vuelva.',
    'You opened it {when}, while offline. We check it as soon as we can.',
  ],
  'unseen.remove.of': [
    'Quitar de este equipo el cupón que abriste {when}',
    'Remove the coupon that you opened {when} from this device',
  ],
  'unseen.kept': [
    'El código ya está en tus cupones: lo revisamos apenas vuelva la conexión.',
    'Its code is in your coupons: we check it as soon as you are back online.',
  ],
  'unseen.moved': [
    'Lo abriste {when}, y no se pudo revisar. Mostralo en la caja.',
    'You opened it {when}, and it could not be checked. Show it at the till.',
  ],
  'open.code': ['Abrir un código', 'Open a code'],
  'open.action': ['Ver', 'View'],
  'open.wrong': ['Eso no es el código de un cupón.', 'That is not a coupon’s code.'],
  back: ['Volver a mis cupones', 'Back to my coupons'],
  cancel: ['Cancelar', 'Cancel'],
  again: ['Probar de nuevo', 'Try again'],

  'status.minted': ['Sin usar', 'Not used yet'],
  'status.claimed': ['Canjeado', 'Redeemed'],
  'status.refreshed': ['Cambió de manos', 'Changed hands'],
  'status.voided': ['Anulado', 'Voided'],
  'status.expired': ['Vencido', 'Expired'],
  'status.overdue': ['¿Vencido?', 'Expired?'],
  'status.unknown': ['No existe', 'Does not exist'],
  'status.minted.detail': ['Mostrá este QR en la caja.', 'Show this QR code at the till.'],
  'status.claimed.detail': ['Se canjeó {when}.', 'It was redeemed {when}.'],
  'status.refreshed.detail': [
    'Este código ya no vale: el cupón pasó a otra persona.',
    'This code is no longer valid: the coupon has gone to somebody else.',
  ],
  'status.voided.detail': ['El comercio anuló este cupón.', 'The shop voided this coupon.'],
  'status.expired.detail': ['Venció {when}.', 'It expired {when}.'],
  overdue: [
    'Según el reloj de este equipo, venció {when}. Si el reloj está mal, todavía puede valer: la caja lo dice.',
    'By this device’s clock, it expired {when}. If the clock is wrong, it may still be good: the till can tell.',
  ],
  'status.unknown.detail': [
    'Ningún cupón tiene ese código. Pedile a quien te lo dio que te lo pase de nuevo.',
    'No coupon has that code. Ask whoever gave it to you to send it again.',
  ],
  by: ['Lo da {who}', 'From {who}'],
  qr: ['QR de {name}', 'QR code of {name}'],
  'qr.signed': ['QR con firma de {name}', 'Signed QR code of {name}'],
  'qr.signed.show': ['Con firma, para una caja sin conexión', 'Signed, for a till that is offline'],
  'qr.signed.detail': [
    'Así una caja sin conexión puede revisar que es verdadero. No lo canjea.',
    'A till that is offline can check that it is genuine. This does not redeem it.',
  ],
  'qr.bigger': ['Ver el QR grande', 'Enlarge the QR code'],
  'qr.smaller': ['Achicar el QR', 'Shrink the QR code'],

  'offline.title': ['Sin conexión con el servicio', 'We cannot reach the service'],
  'offline.kept': [
    'Lo que ves es lo que sabíamos {when}. El QR sirve igual en la caja.',
    'This is what we knew {when}. The QR code still works at the till.',
  ],
  moved: [
    'Este negocio se mudó a otra computadora. Tus cupones sin usar valen igual: mostralos en la caja. Lo que pase con ellos ya no se ve acá.',
    'This shop has moved to another computer. Your unused coupons are still good: show them at the till. What happens to them no longer shows here.',
  ],
  'busy.title': ['El servicio no puede responder', 'The service cannot answer'],
  'offline.none': [
    'No pudimos preguntar por este cupón. Probá de nuevo en un rato.',
    'We could not ask about this coupon. Try again in a little while.',
  ],

  'take.title': ['¿Te lo pasaron? Hacelo tuyo', 'Did somebody send it to you? Make it yours'],
  'take.detail': [
    'Cambiamos el código por uno nuevo que sólo tenés vos. La copia de quien te lo dio deja de servir.',
    'We swap the code for a new one that only you have. The copy of whoever gave it to you stops working.',
  ],
  'take.action': ['Hacelo mío', 'Make it mine'],
  'take.working': ['Cambiando el código…', 'Swapping the code…'],
  'take.lost': [
    'No llegó la respuesta. Seguimos probando solos: no cierres todavía. Si se corta, seguimos cuando vuelvas a abrir esta página.',
    'No answer came back. We keep trying by ourselves: do not close this yet. If we are cut off, we carry on when you open this page again.',
  ],
  'take.moved': [
    'Este negocio se mudó y acá no podemos terminar el cambio de código. Si no llegó a hacerse, este código vale: mostralo en la caja.',
    'This shop has moved, and the code cannot be swapped here any more. If it was not swapped before, this code is good: show it at the till.',
  ],
  'take.often': [
    'Este cupón cambió de código muchas veces seguidas. Esperamos un segundo y seguimos solos: no cierres todavía.|Este cupón cambió de código muchas veces seguidas. Esperamos {n} segundos y seguimos solos: no cierres todavía.',
    'This coupon has changed code many times in a row. We will wait a second and carry on by ourselves: do not close this yet.|This coupon has changed code many times in a row. We will wait {n} seconds and carry on by ourselves: do not close this yet.',
  ],
  'take.done': [
    'Ya es tuyo: este código lo tenés sólo vos, y está en tus cupones.',
    'It is yours: only you have this code, and it is in your coupons.',
  ],
  'take.unkept': [
    'Ya es tuyo, pero este equipo no lo pudo guardar. Guardá la imagen antes de cerrar: es la única copia.',
    'It is yours, but this device could not save it. Save the image before you close this page: it is the only copy.',
  ],
  'take.gone': [
    'Llegaste tarde: otra persona lo cambió antes o ya no vale.',
    'Too late: somebody got there first, or it has ended.',
  ],
  'take.own': ['Es sólo tuyo', 'Yours alone'],

  keep: ['Guardar en mis cupones', 'Save to my coupons'],
  kept: ['Está en tus cupones', 'It is in your coupons'],
  'kept.full': [
    'No entra en tus cupones: ya hay 300 sin usar. Quitá uno, o guardá la imagen antes de cerrar.',
    'There is no room in your coupons: 300 are still unused. Remove one, or save the image before you close this page.',
  ],
  'kept.not': [
    'Este equipo no lo pudo guardar. Guardá la imagen.',
    'This device could not save it. Save the image.',
  ],
  image: ['Guardar como imagen', 'Save as an image'],
  'image.network': [
    'Esta página sólo se abre en el Wi-Fi del local. La imagen la tenés siempre, y la caja la lee igual.',
    'This page opens on the shop’s Wi-Fi only. You always have the image, and the till reads it just as well.',
  ],
  more: ['Más opciones', 'More'],

  'send.title': ['Enviarlo a una dirección', 'Send it to an address'],
  'send.detail': [
    'A una dirección Lightning como juana@tienda.com. Si lo recibe, tu copia deja de servir.',
    'To a Lightning address such as juana@shop.com. Once they receive it, your copy stops working.',
  ],
  'send.to': ['Dirección', 'Address'],
  'send.comment': ['Mensaje (si querés)', 'Message (optional)'],
  'send.action': ['Enviar', 'Send'],
  'send.working': ['Enviando…', 'Sending…'],
  'send.wrong': [
    'Revisá la dirección: es como un correo, nombre@lugar.',
    'Check the address: it looks like an email, name@place.',
  ],
  'send.sent': ['Enviado', 'Sent'],
  'send.sent.detail': [
    '{to} lo recibió. Tu copia ya no sirve.',
    '{to} received it. Your copy no longer works.',
  ],
  'send.not-sent': ['No se envió', 'Not sent'],
  'send.not-sent.detail': [
    'El cupón no salió de acá y sigue siendo tuyo.',
    'The coupon did not leave this device and is still yours.',
  ],
  'send.moved': ['Pasó a otras manos', 'It changed hands'],
  'send.moved.detail': [
    '{to} dijo que no, pero el cupón ya cambió de código. Tu copia no sirve más.',
    '{to} said no, but the coupon has already changed code. Your copy no longer works.',
  ],
  'send.unknown': ['No sabemos si llegó', 'We don’t know whether it arrived'],
  'send.unknown.detail': [
    '{to} vio el código y no confirmó: todavía puede tomarlo. Para que no pueda, hacelo tuyo ahora.',
    '{to} saw the code and did not confirm: they can still take it. To stop them, make it yours now.',
  ],
  'pass.open': [
    'Le pasaste el código a alguien: lo usa quien llega primero. Si querés que vuelva a ser sólo tuyo, hacelo tuyo.',
    'You passed the code on, and only the first to use it gets the benefit. To have it to yourself again, make it yours.',
  ],
  'send.recover': ['Recuperarlo ahora', 'Get it back now'],
  'send.again': ['Enviarlo de nuevo a la misma dirección', 'Send it to the same address again'],
  'send.open': [
    'Lo enviaste a {to} y no sabemos si llegó: todavía puede tomarlo. Para que no pueda, hacelo tuyo.',
    'You sent it to {to} and we don’t know whether it arrived: they can still take it. To stop them, make it yours.',
  ],
})
