/** Names from right to left on every page: each is isolated from the words that stand beside it. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { npubOf } from '../../src/nostr/keys.ts'
import { closeBrowser } from '../support/browser.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { textTurnedBy } from '../support/page-checks.ts'
import { checkEveryWidth } from '../support/page-looks.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { closePages, openPage, tillOf } from '../support/shop-pages.ts'
import { until } from '../support/until.ts'

afterEach(closePages)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

/** Numbers follow, as they do on a menu: those jump first. */
const coupon = 'قهوة 12'
const shop = 'مقهى 7'
const till = 'صندوق 3'
const product = 'شاي 5'
const terms = 'كل يوم 15'
const names = [coupon, shop, till, terms]

const server = await startServer({ env: { RATE_LIMIT: 'off' } })
const merchant = newSigner()
const token = await openSession(server.url, merchant)
const benefit = { type: 'multibuy', buyQty: 2, payQty: 1, productDs: [product, 'té'] }
const id = await createDefinition(server.url, token, { name: coupon, description: terms, benefit })
const mint = async (): Promise<string> => (await mintOne(server.url, token, id)).nonce
const profile = merchant.sign({
  kind: 0,
  created_at: secondsNow(),
  tags: [],
  content: JSON.stringify({ name: shop }),
})
await call(server.url, '/nostr/publish', { body: profile })
const minter = newSigner()
const label = { pubkey: minter.pubkey, label: till }
await call(server.url, '/api/coupons/minters', { body: label, token })

/** A place that shows this name, among others, turns nothing. */
async function straight(page: Page, name: string): Promise<void> {
  await page.getByText(name).filter({ visible: true }).first().waitFor()
  expect(await textTurnedBy(page, names)).toEqual([])
}

const known = tillOf(npubOf(merchant.pubkey))

async function enter(page: Page, code: string): Promise<void> {
  await page.getByLabel('Código del cupón').fill(code)
  await page.getByRole('button', { name: 'Ver cupón' }).click()
}

test('at the till a name from right to left stays isolated in the question, the coupon, the outcome and the open ones', async () => {
  const { page: fresh } = await openPage(`${server.url}/caja`)
  await enter(fresh, await mint())
  await fresh.getByRole('heading', { name: '¿Esta caja es de' }).waitFor()
  await straight(fresh, shop)

  const { page } = await openPage(`${server.url}/caja`, { before: known })
  await enter(page, await mint())
  await straight(page, coupon)
  await straight(page, shop)
  await page.locator('.till-view').getByRole('button', { name: 'Canjear' }).click()
  await page.getByRole('heading', { name: 'Canjeado' }).waitFor()
  await page.locator('.banner').getByText(shop).waitFor()
  await straight(page, coupon)
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await straight(page, coupon)
  await page.route('**/api/coupons/claim', (route) => route.abort())
  await enter(page, await mint())
  await page.locator('.till-view').getByRole('button', { name: 'Canjear' }).click()
  await page.getByRole('button', { name: 'Dejarlo para después' }).click()
  await page.getByRole('heading', { name: 'Canjes sin confirmar' }).waitFor()
  await straight(page, coupon)
  await page.getByRole('button', { name: 'Ajustes' }).click()
  await straight(page, shop)
})

test('at the till it stays isolated for a coupon of another shop', async () => {
  const other = npubOf(newSigner().pubkey)
  const { page } = await openPage(`${server.url}/caja`, { before: tillOf(other) })
  await enter(page, await mint())
  await page.getByRole('heading', { name: 'Este cupón es de otro comercio' }).waitFor()
  await straight(page, shop)
})

/** Signs a tab in with an existing session. */
async function sessionOf(signer: ReturnType<typeof newSigner>, place: string): Promise<string> {
  const { json } = await call(server.url, '/api/auth/session', { method: 'POST', body: {}, signer })
  const session = JSON.stringify(JSON.stringify({ ...json, kind: 'extension' }))
  return `sessionStorage.setItem('cuponera:${place}', ${session});`
}

test('at the till it stays isolated while issuing, and on the ticket', async () => {
  const before = known + (await sessionOf(minter, 'till:session'))
  const { page } = await openPage(`${server.url}/caja`, { before })
  await page.getByRole('button', { name: 'Emitir' }).click()
  await straight(page, coupon)
  await page.getByRole('button', { name: new RegExp(coupon) }).click()
  await page.getByRole('heading', { name: 'Listo para el cliente' }).waitFor()
  await straight(page, coupon)
  await page.evaluate(() => {
    window.print = () => undefined
  })
  // The ticket waits for the name of the shop.
  await page.getByRole('button', { name: 'Ticket de 80 mm' }).click()
  await page.locator('.paper-80').waitFor({ state: 'attached' })
  expect(await page.locator('.paper-shop').textContent()).toBe(shop)
  expect(await textTurnedBy(page, names)).toEqual([])
})

test('in the panel it stays isolated in lists, a coupon, redemptions and tills', async () => {
  const issued = await call(server.url, '/api/coupons/mint', {
    body: { couponId: id },
    signer: minter,
  })
  await call(server.url, '/api/coupons/claim', { body: { nonce: issued.json.nonce } })
  const before = await sessionOf(merchant, 'panel')
  const { page } = await openPage(`${server.url}/panel#/coupons`, { before })
  await straight(page, coupon)
  await page.getByRole('link', { name: new RegExp(coupon) }).click()
  await page.getByRole('cell', { name: till }).first().waitFor()
  await straight(page, coupon)
  await page.getByRole('button', { name: 'Entregar uno' }).click()
  await page.getByRole('img', { name: 'Código QR del cupón' }).waitFor()
  await straight(page, coupon)
  await page.getByRole('button', { name: 'Listo, ya lo tiene' }).click()
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await straight(page, coupon)
  // The first page tells each event.
  await page.getByRole('link', { name: 'Inicio' }).click()
  await page.getByText('Se emitió').first().waitFor()
  await straight(page, coupon)
  // The service does not know the shop's name yet: the panel offers that of the profile.
  const missing = page.getByRole('region', { name: 'Ponele nombre a tu negocio' })
  await checkEveryWidth(page, 'panel-unnamed')
  const offered = missing.getByLabel('¿Cómo se llama tu negocio?')
  await until('the name of the profile', async () => (await offered.inputValue()) === shop)
  await missing.getByRole('button', { name: 'Guardar los cambios' }).click()
  await missing.waitFor({ state: 'detached' })
  const { json } = await call(server.url, `/api/shops/${merchant.pubkey}`)
  expect(json.name).toBe(shop)
  await page.getByRole('link', { name: 'Canjes' }).click()
  await page.getByRole('cell', { name: coupon }).first().waitFor()
  await straight(page, coupon)
  await page.getByRole('link', { name: 'Cajas' }).click()
  await straight(page, till)
  await page.getByRole('button', { name: 'Quitar la caja' }).click()
  expect(await textTurnedBy(page, names)).toEqual([])
})

test('with the holder it stays isolated in the coupon, the list, and the question before a removal', async () => {
  const { page } = await openPage(`${server.url}/c#${await mint()}`)
  await straight(page, coupon)
  await straight(page, shop)
  await page.getByRole('button', { name: 'Volver a mis cupones' }).click()
  await straight(page, coupon)
  await page.getByRole('button', { name: 'Quitar de este equipo' }).click()
  expect(await textTurnedBy(page, names)).toEqual([])
})

test('a coupon named after its benefit shows it once, and without marks', async () => {
  const before = await sessionOf(merchant, 'panel')
  const { page } = await openPage(`${server.url}/panel#/new`, { before })
  const next = async () => page.getByRole('button', { name: 'Seguir' }).click()
  await page.getByRole('radio', { name: 'Llevás más' }).check()
  await next()
  await page.getByLabel('¿En qué productos?').fill(product)
  await next()
  await page.getByLabel('Nombre del cupón').waitFor()
  await page.getByRole('button', { name: 'Crear el cupón' }).click()
  await page.getByText('Todavía no emitiste ninguno').waitFor()
  const { json } = await call(server.url, '/api/coupons', { token })
  expect(json.coupons[0].name).toBe(`2x1 en ${product}`)
  expect(await page.locator('.coupon-card p', { hasText: product }).count()).toBe(1)
})
