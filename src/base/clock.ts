/** Unix seconds. */
export type Clock = () => number

export const systemClock: Clock = () => Math.floor(Date.now() / 1000)

/** The time of a line in the log (RFC 3339, UTC). */
export function timestamp(): string {
  return new Date().toISOString()
}
