/** Handing a coupon over where its code opens in the shop's network alone. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { closeBrowser, shownQr } from '../support/browser.ts'
import { shownAddress } from '../support/merchant-page.ts'
import { checkEveryWidth } from '../support/page-looks.ts'
import { closePanels, openCoupon } from '../support/panel-page.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})

afterEach(closePanels)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const inShop = 'http://192.168.1.10:3000'

/** From now on coupons open at an address of the shop's network. */
const enterNetwork = (page: Page) =>
  page.evaluate((origin) => {
    document.documentElement.dataset.couponOrigin = origin
  }, inShop)

test('in a network of the shop, the picture comes first, and the Wi-Fi has a code of its own', async () => {
  const { page, press, dialog } = await openCoupon(server, { issued: 1 })
  await enterNetwork(page)
  const asked: string[] = []
  page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`))
  await page.evaluate('window.print = () => {}')
  await press('Entregar uno')
  await press('Emitir uno')
  await dialog().getByText('tu cliente tiene que estar en el Wi-Fi del local').waitFor()
  expect(await dialog().locator('.actions .button').first().textContent()).toBe('Guardar imagen')

  await dialog().getByText('Mostrar también un QR del Wi-Fi').click()
  await page.getByLabel('Nombre de la red').fill('Bar; "Sur"')
  await page.getByLabel('Contraseña del Wi-Fi').fill('corta')
  await press('Mostrar el código')
  await dialog().getByText('Una contraseña de Wi-Fi tiene').waitFor()
  await checkEveryWidth(page, 'hand-over-wifi-form')
  await page.getByLabel('Contraseña del Wi-Fi').fill('café con leche'.replace('é', 'e'))
  await press('Mostrar el código')
  await dialog().getByText('que se conecte a «Bar; "Sur"»').waitFor()
  const code = 'WIFI:T:WPA;S:Bar\\; \\"Sur\\";P:cafe con leche;;'
  expect(await shownQr(page, '.wifi')).toBe(code)
  await checkEveryWidth(page, 'hand-over-wifi')

  // On a ticket the code of the coupon keeps its size and its place.
  await page.getByText('Imprimir o cambiar el Wi-Fi').click()
  await page.getByLabel('Imprimirlo en los tickets').check()
  for (const [format, side, wide] of [
    ['58', 50, 54],
    ['80', 64, 74],
  ] as const) {
    await page.getByLabel('Formato').selectOption(format)
    await press('Imprimir')
    await page.locator('.paper-joins:not(.paper-measured)').waitFor({ state: 'attached' })
    await page.setViewportSize({ width: Math.round((wide / 25.4) * 96), height: 800 })
    await page.emulateMedia({ media: 'print' })
    const [first] = await page
      .locator('.paper-qr .qr')
      .evaluateAll((codes) => codes.map((one) => one.getBoundingClientRect()))
    expect(first?.width).toBeCloseTo((side / 25.4) * 96, 0)
    expect(await shownQr(page, '.paper-qr')).toStartWith(`${inShop}/c#`)
    expect(await shownQr(page, '.paper-wifi')).toBe(code)
    const wifi = await page
      .locator('.paper-wifi')
      .evaluate((one) => one.getBoundingClientRect().top)
    expect(wifi).toBeGreaterThanOrEqual(first?.bottom ?? Number.POSITIVE_INFINITY)
    await page.emulateMedia({ media: null })
    await page.setViewportSize({ width: 768, height: 800 })
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true })
    expect([...pdf.toString('latin1').matchAll(/\/MediaBox /g)]).toHaveLength(1)
    await page.locator('.paper').waitFor({ state: 'detached' })
  }
  // A sheet has no room for it.
  await page.getByLabel('Formato').selectOption('a4')
  await press('Imprimir')
  await page.locator('.paper-a4:not(.paper-measured)').waitFor({ state: 'attached' })
  expect(await page.locator('.paper-wifi').count()).toBe(0)
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))

  expect(await shownAddress(page)).toStartWith(`${inShop}/c#`)
  expect(asked.filter((text) => text.includes('Sur') || text.includes('leche'))).toEqual([])
  await press('Quitarlo')
  await dialog().getByText('Mostrar también un QR del Wi-Fi').waitFor()
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('leche')
})
