import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlots } from './slots.ts'

/** The status and the JSON object that a wallet answers, as its text; null when it does not. */
type AskWallet = (account: string, url: URL) => Promise<{ status: number; body: string } | null>

/**
 * Build the way to the callbacks of holders' wallets (LUD-06). OutboundError `busy` when too many
 * ask, all together, for one account or at one host: a slow wallet keeps its own payers waiting only.
 */
export function createWalletCaller(fetchPublic: FetchPublic): AskWallet {
  const inTurn = createSlots(limits.callbackSlots)
  const bounds = {
    deadlineMs: limits.callbackDeadlineMs,
    bodyBytesMax: limits.callbackBodyBytesMax,
  }

  const ask = async (url: URL) => {
    try {
      const { status, body } = await fetchPublic(url, bounds)
      const answer = parseJsonObject(body, limits.callbackBodyBytesMax)
      return answer && { status, body: new TextDecoder().decode(body) }
    } catch (error) {
      if (error instanceof OutboundError) return null
      throw error
    }
  }

  return (account, url) => inTurn({ account, host: url.host }, () => ask(url))
}
