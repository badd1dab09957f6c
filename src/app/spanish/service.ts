/** Operations of the service itself. The English of the document, and its Spanish. */
export const serviceSentences: Readonly<Record<string, string>> = {
  'The embedded relay, where `RELAYS` has `embedded` (the default): a WebSocket at `ws(s)://…/relay`, and over plain HTTP its document (NIP-11) as `application/nostr+json`, whose `limitation` names its limits. It speaks NIP-01, 09, 11, 40, 42 and 45. Events are kept in a file of their own beside the coupons; a voucher (kind 20402) is neither stored nor served. A deletion that comes before its event keeps that event out.':
    'El relay incorporado, donde `RELAYS` tiene `embedded` (lo normal): un WebSocket en `ws(s)://…/relay`, y por HTTP común su documento (NIP-11) como `application/nostr+json`, cuya `limitation` nombra sus límites. Habla NIP-01, 09, 11, 40, 42 y 45. Los eventos se guardan en un archivo propio al lado de los cupones; un cupón (tipo 20402) no se guarda ni se sirve. Un borrado que llega antes que su evento lo deja afuera.',
  'Answers. An event that a newer one of its author replaced already gets an `OK` of `false` with `duplicate:`. A message over 262 144 bytes gets a `NOTICE`, and the connection is closed with 1009; one over 524 288 bytes ends the connection at once, without a `NOTICE`. Where writes are restricted the challenge of NIP-42 comes at the opening.':
    'Respuestas. Un evento que ya fue reemplazado por uno más nuevo de su autor recibe un `OK` de `false` con `duplicate:`. Un mensaje de más de 262 144 bytes recibe un `NOTICE`, y la conexión se cierra con 1009; uno de más de 524 288 termina la conexión en el acto, sin `NOTICE`. Donde escribir está restringido, el desafío de NIP-42 llega al abrir.',
  'Permission to write. While the service is private (it listens on the loopback, has no `PUBLIC_URL`, and no forwarded request was seen), anyone may write. Otherwise these may: the manager, merchants that were let in or have a definition, an announcement or settings of a shop, their minters, identities, holders of cards and of tokens, the issuers, ledger and gateway that the settings name, any author whose events a connection of theirs hands in after AUTH (NIP-42), and remote signing (kind 24133) under a rate limit. Everyone may read. Publishing over HTTP is bound by the same rule. Both ask for the key that signed: a delegation (NIP-26) makes nobody a writer. While the disk has little room, events that would be stored are refused with an `OK` of `false` and `error:`; ephemeral ones are passed on.':
    'Permiso para escribir. Mientras el servicio es privado (escucha en la propia máquina, no tiene `PUBLIC_URL`, y no se vio ningún pedido reenviado), cualquiera puede escribir. Si no, pueden: la clave del servicio, los comercios admitidos o que tienen una definición, un anuncio o ajustes, sus cajas, las identidades, los titulares de tarjetas y de tokens, los emisores, el libro y la pasarela que nombran los ajustes, todo autor cuyos eventos entrega una conexión suya después de AUTH (NIP-42), y la firma remota (tipo 24133) con un límite de ritmo. Todos pueden leer. Publicar por HTTP sigue la misma regla. Los dos preguntan por la clave que firmó: una delegación (NIP-26) no permite escribir a nadie. Mientras queda poco lugar en el disco, los eventos que se guardarían se rechazan con un `OK` de `false` y `error:`; los efímeros pasan.',
  'Connections. An address that opens more than its share, or holds the most when all are taken, loses its idlest connection: one that has sent nothing for ten seconds, else the one that was silent longest. The client is told in a `NOTICE`, and the connection is closed with 1013.':
    'Conexiones. Una dirección que abre más de su parte, o que tiene las más cuando todas están tomadas, pierde su conexión más quieta: una que no mandó nada en diez segundos, si no la que más tiempo estuvo callada. Al cliente se le avisa en un `NOTICE`, y la conexión se cierra con 1013.',
  'Questions. One answer carries 4 194 304 characters of events; older ones are left out, and found with `until`. A question (a REQ or a COUNT with all its filters, or a fetch over HTTP) looks at 20 000 rows at most, of which each half a KiB of a large event is one more: beyond that a REQ is answered in part, and a COUNT says `approximate`. An address may ask 600 times at once and 30 times in a second; every thousand rows count as one more question. Above that a REQ is `CLOSED` with `rate-limited:`, and a fetch gets 429.':
    'Preguntas. Una respuesta lleva 4 194 304 caracteres de eventos; los más viejos quedan afuera, y se encuentran con `until`. Una pregunta (un REQ o un COUNT con todos sus filtros, o un fetch por HTTP) mira a lo sumo 20 000 filas, y cada medio KiB de un evento grande cuenta como una más: pasado eso un REQ se responde en parte, y un COUNT dice `approximate`. Una dirección puede preguntar 600 veces de golpe y 30 veces por segundo; cada mil filas cuentan como una pregunta más. Pasado eso un REQ se cierra (`CLOSED`) con `rate-limited:`, y un fetch recibe 429.',
  'how devices of a shop come to trust its certificate (https in a shop); 404 where there is no authority of its own':
    'cómo los aparatos de un comercio llegan a confiar en su certificado (https en un comercio); 404 donde no hay una autoridad propia',
  "that authority's certificate": 'el certificado de esa autoridad',
  '200 `{"status":"ok"}` while the process answers':
    '200 `{"status":"ok"}` mientras el proceso responde',
  '200 `{"status":"ok"}` while it can read and write, else 503 with the reason (`moved` for good, once the service went to another computer); `"warnings": ["disk-low"]` while the disk has little room':
    '200 `{"status":"ok"}` mientras puede leer y escribir, si no 503 con el motivo (`moved` para siempre, cuando el servicio se mudó a otra computadora); `"warnings": ["disk-low"]` mientras queda poco lugar en el disco',
  'Prometheus text, for a client on the same machine; for others with `Authorization: Bearer <METRICS_TOKEN>`, else 403 `metrics-closed`':
    'Texto de Prometheus, para un cliente en la misma máquina; para otros con `Authorization: Bearer <METRICS_TOKEN>`, si no 403 `metrics-closed`',
  '302 to `/panel` for a browser (`Accept: text/html`), else 404':
    '302 a `/panel` para un navegador (`Accept: text/html`), si no 404',
  'the page of the merchant': 'la página del comercio',
  'the same to browse: every operation with its fields, refusals, examples and a `curl` to copy; a search of operations, fields and codes; in Spanish and English. It loads nothing from third parties and works without internet':
    'lo mismo para recorrer: cada operación con sus campos, sus rechazos, sus ejemplos y un `curl` para copiar; una búsqueda de operaciones, campos y códigos; en castellano y en inglés. No carga nada de terceros y anda sin internet',
  'the page of the till': 'la página de la caja',
  'the page of whoever holds a coupon: `/c#<nonce>`. The fragment stays in the browser; a QR code of a coupon carries this address':
    'la página de quien tiene un cupón: `/c#<nonce>`. El fragmento queda en el navegador; el código QR de un cupón lleva esta dirección',
  'the page of a poster, where a visitor takes a coupon; the QR code of a poster carries this address':
    'la página de un afiche, donde un visitante toma un cupón; el código QR de un afiche lleva esta dirección',
  'what the pages load; names carry a hash and never change':
    'lo que cargan las páginas; los nombres llevan un hash y nunca cambian',
  'what makes the till an application of a device':
    'lo que hace de la caja una aplicación del aparato',
  'the service worker: keeps the till and the coupons of a device for when there is no connection; never an answer of this interface':
    'el service worker: guarda la caja y los cupones de un aparato para cuando no hay conexión; nunca una respuesta de esta interfaz',
  'this interface as an OpenAPI document; its descriptions in Spanish with `?lang=es`':
    'esta interfaz como documento OpenAPI; sus descripciones en castellano con `?lang=es`',
  'the same on one page of text, without a script: for paper and plain readers; `?lang=es` or `en`, else the language of the browser':
    'lo mismo en una página de texto, sin script: para papel y lectores simples; `?lang=es` o `en`, si no el idioma del navegador',
}
