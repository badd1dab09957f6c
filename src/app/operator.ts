import { version } from '../../package.json'
import type { RelayStatus } from '../gateway/service.ts'
import { backupAge } from './backup-age.ts'
import { type Control, type ControlOptions, startControl } from './control.ts'
import { showFeatures } from './metrics.ts'
import { nodeCommands, showNodes } from './nodes.ts'
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
  const { config, database, disk, metrics, now, schnorr } = runtime
  const { address, relays, features } = parts
  const transfers = () => database.snapshot((tx) => tx.transfers.open())
  const vouchers = () => database.snapshot(vouchersByPhase)
  showFeatures(metrics, {
    ...{ version, engine: schnorr.name, vouchers, relays, transfers, disk, now },
    backupAge: database.nodes ? null : () => backupAge(config.dataDir),
  })
  if (database.nodes) showNodes(metrics, database.nodes)
  const commands = Object.assign(
    {},
    ...[...features, nodeCommands(database)].map(({ commands }) => commands),
  )
  return startControl(runtime, { address, transfers, relays, commands })
}
