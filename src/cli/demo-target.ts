import type { Config } from '../app/config.ts'
import type { Status } from '../app/control.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { connect } from './control.ts'
import type { DemoTarget } from './demo.ts'
import { DemoFailure } from './demo-checks.ts'
import { createDemoClient, parseServerAddress } from './demo-client.ts'
import { localAddress, toCallableUrl } from './health.ts'
import { operateOn } from './merchants.ts'

/**
 * Find the server for the demo: the one at `url`, or the one of these settings. If it uses this data directory, the
 * demo's merchant may be admitted for the run.
 */
export async function findDemoTarget(config: Config, url: string | undefined): Promise<DemoTarget> {
  const running = await askRunning(config)
  if (url === undefined) {
    const [origin] = config.publicUrls
    const address = running ? toCallableUrl(running.address) : localAddress(config)
    return { url: address, origin, ...(running && { asGuest: guestOf(config) }) }
  }
  const ours = running !== null && (await managerAt(url)) === running.manager
  return { url, ...(ours && { asGuest: guestOf(config) }) }
}

/** Status of the server that uses the data directory, or null. */
async function askRunning(config: Config): Promise<Status | null> {
  try {
    return await connect(config).ask<Status>('GET', 'status')
  } catch (cause) {
    if (!OperatorError.is(cause, 'no-answer')) throw cause
    return null
  }
}

/** The manager key in a server's answer, unchecked, because it is only compared. Throws OperatorError `no-answer`. */
async function managerAt(url: string): Promise<unknown> {
  const base = parseServerAddress(url)
  // The demo itself reports a wrong address, and a server that answers something else.
  if (base === null) return null
  try {
    const { json } = await createDemoClient(base, base).call('GET', '/api/coupons/manager')
    return json?.pubkey
  } catch (cause) {
    if (!(cause instanceof DemoFailure)) throw cause
    return null
  }
}

function guestOf(config: Config): NonNullable<DemoTarget['asGuest']> {
  return async (pubkey, run) => {
    await operateOn(config, { do: 'admit-guest', pubkey })
    try {
      return await run()
    } finally {
      await dismiss(config, pubkey)
    }
  }
}

/** End a guest's time. The node that admitted it may have died during the demo, while others answered. */
async function dismiss(config: Config, pubkey: string): Promise<void> {
  try {
    await operateOn(config, { do: 'dismiss-guest', pubkey })
  } catch (cause) {
    if (!(cause instanceof OperatorError)) throw cause
    const minutes = limits.guestSeconds / 60
    console.error(
      `cuponera: the server of ${config.dataDir} did not withdraw the demo's key, which may manage for up to ${minutes} minutes`,
    )
  }
}
