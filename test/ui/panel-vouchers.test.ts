/** Vouchers in the panel: issued, handed over, followed, voided; and codes that nobody has yet. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { typedGroups } from '../../src/client/typed-code.ts'
import { closeBrowser, qrInPicture, visit } from '../support/browser.ts'
import { call, newKey, withKey } from '../support/client.ts'
import { shownAddress } from '../support/merchant-page.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast } from '../support/page-states.ts'
import { closePanels, openCoupon, type Panel, signIn } from '../support/panel-page.ts'
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

const statusOf = async (nonce: string) =>
  (await call(server.url, '/api/coupons/preview', { body: { nonce } })).json.status

test('a voucher is issued, and handed over as a QR', async () => {
  const { page, press, main, dialog } = await openCoupon(server)
  await press('Entregar uno')
  await page.getByRole('img', { name: 'Código QR del cupón' }).waitFor()
  // Its link opens on this device only, so the picture comes first.
  await dialog().getByText('El teléfono de tu cliente no puede abrir este código').waitFor()
  expect(await dialog().locator('.actions .button').first().textContent()).toBe('Guardar imagen')
  await checkEveryWidth(page, 'panel-hand-over')
  const address = await shownAddress(page)
  expect(address).toMatch(new RegExp(`^${server.url}/c#[\\w-]{22}$`))
  const download = page.waitForEvent('download')
  await press('Guardar imagen')
  const image = await download
  expect(image.suggestedFilename()).toMatch(/\.png$/)
  expect(await qrInPicture(page, await image.path())).toBe(address)
  // Behind the dialog a screen reader would not read it.
  await page.context().grantPermissions(['clipboard-write'])
  await expectToast(dialog().getByText('Enlace copiado'), () => press('Copiar el enlace'))
  // Redeemed at a till, while its code is on this screen.
  const [, nonce] = address?.split('#') ?? []
  await call(server.url, '/api/coupons/claim', { body: { nonce } })
  await dialog().getByRole('heading', { name: 'Canjeado' }).waitFor()
  expect(await dialog().getByRole('img', { name: 'Código QR del cupón' }).count()).toBe(0)
  // Nobody sends or prints it any more, and the focus of the button that went stays in the dialog.
  expect(await page.getByRole('link', { name: 'WhatsApp' }).count()).toBe(0)
  expect(await dialog().getByRole('button', { name: 'Imprimir' }).count()).toBe(0)
  expect(await dialog().locator(':focus').getAttribute('class')).toBe('hand-name')
  await checkPage(page, 'panel-hand-redeemed')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Entregar uno' }).and(page.locator(':focus')).waitFor()
  await main().getByText('Canjeado', { exact: true }).waitFor()
})

test('a voucher goes by WhatsApp in a written message, with the shop and the whole promise', async () => {
  const fields = { description: 'De lunes a jueves' }
  const { page, press, nonces } = await openCoupon(server, { fields, issued: 1 })
  const link = page.getByRole('link', { name: 'WhatsApp' })
  const handOver = async () => {
    await press('Entregar uno')
    await link.waitFor()
    const { origin, pathname, searchParams } = new URL((await link.getAttribute('href')) ?? '')
    expect([origin + pathname, [...searchParams.keys()]]).toEqual(['https://wa.me/', ['text']])
    return (searchParams.get('text') ?? '').split('\n')
  }
  const promise = ['2x1 en café, hasta $5.000', 'De lunes a jueves', 'No vence', '']
  const unnamed = await handOver()
  const address = await shownAddress(page)
  // No name is better than a key.
  const typed = typedGroups(address.slice(address.indexOf('#') + 1))?.join(' ')
  const code = ['Mostrá este código en la caja:', typed ?? '']
  // At an address of this device alone, no phone could open a link.
  expect(unnamed).toEqual(['Te paso un cupón:', ...promise, ...code])
  // The page stays open, and its address is not sent along.
  expect([await link.getAttribute('target'), await link.getAttribute('rel')]).toEqual([
    '_blank',
    'noreferrer',
  ])
  await checkEveryWidth(page, 'panel-hand-over-whatsapp')

  const { json } = await call(server.url, '/api/coupons/preview', { body: { nonce: nonces[0] } })
  await page.evaluate((shop) => localStorage.setItem('cuponera:merchants', JSON.stringify(shop)), {
    [json.npub]: { name: 'Bar & Café «Sur»' },
  })
  await page.reload()
  expect((await handOver())[0]).toBe('Te paso un cupón de Bar & Café «Sur»:')
})

test('a redemption at the till appears in the panel without a reload', async () => {
  const { page, main, nonces } = await openCoupon(server, { issued: 1 })
  await main().getByText('Sin usar', { exact: true }).waitFor()
  const address = `${server.url}/c#${nonces[0]}`
  const { page: phone, context } = await visit(address)
  await phone.getByText('2x1 en café, hasta $5.000').waitFor()
  await phone.goto(`${server.url}/caja`)
  await phone.getByLabel('Código del cupón').fill(address)
  await phone.getByRole('button', { name: 'Ver cupón' }).click()
  await phone.getByRole('button', { name: 'Sí, es mi comercio' }).click()
  await phone.locator('.till-view').getByRole('button', { name: 'Canjear' }).click()
  await phone.getByRole('heading', { name: 'Canjeado', exact: true }).waitFor()
  const started = performance.now()
  await main().getByText('Canjeado', { exact: true }).waitFor()
  console.log(`seen ${Math.round(performance.now() - started)} ms after the till`)
  await context.close()
  await checkEveryWidth(page, 'panel-coupon')
})

test('a voucher is followed through its chain, and voided at its end', async () => {
  const { page, press, main, dialog, nonces } = await openCoupon(server, { issued: 1 })
  const refreshed = await call(server.url, '/api/coupons/refresh', {
    body: { nonce: nonces[0] },
    headers: { 'Idempotency-Key': newKey() },
  })
  await main().getByText('Cambió de manos').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'Cambió de manos' })
  await row.getByRole('button', { name: 'Seguir' }).click()
  await dialog().getByText('Sin usar', { exact: true }).waitFor()
  await checkEveryWidth(page, 'panel-chain')
  await press('Anularlo donde esté')
  await press('Anularlo donde esté')
  await dialog().getByText('Anulado').first().waitFor()
  await page.keyboard.press('Escape')
  expect(await statusOf(refreshed.json.nonce)).toBe('voided')
})

test('a voucher is voided by its row', async () => {
  const { page, main, dialog, nonces } = await openCoupon(server, { issued: 2 })
  const rows = main().getByRole('button', { name: /^Anular el cupón/ })
  await rows.nth(1).waitFor()
  await rows.first().click()
  await checkEveryWidth(page, 'panel-void')
  await dialog().getByRole('button', { name: 'Anular', exact: true }).click()
  await dialog().waitFor({ state: 'detached' })
  // The latest comes first.
  const [older = '', newer = ''] = nonces
  expect([await statusOf(older), await statusOf(newer)]).toEqual(['minted', 'voided'])
})

test('all open vouchers are voided by the red button, which asks to type a word', async () => {
  const { page, press, dialog, nonces } = await openCoupon(server, { issued: 1 })
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await checkEveryWidth(page, 'panel-manage')
  await press('Anular todos')
  await page.getByLabel('Para confirmar').fill('anular')
  await checkPage(page, 'panel-void-all')
  const all = dialog().getByRole('button', { name: 'Anular todos' })
  await expectToast(page.getByText('Se anuló 1 cupón.'), () => all.click())
  expect(await statusOf(nonces[0] ?? '')).toBe('voided')
})

/** Hold the next request to such an address until `release`. */
async function holdNext(page: Page, address: string) {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(
    address,
    async (route) => {
      asked.resolve()
      await released.promise
      await route.continue()
    },
    { times: 1 },
  )
  return { asked: asked.promise, release: released.resolve }
}

test('rows that arrive after a search began do not mix with those that it found', async () => {
  const { page, press, main, ask, id } = await openCoupon(server, { fields: { maxUses: null } })
  const labels = Array.from({ length: 60 }, (_, at) => `${at % 2 ? 'Ana' : 'Beto'} ${at}`)
  const body = { couponId: id, batch: { name: 'Feria' }, count: labels.length, labels }
  expect((await ask('/api/coupons/mint', { body, ...withKey() })).status).toBe(200)
  const rows = main().locator('.table tbody tr')
  await main().getByRole('button', { name: 'Ver más' }).waitFor()
  const late = await holdNext(page, `**/api/coupons/${id}/mints?*cursor=*`)
  await press('Ver más')
  await late.asked
  await page.getByLabel('Buscar un destinatario').fill('ana')
  await press('Buscar')
  await main().getByText('Beto').first().waitFor({ state: 'detached' })
  const answered = page.waitForResponse((response) => response.url().includes('cursor='))
  late.release()
  await answered
  await page.evaluate('new Promise((resolve) => setTimeout(resolve))')
  expect(await rows.count()).toBe(30)
  expect(await rows.filter({ hasText: 'Ana' }).count()).toBe(30)
})

test('a lost answer is requested again and costs no coupon', async () => {
  const { page, press, main, stored } = await openCoupon(server)
  // The service issues it, and the answer never comes.
  await page.route('**/api/coupons/mint', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await press('Entregar uno')
  await page.getByText('No pudimos hablar con el servicio').waitFor()
  await checkEveryWidth(page, 'panel-lost-answer')
  await page.unroute('**/api/coupons/mint')
  const late = await holdNext(page, '**/api/coupons/mint')
  await press('Probar de nuevo')
  await late.asked
  // A code on its way would be issued and never seen.
  await page.goBack()
  await page.keyboard.press('Escape')
  late.release()
  await page.getByRole('img', { name: 'Código QR del cupón' }).waitFor()
  // Nobody has this code yet, so leaving asks.
  await page.keyboard.press('Escape')
  await page.getByText('Este código no se puede volver a mostrar').waitFor()
  await press('Cancelar')
  await page.goBack()
  await page.getByText('Este código no se puede volver a mostrar').waitFor()
  await press('Cancelar')
  const asked = page.waitForEvent('dialog')
  await page.evaluate(() => void setTimeout(() => location.reload()))
  await (await asked).dismiss()
  await press('Listo, ya lo tiene')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await main().locator('.total').first().getByText('1', { exact: true }).waitFor()
  expect((await stored()).minted).toBe(1)
})

/** Issue so many at once, and print or copy none of them. */
async function issueMany({ page, press, dialog, heading }: Panel, count: number): Promise<void> {
  await press('Emitir varios')
  await page.getByLabel('¿Cuántos?').fill(String(count))
  await dialog().getByRole('button', { name: 'Emitir' }).click()
  await heading(`${count} cupones listos`)
}

const unprinted = ({ page }: Panel) =>
  page.getByText('Estos códigos no se pueden volver a mostrar').waitFor()

test('many vouchers are issued at once, and leaving them unprinted asks first', async () => {
  const panel = await openCoupon(server)
  const { page, press, dialog, heading } = panel
  await press('Emitir varios')
  await page.getByLabel('¿Cuántos?').fill('12')
  await checkPage(page, 'panel-issue-many')
  await dialog().getByRole('button', { name: 'Emitir' }).click()
  await heading('12 cupones listos')
  await checkEveryWidth(page, 'panel-many')
  await page.keyboard.press('Escape')
  await unprinted(panel)
  await checkPage(page, 'panel-leave')
  await press('Sí, terminé')
  await dialog().waitFor({ state: 'detached' })
})

test('a code that is redeemed under the open dialog is printed no more, and asks nothing', async () => {
  const panel = await openCoupon(server)
  const { page, dialog } = panel
  await page.evaluate('window.print = () => {}')
  const redeemShown = async () => {
    const [, nonce] = (await shownAddress(page)).split('#')
    await call(server.url, '/api/coupons/claim', { body: { nonce } })
  }
  const printed = async () => {
    await dialog().getByRole('button', { name: 'Imprimir', exact: true }).click()
    const paper = page.locator('.paper-a4:not(.paper-measured)')
    await paper.waitFor({ state: 'attached' })
    const count = await paper.locator('.paper-coupon').count()
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
    return count
  }
  const close = async () => {
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  }
  await issueMany(panel, 3)
  await redeemShown()
  await dialog().getByRole('heading', { name: 'Canjeado' }).waitFor()
  expect(await printed()).toBe(2)
  await close()

  // Its state arrives after all of them were printed.
  await issueMany(panel, 3)
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await page.route('**/api/coupons/preview', async (route) => {
    asked.resolve()
    await answered.promise
    await route.continue()
  })
  await redeemShown()
  await asked.promise
  expect(await printed()).toBe(3)
  answered.resolve()
  await dialog().getByRole('heading', { name: 'Canjeado' }).waitFor()
  await close()
})

test('codes that were not handed over survive navigation within the page', async () => {
  const merchant = await signIn(server)
  await merchant.createCoupon()
  const panel = await merchant.open()
  const { page, press, heading, dialog } = panel
  await page.getByRole('link', { name: 'Cupones', exact: true }).click()
  await page.getByRole('link', { name: /Café de a dos/ }).click()
  await issueMany(panel, 3)
  const place = page.url()
  for (const _ of ['once', 'and again']) {
    await page.goBack()
    await unprinted(panel)
    await press('Cancelar')
    await heading('3 cupones listos')
  }
  for (const leave of ['history.go(-2)', "location.hash = '#/tills'"]) {
    await page.evaluate(leave)
    await unprinted(panel)
    await press('Cancelar')
    await heading('3 cupones listos')
    expect(page.url()).toBe(place)
  }
  await page.keyboard.press('Escape')
  await press('Sí, terminé')
  await dialog().waitFor({ state: 'detached' })
  expect(page.url()).toBe(place)
})

test('codes that were not handed over make the browser ask before a reload', async () => {
  const panel = await openCoupon(server)
  const { page, heading } = panel
  await issueMany(panel, 3)
  const asked = page.waitForEvent('dialog')
  // A cancelled reload never ends, so this requests one without waiting for it.
  await page.evaluate(() => void setTimeout(() => location.reload()))
  const question = await asked
  expect(question.type()).toBe('beforeunload')
  await question.dismiss()
  await heading('3 cupones listos')
})
