/** Names of sections, and operations in one sentence each. The English of the document, and its Spanish. */
export const titles: Readonly<Record<string, string>> = {
  Vouchers: 'Cupones',
  Session: 'Sesión',
  Management: 'Gestión',
  Posters: 'Afiches',
  Cards: 'Tarjetas',
  Ledger: 'Libro',
  Gateway: 'Pasarela',
  Identity: 'Identidades',
  Transfer: 'Envíos',
  Service: 'Servicio',
  'For whoever holds a nonce: the nonce is the credential.':
    'Para quien tiene un nonce: el nonce es la credencial.',
  'One signature in exchange for a token.': 'Una firma a cambio de un token.',
  'For merchants and the minters they list.': 'Para comercios y las cajas que autorizan.',
  'One public code from which each visitor takes a voucher.':
    'Un código público del que cada visitante se lleva un cupón.',
  'NTAG 424 DNA cards: writing, activating, tapping them.':
    'Tarjetas NTAG 424 DNA: escribirlas, activarlas, apoyarlas.',
  'The shop’s own tokens: what each key has.':
    'Los tokens propios del comercio: cuánto tiene cada clave.',
  'Nostr over HTTP, for clients that keep no connection.':
    'Nostr por HTTP, para clientes que no mantienen una conexión.',
  'Names of this service for keys, and what others ask about them.':
    'Nombres de este servicio para claves, y lo que otros preguntan sobre ellos.',
  'Vouchers and payments on their way to a name, and what a holder has received.':
    'Cupones y pagos en camino a un nombre, y lo que recibió su titular.',
  'State of the process and this document.': 'Estado del proceso, y este documento.',
  'Coupons on Nostr. Timestamps are Unix seconds; `null` is unset. Unknown keys in a request are ignored.':
    'Cupones en Nostr. Las horas son segundos Unix; `null` es sin valor. Las claves desconocidas de un pedido se ignoran.',
  '`Nostr <base64 of a signed kind 27235 event>` (NIP-98) with the tags `u`, `method`, optionally `payload`, and a random `nonce`. Within 60 seconds, once.':
    '`Nostr <base64 de un evento firmado de tipo 27235>` (NIP-98) con las etiquetas `u`, `method`, opcionalmente `payload`, y un `nonce` al azar. Dentro de 60 segundos, una vez.',
  'The token of `POST /api/auth/session`, good for 12 hours.':
    'El token de `POST /api/auth/session`, válido por 12 horas.',
  'The key that signs vouchers here': 'La clave que firma los cupones de acá',
  'Preview a voucher': 'Mirar un cupón',
  'Redeem a voucher': 'Canjear un cupón',
  'Preview a voucher, without its nonce in a URL': 'Mirar un cupón, sin poner su nonce en una URL',
  'Swap a nonce for a new one: how a coupon changes hands':
    'Cambiar un nonce por uno nuevo: así un cupón cambia de manos',
  'The picture of a coupon, by sha256 of its address':
    'La imagen de un cupón, por el sha256 de su dirección',
  'Open a session of twelve hours': 'Abrir una sesión de doce horas',
  'Definitions, minters and announcement of the caller':
    'Definiciones, cajas y anuncio de quien pregunta',
  'Create a definition': 'Crear una definición',
  'Definitions that the caller may mint now': 'Definiciones que quien pregunta puede emitir ahora',
  'Redemptions of the caller’s coupons, newest first':
    'Canjes de los cupones de quien pregunta, los nuevos primero',
  'Vouchers minted and redeemed, by coupon and day':
    'Cupones emitidos y canjeados, por definición y día',
  'Vouchers redeemed, by till and day': 'Cupones canjeados, por caja y día',
  'Issue vouchers from a definition': 'Emitir cupones de una definición',
  'Edit a definition; minted vouchers do not change':
    'Editar una definición; los cupones emitidos no cambian',
  'Delete a definition that was never minted, archive any other':
    'Borrar una definición que nunca se emitió; archivar cualquier otra',
  'Vouchers issued from a definition, newest first, or one chain of refreshes':
    'Cupones emitidos de una definición, los nuevos primero, o una cadena de cambios de manos',
  'Void every open voucher of a definition': 'Anular todos los cupones abiertos de una definición',
  'Void one voucher, or with chain=1 where refreshes have brought it':
    'Anular un cupón o, con chain=1, el del final de su cadena de cambios de manos',
  'Batches of a definition with their figures, newest first':
    'Tandas de una definición con sus cifras, las nuevas primero',
  'Void every open voucher of a batch': 'Anular todos los cupones abiertos de una tanda',
  'Merchants that list the caller as a till': 'Comercios que tienen a quien pregunta como caja',
  'Keys that may mint the caller’s coupons':
    'Claves que pueden emitir los cupones de quien pregunta',
  'Let a key mint the caller’s coupons':
    'Permitir a una clave emitir los cupones de quien pregunta',
  'Take the permission to mint back': 'Quitar el permiso de emitir',
  'Store and broadcast the caller’s announcement':
    'Guardar y difundir el anuncio de quien pregunta',
  'Withdraw the announcement': 'Retirar el anuncio',
  'What happens to the caller’s coupons, as it happens':
    'Lo que pasa con los cupones de quien pregunta, en el momento',
  'Become the first merchant, with the setup code that the operator was shown':
    'Ser el primer comercio, con el código de instalación que vio quien opera el servicio',
  'Merchants that were let in, newest first': 'Comercios admitidos, los nuevos primero',
  'Let a key manage coupons of its own': 'Permitir a una clave gestionar cupones propios',
  'Let a key manage no longer; its vouchers stay good':
    'Quitar a una clave la gestión; sus cupones siguen valiendo',
  'Close the service here, to go on at another computer':
    'Cerrar el servicio acá, para seguir en otra computadora',
  'Open the service again, since the move did not take place':
    'Abrir de nuevo el servicio, porque la mudanza no se hizo',
  'All keys and data of a service that was closed for a move, encrypted':
    'Todas las claves y los datos de un servicio cerrado por mudanza, cifrados',
  'Begin to bring a service from another computer':
    'Empezar a traer un servicio de otra computadora',
  'Send the next piece of its file': 'Mandar el próximo pedazo de su archivo',
  'Check the file, and go on as the service in it':
    'Revisar el archivo, y seguir como el servicio que trae',
  'Name, colour and logo of a shop; null where unset':
    'Nombre, color y logo de un comercio; null donde no hay',
  'Settings of the caller’s shop; null where unset':
    'Ajustes del comercio de quien pregunta; null donde no hay',
  'Change settings of the caller’s shop': 'Cambiar ajustes del comercio de quien pregunta',
  'An uploaded picture, by the sha256 of its bytes':
    'Una imagen subida, por el sha256 de sus bytes',
  'Upload a picture for a coupon or the shop; its metadata is removed':
    'Subir una imagen para un cupón o el comercio; se le quitan los metadatos',
  'Posters of the caller, with what was taken from each':
    'Afiches de quien pregunta, con lo que se tomó de cada uno',
  'Create a poster: an address where anybody takes a voucher of a definition':
    'Crear un afiche: una dirección donde cualquiera toma un cupón de una definición',
  'Change the limits of a poster, pause it or go on':
    'Cambiar los límites de un afiche, pausarlo o seguir',
  'Delete a poster; vouchers taken from it stay': 'Borrar un afiche; los cupones tomados quedan',
  'A poster, as its page shows it': 'Un afiche, como lo muestra su página',
  'Take a voucher from a poster, with any key': 'Tomar un cupón de un afiche, con cualquier clave',
  'The keys to write to a tag; again, the same':
    'Las claves para escribir en una tarjeta; de nuevo, las mismas',
  'Give the card that was tapped a code of your own':
    'Dar un código propio a la tarjeta que se apoyó',
  'End a card; the keys to wipe its tag with': 'Terminar una tarjeta; las claves para borrarla',
  'Become the holder of a card, with its code and a delegation':
    'Ser titular de una tarjeta, con su código y una delegación',
  'Hand a card to another holder: not offered': 'Pasar una tarjeta a otro titular: no se ofrece',
  'How the cards of a holder look': 'Cómo se ven las tarjetas de un titular',
  'What a holder decided about his cards': 'Lo que un titular decidió sobre sus tarjetas',
  'Start a card anew: not offered': 'Empezar de nuevo una tarjeta: no se ofrece',
  'Claim a card anew: not offered': 'Reclamar de nuevo una tarjeta: no se ofrece',
  'What a tap is good for (LUD-03)': 'Para qué sirve un toque (LUD-03)',
  'Pay a merchant from the card that was tapped': 'Pagar a un comercio con la tarjeta que se apoyó',
  'Pay an invoice from the card that was tapped (LUD-03)':
    'Pagar una factura con la tarjeta que se apoyó (LUD-03)',
  'What came of a payment': 'En qué quedó un pago',
  'What a key has of each token, and its last movements':
    'Cuánto tiene una clave de cada token, y sus últimos movimientos',
  'Publish a signed event: on disk, and delivered from there':
    'Publicar un evento firmado: en disco, y desde ahí a los relays',
  'What became of a published event': 'En qué quedó un evento publicado',
  'Events that match a filter, newest first': 'Eventos que cumplen un filtro, los nuevos primero',
  'A nonce that lets somebody register one identity':
    'Un nonce que permite a alguien registrar una identidad',
  'Whether a nonce can be used': 'Si un nonce se puede usar',
  'Whether anybody may register a name': 'Si cualquiera puede registrar un nombre',
  'An event that makes one nonce, for anybody': 'Un evento con el que cualquiera obtiene un nonce',
  'Register a name for a key; burns a nonce': 'Registrar un nombre para una clave; gasta un nonce',
  'Whose name it is; 404 while it is free': 'De quién es un nombre; 404 mientras esté libre',
  'Whose name it is (NIP-05)': 'De quién es un nombre (NIP-05)',
  'How to pay a name or send it a voucher (LUD-16)':
    'Cómo pagar a un nombre o mandarle un cupón (LUD-16)',
  'The name of a key': 'El nombre de una clave',
  'An invoice of the holder’s own wallet (LUD-06)':
    'Una factura de la billetera propia del titular (LUD-06)',
  'Take a voucher for a name': 'Recibir un cupón para un nombre',
  'Hand a voucher to a lightning address': 'Mandar un cupón a una dirección Lightning',
  'The vouchers that the caller has received': 'Los cupones que recibió quien pregunta',
  'Forget a received voucher, spent or not': 'Olvidar un cupón recibido, gastado o no',
  "Whether the caller's account takes vouchers": 'Si la cuenta de quien pregunta recibe cupones',
  "Say whether the caller's account takes vouchers":
    'Decir si la cuenta de quien pregunta recibe cupones',
  'The embedded relay: a WebSocket, and its NIP-11 document':
    'El relay incorporado: un WebSocket, y su documento NIP-11',
  'How to trust the certificate of this shop': 'Cómo confiar en el certificado de este comercio',
  'The authority of this shop': 'La autoridad de este comercio',
  'The process answers': 'El proceso responde',
  'The service can read and write': 'El servicio puede leer y escribir',
  'Prometheus metrics, for this machine and for who has METRICS_TOKEN':
    'Métricas de Prometheus, para esta máquina y para quien tiene METRICS_TOKEN',
  'Leads a browser to the panel': 'Lleva un navegador al panel',
  'The merchant’s panel': 'El panel del comercio',
  'This document as a page': 'Este documento como página',
  'The till': 'La caja',
  'A coupon, for whoever holds it': 'Un cupón, para quien lo tiene',
  'A poster, from which a visitor takes a coupon': 'Un afiche, del que un visitante toma un cupón',
  'What the pages load': 'Lo que cargan las páginas',
  'What makes the till an application of a device':
    'Lo que hace de la caja una aplicación del aparato',
  'Keeps the till and the coupons of a device for without connection':
    'Guarda la caja y los cupones de un aparato para cuando no hay conexión',
  'This document': 'Este documento',
  'This document as one page of text': 'Este documento en una sola página de texto',
}
