/** A service behind a proxy that loses requests and answers as it is told. */
import { afterAll, beforeEach } from 'bun:test'
import { createDefinition, mintOne, newSigner, openSession } from './client.ts'
import { startFaultyProxy } from './faulty-proxy.ts'
import { cleanUp, startServer } from './server.ts'

/** Open one for the tests of a file. Each begins without faults. */
export async function openProxiedService() {
  const proxy = await startFaultyProxy()
  const always = { PUBLIC_URL: proxy.origin, MERCHANTS: 'open', RATE_LIMIT: 'off' }
  let server = await startServer({ env: always })
  proxy.target = server.url

  beforeEach(() => {
    proxy.fault = () => null
    proxy.seen = new Map()
  })
  afterAll(async () => {
    proxy.stop()
    await cleanUp()
  })

  return {
    proxy,
    /** The address of the service itself, until its next start. */
    url: server.url,
    /** Start the service again, on its data. */
    async restart(env: Record<string, string> = {}): Promise<void> {
      const { dataDir } = server
      await server.kill()
      server = await startServer({ dataDir, env: { ...always, ...env } })
      proxy.target = server.url
    },
  }
}

/** The same with a merchant who has a coupon. */
export async function openProxiedShop(merchant = newSigner()) {
  const service = await openProxiedService()
  const { proxy } = service
  const openMerchantSession = () => openSession(proxy.target, merchant, proxy.origin)
  const couponId = await createDefinition(proxy.target, await openMerchantSession())
  return {
    ...service,
    merchant,
    couponId,
    openMerchantSession,
    async mintNonce(): Promise<string> {
      return (await mintOne(proxy.target, await openMerchantSession(), couponId)).nonce
    },
  }
}
