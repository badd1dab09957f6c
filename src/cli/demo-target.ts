import type { Config } from '../app/config.ts'
import type { Status } from '../app/control.ts'
import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { connect } from './control.ts'
import type { DemoTarget } from './demo.ts'
import { withoutSlashes } from './demo-client.ts'
import { localAddress, toCallableUrl } from './health.ts'
import { operateOn } from './merchants.ts'

/** Time for a server to answer with its manager key. */
const answerMs = 5000

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

/** The manager key in a server's answer, unchecked, because it is only compared. */
async function managerAt(url: string): Promise<unknown> {
  try {
    const address = `${withoutSlashes(url)}/api/coupons/manager`
    const answer = await fetch(address, { signal: AbortSignal.timeout(answerMs) })
    return parseJsonObject(await answer.bytes(), limits.demoAnswerBytesMax)?.pubkey
  } catch (cause) {
    // A wrong URL is reported by the demo itself.
    if (!(cause instanceof Error)) throw cause
    return null
  }
}

function guestOf(config: Config): NonNullable<DemoTarget['asGuest']> {
  return async (pubkey, run) => {
    await operateOn(config, { do: 'admit-guest', pubkey })
    try {
      return await run()
    } finally {
      await operateOn(config, { do: 'dismiss-guest', pubkey })
    }
  }
}
