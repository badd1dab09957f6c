import { version } from '../../package.json'
import type { Config } from '../app/config.ts'
import { nameLines } from '../app/origins.ts'
import { type App, isPrivate, openManagement, start } from '../app/start.ts'
import { createLog } from '../base/log.ts'
import { readMachine } from '../base/machine.ts'
import { openable } from '../tls/files.ts'

/** Run the service until it is told to stop (SIGTERM, SIGINT). */
export async function serve(config: Config, warnings: string[]): Promise<number> {
  const log = createLog(config.logLevel, config.logFormat)
  for (const warning of warnings) log.warn('config', { warning })
  // From here on: a signal during the start stops what has started, in order; a second one, which
  // a terminal and a launcher may both send, changes nothing about a stop that is bounded anyway.
  const told = new Promise<void>((resolve) => {
    process.on('SIGTERM', resolve)
    process.on('SIGINT', resolve)
  })
  const app = await start(config, log)
  console.log(startBlock(app, config))
  if (config.merchants === null && !isPrivate(config)) {
    log.warn('management.open', openManagement)
  }
  await told
  log.info('stopping')
  await app.stop()
  log.info('stopped')
  return 0
}

function startBlock(app: App, config: Config): string {
  const management = config.merchants ? `${config.merchants.size} merchant(s)` : 'open to any key'
  const rows = [
    ['address', app.url],
    ...(app.secureUrl && app.secureUrl !== app.url ? [['https', app.secureUrl]] : []),
    ...nameLines(config, app.url, readMachine()).map((line, at) => [at === 0 ? 'names' : '', line]),
    ['panel', `${config.publicUrls[0] ?? openable(app.url)}/panel`],
    ['manager', app.managerNpub],
    ['data', config.dataDir],
    ['signatures', app.engine],
    ['relays', config.relays.join(', ')],
    ['management', management],
  ]
  const lines = rows.map(([name = '', value]) => `  ${name.padEnd(11)} ${value}`)
  return [`Cuponera ${version}`, ...lines].join('\n')
}
