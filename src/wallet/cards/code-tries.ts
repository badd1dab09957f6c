import { Buckets } from '../../base/buckets.ts'
import { limits } from '../../base/limits.ts'

/** One try at the code of a card. */
export type CodeTry = {
  /** 0, or seconds until there is a try to be had. */
  wait: number
  /** The code was not wrong. */
  giveBack(): void
}

/** Limits how often chosen codes are tried: unlike codes of ours they can be guessed. */
export type CodeTries = {
  take(address: string, pubkey: string): CodeTry
}

/** `seconds` reads a steady clock. */
export function createCodeTries(seconds: () => number): CodeTries {
  const rule = { entriesMax: limits.codeTriesRememberedMax }
  const byAddress = new Buckets({ ...rule, ...limits.codeTriesOfAddress })
  const byKey = new Buckets({ ...rule, ...limits.codeTriesOfKey })
  const together = new Buckets({ ...rule, ...limits.codeTriesOfAll })
  const newcomers = new Buckets({ ...rule, ...limits.codeTriesOfNewcomer })

  return {
    take(address, pubkey) {
      const now = seconds()
      // Guessers from many addresses empty the shared bucket. An address that tried nothing then has its own.
      const crowded = together.wait('', now) > 0
      const shares: (readonly [Buckets, string])[] = [
        [byAddress, address],
        [byKey, pubkey],
        crowded ? [newcomers, address] : [together, ''],
      ]
      const wait = Math.max(...shares.map(([buckets, key]) => buckets.wait(key, now)))
      if (wait > 0) return { wait, giveBack: () => undefined }
      for (const [buckets, key] of shares) buckets.take(key, now)
      return {
        wait,
        giveBack() {
          for (const [buckets, key] of shares) buckets.give(key)
        },
      }
    },
  }
}

/** For measurements: `RATE_LIMIT=off`. */
export const noCodeTries: CodeTries = {
  take: () => ({ wait: 0, giveBack: () => undefined }),
}
