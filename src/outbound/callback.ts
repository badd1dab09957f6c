import { limits } from '../limits.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlots } from './slots.ts'

/** The status and the JSON object that a wallet answers, as its text; null when it does not. */
export type AskWallet = (
  account: string,
  url: URL,
) => Promise<{ status: number; body: string } | null>

/**
 * Build the way to the callbacks of holders' wallets (LUD-06). OutboundError `busy` when too many
 * ask, all together or for one account: a slow wallet keeps its own payers waiting only.
 */
export function createWalletCaller(fetchPublic: FetchPublic): AskWallet {
  const slots = createSlots({
    takenMax: limits.callbacksMax,
    waitingMax: limits.callbacksWaitingMax,
    waitMs: limits.callbackWaitMs,
  })
  const asked = new Map<string, number>()
  const bounds = {
    deadlineMs: limits.callbackDeadlineMs,
    bodyBytesMax: limits.callbackBodyBytesMax,
  }

  const ask = async (url: URL) => {
    await slots.take()
    try {
      const { status, body } = await fetchPublic(url, bounds)
      const text = jsonObject(body)
      return text === null ? null : { status, body: text }
    } catch (error) {
      if (error instanceof OutboundError && error.reason !== 'busy') return null
      throw error
    } finally {
      slots.give()
    }
  }

  return async (account, url) => {
    const others = asked.get(account) ?? 0
    if (others >= limits.callbacksPerAccountMax) throw new OutboundError('busy')
    asked.set(account, others + 1)
    try {
      return await ask(url)
    } finally {
      const left = (asked.get(account) ?? 1) - 1
      if (left > 0) asked.set(account, left)
      else asked.delete(account)
    }
  }
}

/** The text when it is a JSON object in UTF-8, else null. */
function jsonObject(body: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : null
  } catch (cause) {
    // TypeError: not UTF-8. RangeError: nested deeper than the parser's stack.
    const expected = [SyntaxError, TypeError, RangeError]
    if (expected.some((type) => cause instanceof type)) return null
    throw cause
  }
}
