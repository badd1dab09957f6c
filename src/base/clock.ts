/** A clock that returns Unix seconds. */
export type Clock = () => number

export const systemClock: Clock = () => Math.floor(Date.now() / 1000)

/** The time for a log line (RFC 3339, UTC). */
export function timestamp(): string {
  return new Date().toISOString()
}
