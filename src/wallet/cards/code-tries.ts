import {
  GuessShare,
  type SharedBuckets,
  type SharedGuess,
  SharedGuessCounter,
} from '../../base/guesses.ts'
import { limits } from '../../base/limits.ts'

/** Limits guesses at chosen codes: unlike codes that the service makes, they can be guessed. */
export type CodeTries = {
  take(address: string, pubkey: string): Promise<SharedGuess>
}

/** `seconds` reads a steady clock. Nodes that share a database count in `shared`. */
export function createCodeTries(parts: {
  seconds: () => number
  shared: SharedBuckets | null
}): CodeTries {
  const rule = { entriesMax: limits.codeTriesRememberedMax }
  const ofAddress = new GuessShare('code address', { ...rule, ...limits.codeTriesOfAddress })
  const ofKey = new GuessShare('code key', { ...rule, ...limits.codeTriesOfKey })
  const ofAll = new GuessShare('code', { ...rule, ...limits.codeTriesOfAll })
  const ofNewcomer = new GuessShare('code newcomer', { ...rule, ...limits.codeTriesOfNewcomer })
  const all = new SharedGuessCounter([ofAll], parts)
  const usual = new SharedGuessCounter([ofAddress, ofKey, ofAll], parts)
  const crowded = new SharedGuessCounter([ofAddress, ofKey, ofNewcomer], parts)

  return {
    async take(address, pubkey) {
      // Guessers from many addresses empty the shared bucket. An address that tried nothing then has its own.
      return (await all.wait('')) > 0
        ? crowded.take(address, pubkey, address)
        : usual.take(address, pubkey, '')
    },
  }
}

/** For measurements: `RATE_LIMIT=off`. */
export const noCodeTries: CodeTries = {
  take: async () => ({ wait: 0, giveBack: async () => undefined }),
}
