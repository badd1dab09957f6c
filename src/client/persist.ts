/** One request, repeated until its answer is known: same body, same key, growing pauses. */

/** An answer as it came; `status` 0 when none did. */
export type Answer = { status: number; body: Record<string, unknown>; retryAfter: number | null }

/** Asks the service. Never throws for what a network does: that is status 0. */
export type Ask = (
  path: string,
  body: unknown,
  key?: string,
  patience?: { patienceMs?: number },
) => Promise<Answer>

/** Resolves after so many seconds, or as soon as somebody cuts the wait short. */
export type Pause = (seconds: number) => Promise<void>

const pausesSeconds = [1, 2, 4, 8, 15]
const pauseSecondsMax = 30

/** Refusals by which our own service says that asking again would change nothing. */
const final =
  /^(voucher-[a-z]+|other-merchant|nonce-invalid|body-invalid|field-invalid|idempotency-key-(invalid|reused))$/

/**
 * True when the answer settles the matter, whatever it says. A proxy's 404 or a login page of the
 * Wi-Fi settles nothing: a key that were dropped for it could never fetch its answer again.
 */
export function settles(answer: Answer): boolean {
  const { status, body } = answer
  if (status >= 200 && status < 300) return typeof body.nonce === 'string'
  return status >= 400 && status < 500 && final.test(codeOf(answer))
}

export function codeOf({ body }: Answer): string {
  return typeof body.code === 'string' ? body.code : ''
}

/** How long to wait before attempt number `tries` + 1. */
function pauseAfter(tries: number, answer: Answer): number {
  const pause = pausesSeconds[tries - 1] ?? pauseSecondsMax
  return Math.min(Math.max(pause, answer.retryAfter ?? 0), pauseSecondsMax)
}

type Persistence = {
  pause: Pause
  /** Told after every attempt that settled nothing. */
  onLost(tries: number, answer: Answer): void
  /** Asked before every further attempt: false gives up, and the answer is the last one. */
  goOn(): boolean
}

export async function persist(
  attempt: () => Promise<Answer>,
  { pause, onLost, goOn }: Persistence,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await attempt()
    if (settles(answer)) return answer
    onLost(tries, answer)
    await pause(pauseAfter(tries, answer))
    if (!goOn()) return answer
  }
}
