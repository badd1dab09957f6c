/**
 * `usage`: the command line is not understood. `no-answer`: no server answers. `stopping`: the server stopped
 * before the work was done. `passphrase`: it opens nothing. `not-empty`: there is data already. `disk-full`: no room for
 * a file. `port-taken`: another program listens there. `failed`: anything else.
 */
export type OperatorErrorKind =
  | 'usage'
  | 'no-answer'
  | 'stopping'
  | 'passphrase'
  | 'not-empty'
  | 'disk-full'
  | 'port-taken'
  | 'failed'

/** A start or a command of the operator that cannot go on. The message says why, and what to do, in lines. */
export class OperatorError extends Error {
  readonly kind: OperatorErrorKind

  constructor(message: string, kind: OperatorErrorKind = 'failed') {
    super(message)
    this.kind = kind
  }

  /** The exit code of the process. */
  get exitCode(): 1 | 2 {
    return this.kind === 'usage' ? 2 : 1
  }

  /** True if `cause` is an error of that kind. */
  static is(cause: unknown, kind: OperatorErrorKind): cause is OperatorError {
    return cause instanceof OperatorError && cause.kind === kind
  }
}
