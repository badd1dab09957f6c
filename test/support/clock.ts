/** Unix seconds, as events and the database count them. */
export function secondsNow(): number {
  return Math.floor(Date.now() / 1000)
}

/** Resolves once a Unix second has begun, for this process and for every server on this machine. */
export async function untilSecond(second: number): Promise<void> {
  while (Date.now() < second * 1000) await Bun.sleep(second * 1000 - Date.now())
}

/** Seconds to an expiry that a test waits for: enough to prepare it on a busy machine. */
export const briefSeconds = 4
