import { expect, test } from 'bun:test'
import { readConfig } from '../../src/app/config.ts'
import { openOrigins } from '../../src/app/origins.ts'
import { createLog } from '../../src/base/log.ts'
import { Elysia } from '../../src/http/elysia.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { noRateLimits } from '../../src/http/rate-limit.ts'
import { contextOf } from '../../src/http/request-context.ts'
import { startServer } from '../../src/http/server.ts'

test('no stream is made for a body, and its bytes arrive, in pieces or at once', async () => {
  const { config } = readConfig(new Map(), {}, false)
  const routes = new Elysia().post('/', ({ request }) => {
    const stream = request.body === null ? 'none' : 'made'
    return new Response(`${stream} ${new TextDecoder().decode(contextOf(request).body)}`)
  })
  const server = startServer({
    ...{ hostname: '127.0.0.1', port: 0, tls: null, sockets: null, routes: [routes] },
    ...{ origins: openOrigins(config), rateLimits: noRateLimits, metrics: createMetrics() },
    ...{ mayReadMetrics: () => false, log: createLog('error', 'json') },
    onUndeclaredProxy: () => undefined,
    onForwarded: async () => undefined,
  })
  const send = async (body: string | ReadableStream<Uint8Array>) =>
    (await fetch(server.url, { method: 'POST', body })).text()
  const pieces = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(Buffer.from('[1,'))
      await Bun.sleep(1)
      controller.enqueue(Buffer.from('2]'))
      controller.close()
    },
  })
  expect(await send('[1]')).toBe('none [1]')
  expect(await send(pieces)).toBe('none [1,2]')
  await server.stop()
})
