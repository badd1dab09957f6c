import type { Log } from '../base/log.ts'
import { Refusal } from '../base/refusal.ts'
import { ValidationError } from './elysia.ts'

/** The refusal to answer with for anything thrown. Faults are logged and become `unavailable`. */
export function toRefusal(error: unknown, log: Log): Refusal {
  if (error instanceof Refusal) return error
  // Elysia wraps an error that a parser throws.
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
