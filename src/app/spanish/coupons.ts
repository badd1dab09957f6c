/** Operations on coupons of a holder, sessions and posters. The English of the document, and its Spanish. */
export const couponSentences: Readonly<Record<string, string>> = {
  'The key that signs vouchers here. It never changes during the life of a service: keep it, and refuse vouchers signed by another. May be cached for five minutes (`Cache-Control: public, max-age=300`).':
    'La clave que firma los cupones de acá. No cambia en toda la vida de un servicio: guardala, y rechazá cupones firmados por otra. Se puede guardar cinco minutos (`Cache-Control: public, max-age=300`).',
  'The same answer, with the nonce in the query: `?nonce=`. Prefer the POST: addresses end up in histories and in the logs of proxies.':
    'La misma respuesta, con el nonce en la consulta: `?nonce=`. Es mejor el POST: las direcciones terminan en historiales y en registros de proxies.',
  'Redeems a voucher. A till names its merchant, and may file its order with the redemption:':
    'Canjea un cupón. La caja nombra a su comercio, y puede adjuntar su orden al canje:',
  '- `nonce`: required': '- `nonce`: obligatorio',
  "- `owner`: optional; The public key of the till's merchant, 64 hex digits. A voucher of another merchant is refused with 409 `other-merchant`: nothing is redeemed, and its state is not disclosed.":
    '- `owner`: opcional; la clave pública del comercio de la caja, 64 dígitos hex. El cupón de otro comercio se rechaza con 409 `other-merchant`: no se canjea nada, y no se revela su estado.',
  "- `zapRequest`: optional; The customer's order. The merchant finds it in redemptions.":
    '- `zapRequest`: opcional; el pedido del cliente. El comercio lo encuentra en los canjes.',
  '- `amountMsat`: optional; The payment in millisatoshi: an integer, 0 or more.':
    '- `amountMsat`: opcional; el pago en milisatoshis: un entero, 0 o más.',
  '- `purchase`: optional; The customer\'s purchase: `{"amount": …, "currency": …}`, as in a benefit. It is compared with the `minimum` of the rules, and the merchant finds it in redemptions.':
    '- `purchase`: opcional; la compra del cliente: `{"amount": …, "currency": …}`, como en un beneficio. Se compara con el `minimum` de las reglas, y el comercio la encuentra en los canjes.',
  'Shows the worth of a nonce and whether it can still be spent, without changing anything. Answers 200 for every nonce that was ever issued, in any phase. It never shows the successor of a refreshed one.':
    'Muestra lo que vale un nonce y si todavía se puede gastar, sin cambiar nada. Responde 200 para todo nonce que alguna vez se emitió, en cualquier estado. Nunca muestra el sucesor de uno que cambió de manos.',
  'Burns a nonce and answers with its successor: a new voucher with the same terms, the same `expiresAt` and a nonce that only you know. Call it as soon as you receive a coupon from somebody; until then the giver can still spend it. The header `Idempotency-Key` is required; read its rules before you use this call.':
    'Gasta un nonce y responde con su sucesor: un cupón nuevo con las mismas condiciones, el mismo `expiresAt` y un nonce que sólo vos conocés. Llamalo apenas recibís un cupón de alguien; hasta entonces quien lo dio todavía puede gastarlo. La cabecera `Idempotency-Key` es obligatoria; leé sus reglas antes de usar esta llamada.',
  'The picture of a coupon, from this service, so that a page that shows it connects to no other. `hash` is sha256 of the `image` address (its characters as UTF-8), in hex. Only an address that a definition or a voucher names is known. The picture is fetched from there once, `https` only, without following redirects, 10 seconds and 1 048 576 bytes at most, and stored. Its type follows from its first bytes: PNG, JPEG, GIF, WebP or AVIF. SVG is not accepted, because it can contain a script.':
    'La imagen de un cupón, desde este servicio, para que una página que la muestra no se conecte con ningún otro. `hash` es el sha256 de la dirección `image` (sus caracteres en UTF-8), en hex. Sólo se conocen direcciones que nombra una definición o un cupón. La imagen se busca ahí una vez, sólo por `https`, sin seguir redirecciones, en 10 segundos y 1 048 576 bytes a lo sumo, y se guarda. Su tipo sale de sus primeros bytes: PNG, JPEG, GIF, WebP o AVIF. SVG no se acepta, porque puede llevar un script.',
  'Trades one NIP-98 signature for a token that is good for 12 hours, so that a person signs once a day and a till does not sign every call. The body is ignored (send `{}` or nothing), but counts for `payload`. The request is above.':
    'Cambia una firma NIP-98 por un token que vale 12 horas, para que una persona firme una vez por día y una caja no firme cada llamada. El cuerpo se ignora (mandá `{}` o nada), pero cuenta para `payload`. El pedido está arriba.',
  "The caller's posters, newest first, all of them.":
    'Los afiches de quien pregunta, los nuevos primero, todos.',
  'Creates a poster.': 'Crea un afiche.',
  'Changes `label`, `perPerson`, `perDay`, `total`, `startsAt` or `endsAt`; null clears one (`perPerson` becomes 1). `paused` is true or false. What is absent stays. `endsAt` may lie behind, and numbers may be lower than what was taken.':
    'Cambia `label`, `perPerson`, `perDay`, `total`, `startsAt` o `endsAt`; null borra uno (`perPerson` pasa a 1). `paused` es verdadero o falso. Lo que falta queda. `endsAt` puede estar en el pasado, y los números pueden ser menores que lo ya tomado.',
  'Deletes a poster. Its vouchers stay as they are, and an answer that was lost is still repeated.':
    'Borra un afiche. Sus cupones quedan como están, y una respuesta perdida se repite igual.',
  'What the page of a poster shows, to anybody. It has no counters. A definition with rules adds `rules`, and one with an uploaded picture `picture`.':
    'Lo que muestra la página de un afiche, a cualquiera. No tiene contadores. Una definición con reglas agrega `rules`, y una con imagen subida `picture`.',
  'Takes a voucher, for any public key: a NIP-98 signature or a session, and a required `Idempotency-Key`. The body is ignored, but counts for `payload`.':
    'Toma un cupón, para cualquier clave pública: con una firma NIP-98 o una sesión, y una `Idempotency-Key` obligatoria. El cuerpo se ignora, pero cuenta para `payload`.',
}
