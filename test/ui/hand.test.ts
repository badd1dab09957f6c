/** Handing a coupon over: in the shop's network alone, to a number, and from one holder to another. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { closeBrowser, picture, shownQr } from '../support/browser.ts'
import { call } from '../support/client.ts'
import { shownAddress } from '../support/merchant-page.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast } from '../support/page-states.ts'
import { closePanels, openCoupon } from '../support/panel-page.ts'
import { pagesOf } from '../support/pdf.ts'
import { printReceipt } from '../support/receipt-printer.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { closePages, openPage } from '../support/shop-pages.ts'
import { until } from '../support/until.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})

afterEach(closePanels)
afterEach(closePages)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const preview = async (nonce: string) =>
  (await call(server.url, '/api/coupons/preview', { body: { nonce } })).json

const inShop = 'http://192.168.1.10:3000'

/** From now on coupons open at an address of the shop's network. */
const enterNetwork = (page: Page) =>
  page.evaluate((origin) => {
    document.documentElement.dataset.couponOrigin = origin
  }, inShop)

test('in a network of the shop, the picture comes first, and the Wi-Fi has a code of its own', async () => {
  const conditions = `${'No se suma a otras promociones. '.repeat(15)}FIN`
  const description = `${'Salvo feriados. '.repeat(30)}FIN`
  const fields = { rules: { conditions }, description }
  const { page, press, dialog } = await openCoupon(server, { fields, issued: 1 })
  await enterNetwork(page)
  const asked: string[] = []
  page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`))
  await page.evaluate('window.print = () => {}')
  await press('Entregar uno')
  await dialog().getByText('tu cliente tiene que estar en el Wi-Fi del local').waitFor()
  expect(await dialog().locator('.actions .button').first().textContent()).toBe('Guardar imagen')
  // The code fills what the two ways below it leave of the window.
  for (const [windowHeight, side] of [
    [740, 176],
    [900, 288],
  ] as const) {
    await page.setViewportSize({ width: 360, height: windowHeight })
    for (const way of [
      dialog().getByRole('button', { name: 'Guardar imagen' }),
      dialog().getByRole('link', { name: 'Canjear acá' }),
    ]) {
      await until(`a way that ends above ${windowHeight - 10}`, async () => {
        const { y, height } = (await way.boundingBox()) ?? { y: 0, height: Number.NaN }
        return y + height < windowHeight - 10
      })
    }
    const box = dialog().locator('.qr-box').first()
    await until(`a code ${side} wide`, async () => (await box.boundingBox())?.width === side)
  }
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await dialog().locator('.button.primary:visible').allTextContents()).toEqual([
    'Guardar imagen',
  ])
  await picture(page, 'hand-over-network-360')

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
  await page.getByLabel('Imprimirlo en tickets y afiches').check()
  for (const [format, side, wide] of [
    ['58', 50, 54],
    ['80', 64, 74],
  ] as const) {
    await page.getByLabel('Formato').selectOption(format)
    await press('Imprimir')
    await page.locator('.paper-joins:not(.paper-measured)').waitFor({ state: 'attached' })
    await page.setViewportSize({ width: Math.round((wide / 25.4) * 96), height: 800 })
    await page.emulateMedia({ media: 'print' })
    await picture(page, `print-wifi-${format}`)
    const words = await page.locator('.paper-words').innerText()
    for (const term of [conditions, description]) expect(words).toContain(term)
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
    expect({ format, empty: pagesOf(pdf).empty }).toEqual({ format, empty: [] })
    await page.locator('.paper').waitFor({ state: 'detached' })
  }
  // A sheet has no room for it.
  await page.getByLabel('Formato').selectOption('a4')
  await press('Imprimir')
  await page.locator('.paper-a4:not(.paper-measured)').waitFor({ state: 'attached' })
  expect(await page.locator('.paper-wifi').count()).toBe(0)
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))

  expect(await shownAddress(page)).toStartWith(`${inShop}/c#`)

  // A poster needs it most: its readers are strangers.
  await page.keyboard.press('Escape')
  await page.getByRole('tab', { name: 'Afiche' }).click()
  await press('Crear un afiche')
  await press('Crear el afiche')
  for (const format of ['A4', 'A5']) {
    await press(`Imprimir en ${format}`)
    await page.locator('.poster-paper:not(.paper-measured)').waitFor({ state: 'attached' })
    await page.emulateMedia({ media: 'print' })
    expect(await shownQr(page, '.poster-qr')).toStartWith(`${inShop}/c/p/`)
    expect(await shownQr(page, '.poster-wifi')).toBe(code)
    // Long terms go on to another page; both codes stay on the first.
    expect(await page.locator('.poster-sheet > :last-child').getAttribute('class')).toBe(
      'poster-fine',
    )
    await picture(page, `poster-wifi-${format}`)
    await page.emulateMedia({ media: null })
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true })
    expect({ format, empty: pagesOf(pdf).empty }).toEqual({ format, empty: [] })
    await page.locator('.paper').waitFor({ state: 'detached' })
  }
  expect(asked.filter((text) => text.includes('Sur') || text.includes('leche'))).toEqual([])
  await page.getByText('Imprimir o cambiar el Wi-Fi').click()
  await press('Quitarlo')
  await page.getByText('Mostrar también un QR del Wi-Fi').waitFor()
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('leche')
})

/** Keeps the addresses that a page opens in a new window. */
const windowless = `
  window.opened = []
  window.open = (address) => {
    window.opened.push(address)
    return null
  }
`
const opened = (page: Page) => page.evaluate('window.opened') as Promise<string[]>

test('a coupon goes to a typed number, which this device keeps until it is removed', async () => {
  const { page, press, dialog } = await openCoupon(server, { issued: 1 })
  await page.evaluate(windowless)
  await press('Entregar uno')
  await dialog().getByText('WhatsApp a un número').click()
  const field = page.getByLabel('Número de teléfono')
  await field.fill('15 234-5678')
  await press('Abrir WhatsApp')
  await dialog().getByText('Falta el código de área').waitFor()
  await field.fill('011 15 2345-6789')
  await dialog().getByText('Va a +54 9 11 2345-6789').waitFor()
  await field.press('Enter')
  const again = dialog().getByRole('button', { name: '+54 9 11 2345-6789', exact: true })
  await again.waitFor()
  await checkEveryWidth(page, 'hand-over-number')
  await again.click()
  const addresses = (await opened(page)).map((address) => new URL(address))
  expect(addresses.map(({ origin, pathname }) => origin + pathname)).toEqual([
    'https://wa.me/5491123456789',
    'https://wa.me/5491123456789',
  ])
  expect(addresses[0]?.searchParams.get('text')).toContain('2x1 en café, hasta $5.000')
  await press('Quitar +54 9 11 2345-6789')
  await again.waitFor({ state: 'detached' })
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('23456789')
})

test('a holder who passes a coupon on is told that both have its code, and can take it back', async () => {
  const { nonces } = await openCoupon(server, { issued: 1 })
  const { page } = await openPage(`${server.url}/c#${nonces[0]}`)
  await page.evaluate(windowless)
  await enterNetwork(page)
  await page.getByText('Esta página sólo se abre en el Wi-Fi').waitFor()
  expect(await page.locator('.button.primary').allTextContents()).toEqual(['Guardar como imagen'])
  await checkPage(page, 'coupon-network')
  await page.getByRole('button', { name: 'Pasárselo a alguien' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('quien te lo pasó a vos todavía tiene el mismo código').waitFor()
  await checkEveryWidth(page, 'coupon-pass-on')
  await dialog.getByRole('button', { name: 'Hacelo mío' }).click()
  await page.getByText('Ya es tuyo').waitFor()
  await page.getByRole('button', { name: 'Pasárselo a alguien' }).click()
  expect(await dialog.getByText('quien te lo pasó a vos').count()).toBe(0)
  // Away from the shop the page does not open, and the picture does.
  await dialog.getByText('Sólo se abre en el Wi-Fi del local').waitFor()
  await page.getByText('Esta página sólo se abre en el Wi-Fi del local').waitFor()
  const [first] = await page.locator('.stack.buttons .button').allTextContents()
  expect(first).toBe('Guardar como imagen')
  await dialog.getByText('WhatsApp a un número').click()
  await page.getByLabel('Número de teléfono').fill('+598 99 123 456')
  await dialog.getByRole('button', { name: 'Abrir WhatsApp' }).click()
  const [address = ''] = await opened(page)
  const text = new URL(address).searchParams.get('text') ?? ''
  expect(text).toContain('tocá «Hacelo mío»')
  const passed = text.slice(text.indexOf('#') + 1)
  expect(passed).toHaveLength(22)
  expect(passed).not.toBe(nonces[0])
  await dialog.getByRole('button', { name: 'Cerrar' }).click()
  await page.getByText('Lo enviaste a +59899123456 y no sabemos si llegó').waitFor()
  // Only its holder had this code before: now the swap is offered again.
  await page.getByRole('button', { name: 'Hacelo mío' }).click()
  await page.getByText('Ya es tuyo').waitFor()
  expect((await preview(passed)).status).toBe('refreshed')
})

/** A USB printer of the page's browser: its bytes, and its mood. */
const usbPrinter = `
  window.printed = []
  const out = { endpointNumber: 1, direction: 'out', type: 'bulk' }
  const alternates = [{ alternateSetting: 0, interfaceClass: 7, endpoints: [out] }]
  const configuration = { configurationValue: 1, interfaces: [{ interfaceNumber: 0, alternates }] }
  const done = async () => {}
  const device = {
    vendorId: 1, productId: 2, configuration, configurations: [configuration],
    open: done, close: done, claimInterface: done, releaseInterface: done,
    transferOut: async (_, data) => {
      window.printed.push(...data)
      return { status: 'ok' }
    },
    controlTransferIn: async () => ({
      data: new DataView(Uint8Array.of(window.paperless ? 0x20 : 0x18).buffer),
    }),
  }
  let chosen = []
  Object.defineProperty(navigator, 'usb', {
    value: {
      getDevices: async () => chosen,
      requestDevice: async () => {
        chosen = [device]
        return device
      },
    },
  })
`

test('a ticket takes one tap on a printer that was chosen once, and paper that is missing is told', async () => {
  const { page, press, dialog } = await openCoupon(server, { issued: 1 })
  await page.addInitScript(usbPrinter)
  await page.addInitScript('window.print = () => {}')
  await page.reload()
  /** The paper after so many cuts. */
  const receipt = async (cuts = 1) => {
    const printed = () => page.evaluate('window.printed') as Promise<number[]>
    const isCut = (byte: number, at: number, all: number[]) => byte === 0x1d && all[at + 1] === 0x56
    await until('the knife cut', async () => (await printed()).filter(isCut).length === cuts)
    const bytes = await printed()
    await page.evaluate('window.printed = []')
    return printReceipt(Uint8Array.from(bytes), { columns: 32, dots: 384 })
  }
  await press('Entregar uno')
  await dialog().getByText('Copiar el enlace').waitFor()
  expect(await dialog().getByRole('button', { name: 'Imprimir ticket' }).count()).toBe(0)
  await press('Listo, ya lo tiene')

  await press('Ajustes')
  await press('Elegir impresora USB')
  await dialog().getByText('Está elegida una impresora USB').waitFor()
  await expectToast(dialog().getByText('Ya está en la impresora'), () =>
    press('Imprimir uno de prueba'),
  )
  expect((await receipt()).lines[1]?.text).toBe('Ticket de prueba')
  await checkEveryWidth(page, 'printer-settings')
  await page.keyboard.press('Escape')

  await press('Entregar uno')
  await page.evaluate('window.paperless = true')
  await press('Imprimir ticket')
  await dialog().getByText('La impresora no tiene papel').waitFor()
  expect(await dialog().locator('.button.primary').allTextContents()).toEqual(['Guardar imagen'])
  await checkEveryWidth(page, 'hand-over-no-paper')
  expect(await page.evaluate('window.printed.length')).toBe(0)
  await press('Imprimir con el navegador')
  await page.locator('.paper-58:not(.paper-measured)').waitFor({ state: 'attached' })
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
  await page.evaluate('window.paperless = false')
  await press('Imprimir ticket')
  const { lines, codes } = await receipt()
  expect(lines.map(({ text }) => text)).toContain('2x1 en café, hasta $5.000')
  expect(codes.map(({ text }) => text)).toEqual([await shownAddress(page)])
  await page.keyboard.press('Escape')

  // A batch prints one after the other.
  await press('Emitir varios')
  await page.getByLabel('¿Cuántos?').fill('3')
  await press(/^Emitir$/)
  await press('Imprimir 3 tickets')
  const printed = (await receipt(3)).codes.map(({ text }) => text)
  expect([printed.length, new Set(printed).size]).toEqual([3, 3])
  // A second time none comes out.
  await page.evaluate('window.paperless = true')
  await press('Imprimir 3 tickets')
  await dialog().getByText('Salieron 0 de 3').waitFor()
  // They are handed over: closing asks nothing.
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
})
