/** The log and the metrics after the main thread answered nobody for a while. */
import { afterAll, expect, test } from 'bun:test'
import { call, newSigner } from '../support/client.ts'
import { loopbackProgram } from '../support/program.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

afterAll(cleanUp)

test('a stall is logged with the pattern of its route, and shown by a metric', async () => {
  const env = { FAULT: 'hold /.well-known/nostr.json', HTTPS_PORT: '1' }
  const server = await startServer({ command: loopbackProgram, env })
  const path = '/api/coupons/minters?secret=1'
  let asked = 0
  const stall = async () => {
    const body = { pubkey: `secret${asked++}@shop.example` }
    expect((await call(server.url, path, { body, signer: newSigner() })).status).toBe(404)
  }
  // A busy machine stalls the start, too, and a line keeps others back for a while.
  const found = () =>
    server
      .output()
      .split('\n')
      .find((one) => one.includes('"loop.stalled"') && !one.includes('"route":"none"'))
  await until('a line of the log', async () => {
    if (!found()) await stall()
    return found() !== undefined
  })
  const line = JSON.parse(found() ?? '{}')
  expect(line).toMatchObject({ level: 'warn', route: '/api/coupons/minters' })
  expect(line.ms).toBeGreaterThan(400)
  expect(server.output()).not.toContain('secret')
  const { text } = await call(server.url, '/metrics')
  const [, seconds] = /^cuponera_loop_stall_max_seconds (\S+)$/m.exec(text) ?? []
  expect(Number(seconds)).toBeGreaterThan(0.4)
})
