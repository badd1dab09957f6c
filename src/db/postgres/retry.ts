import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { ConnectionLost, StatementFailed } from './connection.ts'
import { closing } from './pool.ts'
import { StalledOperation, UnexpectedRows } from './session.ts'
import { CommitUnknown } from './settlement.ts'

/** SQLSTATE of an operation that another one stopped. */
const stopped = new Set(['40001', '40P01', '55P03'])
/** A unique key that another operation took at the same moment: the operation runs again and finds the row. */
const keyTaken = '23505'

function stoppedByOther(cause: unknown): boolean {
  return cause instanceof StatementFailed && stopped.has(cause.code)
}

/** Those who asked for an operation or a read. `left`: they were told that nobody knows, and may have asked elsewhere. */
export type Caller = { left: boolean }

/** Throws where nobody waits any more: what was not committed so far must not stand later. */
export function requireCaller({ left }: Caller): void {
  if (left) throw new Refusal('overloaded', { retryAfter: 2 })
}

/**
 * Resolve as the work does. When it takes longer than a caller waits, refuse `unavailable`: the work goes on alone, so that
 * the fate of a commit is found out. `failed` is told of a failure that no caller hears.
 */
export async function inTime<T>(
  run: (caller: Caller) => Promise<T>,
  failed: (cause: unknown) => void,
): Promise<T> {
  const caller = { left: false }
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => {
    caller.left = true
    work.catch((cause) => {
      if (!(cause instanceof Refusal)) failed(cause)
    })
    reject(new Refusal('unavailable', { retryAfter: 2 }))
  }
  const timer = setTimeout(leave, limits.databaseCallerSeconds * 1000)
  const work = run(caller)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Run again what others stopped, and what a lost connection took along, for a while. A lost connection may have taken all of
 * that while: its operation runs once more in any case. A key that is taken twice is taken for good. `patient`: an operation
 * that took a row for written waits for its answers from then on.
 */
export async function retried<T>(
  run: (patient: boolean) => Promise<T>,
  { closed, onRetry }: { closed: () => boolean; onRetry: () => void },
): Promise<T> {
  const began = performance.now()
  let lost = 0
  let taken = 0
  let patiently = false
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(patiently)
    } catch (cause) {
      const patient = performance.now() < began + limits.databasePatienceSeconds * 1000
      const tookForWritten: boolean = cause instanceof UnexpectedRows && !patiently
      const again =
        tookForWritten ||
        (cause instanceof ConnectionLost
          ? lost++ === 0 || patient
          : isKeyTaken(cause)
            ? taken++ === 0
            : stoppedByOther(cause) && patient)
      if (!again) throw cause
      if (closed()) throw closing()
      onRetry()
      patiently ||= tookForWritten
      await Bun.sleep(Math.random() * Math.min(2 ** attempt, limits.databaseRetryMsMax))
    }
  }
}

/** True of a fault of the engine, such as a lost connection, in contrast to a failure of the operation. */
export function isOfEngine(cause: unknown): boolean {
  return [StatementFailed, ConnectionLost, CommitUnknown, StalledOperation, UnexpectedRows].some(
    (kind) => cause instanceof kind,
  )
}

/** The answer to a fault that did not pass by itself. */
export function answerTo(cause: unknown): unknown {
  if (cause instanceof ConnectionLost || cause instanceof CommitUnknown) {
    return new Refusal('unavailable', { retryAfter: 2 })
  }
  return stoppedByOther(cause) ? new Refusal('overloaded', { retryAfter: 1 }) : cause
}

function isKeyTaken(cause: unknown): boolean {
  return cause instanceof StatementFailed && cause.code === keyTaken
}
