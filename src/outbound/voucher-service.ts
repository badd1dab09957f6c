import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import type { RefusalCode } from '../base/refusal.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'

/**
 * Outcome of a refresh at another service. `unsent`: the nonce did not leave this process. `refused`: the service
 * did not swap it under this key. `unclear`: it may have swapped it. A refusal that is not `certain` may come from
 * a proxy in front of the service, so it says nothing about an earlier attempt.
 */
type RefreshOutcome =
  | { kind: 'answer'; body: Record<string, unknown> }
  | { kind: 'refused'; code: RefusalCode; certain: boolean }
  | { kind: 'unsent' | 'unclear'; why: string }

export type RefreshElsewhere = (
  refreshUrl: string,
  input: { nonce: string; key: string },
) => Promise<RefreshOutcome>

/** Asks for the status of a voucher at another service. Null if it does not answer. */
export type PreviewElsewhere = (refreshUrl: string, nonce: string) => Promise<string | null>

/** Final refusals of a refresh in the coupon protocol, by HTTP status. */
const byStatus: Record<number, RefusalCode> = {
  404: 'voucher-unknown',
  409: 'voucher-refreshed',
  410: 'voucher-expired',
}
const codes: readonly RefusalCode[] = [
  'voucher-unknown',
  'voucher-claimed',
  'voucher-refreshed',
  'voucher-cancelled',
  'voucher-expired',
]

/** Create the client of other services' refresh route. */
export function createRefreshElsewhere(fetchPublic: FetchPublic): RefreshElsewhere {
  return async (refreshUrl, { nonce, key }) => {
    try {
      const { status, body } = await fetchPublic(new URL(refreshUrl), {
        deadlineMs: limits.refreshDeadlineMs,
        bodyBytesMax: limits.refreshBodyBytesMax,
        json: { nonce },
        // The same key again gets the same answer, so a lost answer costs no voucher.
        idempotencyKey: key,
      })
      const answer = parseJsonObject(body, limits.refreshBodyBytesMax)
      if (answer && (status === 200 || status === 201)) return { kind: 'answer', body: answer }
      const refused = answer && refusalIn(status, answer)
      return refused ?? { kind: 'unclear', why: `status ${status}` }
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      return { kind: error.sent ? 'unclear' : 'unsent', why: error.reason }
    }
  }
}

/**
 * Create the client of other services' preview route. Its URL follows from the refresh URL, if that one ends as in
 * the protocol.
 */
export function createPreviewElsewhere(fetchPublic: FetchPublic): PreviewElsewhere {
  return async (refreshUrl, nonce) => {
    const url = new URL(refreshUrl)
    if (!url.pathname.endsWith('/coupons/refresh')) return null
    url.pathname = url.pathname.replace(/refresh$/, 'preview')
    try {
      const { status, body } = await fetchPublic(url, {
        deadlineMs: limits.previewDeadlineMs,
        bodyBytesMax: limits.refreshBodyBytesMax,
        json: { nonce },
      })
      const said = status === 200 ? parseJsonObject(body, limits.refreshBodyBytesMax)?.status : null
      return typeof said === 'string' ? said : null
    } catch (error) {
      if (error instanceof OutboundError) return null
      throw error
    }
  }
}

/** The refusal in an answer, or null. An error page of a proxy with the same status has neither code nor error. */
function refusalIn(
  status: number,
  { code, error }: Record<string, unknown>,
): (RefreshOutcome & { kind: 'refused' }) | null {
  if (typeof code !== 'string' && typeof error !== 'string') return null
  const known = codes.find((name) => name === code)
  const refusal = byStatus[status]
  if (!refusal) return null
  // Every service answers 409 if another refresh was first. Proxies answer 404 and 410, too.
  return { kind: 'refused', code: known ?? refusal, certain: known !== undefined || status === 409 }
}
