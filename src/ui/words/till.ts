import type { Money } from '../../coupons/money.ts'
import { money } from './format.ts'
import { createWords } from './words.ts'

export const tillWords = createWords({
  'title.of': ['{who} · Caja', '{who} · Till'],
  'tab.redeem': ['Canjear', 'Redeem'],
  'tab.issue': ['Emitir', 'Issue'],
  'tab.settings': ['Ajustes', 'Settings'],
  sections: ['Partes de la caja', 'Parts of the till'],

  'redeem.title': ['Canjear un cupón', 'Redeem a coupon'],
  'redeem.lead': [
    'Escaneá el QR del cliente. Primero vas a ver qué vale; después, un toque lo canjea.',
    'Scan the customer’s QR code. First you see what it is worth; then one tap redeems it.',
  ],
  'redeem.camera': ['Escanear con la cámara', 'Scan with the camera'],
  'redeem.photo': ['Leer una foto del QR', 'Read a photo of the QR code'],
  'redeem.photo.none': [
    'En esa foto no encontramos un QR. Sacala de cerca, derecha y con luz.',
    'There is no QR code in that photo. Take it close up, straight and in good light.',
  ],
  'redeem.code': ['Código del cupón', 'Coupon code'],
  'redeem.code.hint': [
    'Está debajo del QR, en 7 grupos de 4. Con un lector USB o Bluetooth no hace falta tocar nada: escaneá y listo.',
    'It is below the QR code, in 7 groups of 4. With a USB or Bluetooth scanner there is nothing to tap: just scan.',
  ],
  'redeem.look': ['Ver cupón', 'Look it up'],
  'redeem.paste': ['Pegar', 'Paste'],
  'redeem.paste.denied': [
    'El navegador no dejó pegar. Pegalo vos en el campo: con Ctrl + V, o mantenelo apretado y elegí «Pegar».',
    'The browser did not let us paste. Paste into the field yourself: with Ctrl + V, or press and hold it and choose “Paste”.',
  ],
  'redeem.paste.empty': [
    'No hay ningún texto copiado: copiá primero el código.',
    'There is no copied text: copy the code first.',
  ],
  'redeem.other.nothing': ['Escribí o escaneá un código.', 'Type or scan a code.'],
  'redeem.other.key': ['Eso es una clave, no un cupón.', 'That is a key, not a coupon.'],
  'redeem.other.payment': [
    'Eso es un pedido de pago, no un cupón.',
    'That is a payment request, not a coupon.',
  ],
  'redeem.other.address': [
    'Esa dirección no lleva a un cupón.',
    'That address does not lead to a coupon.',
  ],
  'redeem.other.text': [
    'Eso no es el código de un cupón. Está debajo de su QR, en 7 grupos de 4.',
    'That is not the code of a coupon. It is below its QR code, in 7 groups of 4.',
  ],

  'camera.aim': ['Apuntá al QR del cupón', 'Point at the coupon’s QR code'],
  'camera.stop': ['Cerrar cámara', 'Close camera'],
  'camera.light': ['Linterna', 'Torch'],
  'camera.insecure': [
    'El navegador no presta la cámara en una página sin https. Usá una foto, un lector o escribí el código.',
    'The browser does not allow the camera on a page without https. Use a photo or a scanner, or type the code.',
  ],
  'camera.denied': [
    'La cámara está bloqueada para esta página. Permitila en los ajustes del navegador.',
    'The camera is blocked for this page. Allow it in your browser’s settings.',
  ],
  'camera.none': [
    'Este equipo no tiene una cámara que podamos usar.',
    'This device has no camera that we can use.',
  ],
  'camera.busy': [
    'Otra aplicación está usando la cámara. Cerrala y probá de nuevo.',
    'Another app is using the camera. Close it and try again.',
  ],
  'tls.ask': [
    'Pedile a quien instaló la Cuponera que active https.',
    'Ask whoever installed Cuponera to turn on https.',
  ],
  'tls.link': ['Cómo activar https acá', 'How to turn on https here'],

  'looking.title': ['Buscando el cupón…', 'Looking the coupon up…'],
  'shown.until': ['Vale hasta el {when}', 'Valid until {when}'],
  'shown.always': ['No vence', 'Does not expire'],
  'shown.ours': ['Es de este comercio', 'It belongs to this shop'],
  'purchase.amount': [
    '¿De cuánto es la compra? (opcional)',
    'How much is the purchase? (optional)',
  ],
  'purchase.hint': [
    'Si lo escribís, controlamos la compra mínima.',
    'If you type it, we check the minimum purchase.',
  ],
  'purchase.wrong': ['Escribí un monto, o dejalo vacío.', 'Type an amount, or leave it empty.'],
  'purchase.small': [
    'La compra tiene que ser de {money} o más.',
    'The purchase has to be {money} or more.',
  ],
  'shown.redeem': ['Canjear', 'Redeem'],
  cancel: ['Cancelar', 'Cancel'],
  next: ['Otro cupón', 'Another coupon'],
  again: ['Probar de nuevo', 'Try again'],
  close: ['Cerrar', 'Close'],

  'shop.ask': ['¿Esta caja es de {who}?', 'Does this till belong to {who}?'],
  'shop.first': [
    'Ese comercio emitió el cupón que leíste: {benefit}. Te lo preguntamos una sola vez: si es el tuyo, esta caja va a canjear sus cupones y los de nadie más.',
    'That shop issued the coupon that you scanned: {benefit}. We ask only once: if it is yours, this till will redeem its coupons and nobody else’s.',
  ],
  'shop.offer': [
    'Si decís que sí, esta caja canjea los cupones de ese comercio y ningún otro.',
    'If you say yes, this till redeems the coupons of that shop and no other.',
  ],
  'shop.offer.more': [
    'Esta caja ya es de {who}. Si decís que sí, va a canjear los cupones de los dos.',
    'This till already belongs to {who}. If you say yes, it will redeem the coupons of both.',
  ],
  'shop.doubt': [
    'El nombre lo pone cada negocio, y otro puede usar el tuyo. Si no sabés de dónde salió esto, decí que no y leé el QR de «Cajas» en tu panel.',
    'Each shop chooses its own name, so another may use yours. If you do not know where this came from, say no and scan the QR code under “Tills” in your panel.',
  ],
  'shop.check': [
    'Tiene que ser la misma clave que muestra tu panel en «Ajustes».',
    'It must be the same key that your panel shows under “Settings”.',
  ],
  'shop.yes': ['Sí, es mi comercio', 'Yes, it is my shop'],
  'shop.no': ['No, es de otro', 'No, it is somebody else’s'],
  'shop.added': [
    'Listo: esta caja canjea los cupones de ese comercio.',
    'Done: this till redeems that shop’s coupons.',
  ],
  'shop.add': ['Agregar un comercio', 'Add a shop'],
  'shop.add.how': [
    'Leé el QR que el panel de ese comercio muestra en «Cajas».',
    'Scan the QR code that the shop’s panel shows under “Tills”.',
  ],
  'shop.key': ['O escribí la clave del comercio', 'Or type the shop’s key'],
  'shop.key.hint': [
    'La copiás de su panel, en «Ajustes».',
    'Copy it from its panel, under “Settings”.',
  ],
  'shop.wrong': [
    'Ahí no hay la clave de un comercio. Leé el QR de «Cajas» en su panel.',
    'There is no shop’s key in that. Scan the QR code under “Tills” in its panel.',
  ],

  'redeeming.title': ['Canjeando…', 'Redeeming…'],
  'lost.title': ['Sin confirmar', 'Not confirmed'],
  'lost.detail': [
    'No llegó la respuesta: todavía no sabemos si se canjeó. Seguimos preguntando, y no se va a canjear dos veces.',
    'No answer came back: we do not know yet whether it was redeemed. We keep asking, and it will not be redeemed twice.',
  ],
  'lost.count': [
    'Un intento sin respuesta|{n} intentos sin respuesta',
    'One try without an answer|{n} tries without an answer',
  ],
  'lost.later': ['Dejarlo para después', 'Leave it for later'],

  'done.success': ['Canjeado', 'Redeemed'],
  'done.success.detail': ['Entregá el beneficio.', 'Hand over the benefit.'],
  'done.settled': ['Canje confirmado', 'Redemption confirmed'],
  'done.settled.detail': [
    'Se canjeó {when}. Si ya entregaste el beneficio, no lo entregues de nuevo.',
    'It was redeemed {when}. If you have already handed over the benefit, do not hand it over again.',
  ],
  'done.already': ['Ya se había canjeado', 'Already redeemed'],
  'done.already.detail': [
    'Se canjeó {when}. No lo entregues de nuevo.',
    'It was redeemed {when}. Do not hand it over again.',
  ],
  'done.foreign': ['Este cupón es de otro comercio', 'This coupon belongs to another shop'],
  'done.foreign.detail': [
    'Esta caja no lo canjea. Si el cliente no lo usó, le sigue sirviendo en ese comercio:',
    'This till does not redeem it. Unless the customer has already used it, it is still valid at that shop:',
  ],
  'done.foreign.alike': [
    'Se presenta con el mismo nombre que tu comercio, y no es tu comercio.',
    'It uses the same name as your shop, but it is not your shop.',
  ],
  'done.expired': ['Venció', 'Expired'],
  'done.expired.detail': ['Venció {when}.', 'It expired {when}.'],
  'done.voided': ['Anulado', 'Voided'],
  'done.voided.detail': ['El comercio anuló este cupón.', 'The shop voided this coupon.'],
  'done.moved': ['Cambió de manos', 'Changed hands'],
  'done.moved.detail': [
    'Este código ya no vale: el cupón pasó a otra persona, que tiene el código nuevo.',
    'This code is no longer valid: the coupon has gone to somebody else, who has the new code.',
  ],
  'done.later': ['Ahora no se puede usar', 'Not valid right now'],
  'done.small': ['La compra no alcanza', 'The purchase is too small'],
  'done.small.detail': [
    'Es menos que la compra mínima de este cupón.',
    'It is less than the minimum purchase for this coupon.',
  ],
  'done.barred': ['Esta caja no está autorizada', 'This till is not authorised'],
  'done.barred.detail': [
    'Este comercio sólo canjea en sus cajas autorizadas. El cupón sigue sin usar.',
    'This shop redeems only at its authorised tills. The coupon is still unused.',
  ],
  'done.barred.show': [
    'Mostrale este QR al comercio: lo lee en su panel, en «Cajas», y la autoriza.',
    'Show this QR code to the shop: it scans it in its panel, under “Tills”, and authorises this till.',
  ],
  'done.barred.locked': [
    'Puede que ya esté autorizada: abrila con su PIN y seguimos con este cupón.',
    'It may be authorised already: open it with its PIN to go on with this coupon.',
  ],
  'done.barred.keyless': [
    'Hacele una clave a esta caja: después el comercio la autoriza con el QR que muestra.',
    'Create a key for this till: then the shop authorises it with the QR code that it shows.',
  ],
  'done.unknown': ['No lo conocemos', 'We don’t know it'],
  'done.unknown.detail': [
    'Nadie emitió este código acá. Escanealo de nuevo.',
    'Nobody issued this code here. Scan it again.',
  ],
  'done.unknown.elsewhere': [
    'Este código es de otro servicio: {host}.',
    'This code belongs to another service: {host}.',
  ],
  'refused.title': ['No se pudo', 'It didn’t work'],
  'refused.detail': ['El servicio no lo aceptó.', 'The service did not accept it.'],

  'offline.title': ['Sin conexión con el servicio', 'We cannot reach the service'],
  'offline.detail': [
    'No pudimos preguntar por este cupón y NO se canjeó. Probá de nuevo cuando vuelva la conexión.',
    'We could not ask about this coupon and it was NOT redeemed. Try again when the connection is back.',
  ],
  'page.title': ['Se está canjeando en otra ventana', 'Another window is redeeming it'],
  'page.detail': [
    'Otra ventana de esta caja espera la respuesta de este cupón. El resultado aparece ahí.',
    'Another window of this till is waiting for the answer for this coupon. The outcome appears there.',
  ],
  'busy.title': ['El servicio no puede responder', 'The service cannot answer'],
  'busy.detail': ['Este cupón NO se canjeó.', 'This coupon was NOT redeemed.'],
  'offline.banner': [
    'Sin conexión con el servicio. No se puede canjear ni emitir hasta que vuelva.',
    'We cannot reach the service. Nothing can be redeemed or issued until it is back.',
  ],
  'verdict.genuine': [
    'La firma es buena: este servicio lo emitió. No podemos saber si ya se usó.',
    'The signature is good: this service issued it. We cannot know whether it was used.',
  ],
  'verdict.expired': [
    'La firma es buena, pero el cupón venció.',
    'The signature is good, but the coupon has expired.',
  ],
  'verdict.benefit': [
    'La firma de «{name}» es buena, pero esta página no conoce su beneficio. Canjealo cuando vuelva la conexión.',
    'The signature of “{name}” is good, but this page does not know its benefit. Redeem it when the connection is back.',
  ],
  'verdict.other-merchant': [
    'La firma es buena, pero el cupón es de otro comercio. No lo aceptes.',
    'The signature is good, but the coupon belongs to another shop. Do not accept it.',
  ],
  'verdict.unsure': [
    'Esta caja todavía no sabe de qué comercio es. Fijate que el cupón sea tuyo; lo emitió:',
    'This till does not know its shop yet. Check that the coupon is yours; it was issued by:',
  ],
  'verdict.signature': [
    'La firma NO es buena: el cupón fue alterado. No lo aceptes.',
    'The signature is NOT good: the coupon has been altered. Do not accept it.',
  ],
  'verdict.other-manager': [
    'Lo firmó otro servicio, no este. No lo aceptes.',
    'Another service signed it, not this one. Do not accept it.',
  ],
  'verdict.phase': [
    'Es el comprobante de un cupón ya canjeado.',
    'It is the receipt of a coupon that has already been redeemed.',
  ],
  'verdict.nonce': [
    'El código y la firma son de cupones distintos. No lo aceptes.',
    'The code and the signature belong to different coupons. Do not accept it.',
  ],
  'verdict.shape': [
    'No tiene una firma que se pueda revisar.',
    'It has no signature that can be checked.',
  ],
  'verdict.none': [
    'Este código no trae la firma, así que sin conexión no hay nada para revisar.',
    'This code comes without its signature, so there is nothing to check while offline.',
  ],

  'pending.title': ['Canjes sin confirmar', 'Unconfirmed redemptions'],
  'pending.detail': [
    'Se pidieron y no llegó la respuesta. Confirmalos: si ya se habían canjeado, no se canjean de nuevo.',
    'We asked for these and got no answer. Confirm them: any that were redeemed will not be redeemed again.',
  ],
  'pending.settle': ['Confirmar', 'Confirm'],
  'pending.settle.of': ['Confirmar {name}', 'Confirm {name}'],
  'recent.title': ['Últimos en esta caja', 'Latest on this till'],

  'issue.title': ['Emitir un cupón', 'Issue a coupon'],
  'issue.lead': [
    'Tocá un cupón: se emite uno y aparece su QR para el cliente.',
    'Tap a coupon: one is issued and its QR code appears for the customer.',
  ],
  'issue.remaining': ['Queda uno|Quedan {n}', 'One left|{n} left'],
  'issue.unlimited': ['Sin límite', 'No limit'],
  'issue.minting': ['Emitiendo…', 'Issuing…'],
  'issue.none.title': [
    'Falta que el comercio autorice esta caja',
    'The shop has to authorise this till',
  ],
  'issue.none.detail': [
    'En el panel: «Cajas», «Autorizar una caja», y escaneá este QR. Los cupones van a aparecer acá solos.',
    'In the panel: “Tills”, “Authorise a till”, and scan this QR code. The coupons will appear here by themselves.',
  ],
  'issue.redeems.title': ['Esta caja sólo canjea', 'This till only redeems'],
  'issue.redeems.detail': [
    'Está autorizada para canjear los cupones del comercio. Para entregarlos también, pedile que lo cambie en su panel, en «Cajas».',
    'It is authorised to redeem the shop’s coupons. To hand them out as well, ask the shop to change that in its panel, under “Tills”.',
  ],
  'issue.none.refresh': ['Ya me autorizaron', 'I have been authorised'],
  'issue.key.qr': ['QR de la clave de esta caja', 'QR code of this till’s key'],
  'issue.ready': ['Listo para el cliente', 'Ready for the customer'],
  'issue.scan': [
    'Que lo escanee con la cámara del teléfono.',
    'Let them scan it with their phone’s camera.',
  ],
  'issue.qr': ['QR del cupón {name}', 'QR code of the coupon {name}'],
  'issue.print.58': ['Ticket de 58 mm', '58 mm ticket'],
  'issue.print.80': ['Ticket de 80 mm', '80 mm ticket'],
  'issue.done': ['Listo', 'Done'],

  'key.title': ['Clave de esta caja', 'This till’s key'],
  'key.named': ['El comercio la llama «{name}».', 'The shop calls it “{name}”.'],
  'key.lead': [
    'Para emitir, esta caja necesita una clave propia. Se hace acá, queda en este equipo y la abre un PIN. El comercio la autoriza una vez y la puede quitar cuando quiera.',
    'To issue coupons, this till needs a key of its own. It is made here, stays on this device, and a PIN opens it. The shop authorises it once and can remove it at any time.',
  ],
  'key.create': ['Hacer la clave', 'Create the key'],
  'key.working': ['Un momento…', 'One moment…'],
  'key.pin': ['PIN (6 números o más)', 'PIN (6 digits or more)'],
  'key.pin.note': [
    'Anotá el PIN: nadie lo puede recuperar. Si lo perdés, hacé una clave nueva y que el comercio la autorice.',
    'Write the PIN down: nobody can recover it. If you lose it, create a new key and have the shop authorise it.',
  ],
  'key.fleeting': [
    'Este navegador no guarda nada: es una ventana privada o tiene bloqueado el almacenamiento. La clave se pierde al cerrar o actualizar esta página, y el comercio va a tener que autorizar otra. Abrí la caja en una ventana común.',
    'This browser saves nothing: it is a private window, or storage is blocked. The key is lost when you close or reload this page, and the shop will have to authorise another. Open the till in an ordinary window.',
  ],
  'key.unlock': ['Abrir con el PIN', 'Open with the PIN'],
  'key.lock': ['Cerrar la caja', 'Lock the till'],
  'key.forget': ['Borrar la clave', 'Delete the key'],
  'key.forget.sure': [
    '¿Borrar la clave de esta caja? Para volver a emitir, el comercio va a tener que autorizar la nueva.',
    'Delete this till’s key? To issue again, the shop will have to authorise the new one.',
  ],
  'key.forget.yes': ['Sí, borrarla', 'Yes, delete it'],
  'key.extension': ['Entrar con la extensión de Nostr', 'Sign in with the Nostr extension'],

  'settings.title': ['Ajustes de la caja', 'Till settings'],
  'settings.sound': ['Sonidos', 'Sounds'],
  'settings.sound.try': ['Probar', 'Try'],
  'settings.shop': ['Comercio de esta caja', 'This till’s shop'],
  'settings.shop.none': [
    'Todavía ninguno. Se anota cuando abrís la caja desde el panel o cuando el panel la autoriza a emitir; si no, te lo preguntamos antes del primer canje.',
    'None yet. It is set when you open the till from the panel, or when the panel authorises it to issue; otherwise we ask before the first redemption.',
  ],
  'settings.shop.why': [
    'Esta caja canjea los cupones de acá y ningún otro.',
    'This till redeems the coupons of these shops and no others.',
  ],
  'settings.shop.remove': ['Quitar {who}', 'Remove {who}'],
  'settings.able': ['Qué puede este equipo', 'What this device can do'],
  'able.yes': ['Sí', 'Yes'],
  'able.no': ['No', 'No'],
  'able.camera': ['Escanear con la cámara', 'Scan with the camera'],
  'able.offline': ['Abrir la caja sin conexión', 'Open the till while offline'],
  'able.install': ['Instalar como aplicación', 'Install as an app'],
  'able.ticket': ['Imprimir un ticket con un toque', 'Print a ticket with one tap'],
  'able.share': ['Compartir desde la página', 'Share from the page'],
  'able.why.http': [
    'Falta https: los navegadores no lo permiten en una página con http.',
    'It needs https: browsers do not allow it on a page with http.',
  ],
  'able.why.browser': ['Este navegador no lo tiene.', 'This browser does not have it.'],
  'able.why.install': [
    'El navegador no lo ofrece ahora. Fijate en su menú: «Instalar» o «Agregar a inicio».',
    'The browser is not offering it now. Look in its menu: “Install” or “Add to home screen”.',
  ],
  'install.action': ['Instalar la caja', 'Install the till'],
  'update.ready': ['Hay una versión nueva de la caja.', 'There is a new version of the till.'],
  'update.action': ['Actualizar', 'Update'],
})

/** The sentence about a purchase below the minimum. */
export function smallText(minimum: Money): string {
  return tillWords('purchase.small', { money: money(minimum) })
}
