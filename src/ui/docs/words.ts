import type { CurlNeed } from './curl.ts'
import type { Language } from './outline.ts'

/** Sentences of the page in Spanish and English. `{name}` is a placeholder; in `one|many` the number `n` decides. */
const words = {
  title: ['Referencia de la API', 'API reference'],
  intro: [
    'Todo lo que ofrece este servicio: cada operación con sus campos, sus respuestas, sus rechazos y un comando para probarla. Esta página no carga nada de terceros y anda sin internet.',
    'All that this service offers: each operation with its fields, answers, refusals, and a command to try it. This page loads nothing from third parties, and works without internet.',
  ],
  version: ['Versión {version}.', 'Version {version}.'],
  programs: ['La misma descripción para programas:', 'The same description for programs:'],
  'one-page': ['Todo en una página, para imprimir', 'All on one page, to print'],
  skip: ['Ir al contenido', 'Skip to content'],
  menu: ['Operaciones', 'Operations'],
  search: ['Buscar operaciones, campos y códigos', 'Search operations, fields and codes'],
  'search.key': ['Tecla /', 'Key /'],
  'found.none': [
    'Nada coincide. Probá con otra palabra: una ruta, un campo o un código.',
    'Nothing matches. Try another word: a path, a field or a code.',
  ],
  'kind.path': ['ruta', 'path'],
  'kind.summary': ['resumen', 'summary'],
  'kind.text': ['texto', 'text'],
  'kind.parameter': ['parámetro', 'parameter'],
  'kind.sent': ['campo del pedido', 'field of the request'],
  'kind.answered': ['campo de la respuesta', 'field of the answer'],
  'kind.code': ['código', 'code'],
  loading: ['Cargando la descripción…', 'Loading the description…'],
  failed: ['No pudimos cargar la descripción.', 'The description cannot be loaded.'],
  retry: ['Probar de nuevo', 'Try again'],
  start: ['Inicio', 'Start'],
  authentication: ['Autenticación', 'Authentication'],
  models: ['Modelos', 'Models'],
  codes: ['Códigos', 'Codes'],
  'codes.intro': [
    'Cada rechazo tiene un código estable para programas y una frase para personas. Para reaccionar, comparen el código, nunca la frase.',
    'Each refusal has a stable code for programs and a sentence for people, in Spanish. Programs compare the code, never the sentence.',
  ],
  groups: ['Grupos', 'Groups'],
  operations: ['{n} operación|{n} operaciones', '{n} operation|{n} operations'],
  'access.none': ['Sin autenticación.', 'No authentication.'],
  'access.needed': ['Cabecera Authorization: {schemes}.', 'Authorization header: {schemes}.'],
  'access.optional': [
    'Cabecera Authorization, opcional: {schemes}.',
    'Authorization header, optional: {schemes}.',
  ],
  or: ['o', 'or'],
  parameters: ['Parámetros', 'Parameters'],
  body: ['Cuerpo del pedido', 'Request body'],
  example: ['Ejemplo', 'Example'],
  answer: ['Respuesta {status}', 'Answer {status}'],
  'answer.empty': ['Sin cuerpo.', 'No body.'],
  headers: ['Cabeceras', 'Headers'],
  refusals: ['Rechazos', 'Refusals'],
  'refusals.order': [
    'Si corresponden varios, llega el primero.',
    'Where several apply, the first one is answered.',
  ],
  'refusals.model': ['Cuerpo: {model}.', 'Body: {model}.'],
  told: ['Códigos en una respuesta 200', 'Codes in an answer with 200'],
  sentence: ['La frase que llega:', 'The sentence on the wire:'],
  'code.used': ['Operaciones con este código', 'Operations with this code'],
  'model.used': ['Operaciones con este modelo', 'Operations with this model'],
  needed: ['obligatorio', 'required'],
  optional: ['opcional', 'optional'],
  'in.path': ['en la ruta', 'in the path'],
  'in.query': ['en la consulta', 'in the query'],
  'in.header': ['cabecera', 'header'],
  'one-of': ['Una de estas formas', 'One of these forms'],
  'list-of': ['lista de {type}', 'list of {type}'],
  'any-key': ['(cualquier clave)', '(any key)'],
  anything: ['cualquier valor', 'anything'],
  'type.string': ['texto', 'text'],
  'type.integer': ['entero', 'integer'],
  'type.number': ['número', 'number'],
  'type.boolean': ['verdadero o falso', 'true or false'],
  'type.object': ['objeto', 'object'],
  'type.null': ['null', 'null'],
  'type.array': ['lista', 'list'],
  fields: ['Campos de {model}', 'Fields of {model}'],
  command: ['Comando', 'Command'],
  copy: ['Copiar', 'Copy'],
  copied: ['Copiado', 'Copied'],
  uncopied: [
    'El navegador no dejó copiar. Elegí el texto a mano.',
    'The browser did not let us copy. Select the text by hand.',
  ],
  'command.needs': ['Antes, en la misma terminal:', 'First, in the same shell:'],
  'need.URL': ['la dirección del servicio', 'the address of the service'],
  'need.TOKEN': [
    '`token` de la respuesta de `POST /api/auth/session`',
    '`token` in the answer of `POST /api/auth/session`',
  ],
  'need.COUPON': [
    '`id` de una definición, de `POST /api/coupons`',
    '`id` of a definition, from `POST /api/coupons`',
  ],
  'need.NONCE': [
    '`nonce` de un cupón emitido, de `POST /api/coupons/mint`',
    '`nonce` of a voucher, from `POST /api/coupons/mint`',
  ],
  'need.HANDLE': [
    '`handle` de un cupón, de su lista',
    '`handle` of a voucher, from the list with it',
  ],
  'need.BATCH': [
    '`id` de una tanda, de `GET /api/coupons/{id}/batches`',
    '`id` of a batch, from `GET /api/coupons/{id}/batches`',
  ],
  'need.POSTER': [
    '`id` de un afiche, de `POST /api/posters`',
    '`id` of a poster, from `POST /api/posters`',
  ],
  'need.PICTURE': [
    'sha256 de una imagen, de `POST /api/pictures`; o de la dirección de una',
    'sha256 of a picture, from `POST /api/pictures`; or of the address of one',
  ],
  'need.KEY': ['una clave pública: npub o hex', 'a public key: npub or hex'],
  'need.ATTEMPT': [
    'un texto nuevo para cada pedido, el mismo al repetirlo: `$(openssl rand -hex 16)`',
    'a new text for each request, the same when you repeat it: `$(openssl rand -hex 16)`',
  ],
  'need.EVENT': [
    'un evento de Nostr firmado, como JSON; el ejemplo muestra su tipo y sus etiquetas',
    'a signed Nostr event as JSON; the example shows its kind and tags',
  ],
  'need.EVENT_ID': ['el `id` de un evento', 'the `id` of an event'],
  'need.ADDRESS': [
    'una dirección Lightning, como `ana@comercio.example`',
    'a lightning address, such as `ana@shop.example`',
  ],
  'need.NAME': ['un nombre de este servicio', 'a name of this service'],
  'need.IDENTITY_NONCE': [
    '`nonce` de `POST /api/nonce`: sirve para registrar un nombre',
    '`nonce` from `POST /api/nonce`: it lets somebody register a name',
  ],
  'need.VOUCHER': [
    '`voucher` de una respuesta, como JSON: el evento firmado del cupón',
    '`voucher` of an answer as JSON: the signed event of the coupon',
  ],
  'need.CODE': [
    'el código de instalación que muestra `cuponera setup`',
    'the setup code that `cuponera setup` shows',
  ],
  'need.PASSPHRASE': ['las palabras de la mudanza', 'the words of the move'],
  'need.TICKET': ['`ticket` de `POST /api/arrival`', '`ticket` from `POST /api/arrival`'],
  'need.P': [
    '`p` de la dirección que escribió la tarjeta',
    '`p` of the address that the card wrote',
  ],
  'need.C': ['`c` de la misma dirección', '`c` of the same address'],
  'need.K1': ['`k1` de `GET /card/scan`', '`k1` from `GET /card/scan`'],
  'need.INVOICE': ['una factura Lightning (BOLT 11)', 'a lightning invoice (BOLT 11)'],
  'need.FILE': ['un archivo que nombra una de las páginas', 'a file that one of the pages names'],
  'need.shop.nsec': [
    'el archivo de la clave; `cuponera sign` firma este pedido y lo crea si falta',
    'the file of the key; `cuponera sign` signs this request, and makes the file if it is missing',
  ],
  'need.picture.png': ['la imagen', 'the picture'],
  'need.move.age': ['el archivo de la mudanza', 'the file of the move'],
  language: ['Switch to English', 'Pasar a español'],
  dark: ['Pasar a oscuro', 'Switch to dark'],
  light: ['Pasar a claro', 'Switch to light'],
} as const satisfies Record<string, readonly [spanish: string, english: string]>

export type Word = Exclude<keyof typeof words, `need.${string}`> | `need.${CurlNeed}`

export type Say = (word: Word, fill?: Record<string, string | number>) => string

/** The sentences in one language. Unlike those of the other pages they do not change: the server uses them, too. */
export function sayIn(language: Language): Say {
  return (word, fill = {}) => {
    const text = words[word][language === 'es' ? 0 : 1]
    const [one = '', many = one] = text.split('|')
    const chosen = fill.n === 1 ? one : many
    return chosen.replace(/\{(\w+)\}/g, (whole, name: string) => String(fill[name] ?? whole))
  }
}
