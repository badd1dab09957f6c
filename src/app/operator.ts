import { version } from '../../package.json'
import type { RelayStatus } from '../gateway/service.ts'
import { type Control, type ControlOptions, startControl } from './control.ts'
import { databasePath } from './data.ts'
import { showFeatures } from './metrics.ts'
import { vouchersByPhase } from './readiness.ts'
import type { Runtime } from './runtime.ts'

type OperatorParts = {
  address: string
  relays: () => Promise<RelayStatus[]>
  /** Features with commands for the operator. */
  features: readonly { commands: ControlOptions['commands'] }[]
}

/** Register the metrics of the features, and open the operator's control socket. */
export function startOperator(runtime: Runtime, parts: OperatorParts): Control {
  const { config, database, disk, log, metrics, schnorr, signer, steady } = runtime
  const { address, relays, features } = parts
  const transfers = () => database.snapshot((tx) => tx.transfers.open())
  const vouchers = () => database.snapshot(vouchersByPhase)
  showFeatures(metrics, { version, engine: schnorr.name, vouchers, relays, transfers, disk })
  const startedMs = steady()
  return startControl({
    dataDir: config.dataDir,
    database: databasePath(config.dataDir),
    unclean: !database.cleanStart,
    status: async () => ({
      ...{ version, address },
      manager: signer.pubkey,
      pid: process.pid,
      uptimeSeconds: Math.round((steady() - startedMs) / 1000),
      transfers: await transfers(),
    }),
    relays,
    commands: Object.assign({}, ...features.map(({ commands }) => commands)),
    log,
    checked(problems) {
      metrics.checked(problems)
      database.checked(problems)
    },
  })
}
