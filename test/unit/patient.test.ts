import { expect, test } from 'bun:test'
import { readConfig } from '../../src/app/config.ts'
import { openOrigins } from '../../src/app/origins.ts'
import { limits } from '../../src/base/limits.ts'
import { createLog } from '../../src/base/log.ts'
import { Elysia } from '../../src/http/elysia.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { noRateLimits } from '../../src/http/rate-limit.ts'
import { contextOf } from '../../src/http/request-context.ts'
import { startServer } from '../../src/http/server.ts'

/** A server whose connections may be idle for a moment only, and whose answers come when `due` says so. */
function startSlow(due: Promise<void>) {
  Object.assign(limits, { idleSeconds: 1 })
  const { config } = readConfig(new Map(), {}, false)
  const answer = async () => {
    await due
    return new Response('late')
  }
  const routes = new Elysia().get('/cut', answer).get('/patient', ({ request }) => {
    contextOf(request).patient()
    return answer()
  })
  return startServer({
    ...{ hostname: '127.0.0.1', port: 0, tls: null, sockets: null, routes: [routes] },
    ...{ origins: openOrigins(config), rateLimits: noRateLimits, metrics: createMetrics() },
    ...{ mayReadMetrics: () => false, log: createLog('error', 'json') },
    onUndeclaredProxy: () => undefined,
    onForwarded: async () => undefined,
  })
}

test('a route that takes its time keeps its connection, and no other does', async () => {
  const { promise: due, resolve: answer } = Promise.withResolvers<void>()
  const server = startSlow(due)
  const read = async (path: string) => (await fetch(`${server.url}${path}`)).text()
  const patient = read('/patient').catch(() => 'cut')
  expect(await read('/cut').catch(() => 'cut')).toBe('cut')
  answer()
  expect(await patient).toBe('late')
  await server.stop()
})
