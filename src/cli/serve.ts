import { version } from '../../package.json'
import type { Config } from '../app/config.ts'
import { isLoopback, type ManagementState } from '../app/management.ts'
import { nameLines } from '../app/origins.ts'
import { type App, start } from '../app/start.ts'
import { limits } from '../base/limits.ts'
import { createLog, type Log } from '../base/log.ts'
import { readMachine } from '../base/machine.ts'
import { OperatorError } from '../base/operator-error.ts'
import { npubOf } from '../nostr/keys.ts'
import { panelAddress, setupLink } from './setup.ts'

/** Run the service until SIGTERM or SIGINT. */
export async function serve(config: Config, warnings: string[]): Promise<number> {
  const log = createLog(config.logLevel, config.logFormat)
  for (const warning of warnings) log.warn('config', { warning })
  // The handlers stand before the start, so that a signal during the start stops the started parts in order.
  // A second signal, which a terminal and a launcher may both send, has no effect: a stop is bounded anyway.
  const stopSignal = new Promise<void>((resolve) => {
    process.on('SIGTERM', resolve)
    process.on('SIGINT', resolve)
  })
  let current = config
  let app: App | null = await start(current, log)
  while (app) {
    const management = await app.management()
    console.log(startBlock(app, current, management))
    if (management) warnOfManagement(log, current, management)
    const again = await Promise.race([
      stopSignal.then(() => false),
      app.restartAsked.then(() => true),
    ])
    log.info(again ? 'restarting' : 'stopping')
    await app.stop()
    if (!again) break
    current = withPorts(current, app)
    app = await startAgain(current, log, stopSignal)
  }
  log.info('stopped')
  return 0
}

/**
 * Start again in this process. Another program may have the port for a moment, and nobody at a till could start a
 * service that gave up for that. Null if it is to stop meanwhile.
 */
async function startAgain(config: Config, log: Log, stopSignal: Promise<void>) {
  const deadline = performance.now() + limits.restartSeconds * 1000
  for (;;) {
    try {
      return await start(config, log)
    } catch (cause) {
      if (!OperatorError.is(cause, 'port-taken') || performance.now() > deadline) throw cause
      log.warn('restart.port-taken')
    }
    const wait = Bun.sleep(500).then(() => false)
    if (await Promise.race([wait, stopSignal.then(() => true)])) return null
  }
}

/** The same settings with the ports that were free at the first start: a page that waits asks the same address. */
function withPorts(config: Config, { url, secureUrl }: App): Config {
  const portOf = (address: string) => Number(new URL(address).port)
  return {
    ...config,
    ...(config.port === 0 && { port: portOf(url) }),
    ...(config.tlsPort === 0 && secureUrl && { tlsPort: portOf(secureUrl) }),
  }
}

/** The lines that a start prints for the operator: addresses, keys, and who may manage coupons. */
function startBlock(app: App, config: Config, management: ManagementState | null): string {
  const panel = panelAddress(config, app.url)
  const rows = [
    ['address', app.url],
    ...(app.secureUrl && app.secureUrl !== app.url ? [['https', app.secureUrl]] : []),
    ...nameLines(config, app.url, readMachine()).map((line, at) => [at === 0 ? 'names' : '', line]),
    ['panel', panel],
    ['manager', app.managerNpub],
    ['data', config.dataDir],
    ...(app.databaseServer ? [['database', app.databaseServer]] : []),
    ...(app.differing ? [['differing', app.differing]] : []),
    ['signatures', app.engine],
    ['relays', config.relays.join(', ')],
    ...(management ? managementRows(panel, management) : [['moved', movedLine]]),
  ]
  const lines = rows.map(([name = '', value]) => `  ${name.padEnd(11)} ${value}`)
  return [`Cuponera ${version}`, ...lines].join('\n')
}

const movedLine = 'closed: it goes on at another computer (see cuponera move back)'

function managementRows(panel: string, management: ManagementState): string[][] {
  return [
    ['management', managementLine(management)],
    ...(management.code ? [['setup', setupLink(panel, management.code)]] : []),
    ...waitingRows(management),
  ]
}

function managementLine({ admission, merchants, code }: ManagementState): string {
  switch (admission) {
    case 'private':
      return 'open to any key (this machine only)'
    case 'listed':
      return `the keys of MERCHANTS (${merchants})`
    case 'open':
      return 'open to any key by MERCHANTS=open'
    case 'let-in':
      if (code) return `closed until the setup code is used: ${code}`
      return merchants > 0 ? `${merchants} merchant(s)` : 'closed: see cuponera setup'
  }
}

/** Number of waiting owners that the start prints. */
const waitingShown = 20

/** Rows with owners of coupons that wait for permission. None after the first merchant was let in. */
function waitingRows({ admission, merchants, waiting }: ManagementState) {
  if (admission !== 'let-in' || merchants > 0) return []
  const rows = waiting
    .slice(0, waitingShown)
    .map(({ pubkey, coupons }, at) => [
      at === 0 ? 'waiting' : '',
      `${npubOf(pubkey)}  ${coupons} coupon(s)`,
    ])
  const more = waiting.length - rows.length
  return more > 0 ? [...rows, ['', `and ${more} more: cuponera merchants list`]] : rows
}

/** Warn in the log if owners of coupons are locked out, or if any key may manage coupons on a network. */
function warnOfManagement(log: Log, config: Config, { admission, ...state }: ManagementState) {
  if (admission === 'let-in' && state.merchants === 0 && state.waiting.length > 0) {
    const hint =
      'they manage no coupons until "cuponera merchants confirm" lets them in; a service for any key sets MERCHANTS=open'
    log.warn('management.waiting', { owners: state.waiting.length, hint })
  }
  if (admission === 'open' && !isLoopback(config)) {
    log.warn('management.open', { hint: 'any key may manage coupons here (MERCHANTS=open)' })
  }
}
