import type { AfterCommit, Locking } from '../db/database.ts'
import { accessOutside } from '../gateway/access.ts'
import { accessEmbedded } from '../gateway/embedded.ts'
import { createAskOutside } from '../gateway/outside.ts'
import { openRelayLink, type RelayLink } from '../gateway/relays.ts'
import { createNameCheck, type NameCheck } from '../gateway/relays-names.ts'
import { embeddedRelay, type Gateway } from '../gateway/service.ts'
import { type Relays, startRelays } from '../gateway/worker.ts'
import type { NostrEvent } from '../nostr/event.ts'
import type { RelayHost } from '../relay/host.ts'
import { createWriteQuotas } from '../relay/quotas.ts'
import type { OwnAddresses } from './addresses.ts'
import type { Config } from './config.ts'
import type { Management } from './management.ts'
import type { Runtime } from './runtime.ts'
import type { Stores } from './stores.ts'

type GatewayParts = {
  /** Null where the settings name no embedded relay. */
  relay: RelayHost | null
  management: Pick<Management, 'private'>
  addresses: Pick<OwnAddresses, 'origins' | 'relayUrl'>
}

/** The parts of the runtime that the gateway needs. */
type GatewayRuntime = Pick<
  Runtime,
  | 'database'
  | 'jobs'
  | 'log'
  | 'now'
  | 'requireDisk'
  | 'signer'
  | 'steady'
  | 'verify'
  | 'verifySoon'
  | 'verifyHash'
> & { config: Pick<Config, 'relays' | 'rateLimit'> }

/**
 * Builds, once for each request over HTTP, the part of a feature in the transaction that queues its event. An
 * engine may run that part again.
 */
type AcceptingHandler = (event: NostrEvent) => (tx: Stores & AfterCommit & Locking) => Promise<void>

export type RunningGateway = Pick<Relays, 'subscribe' | 'status' | 'stop'> & {
  gateway: Gateway
  /** As in `Relays`, with the transaction of the app. */
  broadcast(tx: Stores & AfterCommit, event: NostrEvent): Promise<void>
  recall(tx: Stores, eventId: string): Promise<void>
  /** Let `handler` take part in accepting every event, in the order of registration. */
  onAccepting(handler: AcceptingHandler): void
  /** The addresses of the relays for a request to the origin `asked`; the embedded one first. */
  addresses(asked: string | null): string[]
}

/** Open the links to all relays, start their work, and put the dependencies of the gateway together. */
export function startGateway(runtime: GatewayRuntime, parts: GatewayParts): RunningGateway {
  const { config, database, jobs, log, now, signer, steady, verify, verifyHash } = runtime
  const { relay, management, addresses } = parts
  const names = createNameCheck()
  const outside = config.relays
    .filter((url) => url !== embeddedRelay)
    .map((url) => openOutside(url, names, runtime))
  const links = outside.map(({ link }) => link)
  const relays = startRelays(
    [...outside.map(({ access }) => access), ...(relay ? [accessEmbedded(relay, now)] : [])],
    {
      ...{ database, jobs, now, steady, verify, manager: signer.pubkey },
      ...{ origins: addresses.origins, relays: config.relays },
      failed: (cause) => log.warn('outbox.failed', { cause }),
    },
  )
  const handlers: AcceptingHandler[] = []
  const gateway: Gateway = {
    ...{ database, now, verify: runtime.verifySoon, verifyHash },
    requireDisk: runtime.requireDisk,
    accepting(event) {
      const parts = handlers.map((handler) => handler(event))
      return {
        async accept(tx: Stores & AfterCommit & Locking) {
          for (const take of parts) await take(tx)
        },
      }
    },
    trouble: relays.trouble,
    outside: links.map(({ url }) => url),
    embeddedUrl: relay ? addresses.relayUrl : null,
    keeps: async (tx, pubkey) => management.private() || tx.members.isMember(pubkey),
    quotas: createWriteQuotas({ rateLimit: config.rateLimit, seconds: () => steady() / 1000 }),
    local: relay ? relay.query : null,
    superseded: async (versions) => relay?.superseded(versions) ?? versions.map(() => false),
    askOutside: createAskOutside(links, { ownStore: relay !== null }),
  }
  return {
    ...relays,
    gateway,
    onAccepting: (handler) => void handlers.push(handler),
    addresses(asked) {
      const inside = relay && addresses.relayUrl(asked)
      return [...(inside ? [inside] : []), ...links.map(({ url }) => url)]
    },
  }
}

/** Open the link to a relay outside. Its log lines name host and path only: a query may hold a secret. */
function openOutside(url: string, names: NameCheck, runtime: GatewayRuntime) {
  const { signer, verify, now, steady, log } = runtime
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
