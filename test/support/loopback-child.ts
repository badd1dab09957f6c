/** The service as a test runs it, with a way out to the loopback: every name is 127.0.0.1. */
import { start } from '../../src/app.ts'
import { environment, readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { testAuthority } from './certificates.ts'

const { config } = readConfig(new Map(), environment, false)
const outbound = {
  resolve: async () => ['127.0.0.1'],
  allowLoopback: true,
  ca: testAuthority,
}
const app = await start(config, createLog(config.logLevel, config.logFormat), { outbound })
console.log(`  address     ${app.url}`)
process.on('SIGTERM', async () => {
  await app.stop()
  process.exit(0)
})
