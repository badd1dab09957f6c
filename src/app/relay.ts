import { join } from 'node:path'
import { embeddedRelay } from '../gateway/service.ts'
import { type RelayHost, startRelay } from '../relay/host.ts'
import { databasePath } from './data.ts'
import type { Management } from './management.ts'
import type { Runtime } from './runtime.ts'

type EmbeddedRelay = { host: RelayHost | null; stop(): Promise<void> }

/** Start the embedded relay if the settings name it. */
export function startEmbeddedRelay(runtime: Runtime, management: Management): EmbeddedRelay {
  const { config, disk, jobs, log, steady } = runtime
  if (!config.relays.includes(embeddedRelay)) return { host: null, stop: async () => undefined }
  const host = startRelay(
    {
      relayPath: join(config.dataDir, 'relay.db'),
      couponsPath: databasePath(config.dataDir),
      couponsUrl: config.databaseUrl,
      open: management.private(),
      diskLow: disk.low(),
      rateLimit: config.rateLimit,
    },
    {
      down: (retrySeconds) => log.error('relay.down', { retrySeconds }),
      fault: (fault) => log.error('relay.fault', fault),
      steadyMs: steady,
      jobs,
    },
  )
  host.onUp(() => log.info('relay.up'))
  disk.onChange(host.setDiskLow)
  management.onExposed(host.expose)
  return { host, stop: host.stop }
}
