import type { RefusalCode } from './described/codes.ts'

/** The code of a failed request: a refusal of the service, or a failure that the client saw itself. */
export type FailureCode =
  | RefusalCode
  | 'unreachable'
  | 'signed-out'
  | 'answer-invalid'
  | 'key-expired'

type Detail = {
  error?: string | undefined
  field?: string
  retryAfter?: number
  setup?: boolean
  reason?: string | undefined
}

/** Reasons of a refused session that another one does not have. */
const endings = new Set<unknown>(['expired', 'session-expired', 'session-invalid'])

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

  constructor(code: FailureCode, status = 0, detail: Detail = {}) {
    super(code)
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
    return this.lost || this.afterLost || this.code === 'key-expired'
  }

  /** True where this attempt got no certain answer, so that another one may get it. */
  get lost(): boolean {
    const { code } = this
    // The page of a proxy says nothing of the service behind it. A signature was used before: by this very request.
    const unknown = ['unreachable', 'answer-invalid', 'auth-replay'].includes(code)
    return unknown || this.status >= 500 || [408, 429].includes(this.status)
  }

  /** True where the service refused, or was not asked, before it looked for an answer under the key of the request. */
  get beforeKey(): boolean {
    return this.status === 401 || this.code === 'signed-out'
  }

  /** True where another session helps. A redemption is refused for it only where its merchant asks who redeems. */
  get asksForSession(): boolean {
    return this.status === 401 || (this.code === 'till-not-allowed' && endings.has(this.reason))
  }
}

/** The setting that a refusal names, such as `PUBLIC_URL=http://192.168.1.10:3000`; null where it names none. */
export function settingIn(cause: unknown): string | null {
  if (!(cause instanceof ApiError) || cause.status !== 401) return null
  return /\bPUBLIC_URL=https?:\/\/[^\s«»"'<>,;)]+/.exec(cause.sentence)?.[0] ?? null
}
