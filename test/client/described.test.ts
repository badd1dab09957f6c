/** The types of the client beside the document and the routes that they describe. */
import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formTypes } from '../../.tools/client/write-types.ts'
import { facts } from '../../src/client/described/facts.ts'
import type { OperationName } from '../../src/client/described/operations.ts'
import { reads } from '../../src/client/effect.ts'
import { noRateLimits } from '../../src/http/rate-limit.ts'
import type { RouteDetail } from '../../src/http/route.ts'
import { payRoutes } from '../../src/wallet/cards/payments/routes.ts'
import { tapRoutes } from '../../src/wallet/cards/taps/routes.ts'
import { directoryRoutes } from '../../src/wallet/identities/directory-routes.ts'
import { call } from '../support/client.ts'
import { cleanUp, startServer } from '../support/server.ts'

afterAll(cleanUp)

test('the types are those of the document; `npm run client-types` writes them', async () => {
  const { url } = await startServer()
  const folder = join(import.meta.dir, '../../src/client/described')
  const written = readdirSync(folder).map((name) => [
    name,
    readFileSync(join(folder, name), 'utf8'),
  ])
  const formed = await formTypes((await call(url, '/openapi.json')).json)
  expect(Object.fromEntries(written)).toEqual(formed)
})

test('a GET with an effect is not repeated', () => {
  const nothing = {} as never
  const routes = [
    ...tapRoutes(nothing, noRateLimits).routes,
    ...payRoutes(nothing, noRateLimits).routes,
    ...directoryRoutes(nothing).routes,
  ]
  const acting = routes
    .filter(({ hooks }) => (hooks.detail as RouteDetail | undefined)?.['x-rules'].acts)
    .map(({ method, path }) => `${method} ${path.replace(/\/$/, '')}`)
  expect(acting).toEqual(['GET /card/scan', 'GET /card/pay', 'GET /api/lud16/:name/cb'])
  const names = Object.keys(facts) as OperationName[]
  const gets = names.filter((name) => name.startsWith('GET ') && !reads(name))
  expect(new Set<string>(gets)).toEqual(
    new Set(acting.map((one) => one.replace(':name', '{name}'))),
  )
})
