/** Operations of the ledger, the gateway, identities and transfers. The English of the document, and its Spanish. */
export const nostrSentences: Readonly<Record<string, string>> = {
  "Shows the balances of a key and its last 50 movements; `{key}` is an npub or hex. Signed (NIP-98) or with a session of that key; an issuer sees of anybody's account the tokens that it issues.":
    'Muestra los saldos de una clave y sus últimos 50 movimientos; `{key}` es un npub o hex. Firmado (NIP-98) o con una sesión de esa clave; un emisor ve de la cuenta de cualquiera los tokens que emite.',
  'The body is a signed event. These checks, in this order, then 202 without a body:':
    'El cuerpo es un evento firmado. Estas revisiones, en este orden, y después 202 sin cuerpo:',
  '- the body has at most 262 144 bytes: 413 `too-large`':
    '- el cuerpo tiene a lo sumo 262 144 bytes: si no, 413 `too-large`',
  '- it is a JSON object with keys, sent as `application/json` or `application/nostr+json`: 415 `not-json-event`':
    '- es un objeto JSON con claves, enviado como `application/json` o `application/nostr+json`: si no, 415 `not-json-event`',
  '- `Accept` is absent or admits `application/json`, `application/nostr+json`, `application/*` or `*/*`: 406 `not-acceptable`, and nothing is published':
    '- `Accept` falta o admite `application/json`, `application/nostr+json`, `application/*` o `*/*`: si no, 406 `not-acceptable`, y no se publica nada',
  '- the disk has room: 503 `disk-low` with `Retry-After`':
    '- hay lugar en el disco: si no, 503 `disk-low` con `Retry-After`',
  "- its sender's address is within its quota: 429 `rate-limited`":
    '- la dirección de quien lo manda está dentro de su cupo: si no, 429 `rate-limited`',
  '- it is within the bounds of JSON, and an event (NIP-01) with the right id and signature: 422 `event-invalid`':
    '- está dentro de los límites de JSON, y es un evento (NIP-01) con el id y la firma correctos: si no, 422 `event-invalid`',
  '- where it has a `delegation` tag, the first one is valid (NIP-26): several `kind=` are alternatives, a condition nobody knows fails: 422 `delegation-invalid`':
    '- donde tiene una etiqueta `delegation`, la primera es válida (NIP-26): varios `kind=` son alternativas, una condición que nadie conoce falla: si no, 422 `delegation-invalid`',
  '- it has not expired and its `expiration`, if any, can be read (NIP-40); it is no voucher (kind 20402), no authentication (kind 22242, NIP-42), and has at most 3 500 tags and a `d` that is Unicode: 422 `event-not-publishable`':
    '- no venció y su `expiration`, si la tiene, se puede leer (NIP-40); no es un cupón (tipo 20402) ni una autenticación (tipo 22242, NIP-42), y tiene a lo sumo 3 500 etiquetas y un `d` que es Unicode: si no, 422 `event-not-publishable`',
  '- the key that signed it is within its quota: 429 `rate-limited`':
    '- la clave que lo firmó está dentro de su cupo: si no, 429 `rate-limited`',
  '- some relay of this service takes events of its author: 403 `not-allowed`':
    '- algún relay de este servicio acepta eventos de su autor: si no, 403 `not-allowed`',
  '- there is room in the outbox: 503 `outbox-full` with `Retry-After`':
    '- hay lugar en la bandeja de salida: si no, 503 `outbox-full` con `Retry-After`',
  '- a start event for the ledger by a key without an account there is within what all of those share: 429 `rate-limited`':
    '- un evento de inicio para el libro, de una clave sin cuenta ahí, entra en lo que comparten todas ellas: si no, 429 `rate-limited`',
  'Shows the state of a published event; `id` in hex. It is known for seven days after its end.':
    'Muestra el estado de un evento publicado; `id` en hex. Se conoce por siete días desde su final.',
  'The body is one filter (NIP-01): `ids`, `authors`, `kinds`, `since`, `until`, `limit`, `search`, and tags such as `#t`. `limit` is 100 if absent, and 500 at most; 0 gives `[]`. A list has at most 1 000 entries.':
    'El cuerpo es un filtro (NIP-01): `ids`, `authors`, `kinds`, `since`, `until`, `limit`, `search`, y etiquetas como `#t`. `limit` es 100 si falta, y 500 a lo sumo; 0 da `[]`. Una lista tiene a lo sumo 1 000 entradas.',
  'Whether anybody may register a name: with `IDENTITY_SELF_SIGNUP=on`. Else this path and the next are 404 `not-found`, like any that does not exist.':
    'Dice si cualquiera puede registrar un nombre: con `IDENTITY_SELF_SIGNUP=on`. Si no, esta ruta y la siguiente responden 404 `not-found`, como las que no existen.',
  "Open sign-up, as LaWallet has it where it costs nothing. Send the event that comes back to `POST /api/nonce`, once and within 180 seconds: it makes a nonce, with which a new holder registers himself. The event is the manager's, and grants nothing else.":
    'El registro abierto, como lo tiene LaWallet donde no cuesta nada. Mandá a `POST /api/nonce` el evento de la respuesta, una sola vez y dentro de los 180 segundos: con él se hace un nonce, y con el nonce se registra un titular nuevo. El evento lo firma el gestor y no da ningún otro permiso.',
  'Makes a nonce. The body is a request event (`t` is `create-nonce`) by an issuer, or the event of open sign-up; its content does not matter. A `nonce` tag proposes one: 22 to 128 visible ASCII characters. Without it the service makes its own. These checks, in this order:':
    'Hace un nonce. El cuerpo es un evento de pedido (`t` es `create-nonce`) de un emisor, o el evento del registro abierto; su contenido no importa. Una etiqueta `nonce` propone uno: de 22 a 128 caracteres ASCII visibles. Sin ella el servicio hace el suyo. Estas revisiones, en este orden:',
  '- a request event of kind 1112: 400 `identity-event-invalid`; `Should send as NOSTR event`':
    '- un evento de pedido de tipo 1112: si no, 400 `identity-event-invalid`; `Should send as NOSTR event`',
  '- of now: 400 `identity-event-stale`; `Should send as NOSTR event`':
    '- de ahora: si no, 400 `identity-event-stale`; `Should send as NOSTR event`',
  '- a proposal has the form of a nonce: 400 `identity-nonce-invalid`; `Nonce not valid`':
    '- una propuesta tiene la forma de un nonce: si no, 400 `identity-nonce-invalid`; `Nonce not valid`',
  '- by an issuer, or of open sign-up: 403 `identity-not-authorized`; `Pubkey not authorized`':
    '- de un emisor, o del registro abierto: si no, 403 `identity-not-authorized`; `Pubkey not authorized`',
  '- this event has not made a nonce before: 409 `event-repeated`; `Event already used`':
    '- este evento no hizo antes un nonce: si no, 409 `event-repeated`; `Event already used`',
  '- the issuer has fewer than 10 000 that nobody used: 409 `identity-nonces-full`; `Too many unused nonces`':
    '- el emisor tiene menos de 10 000 que nadie usó: si no, 409 `identity-nonces-full`; `Too many unused nonces`',
  '- no other nonce is the same: 409 `identity-nonce-taken`; `Nonce already exists`':
    '- ningún otro nonce es igual: si no, 409 `identity-nonce-taken`; `Nonce already exists`',
  'The same as `POST /api/nonce`, under the path of the La Crypta gateway.':
    'Lo mismo que `POST /api/nonce`, en la ruta de la pasarela de La Crypta.',
  'Shows whether a nonce can still be used. All answers of this route have a `status`, also its refusals.':
    'Muestra si un nonce todavía se puede usar. Todas las respuestas de esta ruta tienen `status`, también sus rechazos.',
  'Registers a name for a key. The body is a request event (`t` is `create-identity`) with the nonce in its `nonce` tag and a JSON object as its content:':
    'Registra un nombre para una clave. El cuerpo es un evento de pedido (`t` es `create-identity`) con el nonce en su etiqueta `nonce` y un objeto JSON como contenido:',
  '- `name`: required; 1 to 64 letters of `a`–`z`, digits, `.`, `-`, `_`; capitals become small letters':
    '- `name`: obligatorio; de 1 a 64 letras de `a` a `z`, dígitos, `.`, `-`, `_`; las mayúsculas pasan a minúsculas',
  '- `pubkey`: required; whose name it is: hex or npub':
    '- `pubkey`: obligatorio; de quién es el nombre: hex o npub',
  "- `lud16`: optional; the LUD-16 answer of the holder's own wallet; without it the name takes vouchers only":
    '- `lud16`: opcional; la respuesta LUD-16 de la billetera propia del titular; sin ella el nombre sólo recibe cupones',
  'Whose name it is, or that it is free. The answer is that of NIP-05.':
    'De quién es el nombre, o que está libre. La respuesta es la de NIP-05.',
  'NIP-05: `?name=ana` is answered with its key, and with the relays where the events of identities are found. `_` is the manager. A name that nobody has, and no name, are 200 with empty `names` and `relays`.':
    'NIP-05: a `?name=ana` se responde con su clave, y con los relays donde están los eventos de las identidades. `_` es la clave del servicio. Un nombre que nadie tiene, y ningún nombre, son 200 con `names` y `relays` vacíos.',
  'LUD-16: the first step of a payment to `ana@cupones.example`, or of sending a voucher there. It is the object that was registered, its `metadata` untouched, with a `callback` on this service and three keys more:':
    'LUD-16: el primer paso de un pago a `ana@cupones.example`, o de mandarle un cupón. Es el objeto que se registró, con su `metadata` intacta, con un `callback` en este servicio y tres claves más:',
  '- `allowVouchers`: whether the account takes vouchers':
    '- `allowVouchers`: si la cuenta recibe cupones',
  '- `accountPubKey`: whose account it is': '- `accountPubKey`: de quién es la cuenta',
  '- `federationId`: `FEDERATION_ID`; if unset the host of the first `PUBLIC_URL`, else `localhost`':
    '- `federationId`: `FEDERATION_ID`; si falta, el nombre de la primera `PUBLIC_URL`, si no `localhost`',
  'The same as `GET /.well-known/lnurlp/{name}`.': 'Lo mismo que `GET /.well-known/lnurlp/{name}`.',
  'The name of a key; `key` in hex or as npub.':
    'El nombre de una clave; `key` en hex o como npub.',
  "LUD-06: `amount` in millisatoshi, and optionally `comment` and `nostr` (a zap request, NIP-57). They are handed to the callback of the holder's wallet: over `https`, to public addresses, for at most 10 seconds. Its answer, a JSON object of at most 65 536 bytes, comes back as it is: with 200 when the wallet said so, with 400 when it said 4xx. Of a `reason` in it the first 300 characters come back, without control and direction characters.":
    'LUD-06: `amount` en milisatoshis, y opcionalmente `comment` y `nostr` (un pedido de zap, NIP-57). Se pasan al callback de la billetera del titular: por `https`, a direcciones públicas, en 10 segundos a lo sumo. Su respuesta, un objeto JSON de 65 536 bytes a lo sumo, vuelve como está: con 200 cuando la billetera dijo eso, con 400 cuando dijo 4xx. De un `reason` en ella vuelven los primeros 300 caracteres, sin caracteres de control ni de dirección.',
  'Takes a voucher for a name. No credentials: the nonce is the credential.':
    'Recibe un cupón para un nombre. Sin credenciales: el nonce es la credencial.',
  'Sends a voucher to a lightning address. No credentials: the nonce is the credential.':
    'Manda un cupón a una dirección Lightning. Sin credenciales: el nonce es la credencial.',
  "Lists the vouchers that the caller has received, newest first; with a NIP-98 signature or a session of the holder's key. These routes have the refusals of the coupon routes.":
    'Lista los cupones que recibió quien pregunta, los nuevos primero; con una firma NIP-98 o una sesión de la clave del titular. Estas rutas tienen los rechazos de las rutas de cupones.',
  'Deletes one, spent or not. It cannot be restored: spend it, or refresh it, first.':
    'Borra uno, gastado o no. No se puede recuperar: antes gastalo, o cambialo de manos.',
  'What the holder takes.': 'Lo que recibe el titular.',
  'The same object, to change it; what was received before stays.':
    'El mismo objeto, para cambiarlo; lo que se recibió antes queda.',
}
