import type { Config } from '../app/config.ts'
import type { Status } from '../app/control.ts'
import { OperatorError } from '../base/operator-error.ts'
import { npubOf } from '../nostr/keys.ts'
import { connect, inUse } from './control.ts'
import { isoTime } from './relays.ts'

/** Print the server that uses the data directory. The exit code is 1 if none runs. */
export async function status(config: Config): Promise<number> {
  try {
    const running = await connect(config).ask<Status>('GET', 'status')
    const { version, address, pid, uptimeSeconds, nodes, transfers } = running
    console.log(`Cuponera ${version} at ${address}, process ${pid}, up ${uptimeSeconds} s`)
    if (nodes !== null) console.log(`one of ${nodes} node(s) on its database: see cuponera nodes`)
    for (const { service, open, oldestAt } of transfers) {
      const waiting = `vouchers waiting for ${npubOf(service)}: ${open}`
      console.log(`${waiting}, the oldest since ${isoTime(oldestAt)}`)
    }
    return 0
  } catch (cause) {
    // A process that holds the lock and does not answer is an error. Only a free lock means that no server runs.
    if (!OperatorError.is(cause, 'no-answer') || inUse(config)) throw cause
    console.log(`no server is running on ${config.dataDir}`)
    return 1
  }
}
