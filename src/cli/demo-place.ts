import type { Config } from '../app/config.ts'
import type { Status } from '../app/control.ts'
import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { connect } from './control.ts'
import type { DemoPlace } from './demo.ts'
import { withoutSlashes } from './demo-client.ts'
import { callable, localAddress } from './health.ts'
import { operateOn } from './merchants.ts'

/** How long a server may take to say who it is. */
const answerMs = 5000

/**
 * Where the demo goes: to `url`, or to the server of these settings. Where that is the one that uses this
 * data directory, it lets the merchant of the demo in for the run.
 */
export async function demoPlace(config: Config, url: string | undefined): Promise<DemoPlace> {
  const running = await askRunning(config)
  if (url === undefined) {
    const [origin] = config.publicUrls
    const address = running ? callable(running.address) : localAddress(config)
    return { url: address, origin, ...(running && { asGuest: guestOf(config) }) }
  }
  const ours = running !== null && (await managerAt(url)) === running.manager
  return { url, ...(ours && { asGuest: guestOf(config) }) }
}

/** The server that uses the data directory, or null. */
async function askRunning(config: Config): Promise<Status | null> {
  try {
    return await connect(config).ask<Status>('GET', 'status')
  } catch (cause) {
    if (!OperatorError.is(cause, 'no-answer')) throw cause
    return null
  }
}

/** The manager key that a server names, or whatever stands in its place. */
async function managerAt(url: string): Promise<unknown> {
  try {
    const address = `${withoutSlashes(url)}/api/coupons/manager`
    const answer = await fetch(address, { signal: AbortSignal.timeout(answerMs) })
    return parseJsonObject(await answer.bytes(), limits.demoAnswerBytesMax)?.pubkey
  } catch (cause) {
    // The demo itself says what is wrong with an address.
    if (!(cause instanceof Error)) throw cause
    return null
  }
}

function guestOf(config: Config): NonNullable<DemoPlace['asGuest']> {
  return async (pubkey, run) => {
    await operateOn(config, { do: 'admit-guest', pubkey })
    try {
      return await run()
    } finally {
      await operateOn(config, { do: 'dismiss-guest', pubkey })
    }
  }
}
