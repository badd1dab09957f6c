import { randomBytes } from 'node:crypto'
import { Buckets } from '../base/buckets.ts'
import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { Refusal } from '../base/refusal.ts'
import type { Database } from '../db/database.ts'
import type { VerifyEvent } from '../nostr/event.ts'
import { type FetchPublic, OutboundError } from '../outbound/fetch-public.ts'
import { createHandOver, createLookUpAddress } from '../outbound/lud16.ts'
import { createSlots } from '../outbound/slots.ts'
import { createPreviewElsewhere, createRefreshElsewhere } from '../outbound/voucher-service.ts'
import { startResuming } from '../wallet/transfers/resume.ts'
import type { Transfers } from '../wallet/transfers/service.ts'
import type { Config } from './config.ts'
import type { Stores } from './stores.ts'

type TransferParts = {
  database: Database<Stores>
  now: Clock
  verify: VerifyEvent
  couponService: Transfers['couponService']
  fetchPublic: FetchPublic
  requireDisk: () => void
  /** Seconds of a clock that is never set. */
  steady: () => number
  log: Log
}

type RunningTransfers = {
  transfers: Transfers
  stop(): void
}

/** Put together what transfers work with, and go on with those that a stopped process left. */
export function startTransfers(config: Config, parts: TransferParts): RunningTransfers {
  const { fetchPublic, log, steady, ...shared } = parts
  // Apart, so that two services that send to each other never wait for each other's places.
  const refreshSlots = createSlots(limits.refreshSlots)
  const leavingSlots = createSlots(limits.leavingSlots)
  const refreshing: FetchPublic = (url, request) =>
    refreshSlots({ host: url.host }, () => fetchPublic(url, request))
  const limiter = (rule: { burst: number; perSecond: number }) => {
    const buckets = new Buckets({ ...rule, entriesMax: limits.transferRatesMax })
    return (key: string) => {
      const wait = config.rateLimit ? buckets.take(key, steady()) : 0
      if (wait > 0) throw new Refusal('rate-limited', { retryAfter: Math.ceil(wait) })
    }
  }
  const countLeaving = limiter(limits.leavingRate)
  const transfers: Transfers = {
    ...shared,
    newKey: () => randomBytes(24).toString('base64url'),
    services: config.voucherServices,
    refreshElsewhere: createRefreshElsewhere(refreshing),
    previewElsewhere: createPreviewElsewhere(refreshing),
    lookUp: createLookUpAddress(fetchPublic),
    handOver: createHandOver(fetchPublic),
    async leaving(sender, host, work) {
      countLeaving(sender)
      const senderAtHost = `${sender} ${host}`
      return leavingSlots({ sender, host, senderAtHost }, work).catch(nullWhenBusy)
    },
    arriving: limiter(limits.arrivingRate),
    swapping: new Map(),
    postponed: () => resuming.wake(),
    warn: (event, facts) => log.warn(event, facts),
  }
  const resuming = startResuming(transfers, (cause) => log.warn('transfers.failed', { cause }))
  return { transfers, stop: () => resuming.stop() }
}

/** What goes out has answers for its own troubles: this one is about a place. */
function nullWhenBusy(cause: unknown): null {
  if (cause instanceof OutboundError) return null
  throw cause
}
