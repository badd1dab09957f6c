/** Letters twice as large, as a person may set them in the browser, on a phone of 360 pixels. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { npubOf } from '../../src/nostr/keys.ts'
import { closeBrowser } from '../support/browser.ts'
import { expectNoOverflow } from '../support/page-checks.ts'
import { closePanels, signIn } from '../support/panel-page.ts'
import { cleanUp } from '../support/server.ts'
import { closePages, openPage, startShop, tillOf } from '../support/shop-pages.ts'

afterEach(closePages)
afterEach(closePanels)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const { merchant, server, mint } = await startShop()
const npub = npubOf(merchant.pubkey)

function enlarge(page: Page): Promise<void> {
  return page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'))
}

test('the words of a coupon and of the list of coupons have room for more than a letter', async () => {
  const { page } = await openPage(`${server.url}/c#${await mint()}`)
  await page.getByText('Sin usar').waitFor()
  await enlarge(page)
  const words = (await page.locator('.coupon-terms p').first().boundingBox())?.width
  expect(words).toBeGreaterThan(100)
  await expectNoOverflow(page)
  await page.getByRole('button', { name: 'Volver a mis cupones' }).click()
  const held = page.locator('.held-open > .grow')
  await held.waitFor()
  expect((await held.boundingBox())?.width).toBeGreaterThan(100)
  await expectNoOverflow(page)
})

test('the outcome at the till stays on its page', async () => {
  const address = `${server.url}/caja#comercio=${npub}&cupon=${await mint()}`
  const { page } = await openPage(address, { before: tillOf(npub) })
  await page.getByRole('heading', { name: '10 %' }).waitFor()
  await enlarge(page)
  await expectNoOverflow(page)
  await page.getByRole('button', { name: 'Canjear' }).last().click()
  await page.getByRole('heading', { name: 'Canjeado' }).waitFor()
  await expectNoOverflow(page)
})

test('the code that sets up a till stays on the page of the tills', async () => {
  const { open } = await signIn(server)
  const { page } = await open('#/tills')
  await page.locator('.small-qr').first().waitFor()
  await enlarge(page)
  await expectNoOverflow(page)
})
