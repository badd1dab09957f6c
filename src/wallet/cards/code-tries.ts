import { Buckets } from '../../base/buckets.ts'
import { type Guess, GuessCounter } from '../../base/guesses.ts'
import { limits } from '../../base/limits.ts'

/** Limits guesses at chosen codes: unlike codes that the service makes, they can be guessed. */
export type CodeTries = {
  take(address: string, pubkey: string): Guess
}

/** `seconds` reads a steady clock. */
export function createCodeTries(seconds: () => number): CodeTries {
  const rule = { entriesMax: limits.codeTriesRememberedMax }
  const ofAddress = new Buckets({ ...rule, ...limits.codeTriesOfAddress })
  const ofKey = new Buckets({ ...rule, ...limits.codeTriesOfKey })
  const ofAll = new Buckets({ ...rule, ...limits.codeTriesOfAll })
  const ofNewcomer = new Buckets({ ...rule, ...limits.codeTriesOfNewcomer })
  const usual = new GuessCounter([ofAddress, ofKey, ofAll], seconds)
  const crowded = new GuessCounter([ofAddress, ofKey, ofNewcomer], seconds)

  return {
    take(address, pubkey) {
      // Guessers from many addresses empty the shared bucket. An address that tried nothing then has its own.
      return ofAll.wait('', seconds()) > 0
        ? crowded.take(address, pubkey, address)
        : usual.take(address, pubkey, '')
    },
  }
}

/** For measurements: `RATE_LIMIT=off`. */
export const noCodeTries: CodeTries = {
  take: () => ({ wait: 0, giveBack: () => undefined }),
}
