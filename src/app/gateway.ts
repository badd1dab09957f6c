import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { AfterCommit, Database, Locking } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import { accessOutside } from '../gateway/access.ts'
import { accessEmbedded } from '../gateway/embedded.ts'
import { createAskOutside } from '../gateway/outside.ts'
import { openRelayLink, type RelayLink } from '../gateway/relays.ts'
import { createNameCheck, type NameCheck } from '../gateway/relays-names.ts'
import { embeddedRelay, type Gateway } from '../gateway/service.ts'
import { type Relays, startRelays } from '../gateway/worker.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { NostrEvent, Signer, VerifyEvent } from '../nostr/event.ts'
import type { RelayHost } from '../relay/host.ts'
import { createWriteQuotas } from '../relay/quotas.ts'
import type { Stores } from './stores.ts'

type GatewayParts = {
  /** `embedded` and addresses, as configured. */
  relays: readonly string[]
  embedded: RelayHost | null
  /** The address of the embedded relay for a client that reached us at `asked`; null when unknown. */
  embeddedUrl: (asked: string | null) => string | null
  /** Origins of this service, for announcements found on relays. */
  origins: () => readonly string[]
  /** Anyone may write to the embedded relay. */
  open: () => boolean
  /** False: `RATE_LIMIT=off`. */
  rateLimit: boolean
  /** Refuses `disk-low`. */
  requireDisk: () => void
  database: Database<Stores>
  jobs: Jobs
  signer: Signer
  verify: VerifyEvent
  verifyHash: VerifyHash
  now: Clock
  /** Milliseconds of a clock that is never set. */
  steady: () => number
  log: Log
}

/** Decides before the transaction whether an event is accepted; refuses `rate-limited`. */
type AdmitHandler = (event: NostrEvent) => Promise<void>

/** Takes part in the transaction that queues an event which was accepted over HTTP. */
type AcceptedHandler = (tx: Stores & AfterCommit & Locking, event: NostrEvent) => Promise<void>

export type RunningGateway = Pick<Relays, 'subscribe' | 'status' | 'stop'> & {
  gateway: Gateway
  /** As of the relays, for all stores. */
  broadcast(tx: Stores & AfterCommit, event: NostrEvent): Promise<void>
  recall(tx: Stores, eventId: string): Promise<void>
  /** Ask `handler` about every event, in the order of registration. */
  onAdmit(handler: AdmitHandler): void
  /** Call `handler` for every accepted event, in the order of registration. */
  onAccepted(handler: AcceptedHandler): void
  /** The relays' addresses for a client that reached us at `asked`; ours first. */
  addresses(asked: string | null): string[]
}

/** Reach every relay, and put together the gateway that publishes to them and asks them. */
export function startGateway(parts: GatewayParts): RunningGateway {
  const { database, signer, verify, verifyHash, now, steady, log, embedded } = parts
  const names = createNameCheck()
  const outside = parts.relays
    .filter((url) => url !== embeddedRelay)
    .map((url) => openOutside(url, names, parts))
  const links = outside.map(({ link }) => link)
  const relays = startRelays(
    [...outside.map(({ access }) => access), ...(embedded ? [accessEmbedded(embedded, now)] : [])],
    {
      ...{ database, jobs: parts.jobs, now, steady, verify, manager: signer.pubkey },
      ...{ origins: parts.origins, relays: parts.relays },
      failed: (cause) => log.warn('outbox.failed', { cause }),
    },
  )
  const admitting: AdmitHandler[] = []
  const accepting: AcceptedHandler[] = []
  const gateway: Gateway = {
    ...{ database, now, verify, verifyHash, requireDisk: parts.requireDisk },
    async admit(event) {
      for (const handler of admitting) await handler(event)
    },
    async accepted(tx: Stores & AfterCommit & Locking, event) {
      for (const handler of accepting) await handler(tx, event)
    },
    wake: relays.wake,
    trouble: relays.trouble,
    outside: links.map(({ url }) => url),
    embeddedUrl: embedded ? parts.embeddedUrl : null,
    keeps: async (tx, pubkey) => parts.open() || tx.members.isMember(pubkey),
    quotas: createWriteQuotas({ rateLimit: parts.rateLimit, seconds: () => steady() / 1000 }),
    local: embedded ? embedded.query : null,
    superseded: async (versions) => embedded?.superseded(versions) ?? versions.map(() => false),
    askOutside: createAskOutside(links, { ownStore: embedded !== null }),
  }
  return {
    ...relays,
    gateway,
    onAdmit: (handler) => void admitting.push(handler),
    onAccepted: (handler) => void accepting.push(handler),
    addresses(asked) {
      const inside = embedded && parts.embeddedUrl(asked)
      return [...(inside ? [inside] : []), ...links.map(({ url }) => url)]
    },
  }
}

/** Open the link to a relay outside; its log names no more of the address than host and path. */
function openOutside(url: string, names: NameCheck, parts: GatewayParts) {
  const { signer, verify, now, steady, log } = parts
  const { host, pathname } = new URL(url)
  const relay = `${host}${pathname}`
  const listeners: (() => void)[] = []
  const link: RelayLink = openRelayLink({
    ...{ url, signer, verify, names, now, steady },
    connected() {
      log.info('relay.connected', { relay })
      for (const listener of listeners) listener()
    },
    lost: (why) => log.warn('relay.lost', { relay, why }),
  })
  return { link, access: accessOutside(link, (listener) => void listeners.push(listener)) }
}
