/** Retries of one request until its answer is known: same body, same key, exponential backoff. */
import type { ApiError } from './api-error.ts'
import type { OperationName } from './described/operations.ts'
import { isFinal } from './once.ts'

/** An answer of the service, or a `failure`; `status` 0 when none came. */
export type Answer = {
  status: number
  body: Record<string, unknown>
  retryAfter: number | null
  failure: ApiError | null
}

type HowAsked = { path?: Record<string, string>; timeoutMs?: number; authorization?: string }

/** Calls an operation. A failure of the network is an answer with status 0; it is not thrown. */
export type Ask = (
  name: OperationName,
  body: unknown,
  key?: string,
  how?: HowAsked,
) => Promise<Answer>

/** Resolves after so many seconds, or sooner when a person cuts the pause short. */
export type Pause = (seconds: number) => Promise<void>

const pausesSeconds = [1, 2, 4, 8, 15]
const pauseSecondsMax = 30

/** True when the answer is final, for better or worse, where each attempt sends the same body under the same key. */
export function settles({ failure }: Answer): boolean {
  return failure === null || isFinal(failure)
}

export function codeOf({ body }: Pick<Answer, 'body'>): string {
  return typeof body.code === 'string' ? body.code : ''
}

/** Seconds to wait, where the service refused because of its rate limit; else null. */
export function limitedSeconds(answer: Answer): number | null {
  return codeOf(answer) === 'rate-limited' ? answer.retryAfter : null
}

/** Seconds to wait after so many attempts. */
function pauseAfter(tries: number, answer: Told): number {
  const pause = pausesSeconds[tries - 1] ?? pauseSecondsMax
  return Math.min(Math.max(pause, answer.retryAfter ?? 0), pauseSecondsMax)
}

type Told = Pick<Answer, 'retryAfter'>

type Persistence<Found extends Told> = {
  pause: Pause
  /** Called after every attempt without a final answer. */
  onLost(tries: number, answer: Found): void
  /** Called before every further attempt; false gives up, and the last answer is returned. */
  goOn(): boolean
  /** Whether an answer is final. */
  settled: (answer: Found) => boolean
}

/** Repeat `attempt` until its answer is final. `attempt` must send the same body and key each time. */
export async function persist<Found extends Told>(
  attempt: () => Promise<Found>,
  { pause, onLost, goOn, settled }: Persistence<Found>,
): Promise<Found> {
  for (let tries = 1; ; tries++) {
    const answer = await attempt()
    if (settled(answer)) return answer
    onLost(tries, answer)
    await pause(pauseAfter(tries, answer))
    if (!goOn()) return answer
  }
}

/** Runs work of one name at a time: a call during a run gets the outcome of that run. */
export function createRuns<Outcome>() {
  const running = new Map<string, Promise<Outcome>>()
  return (name: string, work: () => Promise<Outcome>): Promise<Outcome> => {
    const known = running.get(name)
    if (known !== undefined) return known
    const started = work().finally(() => running.delete(name))
    running.set(name, started)
    return started
  }
}
