import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { foreignWords } from '../base/words.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'

/** What a lightning address leads to (LUD-16), as far as vouchers are concerned. */
type AddressAnswer =
  | { kind: 'takes'; callback: URL }
  | { kind: 'unknown' | 'silent' | 'takes-none' }

export type LookUpAddress = (name: string, host: string) => Promise<AddressAnswer>

/** What the other side said to a voucher; `unsent`: it has not heard of it. */
type HandOverAnswer =
  | { kind: 'accepted' | 'unsent' | 'unclear' }
  | { kind: 'refused'; reason: string | null }

export type HandOver = (callback: URL, json: Record<string, unknown>) => Promise<HandOverAnswer>

/** Build the look-up of lightning addresses. */
export function createLookUpAddress(fetchPublic: FetchPublic): LookUpAddress {
  return async (name, host) => {
    try {
      const url = new URL(`https://${host}/.well-known/lnurlp/${name}`)
      const { status, body } = await fetchPublic(url, {
        deadlineMs: limits.addressDeadlineMs,
        bodyBytesMax: limits.addressBodyBytesMax,
      })
      return readAddress(status, parseJsonObject(body, limits.addressBodyBytesMax))
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      return { kind: 'silent' }
    }
  }
}

function readAddress(status: number, answer: Record<string, unknown> | null): AddressAnswer {
  if (status === 404 || answer?.status === 'ERROR') return { kind: 'unknown' }
  if (status !== 200 || !answer) return { kind: 'silent' }
  const callback = typeof answer.callback === 'string' ? URL.parse(answer.callback) : null
  if (answer.allowVouchers !== true || !callback) return { kind: 'takes-none' }
  return { kind: 'takes', callback }
}

/** Build the way a voucher goes out; it is tried once, since whoever reads it can take it. */
export function createHandOver(fetchPublic: FetchPublic): HandOver {
  return async (callback, json) => {
    try {
      const { status, body } = await fetchPublic(callback, {
        deadlineMs: limits.handOverDeadlineMs,
        bodyBytesMax: limits.handOverBodyBytesMax,
        json,
      })
      const answer = parseJsonObject(body, limits.handOverBodyBytesMax)
      if (status === 200 && answer?.status === 'ACCEPTED') return { kind: 'accepted' }
      return { kind: 'refused', reason: foreignWords(answer?.reason, limits.foreignReasonCharsMax) }
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      return { kind: error.sent ? 'unclear' : 'unsent' }
    }
  }
}
