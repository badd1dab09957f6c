import type { RefusalCode } from '../../base/refusal.ts'
import { type ErrorKey, errorWords } from '../words/errors.ts'
import { language } from './language.ts'

/** Why a request came to nothing: a refusal of the service, or one of ours. */
export type FailureCode = RefusalCode | 'unreachable' | 'signed-out' | 'answer-invalid'

export class ApiError extends Error {
  readonly code: FailureCode
  /** 0 where no answer came. */
  readonly status: number
  /** The es-AR sentence of the service. */
  readonly sentence: string
  /** Dotted path of what is wrong, such as `benefit.payQty`. */
  readonly field: string | null
  readonly retryAfter: number | null

  constructor(
    code: FailureCode,
    status = 0,
    detail: { error?: string | undefined; field?: string; retryAfter?: number } = {},
  ) {
    super(code)
    this.code = code
    this.status = status
    this.sentence = detail.error ?? ''
    this.field = detail.field ?? null
    this.retryAfter = detail.retryAfter ?? null
  }

  /** True where the request may have been done all the same: only the same key may be tried again. */
  get unknown(): boolean {
    return this.code === 'unreachable' || this.status >= 500 || [408, 429].includes(this.status)
  }
}

/** What to tell a person about anything that was thrown, in the language of the page. */
export function errorText(cause: unknown): string {
  if (!(cause instanceof ApiError)) return errorWords('unexpected')
  const ours = cause.code as ErrorKey
  if (language.value === 'es' && cause.sentence !== '') return cause.sentence
  return errorWords(ours, { code: cause.code }) === ours
    ? errorWords('refused', { code: cause.code })
    : errorWords(ours, { origin: location.origin })
}
