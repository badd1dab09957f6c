import { OperatorError } from '../base/operator-error.ts'

/** Codes of the system and of SQLite that only a disk has. */
const diskCodes = /^(EIO|ENOSPC|EDQUOT|EROFS|EFBIG|SQLITE_(FULL|IOERR|READONLY|CANTOPEN)(_\w+)?)$/

/** The line for the operator about a disk that failed. Null if the cause is another one. */
export function diskErrorFrom(cause: unknown): OperatorError | null {
  if (!(cause instanceof Error && 'code' in cause)) return null
  const code = String(cause.code)
  return diskCodes.test(code)
    ? new OperatorError(`the disk failed (${code}): ${cause.message}`)
    : null
}
