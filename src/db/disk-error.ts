import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'

/** Codes of the system, of SQLite and of PostgreSQL (SQLSTATE) that only a disk has. */
const diskCodes =
  /^(EIO|ENOSPC|EDQUOT|EROFS|EFBIG|SQLITE_(FULL|IOERR|READONLY|CANTOPEN)(_\w+)?|53100|58030)$/

const fullCodes = /^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL|53100)$/

/** The line for the operator about a disk that failed. Null if the cause is another one. */
export function diskErrorFrom(cause: unknown): OperatorError | null {
  const failed = diskFailure(cause)
  return failed && new OperatorError(`the disk failed (${failed.code}): ${failed.message}`)
}

/** The code and the message of a disk that failed. Null if the cause is another one. */
export function diskFailure(
  cause: unknown,
): { code: string; message: string; full: boolean } | null {
  if (cause instanceof Refusal) return diskFailure(cause.cause)
  if (!(cause instanceof Error && 'code' in cause)) return null
  const code = String(cause.code)
  return diskCodes.test(code) ? { code, message: cause.message, full: fullCodes.test(code) } : null
}
