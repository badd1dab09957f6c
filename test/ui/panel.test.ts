/** The panel from a stranger's first look to the way out: the key, the announcement, the overview. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { closeBrowser } from '../support/browser.ts'
import { call } from '../support/client.ts'
import { chooseKey, makeKey } from '../support/merchant-page.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast, nextFrame, stopClock } from '../support/page-states.ts'
import { closePanels, openPanel, openWithKey, signIn } from '../support/panel-page.ts'
import { pngOf } from '../support/pictures.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})

afterEach(closePanels)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const redeem = (nonce: string) => call(server.url, '/api/coupons/claim', { body: { nonce } })

test('a stranger gets an introduction, and creates a key under a PIN', async () => {
  const { page, heading, press } = await openPanel(server)
  await heading('Cupones para tu negocio')
  await checkEveryWidth(page, 'panel-welcome')
  await press(/^Crear mi clave/)
  await page.getByLabel('Elegí un PIN').waitFor()
  await checkPage(page, 'panel-new-key')
  await press('Entrar de otra forma')
  await press(/^Crear mi clave acá/)
  await page.getByLabel('Elegí un PIN').fill('246810')
  await press('Crear mi clave')
  await page.getByText('Escribí el nombre de tu negocio').waitFor()
  await press('Entrar de otra forma')
  await makeKey(page)
  await checkEveryWidth(page, 'panel-first-steps')
  // The name that was asked for is in the header, with the service, and in the profile that others read.
  await page.locator('.top').getByText('Café Ñandú').waitFor()
  expect(await page.title()).toBe('Inicio · Café Ñandú')
  const { pubkey } = await page.evaluate(() =>
    JSON.parse(sessionStorage.getItem('cuponera:panel') ?? '{}'),
  )
  const shop = async () => (await call(server.url, `/api/shops/${pubkey}`)).json
  const filter = { kinds: [0], authors: [pubkey] }
  const profiles = async () => (await call(server.url, '/nostr/fetch', { body: filter })).json
  await until('the profile', async () => (await profiles()).length > 0)
  expect(JSON.parse((await profiles())[0].content)).toEqual({ name: 'Café Ñandú' })

  await press('Ajustes')
  await page.getByRole('dialog').getByLabel('¿Cómo se llama tu negocio?').fill('Café del Ñandú')
  await page.getByLabel('Azul').check()
  const logo = page.locator('fieldset', { hasText: 'Logo de tu negocio' })
  const file = { name: 'logo.png', mimeType: 'image/png', buffer: pngOf(60, 40, { shade: 90 }) }
  await logo.locator('input[type=file]').first().setInputFiles(file)
  await logo.getByRole('img').waitFor()
  await checkEveryWidth(page, 'panel-own-shop')
  await press('Guardar los cambios')
  await until('the new look', async () => (await shop()).name === 'Café del Ñandú')
  const { color, picture } = await shop()
  expect([color, picture]).toEqual(['blue', expect.stringMatching(/^[0-9a-f]{64}$/)])
  await page.locator(`.top img.logo[src="/api/pictures/${picture}"]`).waitFor()
  const renamed = async () => JSON.parse((await profiles())[0].content).name === 'Café del Ñandú'
  await until('the new profile', renamed)
})

test('the announcement is signed, and its arrival at the relay is shown', async () => {
  const { page, press } = await openWithKey(server)
  await press('Publicar')
  await page.getByText('llegó').waitFor()
  expect(await page.locator('.relays').textContent()).toContain('Este servicio')
  // The pressed button is gone; the focus goes on from here.
  await page.locator('*:focus').getByText('llegó').waitFor()
})

test('the arrival stays when the answer to an earlier question comes late', async () => {
  const { page, press } = await openPanel(server)
  const held = Promise.withResolvers<void>()
  let asked = 0
  let answered = 0
  await page.route('**/api/coupons', async (route) => {
    const turn = ++asked
    const response = await route.fetch()
    // The first one opens the panel; the live stream asks for the second one.
    if (turn === 2) await held.promise
    await route.fulfill({ response })
    answered++
  })
  await chooseKey(page)
  await until('the overview is asked for again', () => asked > 1)
  await press('Publicar')
  await page.getByText('llegó').waitFor()
  held.resolve()
  await until('the page has an overview of now', () => answered > 2)
  await nextFrame(page)
  await page.locator('*:focus').getByText('llegó').waitFor()
})

test('the announcement can be withdrawn and published again', async () => {
  const { page, press, dialog, ask } = await openWithKey(server)
  const announced = async () => (await ask('/api/coupons')).json.discovery
  await press('Publicar')
  await page.getByText('llegó').waitFor()
  await press('Ajustes')
  await expectToast(page.getByText('ya no se publica'), () => press('Dejar de publicar'))
  expect(await announced()).toBeNull()
  await dialog().getByRole('button', { name: 'Publicar' }).click()
  await dialog().getByText('llegó').waitFor()
  expect(await announced()).not.toBeNull()
})

test('a warning of the service about an announcement is shown', async () => {
  const { page, press, dialog, ask } = await openWithKey(server)
  await page.route('**/api/coupons/discovery', async (route) => {
    const response = await route.fetch()
    const message = 'Falta refreshUrl.'
    await route.fulfill({
      response,
      json: { ...(await response.json()), warnings: [{ code: 'no-refreshUrl', message }] },
    })
  })
  await press('Ajustes')
  await dialog().getByRole('button', { name: 'Publicar' }).click()
  await page.getByText(/algo para revisar.*Falta refreshUrl/).waitFor()
  await checkEveryWidth(page, 'panel-announced')
  expect((await ask('/api/coupons')).json.discovery).not.toBeNull()
})

test('the list of first steps is completed, and each event is shown', async () => {
  const { page, press, createCoupon, issue } = await openWithKey(server)
  await press('Publicar')
  await page.getByText('llegó').waitFor()
  await page.getByText('en vivo', { exact: true }).waitFor()
  await redeem(await issue(await createCoupon()))
  await page.getByText('Se canjeó «Café de a dos»').waitFor()
  await page.getByText('¡Listo! Tu negocio ya tiene cupones.').waitFor()
  // A page that is opened here again has no steps to list.
  await page.getByRole('link', { name: 'Cupones', exact: true }).click()
  await page.getByRole('link', { name: 'Inicio' }).click()
  await page.locator('.plot svg').waitFor()
  expect(await page.getByRole('heading', { name: 'Primeros pasos' }).count()).toBe(0)
  await checkEveryWidth(page, 'panel-home')
  await press('Ya la guardé')
})

test('the coupons can be filtered by words and by archived or not', async () => {
  const merchant = await signIn(server)
  await merchant.createCoupon()
  const { page } = await merchant.open()
  await page.getByRole('link', { name: 'Cupones', exact: true }).click()
  await checkEveryWidth(page, 'panel-coupons')
  await page.getByLabel('Buscar un cupón').fill('nada de nada')
  await page.getByText('Nada coincide').waitFor()
  await checkPage(page, 'panel-coupons-none')
  await page.getByLabel('Buscar un cupón').fill('2X1 cafe')
  await page.getByText('1 cupón').waitFor()
  await page.getByLabel('Mostrar').selectOption('archived')
  await page.getByText('Nada coincide').waitFor()
  await page.getByLabel('Mostrar').selectOption('all')
  await page.getByText('1 cupón').waitFor()
})

test('redemptions can be filtered and exported to a file that runs no formula', async () => {
  const merchant = await signIn(server)
  await redeem(await merchant.issue(await merchant.createCoupon()))
  const { page, main, press } = await merchant.open()
  await page.getByRole('link', { name: 'Canjes' }).click()
  await main().getByRole('cell', { name: 'Café de a dos' }).waitFor()
  await checkEveryWidth(page, 'panel-redemptions')
  const download = page.waitForEvent('download')
  await press('Exportar a planilla')
  const file = await (await download).path()
  const text = await Bun.file(file).text()
  expect(text.split('\r\n')).toHaveLength(3)
  expect(text).toContain('"2x1 en café, hasta $5.000"')
  await page.getByLabel('Hasta').fill('2020-01-01')
  await page.getByText('Ningún canje coincide').waitFor()
  await checkPage(page, 'panel-redemptions-none')
})

test('the page switches to English at once', async () => {
  const merchant = await signIn(server)
  await redeem(await merchant.issue(await merchant.createCoupon()))
  const { page, heading, press } = await merchant.open('#/redemptions')
  await press('Switch to English')
  await heading('Redemptions')
  await page.getByRole('link', { name: 'Coupons' }).click()
  await page.getByText('2 for 1 on café, up to $5,000').waitFor()
  await checkEveryWidth(page, 'panel-coupons-english')
  await press('Pasar a español')
  await heading('Cupones')
})

test('the banner goes within two seconds of the return of the service', async () => {
  const { page } = await openWithKey(server)
  await stopClock(page)
  await page.route('**/api/**', (route) => route.abort())
  await page.reload()
  // The stream lengthens its pauses; a request behind its own fails after it.
  for (let second = 0; second < 20; second++) {
    await page.clock.runFor(1000)
    await page.evaluate(() => fetch('/api/coupons/manager').catch(() => null))
  }
  const banner = page.getByText('Sin conexión con el servicio')
  await banner.waitFor()
  await page.unrouteAll()
  await page.clock.runFor(2000)
  await banner.waitFor({ state: 'detached' })
  // The page loads what it lacks.
  await page.clock.resume()
  await page.getByRole('heading', { name: 'Primeros pasos' }).waitFor()
})

test('signing out leaves nothing but the encrypted key', async () => {
  const { page, heading, press } = await openWithKey(server)
  await press('Ajustes')
  await checkEveryWidth(page, 'panel-account')
  await press('Salir')
  await heading('Entrá con tu PIN')
  await checkEveryWidth(page, 'panel-unlock')
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))
  expect(kept).toContain('ncryptsec1')
  expect(kept).not.toMatch(/nsec1|eyJ/)
})
