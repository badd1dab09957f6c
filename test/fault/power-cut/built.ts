import { join } from 'node:path'
import { controlPath } from '../../../src/app/control.ts'
import type { CheckReport } from '../../../src/db/check-report.ts'
import { call } from '../../support/client.ts'
import { connectRelay } from '../../support/relay-client.ts'
import { startServer } from '../../support/server.ts'
import { ask } from './ask.ts'
import { byMerchant } from './client.ts'
import { askControl } from './control.ts'
import { FactFile } from './facts.ts'
import type { Service } from './judge.ts'
import type { Life } from './life.ts'
import { pagesOf } from './opened.ts'

/** Start a program on a data directory, and ask it over HTTP, its relay and its control socket. */
export async function startOn(
  dataDir: string,
  command: readonly string[],
  { surroundings }: Life,
): Promise<Service> {
  const { environment: env, relay: elsewhere } = surroundings
  const before = new Map(elsewhere.stored.map(({ id }) => [id, elsewhere.times(id)]))
  const server = await startServer({ dataDir, env, command: [...command] })
  const base = server.url
  const relay = await connectRelay(base)
  const facts = new FactFile(join(dataDir, 'cuponera.db'))
  return {
    dataDir,
    clean: null,
    async statuses(nonces) {
      const asked = nonces.map(async (nonce) => {
        const { status, json } = await call(base, '/api/coupons/preview', { body: { nonce } })
        return [nonce, status === 404 ? 'unknown' : String(json.status)] as const
      })
      return new Map(await Promise.all(asked))
    },
    async names({ signer }) {
      const { json } = await call(base, '/api/coupons', { signer })
      const coupons: { id: string; name: string }[] = json.coupons
      return new Map(coupons.map(({ id, name }) => [id, name]))
    },
    async present(_, ids) {
      return new Set(ids.length === 0 ? [] : await relay.idsOf({ ids }))
    },
    async repeat({ signer }, { method, path, body, key, kind }) {
      const headers: Record<string, string> = key === null ? {} : { 'Idempotency-Key': key }
      return call(base, path, { method, body, headers, ...(byMerchant.has(kind) && { signer }) })
    },
    facts: (names) => facts.read(names),
    ask: (lane, steps) => ask(base, { lane, steps, elsewhere, before }),
    spent: async () => null,
    async check() {
      const report = await askControl<CheckReport>(controlPath(dataDir), 'POST', 'check')
      return [...report.problems, ...pagesOf(join(dataDir, 'relay.db'))]
    },
    async close() {
      relay.close()
      facts.close()
      const code = await server.stop()
      if (code !== 0) throw new Error(`the program ended with ${code}`)
    },
  }
}
