/**
 * All refusals, in order of precedence: code, HTTP status, and the es-AR sentence for people. The codes
 * are part of the wire contract; docs/api/errors.md explains them.
 */
const table = {
  // The request as such.
  'shutting-down': [503, 'El servicio se está reiniciando. Probá de nuevo en unos segundos.'],
  'too-large': [413, 'Lo que enviaste es demasiado grande. Mandá menos datos.'],
  'request-timeout': [408, 'Tu pedido tardó demasiado en llegar. Probá de nuevo.'],
  'rate-limited': [429, 'Hiciste demasiados pedidos seguidos. Esperá un momento y probá de nuevo.'],
  'not-found': [404, 'Esa dirección no existe. Revisá la ruta.'],
  'method-not-allowed': [405, 'Ese método no se puede usar acá. Mirá el encabezado Allow.'],
  // Authentication; each code with its `reason` on the wire in http/envelope.ts.
  'auth-missing': [401, 'Falta autenticarte. Firmá el pedido o iniciá sesión.'],
  'auth-too-large': [
    401,
    'El encabezado de autenticación es demasiado grande. Firmá un evento más chico.',
  ],
  'auth-malformed': [401, 'La autenticación no es válida. Firmá el pedido de nuevo.'],
  'auth-expired': [401, 'La firma venció. Revisá la hora de tu equipo y firmá de nuevo.'],
  'auth-url-mismatch': [
    401,
    'La firma es para otra dirección o método. Firmá exactamente este pedido.',
  ],
  'auth-origin-unknown': [
    401,
    'El servicio no reconoce esta dirección como propia. Configurá PUBLIC_URL con ella y firmá de nuevo.',
  ],
  'auth-replay': [401, 'Esa firma ya se usó. Firmá un pedido nuevo.'],
  'auth-session-expired': [401, 'Tu sesión venció. Iniciá sesión de nuevo.'],
  'auth-session-invalid': [401, 'Tu sesión no es válida. Iniciá sesión de nuevo.'],
  // Form and meaning of the request.
  'body-invalid': [400, 'El cuerpo del pedido no es un objeto JSON válido. Revisalo.'],
  'field-invalid': [400, 'Hay un dato que no es válido. Corregilo y probá de nuevo.'],
  'benefit-invalid': [400, 'El beneficio no es válido. Revisá sus datos.'],
  'expiry-past': [400, 'El vencimiento ya pasó. Elegí una fecha futura.'],
  'picture-invalid': [400, 'Esa foto no se puede leer. Mandá una JPEG, PNG o WebP, sin animación.'],
  'picture-too-wide': [400, 'Esa foto es demasiado grande. Achicala a 2048 píxeles por lado.'],
  'nothing-to-change': [400, 'No hay nada para cambiar. Mandá al menos un dato.'],
  'minter-is-owner': [400, 'Esa clave es la tuya: ya podés emitir tus cupones.'],
  'idempotency-key-invalid': [
    400,
    'El encabezado Idempotency-Key falta o no es válido. Mandá uno de 8 a 255 caracteres ASCII visibles.',
  ],
  'page-invalid': [
    400,
    'El paginado no es válido. Usá limit entre 1 y 500 y el cursor que te dimos.',
  ],
  'nonce-invalid': [400, 'El código del cupón no tiene la forma correcta. Escanealo de nuevo.'],
  'announcement-kind': [400, 'El anuncio tiene que ser un evento de tipo 30078.'],
  'announcement-author': [400, 'El anuncio está firmado por otra clave. Firmalo con la tuya.'],
  'announcement-id': [400, 'El id del anuncio no corresponde a su contenido. Armalo de nuevo.'],
  'announcement-signature': [400, 'La firma del anuncio no es válida. Firmalo de nuevo.'],
  'announcement-d': [400, 'Al anuncio le falta la etiqueta d. Agregala y firmalo de nuevo.'],
  'announcement-content': [400, 'El contenido del anuncio no es un objeto JSON. Armalo de nuevo.'],
  'announcement-url': [400, 'El anuncio tiene una dirección que no es https. Corregila.'],
  'announcement-future': [400, 'El anuncio tiene fecha futura. Revisá la hora de tu equipo.'],
  'identity-event-invalid': [400, 'Mandá un evento Nostr firmado, del tipo que pide esta ruta.'],
  'identity-event-stale': [400, 'El evento es viejo o futuro. Revisá la hora de tu equipo.'],
  'identity-name-invalid': [
    400,
    'El nombre no es válido: usá hasta 64 letras minúsculas, números, punto, guion o guion bajo.',
  ],
  'identity-pubkey-invalid': [400, 'La clave pública no es válida. Mandala en hex o como npub.'],
  'identity-lud16-invalid': [
    400,
    'El objeto lud16 no es válido: revisá tag, callback, montos y metadata.',
  ],
  'identity-nonce-invalid': [400, 'El nonce propuesto no tiene la forma correcta.'],
  'amount-invalid': [400, 'El monto falta o está fuera de lo que acepta esta dirección.'],
  'voucher-invalid': [400, 'El cupón no es válido: revisá su evento, su firma y su código.'],
  'service-unknown': [400, 'No conocemos el servicio que emitió ese cupón.'],
  'move-passphrase-wrong': [
    400,
    'Esas palabras no abren el archivo de la mudanza. Revisalas y probá de nuevo.',
  ],
  'move-file-damaged': [
    400,
    'El archivo de la mudanza está dañado o incompleto. Traelo de nuevo de la otra computadora.',
  ],
  'not-json-event': [
    415,
    'Mandá un evento Nostr como objeto JSON, con Content-Type application/json.',
  ],
  'not-json-filter': [415, 'Mandá un filtro de Nostr como objeto JSON.'],
  'not-acceptable': [406, 'La respuesta sólo puede ser JSON. Ajustá el encabezado Accept.'],
  'event-invalid': [422, 'El evento no es válido: revisá su forma, su id y su firma.'],
  'delegation-invalid': [422, 'La delegación del evento no es válida.'],
  'event-not-publishable': [
    422,
    'Ese evento no se puede publicar: está vencido, es un cupón o ningún relay lo aceptaría.',
  ],
  'recipient-invalid': [400, 'Falta el destinatario o no es válido. Mandalo como npub o en hex.'],
  'tokens-invalid': [400, 'Los montos tienen que ser enteros positivos, al menos uno.'],
  'invoice-invalid': [400, 'No es una factura Lightning que se pueda pagar. Pedí otra.'],
  'invoice-amountless': [400, 'La factura no dice el monto. Pedí una con monto fijo.'],
  'action-unknown': [400, 'Esa acción no existe. Revisá el encabezado X-LaWallet-Action.'],
  'tap-invalid': [400, 'No pudimos leer la tarjeta. Apoyala de nuevo.'],
  'card-event-invalid': [
    422,
    'El evento no es válido para este pedido. Armalo y firmalo de nuevo.',
  ],
  'card-event-stale': [422, 'El evento tiene otra hora. Revisá la de tu equipo y firmá de nuevo.'],
  'card-content-invalid': [422, 'El contenido del evento no es válido. Revisá sus datos.'],
  'card-delegation-invalid': [
    422,
    'La delegación de la tarjeta no es válida. Delegá de nuevo en la clave de este servicio.',
  ],
  'filter-invalid': [422, 'El filtro no es válido. Revisá sus claves y valores.'],
  // Permission, then existence.
  'merchant-not-allowed': [403, 'Tu clave no está habilitada como comercio en este servicio.'],
  'setup-code-wrong': [
    403,
    'Ese código no es correcto o ya se usó. Revisalo, o pedile el actual a quien maneja el servicio.',
  ],
  'merchants-owner-only': [
    403,
    'Sólo quien puso en marcha el servicio puede agregar o quitar comercios.',
  ],
  'move-not-allowed': [403, 'Sólo quien puso en marcha el servicio puede mudarlo.'],
  'move-in-clear': [
    403,
    'La mudanza lleva todas las claves: hacela en la misma computadora del servicio o por https.',
  ],
  'mint-not-allowed': [403, 'No tenés permiso para emitir este cupón. Pedíselo al comercio.'],
  'till-not-allowed': [
    403,
    'Este cupón sólo se canjea en las cajas autorizadas del comercio. Pedile que autorice esta caja.',
  ],
  'not-allowed': [403, 'Ningún relay de este servicio acepta tus eventos.'],
  'identity-not-authorized': [403, 'Tu clave no está habilitada para esto en este servicio.'],
  'metrics-closed': [
    403,
    'Las métricas son para quien opera el servicio. Pedilas desde la misma máquina o con METRICS_TOKEN.',
  ],
  'account-not-yours': [403, 'Sólo el dueño de la cuenta o el emisor pueden ver ese saldo.'],
  'identity-nonce-missing': [403, 'Falta el nonce que habilita el registro.'],
  'identity-nonce-unknown': [403, 'Ese nonce no existe. Pedí uno nuevo.'],
  'identity-nonce-burned': [403, 'Ese nonce ya se usó. Pedí uno nuevo.'],
  'identity-reserved': [403, 'Ese nombre está reservado. Elegí otro.'],
  'identity-unknown': [404, 'Nadie registró ese nombre.'],
  'account-unknown': [404, 'No conocemos esa cuenta.'],
  'nonce-unknown': [404, 'Ese nonce no existe.'],
  'card-writer-only': [403, 'Tu clave no está habilitada para grabar tarjetas.'],
  'encryption-needed': [
    400,
    'Las claves no viajan en claro: pedilas por https o con la etiqueta encrypted.',
  ],
  'card-unknown': [404, 'Esa tarjeta no es de este servicio.'],
  'otc-unknown': [404, 'Ese código de activación no existe o ya se usó.'],
  'pay-request-unknown': [404, 'El titular de esta tarjeta no recibe pagos.'],
  'k1-unknown': [404, 'Ese pago no existe o venció. Apoyá la tarjeta de nuevo.'],
  'payment-unknown': [404, 'Nadie pagó con ese código.'],
  'event-unknown': [404, 'No conocemos ese evento.'],
  'coupon-unknown': [404, 'Ese cupón no existe.'],
  'batch-unknown': [404, 'Esa tanda no existe.'],
  'poster-unknown': [404, 'Ese afiche no existe o el comercio lo quitó.'],
  'voucher-unknown': [404, 'Ese código no corresponde a ningún cupón. Revisalo.'],
  'image-unknown': [404, 'Ningún cupón usa esa imagen.'],
  'picture-unknown': [404, 'Esa foto no existe o ya se borró. Subila de nuevo.'],
  'merchant-unknown': [404, 'Esa clave no está entre los comercios. Revisala.'],
  'minter-unknown': [404, 'No encontramos esa clave. Revisá lo que escribiste.'],
  'held-unknown': [404, 'No tenés ese cupón entre los recibidos.'],
  'address-unknown': [404, 'Esa dirección no existe. Revisala.'],
  'announcement-unknown': [404, 'No tenés ningún anuncio guardado.'],
  // State.
  'idempotency-key-reused': [422, 'Esa Idempotency-Key ya se usó con otro pedido. Usá una nueva.'],
  'other-merchant': [
    409,
    'Este cupón es de otro comercio. Se canjea en el comercio que lo emitió.',
  ],
  'voucher-claimed': [409, 'Este cupón ya se canjeó.'],
  'voucher-refreshed': [409, 'Este código ya se cambió por otro: el cupón pasó a otras manos.'],
  'voucher-voided': [409, 'El comercio ya había anulado este cupón.'],
  'voucher-moved': [410, 'Este código ya no vale: el cupón pasó a otras manos.'],
  'voucher-cancelled': [410, 'El comercio anuló este cupón.'],
  'voucher-expired': [410, 'Este cupón venció.'],
  'not-now': [409, 'Ahora no se puede. Mirá desde cuándo y en qué horario vale.'],
  'minimum-not-met': [409, 'La compra no llega al mínimo que pide este cupón.'],
  'poster-ended': [410, 'Este afiche ya terminó.'],
  'poster-paused': [409, 'El comercio pausó este afiche. Probá más tarde.'],
  'poster-taken': [409, 'Ya tenés tu cupón de este afiche. Buscalo en «Mis cupones».'],
  'poster-exhausted': [409, 'Ya se llevaron todos los cupones de este afiche.'],
  'poster-today': [409, 'Por hoy no quedan cupones. Volvé mañana.'],
  'coupon-archived': [410, 'Este cupón está archivado y ya no se emite.'],
  'coupon-expired': [410, 'Este cupón venció y ya no se emite.'],
  'coupon-exhausted': [409, 'Ya se emitieron todos los cupones disponibles.'],
  'vouchers-not-taken': [409, 'Esa dirección no recibe cupones.'],
  'transfer-busy': [409, 'Ese cupón está pasando a otra cuenta.'],
  'inbox-full': [409, 'Esa cuenta ya tiene demasiados cupones sin usar.'],
  'inbox-merchant-full': [409, 'Esa cuenta ya tiene demasiados cupones de ese comercio.'],
  'service-silent': [409, 'El servicio que emitió el cupón no responde. Probá más tarde.'],
  'transfer-pending': [409, 'El servicio que emitió el cupón no confirmó. Seguimos probando.'],
  'address-silent': [409, 'El servicio de esa dirección no responde. Probá más tarde.'],
  'transfer-unclear': [
    409,
    'La otra parte vio el cupón y no lo aceptó. Renovalo ahora para que siga siendo tuyo.',
  ],
  'announcement-older': [409, 'Ya hay un anuncio más nuevo guardado. Firmá uno con fecha actual.'],
  'merchants-by-setting': [409, 'Acá los comercios se eligen en la configuración del servicio.'],
  'move-not-begun': [409, 'El servicio no se está mudando.'],
  'move-not-empty': [
    409,
    'Este servicio ya tiene datos. La mudanza entra sólo en uno recién instalado.',
  ],
  'merchant-is-owner': [
    409,
    'Esa clave sólo se puede quitar desde la computadora donde corre el servicio.',
  ],
  'merchants-full': [409, 'Llegaste al máximo de comercios. Quitá alguno que ya no esté.'],
  'definitions-full': [409, 'Llegaste al máximo de cupones definidos. Borrá alguno que no uses.'],
  'vouchers-day-full': [
    429,
    'Llegaste al máximo de cupones por día en este servicio. Seguí mañana.',
  ],
  'bytes-day-full': [429, 'Llegaste al máximo de datos por día en este servicio. Seguí mañana.'],
  'pictures-full': [
    409,
    'Llegaste al máximo de fotos en uso. Archivá un cupón que ya terminó, o usá una foto que ya subiste.',
  ],
  'batch-full': [409, 'Esa tanda ya está completa. Empezá otra.'],
  'batches-full': [409, 'Este cupón ya tiene el máximo de tandas. Duplicalo y seguí con ese.'],
  'posters-full': [409, 'Llegaste al máximo de afiches. Borrá alguno que no uses.'],
  'minters-full': [409, 'Llegaste al máximo de emisores autorizados. Quitá alguno que no uses.'],
  'identity-name-taken': [409, 'Ese nombre ya está en uso. Elegí otro.'],
  'identity-pubkey-taken': [409, 'Esa clave ya tiene un nombre en este servicio.'],
  'nonce-burned': [410, 'Ese nonce ya se usó.'],
  'event-repeated': [409, 'Ese evento ya se usó. Firmá uno nuevo.'],
  'identity-nonce-taken': [409, 'Ese nonce ya existe. Proponé otro.'],
  'identity-nonces-full': [409, 'Tenés demasiados nonces sin usar. Esperá a que se usen.'],
  'payments-not-taken': [400, 'Esta dirección no recibe pagos, sólo cupones.'],
  'wallet-unreachable': [400, 'La billetera de esa cuenta no responde. Probá de nuevo.'],
  'live-full': [429, 'Tenés demasiadas ventanas en vivo abiertas. Cerrá alguna y probá de nuevo.'],
  'image-unavailable': [502, 'No pudimos traer esa imagen. Revisá su dirección o probá más tarde.'],
  'k1-used': [400, 'Ese pago ya se hizo. Apoyá la tarjeta de nuevo.'],
  'k1-in-flight': [400, 'Ese pago está en curso. Esperá a que termine.'],
  'k1-expired': [400, 'Pasó demasiado tiempo. Apoyá la tarjeta de nuevo.'],
  'card-unconfirmed': [400, 'Esta tarjeta espera que el comercio la confirme.'],
  'tap-used': [400, 'Esa lectura ya se usó. Apoyá la tarjeta de nuevo.'],
  'card-inactive': [400, 'Esta tarjeta todavía no está activada.'],
  'card-disabled': [400, 'Esta tarjeta está desactivada.'],
  'delegation-over': [400, 'El permiso de esta tarjeta venció. Activala de nuevo.'],
  'no-gateway': [400, 'Esta tarjeta paga con los tokens del comercio, no por Lightning.'],
  'token-unknown': [400, 'Este servicio no conoce ninguno de esos tokens.'],
  'holder-changed': [400, 'La tarjeta cambió de titular. Apoyala de nuevo.'],
  'recipient-not-trusted': [400, 'El titular no habilitó pagos a este comercio.'],
  'invoice-expired': [400, 'La factura venció. Pedí otra.'],
  'invoice-taken': [400, 'Esa factura ya se pagó o se está pagando.'],
  'amount-too-large': [400, 'El monto es más de lo que la tarjeta puede pagar.'],
  'limit-exceeded': [400, 'El pago supera un límite de la tarjeta.'],
  'funds-insufficient': [400, 'No alcanza el saldo.'],
  'ledger-refused': [400, 'El libro de cuentas rechazó el pago.'],
  'ledger-silent': [400, 'El libro de cuentas no respondió y el pago venció. Consultá su estado.'],
  'card-counter-unknown': [409, 'Falta el contador de la tarjeta: leelo y mandalo en ctr.'],
  'card-counter-low': [
    409,
    'El contador de la tarjeta tiene que ser mayor que el último conocido.',
  ],
  'card-linked': [409, 'Esa tarjeta ya tiene otro código o titular.'],
  'otc-linked': [409, 'Ese código ya es de otra tarjeta.'],
  'cards-full': [409, 'Llegaste al máximo de tarjetas de un titular.'],
  'card-versions-over': [409, 'A esta tarjeta no le quedan versiones de claves.'],
  'relays-refused': [400, 'Los relays rechazaron la consulta.'],
  'relays-silent': [504, 'Ningún relay respondió a tiempo. Probá de nuevo.'],
  'not-supported': [501, 'Este servicio no ofrece eso.'],
  // The machine cannot keep its word right now.
  moved: [503, 'Este negocio se mudó a otra computadora.'],
  'clock-behind': [503, 'El reloj del servicio está atrasado. Avisale al comercio.'],
  'disk-low': [
    503,
    'Al servicio le queda poco lugar en el disco. Avisale al comercio y probá más tarde.',
  ],
  'outbox-full': [503, 'Hay demasiado esperando para salir. Probá de nuevo más tarde.'],
  overloaded: [503, 'El servicio está ocupado. Probá de nuevo en unos segundos.'],
  unavailable: [503, 'El servicio no puede responder ahora. Probá de nuevo en unos segundos.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>

/**
 * The no of the embedded ledger, in the words of its `internal-transaction-error`; two are in the table. Over HTTP
 * they are the `reason` of `funds-insufficient` and, all others, of `ledger-refused`.
 */
const ledgerWords = {
  'delegation-invalid': 'La delegación no es válida.',
  'receiver-invalid': 'El destinatario no es válido.',
  'transaction-expired': 'La transacción venció.',
  'token-unknown': 'Ese token no existe en este servicio.',
  'balance-too-large': 'El saldo quedaría demasiado grande.',
} as const

export type RefusalCode = keyof typeof table
type LedgerReason = keyof typeof ledgerWords | 'tokens-invalid' | 'funds-insufficient'

/** The closed list of codes, for the documentation and its test. */
export const refusalCodes = /* @__PURE__ */ Object.keys(table) as RefusalCode[]

/** The words of `reason`: why authentication failed. */
export const authReasons = [
  'missing',
  'too-large',
  'malformed',
  'expired',
  'url-mismatch',
  'replay',
  'session-expired',
  'session-invalid',
] as const
export type AuthReason = (typeof authReasons)[number]

/** The words of `cause`: why the service is not ready. */
export const readyCauses = ['write-slow', 'disk-full', 'disk-failed', 'database-away'] as const
export type ReadyCause = (typeof readyCauses)[number]

/** Optional fields of a refusal on the wire. */
type RefusalDetail = {
  /** Dotted path of the wrong field of the body or query. */
  field?: string
  /** Seconds to wait before the next try. */
  retryAfter?: number
  /** Set if the caller may get in with a setup code. */
  setup?: true
  /** Why authentication failed, where the answer is not the refusal of that. */
  reason?: AuthReason
  /** Why the service is not ready. */
  cause?: ReadyCause
}

/** The `reason` of authentication failures on the wire. */
const reasons: Partial<Record<RefusalCode, AuthReason>> = {
  'auth-missing': 'missing',
  'auth-too-large': 'too-large',
  'auth-malformed': 'malformed',
  'auth-expired': 'expired',
  'auth-url-mismatch': 'url-mismatch',
  'auth-origin-unknown': 'url-mismatch',
  'auth-replay': 'replay',
  'auth-session-expired': 'session-expired',
  'auth-session-invalid': 'session-invalid',
}

/** An expected refusal. If it is thrown inside a transaction, the writes of that operation are undone. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly detail: RefusalDetail
  /** Words in place of our sentence: those of somebody else, or with the name of a value. */
  readonly words: string | null

  /** `words` replace the sentence, with the text of another service or with one that names a value. */
  constructor(code: RefusalCode, detail: RefusalDetail = {}, words: string | null = null) {
    super(code)
    this.code = code
    this.detail = detail
    this.words = words
  }
}

// Functions, so that a page, which creates refusals but answers none, is bundled without the table.

/** The HTTP status of a refusal. */
export function httpStatusOf({ code }: Pick<Refusal, 'code'>): number {
  return table[code][0]
}

/** The `reason` of an authentication failure; undefined for another refusal. */
export function authReasonOf({ code }: Pick<Refusal, 'code'>): AuthReason | undefined {
  return reasons[code]
}

/** The es-AR sentence for people. */
export function sentenceOf({ code, words }: Pick<Refusal, 'code' | 'words'>): string {
  return words ?? table[code][1]
}

/** The refusal while there are seconds to wait; null when there are none. */
export function rateLimited(waitSeconds: number): Refusal | null {
  if (waitSeconds <= 0) return null
  return new Refusal('rate-limited', { retryAfter: Math.ceil(waitSeconds) })
}

/** Refuse `rate-limited` while there are seconds to wait. */
export function requireNoWait(waitSeconds: number): void {
  const refusal = rateLimited(waitSeconds)
  if (refusal) throw refusal
}

/** Create the ledger's refusal of a transaction. `token` names the token whose amount is the reason. */
export function ledgerRefusal(reason: LedgerReason, token?: string): Refusal {
  const known = reason === 'tokens-invalid' || reason === 'funds-insufficient'
  const words = known ? table[reason][1] : ledgerWords[reason]
  const code = reason === 'funds-insufficient' ? reason : 'ledger-refused'
  return new Refusal(code, {}, token === undefined ? words : `${words} (${token})`)
}

/** True for a refusal of `ledgerRefusal`. */
export function isLedgerRefusal(cause: unknown): cause is Refusal {
  return (
    cause instanceof Refusal &&
    (cause.code === 'funds-insufficient' || cause.code === 'ledger-refused')
  )
}
