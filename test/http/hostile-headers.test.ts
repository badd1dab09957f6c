/** Long runs of separators in headers that the program reads: no header may stall other clients. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpuSeconds } from '../support/process-figures.ts'
import { callRaw } from '../support/raw.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const chars = 15_000
const requests = 20

let server: TestServer
beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})
afterAll(cleanUp)

/** CPU time that some requests with that header cost the service, in ms. */
async function costOf(target: string, name: string, value: string): Promise<number> {
  const before = cpuSeconds(server.pid) * 1000
  for (let at = 0; at < requests; at++) {
    const { status } = await callRaw(server.url, { target, headers: [[name, value]] })
    expect(status).toBeLessThan(500)
  }
  return cpuSeconds(server.pid) * 1000 - before
}

test.each([
  ['/panel', 'If-None-Match'],
  ['/caja', 'If-None-Match'],
  ['/c', 'If-None-Match'],
])('%s: no value of %s costs much more than a harmless one', async (target, name) => {
  await costOf(target, name, 'x')
  const usual = await costOf(target, name, 'a'.repeat(chars))
  for (const separator of [' ', '\t', ',', ' ,', 'W/', '"', '"",']) {
    const run = separator.repeat(chars / separator.length)
    const cost = await costOf(target, name, `a${run}a`)
    const costly = cost > 20 * Math.max(usual, 10) && cost > 500
    expect({ separator, costly, cost, usual }).toMatchObject({ separator, costly: false })
  }
})

test.each([
  [(etag: string) => etag],
  [(etag: string) => `W/${etag}`],
  [(etag: string) => `"other" ,\t${etag} , "third"`],
  [(etag: string) => `"other",W/${etag}`],
])('a tag that a browser knows is found in its list', async (listOf) => {
  const first = await callRaw(server.url, { target: '/caja' })
  const etag = first.headers.get('etag') ?? ''
  const asked = async (value: string) => {
    const headers = [['If-None-Match', value]] as const
    return (await callRaw(server.url, { target: '/caja', headers })).status
  }
  expect([await asked(listOf(etag)), await asked(listOf('"none"'))]).toEqual([304, 200])
})
