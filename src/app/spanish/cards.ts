/** Operations on cards. The English of the document, and its Spanish. */
export const cardSentences: Readonly<Record<string, string>> = {
  'The keys to write to a tag. The event (`t` is `card-init-request`, or absent; 1112 passes) is signed by one of `CARD_WRITERS`. Its content:':
    'Las claves para escribir en una tarjeta. El evento (`t` es `card-init-request`, o falta; 1112 también pasa) lo firma una clave de `CARD_WRITERS`. Su contenido:',
  '- `cid`: required; the UID: 14 hex digits': '- `cid`: obligatorio; el UID: 14 dígitos hex',
  '- `ctr`: optional; the counter as it was read from the tag, 0 to 16 777 215; 0 if absent. Ours moves up to it, never down':
    '- `ctr`: opcional; el contador como se leyó de la tarjeta, de 0 a 16 777 215; 0 si falta. El nuestro sube hasta él, nunca baja',
  '- `design`: optional; `{uuid?, name?}`, the name up to 80 characters; without a UUID a name has one of its own':
    '- `design`: opcional; `{uuid?, name?}`, el nombre de hasta 80 caracteres; sin UUID cada nombre tiene el suyo',
  '- `version`: optional; 1 to 255: of keys that are on the tag already, when this database does not know it; `ctr` is required then':
    '- `version`: opcional; de 1 a 255: la de claves que ya están en la tarjeta, cuando esta base no la conoce; entonces `ctr` es obligatorio',
  'Gives the tapped card (`?p=&c=`) a code of your own, such as one that is printed already. The event (any `t` but that of an answer, `internal-transaction-…` or `…-response`; 1112 passes) is signed by a writer, its content is `{otc, cid?}`; `otc` has 12 to 128 characters. A `cid` must be the UID of the card that was tapped. The code takes the place of the one from the initialisation.':
    'Da a la tarjeta que se apoyó (`?p=&c=`) un código propio, como uno que ya está impreso. El evento (con cualquier `t` menos el de una respuesta, `internal-transaction-…` o `…-response`; 1112 también pasa) lo firma quien escribe tarjetas, su contenido es `{otc, cid?}`; `otc` tiene de 12 a 128 caracteres. Un `cid` tiene que ser el UID de la tarjeta que se apoyó. El código reemplaza al de la inicialización.',
  'The card stops working. The event (`t` is `card-delete-request`, or absent; 1112 passes) is signed by a writer, its content is `{cid}`. The content of the answer is `{cid, k0, k1, k2, k3, k4, ctr, designUuid}`: the keys to wipe the tag with. Again: the same. Encryption is as for `POST`, also for the very same event.':
    'La tarjeta deja de funcionar. El evento (`t` es `card-delete-request`, o falta; 1112 también pasa) lo firma quien escribe tarjetas, su contenido es `{cid}`. El contenido de la respuesta es `{cid, k0, k1, k2, k3, k4, ctr, designUuid}`: las claves para borrar el chip. De nuevo: lo mismo. El cifrado es como en el `POST`, también para el mismo evento.',
  'Activates a card. The event (kind 21111 alone, `t` is `card-activation-request`) is signed by the holder to be. Its content:':
    'Activa una tarjeta. El evento (sólo tipo 21111, `t` es `card-activation-request`) lo firma quien va a ser su titular. Su contenido:',
  '- `otc`: required; the code of the card': '- `otc`: obligatorio; el código de la tarjeta',
  '- `delegation.conditions`: required; `kind=1112`, one `created_at>` and one `created_at<`, open now, in any order':
    '- `delegation.conditions`: obligatorio; `kind=1112`, un `created_at>` y un `created_at<`, abiertos ahora, en cualquier orden',
  "- `delegation.token`: required; the holder's Schnorr signature over sha256 of the text `nostr:delegation:<manager key, hex>:<conditions>` (NIP-26): 128 hex digits":
    '- `delegation.token`: obligatorio; la firma de Schnorr del titular sobre el sha256 del texto `nostr:delegation:<manager key, hex>:<conditions>` (NIP-26): 128 dígitos hex',
  'Handing a card to another holder is not offered: 501 `not-supported`.':
    'Pasar una tarjeta a otro titular no se ofrece: 501 `not-supported`.',
  "Shows the designs of a holder's cards. The event (`t` is `card-data-request`, or absent; 1112 passes) is signed by the holder; its content does not matter.":
    'Muestra los diseños de las tarjetas de un titular. El evento (`t` es `card-data-request`, o falta; 1112 también pasa) lo firma el titular; su contenido no importa.',
  'Shows the settings of a holder for his cards. The event (`t` is `card-config-request`, or absent; 1112 passes) is signed by the holder; its content does not matter.':
    'Muestra los ajustes de un titular para sus tarjetas. El evento (`t` es `card-config-request`, o falta; 1112 también pasa) lo firma el titular; su contenido no importa.',
  'Not offered: 501 `not-supported`.': 'No se ofrece: 501 `not-supported`.',
  'A till opens this address when a card is tapped; the chip wrote `?p=&c=`. Without further headers the answer is LUD-03.':
    'Una caja abre esta dirección cuando se apoya una tarjeta; el chip escribió `?p=&c=`. Sin más cabeceras la respuesta es LUD-03.',
  'Pays with the `k1` of an `extendedScan`. The event (kind 21111, or 1112) is signed by the receiver of the payment; its `t` may be anything but that of an answer, such as `service:withdrawRequest`. Its content:':
    'Paga con el `k1` de un `extendedScan`. El evento (tipo 21111, o 1112) lo firma quien recibe el pago; su `t` puede ser cualquiera menos el de una respuesta, como `service:withdrawRequest`. Su contenido:',
  '- `k1`: required; of the scan': '- `k1`: obligatorio; el de la lectura',
  '- `npub` or `pubkey`: required; the recipient: npub or hex':
    '- `npub` o `pubkey`: obligatorio; quien recibe: npub o hex',
  '- `tokens`: required; `{NAME: amount, …}`: whole numbers above zero, 1 to 16 tokens, all of them or none':
    '- `tokens`: obligatorio; `{NAME: amount, …}`: enteros mayores que cero, de 1 a 16 tokens, todos o ninguno',
  'The second step of LUD-03: `?k1=&pr=` with the `k1` of a scan without headers and an invoice (BOLT 11). The recipient is the lightning gateway, `GATEWAY_PUBKEY`, in the token `BTC`; in place of `e` the start event has `["bolt11", pr]`, and so has the ledger\'s answer, by which the gateway knows that it may pay.':
    'El segundo paso de LUD-03: `?k1=&pr=` con el `k1` de una lectura sin cabeceras y una factura (BOLT 11). Recibe la pasarela Lightning, `GATEWAY_PUBKEY`, en el token `BTC`; en lugar de `e` el evento de inicio lleva `["bolt11", pr]`, igual que la respuesta del libro, por la que la pasarela sabe que puede pagar.',
  'Shows the payment of a `k1`: the one that holds money, else the last one that was refused.':
    'Muestra el pago de un `k1`: el que tiene dinero tomado, si no el último que se rechazó.',
}
