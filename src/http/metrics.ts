// By file: the package's index loads the cluster module, which costs a third of the start.
import Counter from 'prom-client/lib/counter'
import Gauge from 'prom-client/lib/gauge'
import Histogram from 'prom-client/lib/histogram'
import Registry from 'prom-client/lib/registry'
import type { RelayStatus } from '../gateway/service.ts'
import { npubOf } from '../nostr/keys.ts'
import type { OpenTransfers } from '../wallet/transfers/transfer-store.ts'
import type { LoopMonitor } from './loop.ts'

/** Counts for `/metrics`; no label comes from what somebody sent. */
export type Metrics = ReturnType<typeof createMetrics>

type Sources = {
  engine: string
  version: string
  vouchers: () => Promise<Record<'minted' | 'claimed' | 'refreshed' | 'voided', number>>
  relays: () => Promise<RelayStatus[]>
  transfers: () => Promise<OpenTransfers[]>
  disk: { freeBytes(): number | null; low(): boolean }
}

type Series = { count: Counter.Internal; latency: Histogram.Internal<'route'> }

/** How a relay may begin a refusal (NIP-01 and 42). */
const prefixes = [
  'duplicate',
  'pow',
  'blocked',
  'rate-limited',
  'invalid',
  'restricted',
  'mute',
  'error',
  'auth-required',
  'deleted',
]

const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

export function createMetrics() {
  const register = new Registry()
  const registers = [register]
  const requests = new Counter({
    name: 'cuponera_http_requests_total',
    help: 'Requests by route, method and status',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const latency = new Histogram({
    name: 'cuponera_http_request_seconds',
    help: 'Time to answer by route',
    labelNames: ['route'],
    buckets: seconds,
    registers,
  })
  const commits = new Counter({
    name: 'cuponera_commits_total',
    help: 'Durable commits',
    registers,
  })
  const commitFailures = new Counter({
    name: 'cuponera_commit_failures_total',
    help: 'Commits that failed; their operations were answered 503',
    registers,
  })
  const batch = new Histogram({
    name: 'cuponera_commit_operations',
    help: 'Operations that shared a commit',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers,
  })
  const commitTime = new Histogram({
    name: 'cuponera_commit_seconds',
    help: 'Time of a commit with its operations',
    buckets: seconds,
    registers,
  })
  const checks = new Gauge({
    name: 'cuponera_check_problems',
    help: 'Problems the last full check found; -1 when none ran',
    registers,
  })
  checks.set(-1)
  // Looking a series up by its labels costs more than counting; there are few, by our own routes.
  const seen = new Map<string, Series>()

  return {
    request(route: string, method: string, status: number, startedMs: number): void {
      const label = known.has(method) ? method : 'other'
      const key = `${route} ${label} ${status}`
      let series = seen.get(key)
      if (!series) {
        series = {
          count: requests.labels(route, label, String(status)),
          latency: latency.labels(route),
        }
        seen.set(key, series)
      }
      series.count.inc()
      series.latency.observe((performance.now() - startedMs) / 1000)
    },
    committed(operations: number, took: number): void {
      commits.inc()
      batch.observe(operations)
      commitTime.observe(took)
    },
    commitFailed(): void {
      commitFailures.inc()
    },
    checked(problems: number): void {
      checks.set(problems)
    },
    /** Show the longest stall of the main thread. */
    watch({ longestSeconds }: Pick<LoopMonitor, 'longestSeconds'>): void {
      new Gauge({
        name: 'cuponera_loop_stall_max_seconds',
        help: 'Longest time the main thread answered nobody, of the last minute or up to two',
        registers,
        collect() {
          this.set(longestSeconds())
        },
      })
    },
    /** Facts that are asked for at each scrape. */
    describe({ engine, version, vouchers, relays, transfers, disk }: Sources): void {
      new Gauge({
        name: 'cuponera_info',
        help: 'Version and signature engine',
        labelNames: ['version', 'engine'],
        registers,
      }).set({ version, engine }, 1)
      new Gauge({
        name: 'cuponera_vouchers',
        help: 'Vouchers by stored phase',
        labelNames: ['phase'],
        registers,
        async collect() {
          for (const [phase, count] of Object.entries(await vouchers())) this.set({ phase }, count)
        },
      })
      new Gauge({
        name: 'cuponera_relay_pending',
        help: 'Events that wait for a relay, by its address in RELAYS',
        labelNames: ['relay'],
        registers,
        async collect() {
          for (const { url, pending } of await relays()) this.set({ relay: url }, pending)
        },
      })
      new Gauge({
        name: 'cuponera_relay_connected',
        help: '1 while a relay is connected',
        labelNames: ['relay'],
        registers,
        async collect() {
          for (const { url, connectedAt } of await relays()) {
            this.set({ relay: url }, connectedAt === null ? 0 : 1)
          }
        },
      })
      new Gauge({
        name: 'cuponera_relay_connected_since_seconds',
        help: 'Unix time since when a relay is connected; absent while it is not',
        labelNames: ['relay'],
        registers,
        async collect() {
          this.reset()
          for (const { url, connectedAt } of await relays()) {
            if (connectedAt !== null) this.set({ relay: url }, connectedAt)
          }
        },
      })
      new Gauge({
        name: 'cuponera_relay_latency_seconds',
        help: 'Time the last answered event of a relay took',
        labelNames: ['relay'],
        registers,
        async collect() {
          this.reset()
          for (const { url, latency } of await relays()) {
            if (latency !== null) this.set({ relay: url }, latency / 1000)
          }
        },
      })
      new Gauge({
        name: 'cuponera_relay_last_error',
        help: 'What went wrong last with a relay, by kind; its words are in "cuponera relays"',
        labelNames: ['relay', 'error'],
        registers,
        async collect() {
          this.reset()
          for (const { url, connectedAt, lastError } of await relays()) {
            if (lastError === null) continue
            const error = connectedAt === null ? 'connection' : kindOfError(lastError)
            this.set({ relay: url, error }, 1)
          }
        },
      })
      new Counter({
        name: 'cuponera_relay_deliveries_total',
        help: 'Deliveries that came to their end, by relay and state',
        labelNames: ['relay', 'state'],
        registers,
        async collect() {
          this.reset()
          for (const { url, delivered, refused, expired } of await relays()) {
            this.inc({ relay: url, state: 'delivered' }, delivered)
            this.inc({ relay: url, state: 'refused' }, refused)
            this.inc({ relay: url, state: 'expired' }, expired)
          }
        },
      })
      new Gauge({
        name: 'cuponera_transfers_open',
        help: 'Vouchers that came and wait for the service that issued them, by its manager key',
        labelNames: ['service'],
        registers,
        async collect() {
          this.reset()
          for (const { service, open } of await transfers()) {
            this.set({ service: npubOf(service) }, open)
          }
        },
      })
      new Gauge({
        name: 'cuponera_transfers_oldest_seconds',
        help: 'Unix time when the oldest of them came',
        labelNames: ['service'],
        registers,
        async collect() {
          this.reset()
          for (const { service, oldestAt } of await transfers()) {
            this.set({ service: npubOf(service) }, oldestAt)
          }
        },
      })
      new Gauge({
        name: 'cuponera_disk_free_bytes',
        help: 'Free space of the data directory; -1 while nobody knows',
        registers,
        collect() {
          this.set(disk.freeBytes() ?? -1)
        },
      })
      new Gauge({
        name: 'cuponera_disk_low',
        help: '1 while less than DISK_FLOOR is free: strangers cannot write, claims go on',
        registers,
        collect() {
          this.set(disk.low() ? 1 : 0)
        },
      })
      new Gauge({
        name: 'process_resident_memory_bytes',
        help: 'Resident memory',
        registers,
        collect() {
          this.set(process.memoryUsage.rss())
        },
      })
    },
    /** Prometheus text. */
    text: () => register.metrics(),
  }
}

/** One of a few words: what a relay says itself is no label. */
function kindOfError(said: string): string {
  return prefixes.find((prefix) => said.startsWith(`${prefix}:`)) ?? 'other'
}
