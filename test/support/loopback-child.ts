/**
 * The service as a test runs it, with a way out to the loopback: every name is 127.0.0.1. `FAULT`
 * says where it dies (kill -9): `before PATH` or `after PATH`, the request to that path of another
 * server, and `~N` behind it, not before the N-th time. `hold PATH` keeps the thread for half a
 * second in its place. `HTTPS_PORT` stands in for 443, which not everybody may open, and `FREE_FILE`
 * for the disk.
 */

import { readFileSync } from 'node:fs'
import { environment, readConfig } from '../../src/app/config.ts'
import { start } from '../../src/app/start.ts'
import { createLog } from '../../src/base/log.ts'
import type { FetchPublic } from '../../src/outbound/fetch-public.ts'
import { testAuthority } from './certificates.ts'

const { config } = readConfig(new Map(), environment, false)
const outbound = { resolve: async () => ['127.0.0.1'], allowLoopback: true, ca: testAuthority }
const [, when = '', path = '', count = '1'] =
  /^(before|after|hold) ([^~]+)(?:~(\d+))?$/.exec(process.env.FAULT ?? '') ?? []
let times = 0

const around =
  (fetchPublic: FetchPublic): FetchPublic =>
  async (url, request) => {
    const here = path !== '' && url.pathname.includes(path) && ++times >= Number(count)
    if (here && when === 'before') process.kill(process.pid, 'SIGKILL')
    if (here && when === 'hold') Bun.sleepSync(500)
    const answer = await fetchPublic(withPort(url), request)
    if (here && when === 'after') process.kill(process.pid, 'SIGKILL')
    return answer
  }

function withPort(url: URL): URL {
  const there = new URL(url)
  if (there.port === '') there.port = process.env.HTTPS_PORT ?? ''
  return there
}

/** `FREE_FILE` holds the bytes that are free on a disk of 100 000 000. */
const statFs = async () => {
  const free = readFileSync(process.env.FREE_FILE ?? '', 'utf8')
  return { bavail: Number(free), bsize: 1, blocks: 100_000_000 }
}
const disk = process.env.FREE_FILE === undefined ? {} : { statFs }

const log = createLog(config.logLevel, config.logFormat)
const app = await start(config, log, { outbound, around, ...disk })
console.log(`  address     ${app.url}`)
process.on('SIGTERM', async () => {
  await app.stop()
  process.exit(0)
})
