import { readFileSync } from 'node:fs'

/**
 * Milliseconds that this thread was ready to run and waited for a processor, since it began. A busy machine makes every
 * call look slow; without this time it is the call alone. Always 0 where the system does not tell (only Linux does).
 */
export function processorWaitMs(): number {
  try {
    const [, nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')
    // The file is empty where the kernel keeps no such times.
    return Number(nanoseconds ?? 0) / 1e6
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause) return 0
    throw cause
  }
}
