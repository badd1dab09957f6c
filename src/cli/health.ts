import { existsSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import type { Status } from '../app/control.ts'
import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { unspecifiedAddress } from '../base/network.ts'
import { OperatorError } from '../base/operator-error.ts'
import { tlsPath } from '../tls/files.ts'
import { connect } from './control.ts'

/** Ask the running server if it is ready. The exit code is 0 or 1, within `healthSeconds`. */
export async function health(config: Config): Promise<number> {
  // 200 ms earlier than the limit, so that the process itself ends in time.
  const late = Bun.sleep(limits.healthSeconds * 1000 - 200)
  const { problem, warnings } = await Promise.race([look(config), late.then(() => silent)])
  const said = warnings.length > 0 ? `ready, but: ${warnings.join(', ')}` : 'ready'
  console.log(problem === null ? said : `not ready: ${problem}`)
  return problem === null ? 0 : 1
}

type Health = { problem: string | null; warnings: string[] }

const silent: Health = { problem: 'no answer in time', warnings: [] }

async function look(config: Config): Promise<Health> {
  // Sooner than its socket is given up, after which the settings would count: its port may be another one.
  const hung = Bun.sleep(limits.controlAnswerSeconds * 1000 - 200).then(() => null)
  const address = await Promise.race([findAddress(config), hung])
  if (address === null) return silent
  const url = `${address}/readyz`
  try {
    // The certificate is not checked: this machine may not trust the shop's own authority.
    const answer = await fetch(url, { tls: { rejectUnauthorized: false } })
    const told = parseJsonObject(await answer.text(), limits.controlBodyBytesMax) ?? {}
    if (answer.status !== 200) {
      const why = [told.code, told.cause].filter((one) => typeof one === 'string').join(', ')
      return { problem: `${url} answers ${answer.status}${why && ` (${why})`}`, warnings: [] }
    }
    const { warnings = [] } = told
    const named = Array.isArray(warnings) ? warnings.filter((one) => typeof one === 'string') : []
    return { problem: null, warnings: named }
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no answer'
    return { problem: `${url}: ${why}`, warnings: [] }
  }
}

/**
 * Address of the running server, which knows its port if the setting is `PORT=0`. Else the address of the settings.
 * It does not take the lock, because that could stop a server that is just starting.
 */
async function findAddress(config: Config): Promise<string> {
  try {
    return toCallableUrl((await connect(config).ask<Status>('GET', 'status')).address)
  } catch (cause) {
    if (!OperatorError.is(cause, 'no-answer')) throw cause
    return localAddress(config)
  }
}

/** URL at which this machine reaches a server with these settings. */
export function localAddress(config: Config): string {
  return toCallableUrl(settingsAddress(config))
}

/** URL on which a server with these settings listens. */
export function settingsAddress({ host, port, tlsPort, tlsCert, dataDir }: Config): string {
  const secured = tlsCert !== null || existsSync(tlsPath(dataDir, 'authorityCert'))
  const scheme = secured && port === tlsPort ? 'https' : 'http'
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return `${scheme}://${name}:${port}`
}

/** Replace the unspecified address in a URL by loopback, because no client can call it. */
export function toCallableUrl(address: string): string {
  return address.replace(unspecifiedAddress, (host) => (host === '[::]' ? '[::1]' : '127.0.0.1'))
}
