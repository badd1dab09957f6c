import { existsSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import type { Status } from '../app/control.ts'
import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { everyAddress } from '../base/network.ts'
import { OperatorError } from '../base/operator-error.ts'
import { tlsPath } from '../tls/files.ts'
import { connect } from './control.ts'

/** Ask the running server whether it is ready: 0 or 1, within `healthSeconds`. */
export async function health(config: Config): Promise<number> {
  const late = Bun.sleep(limits.healthSeconds * 1000 - 200)
  const silent: Health = { problem: 'no answer in time', warnings: [] }
  const { problem, warnings } = await Promise.race([look(config), late.then(() => silent)])
  const said = warnings.length > 0 ? `ready, but: ${warnings.join(', ')}` : 'ready'
  console.log(problem === null ? said : `not ready: ${problem}`)
  return problem === null ? 0 : 1
}

type Health = { problem: string | null; warnings: string[] }

async function look(config: Config): Promise<Health> {
  const url = `${await findAddress(config)}/readyz`
  try {
    // Whether this machine trusts its certificate is not the question.
    const answer = await fetch(url, { tls: { rejectUnauthorized: false } })
    if (answer.status !== 200) return { problem: `${url} answers ${answer.status}`, warnings: [] }
    const told = parseJsonObject(await answer.text(), limits.controlBodyBytesMax)?.warnings
    const warnings = Array.isArray(told) ? told.filter((one) => typeof one === 'string') : []
    return { problem: null, warnings }
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no answer'
    return { problem: `${url}: ${why}`, warnings: [] }
  }
}

/**
 * The server's own word, which knows what `PORT=0` came to; without it what the settings say.
 * The lock is left alone: taking it could stop a server that is just starting.
 */
async function findAddress(config: Config): Promise<string> {
  try {
    return callable((await connect(config).ask<Status>('GET', 'status')).address)
  } catch (cause) {
    if (!OperatorError.is(cause, 'no-answer')) throw cause
    return localAddress(config)
  }
}

/** Where a server with these settings is reached from this machine. */
export function localAddress(config: Config): string {
  return callable(settingsAddress(config))
}

/** Where a server with these settings listens. */
export function settingsAddress({ host, port, tlsPort, tlsCert, dataDir }: Config): string {
  const secured = tlsCert !== null || existsSync(tlsPath(dataDir, 'authorityCert'))
  const scheme = secured && port === tlsPort ? 'https' : 'http'
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return `${scheme}://${name}:${port}`
}

/** "Every address of this machine" is one to listen on, not one to call. */
export function callable(address: string): string {
  return address.replace(everyAddress, (host) => (host === '[::]' ? '[::1]' : '127.0.0.1'))
}
