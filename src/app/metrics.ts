import type { Clock } from '../base/clock.ts'
import type { RelayStatus } from '../gateway/service.ts'
import type { Metrics, Sample } from '../http/metrics.ts'
import { npubOf } from '../nostr/keys.ts'
import type { OpenTransfers } from '../wallet/transfers/transfer-store.ts'

type Sources = {
  engine: string
  version: string
  vouchers: () => Promise<Record<'minted' | 'claimed' | 'refreshed' | 'voided', number>>
  relays: () => Promise<RelayStatus[]>
  transfers: () => Promise<OpenTransfers[]>
  disk: { freeBytes(): number | null; low(): boolean }
  /** Seconds since the last backup; null if the database is none of ours to back up. */
  backupAge: (() => number) | null
  now: Clock
}

/** The prefixes of a relay's refusal (NIP-01 and 42). */
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

/** Register the metrics of the features. Their values are read at each scrape. */
export function showFeatures(metrics: Metrics, sources: Sources): void {
  const { engine, version, vouchers } = sources
  metrics.show(
    {
      name: 'cuponera_info',
      help: 'Version and signature engine',
      labels: ['version', 'engine'],
    },
    () => [{ labels: { version, engine }, value: 1 }],
  )
  metrics.show(
    { name: 'cuponera_vouchers', help: 'Vouchers by stored phase', labels: ['phase'] },
    async () =>
      Object.entries(await vouchers()).map(([phase, value]) => ({ labels: { phase }, value })),
  )
  showRelays(metrics, sources)
  showTransfers(metrics, sources)
  showMachine(metrics, sources)
}

function showRelays(metrics: Metrics, { relays, now }: Sources): void {
  /** A sample for each relay that has a value. */
  const each = (pick: (relay: RelayStatus) => number | null) => async () =>
    (await relays()).flatMap((relay): Sample[] => {
      const value = pick(relay)
      return value === null ? [] : [{ labels: { relay: relay.url }, value }]
    })
  const labels = ['relay']
  metrics.show(
    {
      name: 'cuponera_relay_pending',
      help: 'Events that wait for a relay, by its address in RELAYS',
      labels,
    },
    each(({ pending }) => pending),
  )
  metrics.show(
    { name: 'cuponera_relay_connected', help: '1 while a relay is connected', labels },
    each(({ connectedAt }) => (connectedAt === null ? 0 : 1)),
  )
  metrics.show(
    {
      name: 'cuponera_relay_connected_age_seconds',
      help: 'Time for which a relay has been connected; absent while it is not',
      labels,
    },
    each(({ connectedAt }) => (connectedAt === null ? null : ageOf(connectedAt, now()))),
  )
  metrics.show(
    {
      name: 'cuponera_relay_latency_seconds',
      help: 'Time the last answered event of a relay took',
      labels,
    },
    each(({ latency }) => (latency === null ? null : latency / 1000)),
  )
  metrics.show(
    {
      name: 'cuponera_relay_last_error',
      help: 'What went wrong last with a relay, by kind; its words are in "cuponera relays"',
      labels: ['relay', 'error'],
    },
    async () =>
      (await relays()).flatMap(({ url, connectedAt, lastError }) => {
        if (lastError === null) return []
        const error = connectedAt === null ? 'connection' : kindOfError(lastError)
        return [{ labels: { relay: url, error }, value: 1 }]
      }),
  )
  metrics.show(
    {
      name: 'cuponera_relay_deliveries_total',
      help: 'Deliveries that came to their end, by relay and state',
      labels: ['relay', 'state'],
    },
    async () =>
      (await relays()).flatMap(({ url, delivered, refused, expired }) =>
        Object.entries({ delivered, refused, expired }).map(([state, value]) => {
          return { labels: { relay: url, state }, value }
        }),
      ),
    true,
  )
}

function showTransfers(metrics: Metrics, { transfers, now }: Sources): void {
  const each = (pick: (open: OpenTransfers) => number) => async () =>
    (await transfers()).map((one) => {
      return { labels: { service: npubOf(one.service) }, value: pick(one) }
    })
  metrics.show(
    {
      name: 'cuponera_transfers_open',
      help: 'Vouchers that came and wait for the service that issued them, by its manager key',
      labels: ['service'],
    },
    each(({ open }) => open),
  )
  metrics.show(
    {
      name: 'cuponera_transfers_oldest_age_seconds',
      help: 'Time for which the oldest of them has waited',
      labels: ['service'],
    },
    each(({ oldestAt }) => ageOf(oldestAt, now())),
  )
}

/** Never below zero: the clock may have been set back. */
function ageOf(at: number, now: number): number {
  return Math.max(0, now - at)
}

function showMachine(metrics: Metrics, { disk, backupAge }: Sources): void {
  metrics.show(
    {
      name: 'cuponera_disk_free_bytes',
      help: 'Free space of the data directory; -1 while nobody knows',
    },
    () => [{ value: disk.freeBytes() ?? -1 }],
  )
  metrics.show(
    {
      name: 'cuponera_disk_low',
      help: '1 while less than DISK_FLOOR is free: strangers cannot write, claims go on',
    },
    () => [{ value: disk.low() ? 1 : 0 }],
  )
  if (backupAge) {
    metrics.show(
      {
        name: 'cuponera_backup_age_seconds',
        help: 'Time since "cuponera backup" wrote one of this data directory; +Inf if it never did',
      },
      () => [{ value: backupAge() }],
    )
  }
  metrics.show({ name: 'process_resident_memory_bytes', help: 'Resident memory' }, () => [
    { value: process.memoryUsage.rss() },
  ])
  metrics.show(
    { name: 'process_start_time_seconds', help: 'Unix time when the process began' },
    () => [{ value: performance.timeOrigin / 1000 }],
  )
}

/** One of a few words: the message of a relay is no label. */
function kindOfError(message: string): string {
  return prefixes.find((prefix) => message.startsWith(`${prefix}:`)) ?? 'other'
}
