import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlots } from './slots.ts'

/** Asks a wallet. The result has the HTTP status and the text of a JSON object; null if there is no such answer. */
type AskWallet = (account: string, url: URL) => Promise<{ status: number; body: string } | null>

/**
 * Create the client for callbacks of holders' wallets (LUD-06). Slots are bounded in all, per account and per host,
 * so that a slow wallet delays its own payers only. Throws OutboundError `busy` if none is free.
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
