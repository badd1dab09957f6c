/** The demo asks again where an answer got lost, as behind a balancer whose node died. */
import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { createDemoClient, type Patience } from '../../src/cli/demo-client.ts'
import { newSigner } from '../support/client.ts'
import { runDemo } from '../support/demo.ts'
import { type Fault, gatewayPage } from '../support/faulty-proxy.ts'
import { openProxiedService } from '../support/proxied-shop.ts'

const { proxy, url } = await openProxiedService()
const { origin } = proxy

/** Asks again at once. */
const patience: Patience = { answerSeconds: 30, pause: async () => undefined, stopwatch: () => 0 }

const unavailable = JSON.stringify({ error: 'Ahora no podemos.', code: 'unavailable' })
const passing: [what: string, fault: Fault][] = [
  ['a connection cut before the request arrived', { at: 'before', how: 'cut' }],
  ['a connection cut after the request was executed', { at: 'after', how: 'cut' }],
  ['an answer that breaks off', { at: 'after', how: 'half' }],
  [
    'a 502 of the proxy for what never arrived',
    { at: 'before', how: { status: 502, body: gatewayPage } },
  ],
  [
    'a 502 of the proxy for what was executed',
    { at: 'after', how: { status: 502, body: gatewayPage } },
  ],
  ['a 504 of the proxy for what was executed', { at: 'after', how: { status: 504, body: '' } }],
  ['a 503 of the server', { at: 'after', how: { status: 503, body: unavailable } }],
]
test.each(passing)('the demo passes with %s, at every request once', async (_, found) => {
  let arrived = 0
  proxy.fault = () => (arrived++ % 2 === 0 ? found : null)
  const { code, output } = await runDemo(origin, patience)
  expect(output).toContain('Everything as it should be')
  expect(output.match(/^✓ /gm)?.length).toBe(23)
  expect(output.match(/^… .+, asking again$/gm)?.length).toBe(arrived / 2)
  expect(output).not.toMatch(/[A-Za-z0-9_-]{22}/)
  expect(code).toBe(0)
})

test.each(['before', 'after'] as const)(
  'the demo passes with a proxy that hangs %s a request was executed',
  async (at) => {
    const hanging = ['POST /api/coupons/mint', 'POST /api/coupons/refresh', 'GET /api/coupons']
    proxy.fault = (route, times) =>
      hanging.includes(route) && times === 1 ? { at, how: 'hang' } : null
    const { code, output } = await runDemo(origin, { ...patience, answerSeconds: 2 })
    expect(output).toContain('… POST /api/coupons/mint: nothing within 2 s, asking again')
    expect(output).toContain('Everything as it should be')
    expect(code).toBe(0)
  },
)

test('an answer that stays lost ends the demo after a bounded number of tries', async () => {
  proxy.fault = (route) =>
    route === 'POST /api/coupons/refresh' ? { at: 'after', how: 'cut' } : null
  const { code, output } = await runDemo(origin, patience)
  const asked = `to POST /api/coupons/refresh, asked ${limits.demoTriesMax} times`
  expect(lastLine(output)).toStartWith(`cuponera: no answer from ${origin} (ECONNRESET) ${asked}: `)
  expect(lastLine(output)).toContain('log of the server')
  expect(proxy.seen.get('POST /api/coupons/refresh')).toBe(limits.demoTriesMax)
  expect(code).toBe(1)
})

test('a proxy without a server ends the demo after a bounded time', async () => {
  proxy.fault = () => ({ at: 'before', how: { status: 503, body: gatewayPage } })
  let seconds = 0
  const pause = async () => {
    seconds += limits.demoPatienceSeconds / 2
  }
  const { code, output } = await runDemo(origin, { ...patience, pause, stopwatch: () => seconds })
  expect(lastLine(output)).toContain(`${origin} answered 503 to GET /api/coupons/manager, asked 3 `)
  expect(lastLine(output)).toContain('cuponera nodes')
  expect(proxy.seen.get('GET /api/coupons/manager')).toBe(3)
  expect(code).toBe(1)
})

test('a state that lasts is reported at once, with the words of the server', async () => {
  const body = JSON.stringify({ error: 'Nos mudamos.', code: 'moved' })
  const headers = { 'access-control-allow-origin': '*' }
  proxy.fault = () => ({ at: 'before', how: { status: 503, body, headers } })
  const { code, output } = await runDemo(origin, patience)
  expect(output).not.toContain('asking again')
  expect(output).toContain('moved')
  expect(code).toBe(1)
})

test('where nothing listens the demo asks once, and where a server went away it asks again', async () => {
  const absent = await runDemo('http://127.0.0.1:1', patience)
  expect(absent.output).not.toContain('asking again')
  expect(lastLine(absent.output)).toContain('cuponera serve')
  expect(absent.code).toBe(1)

  const gone = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async () => {
      const real = await fetch(`${url}/api/coupons/manager`)
      const headers = { connection: 'close', 'access-control-allow-origin': '*' }
      return new Response(await real.bytes(), { headers })
    },
  })
  const client = createDemoClient(gone.url.origin, gone.url.origin, patience)
  await client.call('GET', '/api/coupons/manager')
  await gone.stop(true)
  const { promise, resolve } = Promise.withResolvers<string>()
  client.call('GET', '/api/coupons/manager').catch((cause: Error) => resolve(cause.message))
  expect(await promise).toContain(`asked ${limits.demoTriesMax} times: see the log of the server`)
})

test('a request that might be executed twice is asked once, and the error says so', async () => {
  proxy.fault = () => ({ at: 'after', how: 'cut' })
  const client = createDemoClient(origin, origin, patience)
  const call = { signer: newSigner(), body: { name: 'Café' } }
  const { promise, resolve } = Promise.withResolvers<string>()
  client.call('POST', '/api/coupons', call).catch((cause: Error) => resolve(cause.message))
  const message = await promise
  expect(message).toContain(`no answer from ${origin} (ECONNRESET) to POST /api/coupons: it may`)
  expect(message).toContain('run the demo again')
  expect(proxy.seen.get('POST /api/coupons')).toBe(1)
})

function lastLine(output: string): string {
  return output.split('\n').at(-1) ?? ''
}
