import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { parseForeignText } from '../base/words.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'

/** Answer of a lightning address (LUD-16) to the question whether it takes vouchers. */
type AddressAnswer =
  | { kind: 'takes'; callback: URL }
  | { kind: 'unknown' | 'silent' | 'takes-none' }

export type LookUpAddress = (name: string, host: string) => Promise<AddressAnswer>

/** Outcome of a hand-over. `unsent` means that the voucher did not leave this process. */
type HandOverAnswer =
  | { kind: 'accepted' | 'unsent' | 'unclear' }
  | { kind: 'refused'; reason: string | null }

export type HandOver = (callback: URL, json: Record<string, unknown>) => Promise<HandOverAnswer>

/** Create the look-up of lightning addresses (LUD-16). */
export function createLookUpAddress(
  fetchPublic: FetchPublic,
  privateOrigins: ReadonlySet<string> = new Set(),
): LookUpAddress {
  return async (name, host) => {
    try {
      const scheme = privateOrigins.has(`http://${host}`) ? 'http' : 'https'
      const url = new URL(`${scheme}://${host}/.well-known/lnurlp/${name}`)
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

/**
 * Create the hand-over of a voucher to another service. It is tried once: the other service may have taken the
 * voucher even if its answer was lost.
 */
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
      return {
        kind: 'refused',
        reason: parseForeignText(answer?.reason, limits.foreignReasonCharsMax),
      }
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      return { kind: error.sent ? 'unclear' : 'unsent' }
    }
  }
}
