/** The panel of a merchant, for the tests of its pages: each test has a merchant and a page of its own. */
import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { type Visit, visit } from './browser.ts'
import { shopCertificate } from './certificates.ts'
import {
  type Answer,
  type CallOptions,
  call,
  createDefinition,
  type Json,
  mintOne,
  newSigner,
} from './client.ts'
import { makeKey } from './merchant-page.ts'
import { loopbackProgram } from './program.ts'
import { startServer, type TestServer } from './server.ts'

const opened: Visit[] = []

/** Ends the pages of one test, none of which complained or asked anybody else: for `afterEach`. */
export async function closePanels(): Promise<void> {
  const visits = opened.splice(0)
  for (const { context } of visits) await context.close()
  expect(visits.flatMap(({ complaints }) => complaints)).toEqual([])
}

/** A host elsewhere that the service reaches: every name leads to it. */
export type FarHost = ReturnType<typeof Bun.serve>

/** A service, and a far host that answers by path; null: it knows nothing of it. */
export async function startWithFarHost(
  answer: (path: string) => Response | null,
): Promise<{ server: TestServer; far: FarHost }> {
  const far = Bun.serve({
    port: 0,
    tls: shopCertificate,
    fetch: ({ url }) => answer(new URL(url).pathname) ?? new Response('no', { status: 404 }),
  })
  const server = await startServer({
    // Its outgoing requests go to the loopback, which the program never allows.
    command: loopbackProgram,
    env: { RATE_LIMIT: 'off', HTTPS_PORT: String(far.port) },
  })
  return { server, far }
}

/** A merchant's session, and the requests that prepare a test or show what it left. */
export type Merchant = {
  ask: (path: string, options?: CallOptions) => Promise<Answer>
  /** The first coupon as the service has it. */
  stored: () => Promise<Json>
  /** Create the coupon that these tests have in common; its id. */
  createCoupon: (fields?: Record<string, unknown>) => Promise<string>
  /** Issue one; its nonce. */
  issue: (id: string) => Promise<string>
}

export type Panel = {
  page: Page
  main: () => Locator
  dialog: () => Locator
  press: (name: string | RegExp) => Promise<void>
  heading: (name: string) => Promise<void>
}

/** Two coffees for one, up to a cap. */
const shared = {
  name: 'Café de a dos',
  maxUses: 40,
  benefit: {
    type: 'multibuy',
    buyQty: 2,
    payQty: 1,
    productDs: ['café'],
    cap: { amount: 5000, currency: 'ARS' },
  },
}

function merchantWith({ url }: TestServer, token: string): Merchant {
  const ask = (path: string, options: CallOptions = {}) => call(url, path, { ...options, token })
  return {
    ask,
    stored: async () => (await ask('/api/coupons')).json.coupons[0],
    createCoupon: (fields = {}) => createDefinition(url, token, { ...shared, ...fields }),
    issue: async (id) => (await mintOne(url, token, id)).nonce,
  }
}

/** The panel as a stranger finds it; `before` runs ahead of the page's own scripts. */
export async function openPanel(
  { url }: TestServer,
  { place = '', before = '' } = {},
): Promise<Panel> {
  const visitor = await visit(`${url}/panel${place}`, { before })
  opened.push(visitor)
  const { page } = visitor
  return {
    page,
    main: () => page.locator('main'),
    dialog: () => page.getByRole('dialog'),
    press: (name) => page.getByRole('button', { name }).click(),
    heading: (name) => page.getByRole('heading', { name }).first().waitFor(),
  }
}

/** The panel of a merchant who made a key in it: the page signs with that. */
export async function openWithKey(server: TestServer): Promise<Panel & Merchant> {
  const panel = await openPanel(server)
  await makeKey(panel.page)
  const token = await panel.page.evaluate(
    () => JSON.parse(sessionStorage.getItem('cuponera:panel') ?? '{}').token,
  )
  return { ...panel, ...merchantWith(server, token) }
}

/** A merchant who is signed in where `open` shows the panel; what shows there may be made before. */
export async function signIn(
  server: TestServer,
): Promise<Merchant & { open: (place?: string) => Promise<Panel> }> {
  const options = { method: 'POST', body: {}, signer: newSigner() }
  const { json } = await call(server.url, '/api/auth/session', options)
  const session = JSON.stringify(JSON.stringify({ ...json, kind: 'extension' }))
  const before = `sessionStorage.setItem('cuponera:panel', ${session})`
  return {
    ...merchantWith(server, json.token),
    open: (place) => openPanel(server, { ...(place !== undefined && { place }), before }),
  }
}

/** A merchant before a coupon of hers, of which so many are issued. */
export async function openCoupon(
  server: TestServer,
  { fields = {}, issued = 0 }: { fields?: Record<string, unknown>; issued?: number } = {},
): Promise<Panel & Merchant & { id: string; nonces: string[] }> {
  const merchant = await signIn(server)
  const id = await merchant.createCoupon(fields)
  const nonces: string[] = []
  while (nonces.length < issued) nonces.push(await merchant.issue(id))
  const panel = await merchant.open(`#/coupons/${id}`)
  await panel.page.getByRole('button', { name: 'Entregar uno' }).waitFor()
  return { ...merchant, ...panel, id, nonces }
}
