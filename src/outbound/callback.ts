import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlotsByKey, limitRequests } from './slots.ts'

/** The status and the JSON object that a wallet answers, as its text; null when it does not. */
type AskWallet = (account: string, url: URL) => Promise<{ status: number; body: string } | null>

/**
 * Build the way to the callbacks of holders' wallets (LUD-06). OutboundError `busy` when too many
 * ask, all together or for one account: a slow wallet keeps its own payers waiting only.
 */
export function createWalletCaller(fetchPublic: FetchPublic): AskWallet {
  const fetchLimited = limitRequests(fetchPublic, {
    takenMax: limits.callbacksMax,
    waitingMax: limits.callbacksWaitingMax,
    waitMs: limits.callbackWaitMs,
  })
  const oneOf = createSlotsByKey({
    takenMax: limits.callbacksPerAccountMax,
    waitingMax: 0,
    waitMs: 0,
  })
  const bounds = {
    deadlineMs: limits.callbackDeadlineMs,
    bodyBytesMax: limits.callbackBodyBytesMax,
  }

  const ask = async (url: URL) => {
    try {
      const { status, body } = await fetchLimited(url, bounds)
      const answer = parseJsonObject(body, limits.callbackBodyBytesMax)
      return answer && { status, body: new TextDecoder().decode(body) }
    } catch (error) {
      if (error instanceof OutboundError && error.reason !== 'busy') return null
      throw error
    }
  }

  return (account, url) => oneOf(account, () => ask(url))
}
