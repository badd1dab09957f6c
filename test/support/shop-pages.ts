/** A shop for the tests of its pages: what the till and the coupon have in common. */

import { type Visit, type VisitOptions, visit } from './browser.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from './client.ts'
import { briefSeconds, secondsNow } from './clock.ts'
import { startServer } from './server.ts'

const opened: Visit[] = []

/** A page that the next `closePages` closes. */
export async function openPage(url: string, options: VisitOptions = {}): Promise<Visit> {
  const visitor = await visit(url, options)
  opened.push(visitor)
  return visitor
}

/** Runs before a page's own scripts: the till of this device knows its shop, unless something was kept there before. */
export function tillOf(...npubs: readonly string[]): string {
  const [place, list] = ['cuponera:till:shops', JSON.stringify(npubs)].map((one) =>
    JSON.stringify(one),
  )
  return `localStorage.getItem(${place}) ?? localStorage.setItem(${place}, ${list});`
}

/** Ends the pages of one test: for `afterEach`. */
export async function closePages(): Promise<void> {
  for (const { context } of opened.splice(0)) await context.close()
}

/** A service with one coupon of one merchant, and ways to issue it and to ask what became of it. */
export async function startShop() {
  const merchant = newSigner()
  const server = await startServer({ env: { RATE_LIMIT: 'off' } })
  const token = await openSession(server.url, merchant)
  const definition = await createDefinition(server.url, token, { name: 'Medialuna de regalo' })
  const mint = async (base = server.url, id = definition, session = token): Promise<string> =>
    (await mintOne(base, session, id)).nonce
  const expiresAt = secondsNow() + 2 * briefSeconds
  return {
    ...{ merchant, server, token, definition, mint },
    /** The code of a coupon that is over by the time it is asked for. */
    brief: await mint(server.url, await createDefinition(server.url, token, { expiresAt })),
    async statusOf(nonce: string, base = server.url): Promise<string> {
      return (await call(base, '/api/coupons/preview', { body: { nonce } })).json.status
    },
  }
}
