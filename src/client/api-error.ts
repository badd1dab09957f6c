import type { RefusalCode } from './described/codes.ts'

/** The code of a failed request: a refusal of the service, or a failure that the client saw itself. */
export type FailureCode =
  | RefusalCode
  | 'unreachable'
  | 'signed-out'
  | 'answer-invalid'
  | 'redirected'
  | 'key-expired'

type Detail = {
  error?: string | undefined
  field?: string
  retryAfter?: number
  setup?: boolean
  reason?: string | undefined
  /** For the programmer, in place of the code. */
  message?: string
}

/** Reasons why a till is unknown that a new session does not have. */
const sessionReasons = new Set<unknown>([
  'missing',
  'expired',
  'session-expired',
  'session-invalid',
])

/** Faults after which the service has done nothing, although another attempt may succeed. */
const undoneFaults = new Set<FailureCode>([
  ...(['overloaded', 'shutting-down', 'disk-low', 'clock-behind', 'moved'] as const),
  // By code: a gateway also answers 408 and 429, after it passed the request on.
  ...(['request-timeout', 'rate-limited', 'vouchers-day-full', 'bytes-day-full'] as const),
  'live-full',
])

type SessionCode = Extract<RefusalCode, `auth-${string}`>

/** Codes of a request that was not let in. A gateway has others that begin like them. */
const sessionCodes: Record<SessionCode, true> = {
  'auth-expired': true,
  'auth-malformed': true,
  'auth-missing': true,
  'auth-origin-unknown': true,
  'auth-replay': true,
  'auth-session-expired': true,
  'auth-session-invalid': true,
  'auth-too-large': true,
  'auth-url-mismatch': true,
}

/** Failures that say nothing of the service. A signature was used before: by this very request. */
const unknown = new Set<FailureCode>(['unreachable', 'answer-invalid', 'auth-replay'])

/** Codes after which a request under this name may have succeeded, and no repetition tells. */
const used = new Set<FailureCode>(['key-expired', 'idempotency-key-reused'])

export class ApiError extends Error {
  readonly code: FailureCode
  /** HTTP status; 0 where no answer came. */
  readonly status: number
  /** The sentence of the service (es-AR); empty where no answer came. */
  readonly sentence: string
  /** Dotted path of the invalid field, such as `benefit.payQty`. */
  readonly field: string | null
  readonly retryAfter: number | null
  /** Why authentication failed, such as `session-expired`. */
  readonly reason: string | null
  /** True where a setup code would let this key in. */
  readonly setup: boolean
  /** True where an earlier attempt got no certain answer, and this failure says nothing of it. Its caller knows. */
  afterLost = false
  /**
   * True where the body was refused by its form: under its key only another body may have been executed.
   * @internal
   */
  ofForm = false
  /**
   * True where the operation has no such refusal: a gateway has codes, too.
   * @internal
   */
  foreign = false
  /** True where the request did not leave, such as when no session could be opened for it. */
  notSent = false

  constructor(code: FailureCode, status = 0, detail: Detail = {}) {
    super(detail.message ?? code)
    this.code = code
    this.status = status
    this.sentence = detail.error ?? ''
    this.field = detail.field ?? null
    this.retryAfter = detail.retryAfter ?? null
    this.reason = detail.reason ?? null
    this.setup = detail.setup === true
  }

  /** True where the service may have executed the request: only a retry with the same key is safe. */
  get mayHaveSucceeded(): boolean {
    if (this.afterLost || used.has(this.code)) return true
    return this.lost && !this.notSent && !this.undone
  }

  /** True where this attempt got no certain answer, so that another one may get it. */
  get lost(): boolean {
    const { code } = this
    if (code === 'moved') return false
    return unknown.has(code) || this.status >= 500 || [408, 429].includes(this.status)
  }

  /** False where nothing came back, or a redirect that the browser hides: that of a portal. */
  get reached(): boolean {
    return this.code !== 'unreachable' && (this.code !== 'answer-invalid' || this.status !== 0)
  }

  /** True where the service refused, or was not asked, before it looked for an answer under the key of the request. */
  get beforeKey(): boolean {
    if (this.notSent || this.undone) return true
    return this.isOfSession || this.code === 'signed-out' || this.code === 'redirected'
  }

  /** True where another session helps. A redemption is refused for it only where its merchant asks who redeems. */
  get asksForSession(): boolean {
    if (this.code === 'till-not-allowed') return sessionReasons.has(this.reason)
    return this.isOfSession
  }

  /** True where the service said that it did nothing yet. */
  private get undone(): boolean {
    return undoneFaults.has(this.code)
  }

  /** The 401 of a proxy says nothing of the session. */
  private get isOfSession(): boolean {
    return this.status === 401 && Object.keys(sessionCodes).includes(this.code)
  }

  /** The failure of a session, for one of the calls that waited for it. Their requests did not leave. */
  forUnsent(): ApiError {
    return Object.assign(new ApiError(this.code, 0, { message: this.message }), this, {
      notSent: true,
    })
  }
}

/** The setting that a refusal names, such as `PUBLIC_URL=http://192.168.1.10:3000`; null where it names none. */
export function settingIn(cause: unknown): string | null {
  if (!(cause instanceof ApiError) || cause.status !== 401) return null
  return /\bPUBLIC_URL=https?:\/\/[^\s«»"'<>,;)]+/.exec(cause.sentence)?.[0] ?? null
}
