import { expect } from 'bun:test'
import { renewOwnCertificate } from '../../../src/tls/files.ts'
import { call } from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import type { Documented } from '../../support/documented.ts'
import { newDirectory, startServer } from '../../support/server.ts'

/** Routes that refuse only when the machine or the rate says so. */
export const alwaysGood = [
  'GET /livez',
  'GET /readyz',
  'GET /openapi.json',
  'GET /docs',
  'GET /openapi.html',
  'GET /api/coupons/manager',
  'GET /relay',
  'GET /panel',
  'GET /caja',
  'GET /caja.webmanifest',
  'GET /sw.js',
  'GET /c',
  'GET /c/p/{id}',
  'GET /.well-known/nostr.json',
]

/** The state of the process, its pages, and the authority of a shop. */
export function testService({ scenario, newCaller }: Documented): void {
  for (const route of alwaysGood) {
    scenario(route, async () => {
      const { ask } = await newCaller()
      await ask(route)
    })
  }

  scenario('GET /metrics on this machine and through a proxy', async () => {
    const { ask, refused } = await newCaller({ at: await startServer() })
    await ask('GET /metrics')
    await refused('GET /metrics', 'metrics-closed', { headers: { Via: '1.1 proxy' } })
  })

  scenario('GET / for a browser and for a program', async () => {
    const { ask, refused } = await newCaller()
    await ask('GET /', { headers: { Accept: 'text/html' } })
    await refused('GET /', 'not-found', { headers: { Accept: 'application/json' } })
  })

  scenario('GET /ui/{file}', async () => {
    const { ask, refused, server } = await newCaller()
    const { text } = await call(server.url, '/panel')
    const [path = ''] = /\/ui\/style-\w+\.css/.exec(text) ?? []
    expect(path).not.toBe('')
    await ask('GET /ui/{file}', { path })
    await refused('GET /ui/{file}', 'not-found', { path: '/ui/nothing.js' })
  })

  scenario('GET /tls without an authority of the shop', async () => {
    const { refused } = await newCaller()
    await refused('GET /tls', 'not-found')
    await refused('GET /tls/cuponera.crt', 'not-found')
  })

  scenario('GET /tls with an authority of the shop', async () => {
    const dataDir = newDirectory()
    await renewOwnCertificate(dataDir, secondsNow())
    const at = await startServer({ dataDir, env: { TLS_PORT: '0' } })
    const { ask } = await newCaller({ at })
    await ask('GET /tls')
    await ask('GET /tls/cuponera.crt')
  })
}
