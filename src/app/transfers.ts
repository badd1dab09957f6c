import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import type { Database, News } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import type { VerifyEvent } from '../nostr/event.ts'
import { type FetchPublic, OutboundError } from '../outbound/fetch-public.ts'
import { createHandOver, createLookUpAddress } from '../outbound/lud16.ts'
import { createSlots } from '../outbound/slots.ts'
import { createPreviewElsewhere, createRefreshElsewhere } from '../outbound/voucher-service.ts'
import { createTransferRates, noTransferRates } from '../wallet/transfers/rates.ts'
import { swapPostponed, type Transfers } from '../wallet/transfers/service.ts'
import { startTransferWorker } from '../wallet/transfers/worker.ts'
import type { Config } from './config.ts'
import type { Stores } from './stores.ts'

type TransferParts = {
  database: Database<Stores> & News
  jobs: Jobs
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
  stop(): Promise<void>
}

/** Put the dependencies of transfers together, and start their worker. */
export function startTransfers(config: Config, parts: TransferParts): RunningTransfers {
  const { jobs, log, steady, ...shared } = parts
  const fetchPublic = tellingWhy(parts.fetchPublic, log)
  // Two sets of slots, so that two services that send to each other never wait for each other.
  const refreshSlots = createSlots(limits.refreshSlots)
  const leavingSlots = createSlots(limits.leavingSlots)
  const refreshing: FetchPublic = (url, request) =>
    refreshSlots({ host: url.host }, () => fetchPublic(url, request))
  const rates = config.rateLimit ? createTransferRates(steady) : noTransferRates
  const transfers: Transfers = {
    ...shared,
    newKey: () => randomBytes(24).toString('base64url'),
    services: config.voucherServices,
    refreshElsewhere: createRefreshElsewhere(refreshing),
    previewElsewhere: createPreviewElsewhere(refreshing),
    lookUp: createLookUpAddress(fetchPublic, config.allowPrivateServices),
    handOver: createHandOver(fetchPublic),
    async leaving(sender, host, work) {
      rates.leaving(sender)
      const senderAtHost = `${sender} ${host}`
      return leavingSlots({ sender, host, senderAtHost }, work).catch(nullWhenBusy)
    },
    arriving: rates.arriving,
    swapping: new Map(),
    warn: log.warn,
  }
  const failed = (cause: unknown) => log.warn('transfers.failed', { cause })
  const worker = startTransferWorker({ transfers, jobs, failed })
  shared.database.listen(swapPostponed, { told: worker.wake, missed: worker.wake })
  return { transfers, stop: worker.stop }
}

/** A line for the operator with the cause of each failed request: senders learn no more than that it failed. */
function tellingWhy(fetchPublic: FetchPublic, log: Log): FetchPublic {
  return async (url, request) => {
    try {
      return await fetchPublic(url, request)
    } catch (cause) {
      if (cause instanceof OutboundError) {
        const { reason, sent } = cause
        log.warn('service.unreachable', { service: url.origin, why: reasons[reason], sent })
      }
      throw cause
    }
  }
}

const reasons: Record<OutboundError['reason'], string> = {
  url: 'plain http is for services of ALLOW_PRIVATE_SERVICES only',
  resolve: 'its name has no address',
  address: 'its address is a private one, and ALLOW_PRIVATE_SERVICES does not name it',
  connect: 'no connection',
  certificate: 'its certificate is not valid',
  redirect: 'it redirects',
  encoding: 'its answer is encoded in another way than asked for',
  'too-large': 'its answer is too large',
  protocol: 'the connection broke, or it speaks no HTTP',
  timeout: 'no answer in time',
  busy: 'too many requests under way there',
}

/** Null for no free slot. The calls themselves answer their own failures. */
function nullWhenBusy(cause: unknown): null {
  if (cause instanceof OutboundError) return null
  throw cause
}
