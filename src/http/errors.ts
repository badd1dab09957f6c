import type { Log } from '../base/log.ts'
import { Refusal } from '../base/refusal.ts'
import { ValidationError } from './elysia.ts'

/** What to answer for anything thrown: a refusal as it is, a schema's no as a refusal, the rest logged. */
export function toRefusal(error: unknown, log: Log): Refusal {
  if (error instanceof Refusal) return error
  // A throw in a parser arrives wrapped.
  if (error instanceof Error && error.cause instanceof Refusal) return error.cause
  if (error instanceof ValidationError) return schemaRefusal(error)
  log.error('fault', { cause: error })
  return new Refusal('unavailable', { retryAfter: 5 })
}

function schemaRefusal(error: ValidationError): Refusal {
  const path = error.valueError?.path ?? ''
  if (path === '') return new Refusal('body-invalid')
  return new Refusal('field-invalid', { field: path.slice(1).replaceAll('/', '.') })
}
