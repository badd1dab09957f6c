/** The coupon page in a real browser: its holder opens, swaps, keeps and sends coupons. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { encodeQR } from 'qr'
import { npubOf } from '../../src/nostr/keys.ts'
import { closeBrowser, keepNothing, shownQr, type VisitOptions } from '../support/browser.ts'
import { runCommand } from '../support/cli.ts'
import {
  call,
  createDefinition,
  newKey,
  newSigner,
  openSession,
  sha256Hex,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { heroSizes } from '../support/hero.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast, stopClock } from '../support/page-states.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { closePages, openPage, startShop, tillOf } from '../support/shop-pages.ts'
import { addAccount, newHolder } from '../support/shops.ts'
import { until } from '../support/until.ts'

afterEach(closePages)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const { merchant, server, token, definition, brief, mint, statusOf } = await startShop()

const open = (path: string, options: VisitOptions = {}, base = server.url) =>
  openPage(`${base}${path}`, options)

/** The codes that a device keeps. */
function keptCodes(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const list = JSON.parse(localStorage.getItem('cuponera:coupons') ?? '[]')
    return list.map(({ nonce }: { nonce: string }) => nonce)
  })
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

test('the code leaves the address bar, survives a reload, and is sent to no server', async () => {
  const nonce = await mint()
  const { page, complaints } = await open(`/c#${nonce}`)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.getByText('Sin usar').waitFor()
  await page.getByText('10 % de descuento').waitFor()
  expect(page.url()).toBe(`${server.url}/c`)
  await checkPage(page, 'coupon')
  // The skip link for keyboards leads past the header to the coupon.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
  await page.getByText('Sin usar').waitFor()
  await page.reload()
  await page.getByText('Sin usar').waitFor()
  expect(asked.filter((url) => url.includes(nonce))).toEqual([])
  expect(server.output()).not.toContain(nonce)
  expect(complaints).toEqual([])
})

test('a coupon on the screen says by itself that it was redeemed', async () => {
  const { page, complaints } = await open('/c')
  const claim = (nonce: string) => call(server.url, '/api/coupons/claim', { body: { nonce } })
  // Its clock moves only as the test wants, so that it looks again when its time has come.
  await stopClock(page)
  const first = await mint()
  const openCoupon = async (nonce: string) => {
    await page.goto('about:blank')
    await page.goto(`${server.url}/c#${nonce}`)
    await page.getByText('Sin usar').waitFor()
  }
  await openCoupon(first)
  await button(page, 'Ver el QR grande').focus()
  await claim(first)
  await page.clock.runFor(10_000)
  await page.getByText('Canjeado', { exact: true }).waitFor()
  await page.getByText('Se canjeó hoy').waitFor()
  expect(await page.getByRole('img', { name: /^QR de/ }).count()).toBe(0)
  // The keyboard goes on from there.
  expect(await page.evaluate(() => document.activeElement?.textContent)).toStartWith(
    'Se canjeó hoy',
  )
  await page.keyboard.press('Tab')
  await page.locator('button:focus', { hasText: 'Quitar' }).waitFor()

  // Without an answer the coupon stays on the screen.
  const second = await mint()
  await openCoupon(second)
  await page.route('**/api/coupons/preview', (route) => route.abort())
  await page.clock.runFor(10_000)
  await page.getByText('Lo que ves es lo que sabíamos').waitFor()
  expect(await page.getByRole('img', { name: /^QR de/ }).count()).toBe(1)
  await page.unrouteAll()
  // A page that shows again asks at once.
  await claim(second)
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await page.getByText('Canjeado', { exact: true }).waitFor()
  await page.clock.resume()
  await checkEveryWidth(page, 'coupon-redeemed')
  expect(complaints.filter((text) => !text.includes('ERR_FAILED'))).toEqual([])
})

test('the merchant is shown by the name that it gave to the service, else by that of its signed profile', async () => {
  const owner = newSigner()
  const session = await openSession(server.url, owner)
  const nonce = await mint(server.url, await createDefinition(server.url, session), session)
  const content = JSON.stringify({ name: 'luna', display_name: 'Café Luna' })
  const profile = createEvent({ kind: 0, content, tags: [], signer: owner })
  expect((await call(server.url, '/nostr/publish', { body: profile })).status).toBe(202)
  const { page } = await open(`/c#${nonce}`)
  await page.getByText('Lo da Café Luna').waitFor()
  // The key shows only to those who ask.
  const key = page.getByText(npubOf(owner.pubkey))
  expect(await key.isVisible()).toBe(false)
  await page.getByText('Ver clave').click()
  await key.waitFor()
  const body = { name: 'Café Sol', color: 'blue' }
  await call(server.url, '/api/shop', { method: 'PATCH', body, token: session })
  await page.reload()
  await page.getByText('Lo da Café Sol').waitFor()
  await page.locator('.top').getByText('Café Sol').waitFor()
  expect(await page.title()).toBe('Tu cupón de Café Sol')
  const worth = page.locator('.coupon-worth')
  const shade = await worth.evaluate((element) => getComputedStyle(element).backgroundImage)
  expect(shade).toContain('rgb(31, 95, 174)')
  // Without a connection the device knows them.
  await page.route('**/api/shops/*', (route) => route.abort())
  await page.reload()
  await page.getByText('Lo da Café Sol').waitFor()
})

test('a picture is loaded from this service only, and a coupon works without it', async () => {
  const image = 'https://fotos.example/medialuna.png'
  const pictured = await createDefinition(server.url, token, { name: 'Con foto', image })
  const nonce = await mint(server.url, pictured)
  const { page, context, complaints } = await open('/c')
  const asked: string[] = []
  await context.route('**/api/coupons/images/*', (route) => {
    asked.push(new URL(route.request().url()).pathname)
    const body = Buffer.from(encodeQR('x', 'gif', { scale: 4 }))
    return asked.length > 1 ? route.abort() : route.fulfill({ contentType: 'image/gif', body })
  })
  for (const times of [1, 0]) {
    await page.goto('about:blank')
    await page.goto(`${server.url}/c#${nonce}`)
    await page.getByText('10 % de descuento').waitFor()
    await page.waitForFunction(
      (wanted) => document.querySelectorAll('.coupon-worth img').length === wanted,
      times,
    )
    await checkPage(page, times === 1 ? 'coupon-picture' : 'coupon-picture-lost')
  }
  expect(new Set(asked)).toEqual(new Set([`/api/coupons/images/${sha256Hex(image)}`]))
  expect(complaints).toEqual([])
})

test('the QR on a phone’s screen is readable for the till', async () => {
  const nonce = await mint()
  const { page } = await open(`/c#${nonce}`)
  await button(page, 'Ver el QR grande').click()
  const photo = await page.getByRole('img', { name: 'QR de Medialuna de regalo' }).screenshot()
  const { page: till } = await open('/caja', { before: tillOf(npubOf(merchant.pubkey)) })
  const file = { name: 'foto.png', mimeType: 'image/png', buffer: photo }
  // The part that reads photos comes with the first one.
  await till.context().setOffline(true)
  await till.locator('input[type=file]').setInputFiles(file)
  await till.getByText('Actualizá la página').waitFor()
  await till.context().setOffline(false)
  await till.reload()
  await till.locator('input[type=file]').setInputFiles(file)
  await till.getByRole('heading', { name: '10 %' }).waitFor()
  // The saved picture of the coupon has it, too.
  const download = page.waitForEvent('download')
  await button(page, 'Guardar como imagen').click()
  const saved = await download
  expect(saved.suggestedFilename()).toEndWith('.png')
  await button(till, 'Cancelar').click()
  await till.locator('input[type=file]').setInputFiles((await saved.path()) ?? '')
  await till.getByRole('heading', { name: '10 %' }).waitFor()
  await button(till, 'Cancelar').click()
  // So does the code below it, typed by hand: the till groups it, and tells the group of a slip.
  await button(page, 'Achicar el QR').click()
  const code = (await page.locator('.code-text').textContent())?.trim() ?? ''
  const field = till.getByLabel('Código del cupón')
  const slip = code[17] === '7' ? '8' : '7'
  await field.pressSequentially(`${code.slice(0, 17)}${slip}${code.slice(18)}`.replaceAll(' ', ''))
  expect(await field.inputValue()).toBe(`${code.slice(0, 17)}${slip}${code.slice(18)}`)
  const wrong = `${code.slice(15, 17)}${slip}${code.slice(18, 19)}`
  await till.getByText(`Revisá primero el grupo 4 («${wrong}»)`).waitFor()
  await checkEveryWidth(till, 'till-code-slip')
  // The caret stays where the correction is made.
  await field.evaluate((input: HTMLInputElement) => input.setSelectionRange(17, 18))
  await till.keyboard.type((code[17] ?? '').toLowerCase())
  expect(await field.evaluate((input: HTMLInputElement) => input.selectionStart)).toBe(18)
  await till.getByText('Revisá primero el grupo 4').waitFor({ state: 'detached' })
  await till.keyboard.press('Enter')
  await till.locator('.till-view').getByRole('button', { name: 'Canjear' }).click()
  await till.getByRole('heading', { name: 'Canjeado' }).waitFor()
  expect(await statusOf(nonce)).toBe('claimed')
})

test('an amount stays on one line within its box, in any font and at every width', async () => {
  const ars = (amount: number) => ({ type: 'fixed', amount, currency: 'ARS' })
  const benefits = [
    ...[1_500, 15_000, 1_500_000.5, 1_000_000_000_000].map(ars),
    { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'b' },
  ]
  const { page, complaints } = await open('/c')
  const npub = npubOf(merchant.pubkey)
  await page.route('**/api/coupons/preview', (route) => {
    const { nonce } = route.request().postDataJSON()
    const terms = { couponId: definition, name: '', description: '', image: null, npub }
    const coupon = benefits[Number(nonce[0])]
    const json = { ...terms, nonce, coupon, expiresAt: null, status: 'minted' }
    return route.fulfill({ json })
  })
  const sizes: Record<string, number[]> = {}
  for (const at of benefits.keys()) {
    await page.evaluate((code) => {
      location.hash = `#${String(code).repeat(21)}A`
    }, at)
    await page.getByText('Sin usar').waitFor()
    for (const [look, size] of Object.entries(await heroSizes(page, '.coupon-worth'))) {
      sizes[look] = [...(sizes[look] ?? []), size]
    }
    await page.evaluate(() => history.back())
  }
  // The list has a smaller one for each.
  await page
    .locator('.held')
    .nth(benefits.length - 1)
    .waitFor()
  await heroSizes(page, '.mint-badge')
  await checkPage(page, 'coupon-list-amounts')
  // A longer amount is smaller only where it must be, and $15.000 nearly as large as $1.500.
  for (const [first = 0, second = 0, third = 0] of Object.values(sizes)) {
    expect(second).toBeLessThanOrEqual(first)
    expect(third).toBeLessThanOrEqual(second)
    expect(second / first).toBeGreaterThan(0.75)
  }
  expect(complaints).toEqual([])
})

test('a coupon that changed hands too often shows the wait, and continues by itself', async () => {
  const nonce = await mint()
  const { page } = await open(`/c#${nonce}`)
  const refusal = { code: 'rate-limited', error: 'Esperá.', retryAfter: 2 }
  await page.route(
    '**/api/coupons/refresh',
    (route) => route.fulfill({ status: 429, json: refusal }),
    { times: 1 },
  )
  await button(page, 'Hacelo mío').click()
  await page.getByText('Esperamos 2 segundos y seguimos solos').waitFor()
  await expectToast(page.getByText('Ya es tuyo'), async () => {
    await checkPage(page, 'coupon-often')
    expect(await page.getByText('No llegó la respuesta').count()).toBe(0)
  })
  expect(await statusOf(nonce)).toBe('refreshed')
})

test('a swapped coupon is kept, and the giver’s copy is worth nothing', async () => {
  const nonce = await mint()
  const { page } = await open(`/c#${nonce}`)
  await page.getByText('La copia de quien te lo dio deja de servir').waitFor()
  await expectToast(page.getByText('Ya es tuyo'), () => button(page, 'Hacelo mío').click())
  await checkPage(page, 'coupon-mine')
  const [own = ''] = await keptCodes(page)
  expect([await statusOf(nonce), await statusOf(own)]).toEqual(['refreshed', 'minted'])
  expect(await page.evaluate(() => localStorage.getItem('cuponera:takes'))).toBe('[]')
  // A till without a connection can check the signed code.
  await button(page, 'Con firma, para una caja sin conexión').click()
  const photo = await page.getByRole('img', { name: 'QR con firma' }).screenshot()
  await checkPage(page, 'coupon-signed')
  const { page: till } = await open('/caja')
  await till.waitForFunction(() => localStorage.getItem('cuponera:manager'))
  await till.route('**/api/**', (route) => route.abort())
  const file = { name: 'foto.png', mimeType: 'image/png', buffer: photo }
  await till.locator('input[type=file]').setInputFiles(file)
  await till.getByText('La firma es buena').waitFor()
  // Navigation back and forth keeps the new coupon.
  await button(page, 'Volver a mis cupones').click()
  await checkPage(page, 'coupon-list')
  await page.goBack()
  await page.getByText('Es sólo tuyo').waitFor()
})

test('after a kill in the middle of the swap, the reloaded page gets the one successor', async () => {
  const dataDir = newDirectory()
  const env = { RATE_LIMIT: 'off' }
  const first = await startServer({ dataDir, env })
  const session = await openSession(first.url, merchant)
  const id = await createDefinition(first.url, session)
  const nonce = await mint(first.url, id, session)
  const { page } = await open(`/c#${nonce}`, { worker: true }, first.url)
  await page.getByText('Sin usar').waitFor()
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => null))
  await page.route(
    '**/api/coupons/refresh',
    async (route) => {
      await route.fetch()
      await first.kill()
      await route.abort()
    },
    { times: 1 },
  )
  await button(page, 'Hacelo mío').click()
  await page.getByText('No llegó la respuesta').waitFor()
  await checkPage(page, 'coupon-swap-lost')
  // The page is closed, and opened again before the server is back.
  await page.goto('about:blank')
  await page.goto(`${first.url}/c`)
  await page.getByRole('heading', { name: 'Mis cupones' }).waitFor()
  expect(await keptCodes(page)).toEqual([nonce])
  const restart = { dataDir, env: { ...env, PORT: new URL(first.url).port } }
  await expectToast(page.getByText('Ya es tuyo'), () => startServer(restart))
  expect(await page.locator('.held-open').count()).toBe(1)
  const [own = ''] = await keptCodes(page)
  const states = [await statusOf(nonce, first.url), await statusOf(own, first.url)]
  expect(states).toEqual(['refreshed', 'minted'])
  const { json } = await call(first.url, `/api/coupons/${id}/mints`, { token: session })
  expect(json.mints).toHaveLength(2)
})

test('a holder who is too late for the swap is told, and sees the state of the coupon', async () => {
  const nonce = await mint()
  const { page } = await open(`/c#${nonce}`)
  await button(page, 'Hacelo mío').waitFor()
  const headers = { 'Idempotency-Key': newKey() }
  await call(server.url, '/api/coupons/refresh', { body: { nonce }, headers })
  await expectToast(page.getByText('Llegaste tarde'), () => button(page, 'Hacelo mío').click())
  await page.getByText('Este código ya no vale').waitFor()
  await checkPage(page, 'coupon-too-late')
})

test('links of coupons are plain http when only the shop trusts the certificate', async () => {
  const dataDir = join(newDirectory(), 'data')
  await runCommand(['tls'], { dataDir, env: { TLS_PORT: '0' } })
  const shop = await startServer({ dataDir, env: { RATE_LIMIT: 'off', TLS_PORT: '0' } })
  const secure = /https\s+(https:\S+)/.exec(shop.output())?.[1] ?? ''
  const session = await openSession(shop.url, merchant)
  const nonce = await mint(shop.url, await createDefinition(shop.url, session), session)
  const host = new URL(secure).hostname
  const { page } = await open(`/c#${nonce}`, {}, secure)
  await button(page, 'Ver el QR grande').waitFor()
  expect(await shownQr(page)).toBe(`http://${host}:${new URL(shop.url).port}/c#${nonce}`)
  const { page: till } = await open('/caja', {}, shop.url.replace('127.0.0.1', 'tienda.test'))
  expect(await till.getByRole('link', { name: /https/ }).getAttribute('href')).toBe('/tls')
})

test('every final state of a coupon has its own text', async () => {
  const claimed = await mint()
  await call(server.url, '/api/coupons/claim', { body: { nonce: claimed } })
  const voided = await mint()
  await call(server.url, `/api/coupons/${definition}/mints/${voided}`, { method: 'DELETE', token })
  await until('the coupon has expired', async () => (await statusOf(brief)) === 'expired')
  const { page } = await open('/c', { width: 320 })
  await page.getByText('Todavía no tenés cupones').waitFor()
  await checkPage(page, 'coupon-none')
  await page.getByLabel('Abrir un código').fill('hola')
  await button(page, 'Ver').click()
  await page.getByText('Eso no es el código de un cupón').waitFor()
  for (const [state, nonce, words] of [
    ['claimed', claimed, 'Se canjeó hoy'],
    ['voided', voided, 'El comercio anuló este cupón'],
    ['expired', brief, 'Venció hoy'],
    ['unknown', 'AAAAAAAAAAAAAAAAAAAAAA', 'Ningún cupón tiene ese código'],
  ] as const) {
    await page.getByLabel('Abrir un código').fill(nonce)
    await button(page, 'Ver').click()
    await page.getByText(words).waitFor()
    await checkPage(page, `coupon-${state}`)
    expect(await button(page, 'Hacelo mío').count()).toBe(0)
    await button(page, 'Volver a mis cupones').click()
  }
})

test('a coupon that only the clock of an offline phone ends keeps its code, with the doubt beside it', async () => {
  const expiresAt = secondsNow() + 3600
  const id = await createDefinition(server.url, token, { name: 'Té', expiresAt })
  const { page } = await open(`/c#${await mint(server.url, id)}`)
  await page.getByText('Está en tus cupones').waitFor()
  await page.route('**/api/**', (route) => route.abort())
  await page.clock.setFixedTime((expiresAt + 60) * 1000)
  await page.reload()
  await page.getByText('Según el reloj de este equipo, venció').waitFor()
  await page.getByRole('img', { name: 'QR de Té' }).waitFor()
  await checkPage(page, 'coupon-overdue')
  await button(page, 'Quitar de este equipo').click()
  await page.getByText('Puede que todavía valga').waitFor()
  await button(page, 'Cancelar').click()
  await button(page, 'Volver a mis cupones').click()
  await page.getByText('¿Vencido?').waitFor()
})

test('kept coupons are refreshed from the service, open without a connection, and can be removed', async () => {
  const nonce = await mint()
  const { page, context } = await open(`/c#${nonce}`, { worker: true })
  await page.getByText('Está en tus cupones').waitFor()
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => null))
  await context.setOffline(true)
  await page.reload()
  await page.getByText('Lo que ves es lo que sabíamos').waitFor()
  await page.getByRole('img', { name: 'QR de Medialuna de regalo' }).waitFor()
  await checkPage(page, 'coupon-offline')
  // A code that nobody can ask about is listed, and asked about when the service is back.
  const unseen = await mint()
  await page.evaluate((code) => {
    location.hash = `#${code}`
  }, unseen)
  await page.getByText('El código ya está en tus cupones').waitFor()
  await checkPage(page, 'coupon-unseen')
  await button(page, 'Volver a mis cupones').click()
  await page.getByText('Cupón sin revisar').waitFor()
  await checkEveryWidth(page, 'coupon-unseen-list')
  await call(server.url, '/api/coupons/claim', { body: { nonce } })
  await context.setOffline(false)
  await page.getByText('Cupón sin revisar').waitFor({ state: 'detached' })
  expect(new Set(await keptCodes(page))).toEqual(new Set([nonce, unseen]))
  await call(server.url, '/api/coupons/claim', { body: { nonce: unseen } })
  await button(page, 'Revisar de nuevo').click()
  await page.getByText('Canjeado').nth(1).waitFor()
  await page.getByRole('button', { name: 'Quitar de este equipo' }).first().click()
  // Nothing is lost with it, so no question.
  await page.getByRole('button', { name: 'Quitar de este equipo' }).click()
  await page.getByText('Todavía no tenés cupones').waitFor()
  expect(await keptCodes(page)).toEqual([])
})

test('a coupon is kept at first sight: a closed tab loses nothing', async () => {
  const nonce = await mint()
  const { page, context, complaints } = await open(`/c#${nonce}`)
  await page.getByText('Está en tus cupones').waitFor()
  await checkEveryWidth(page, 'coupon-kept')
  await page.close()
  const later = await context.newPage()
  await later.goto(`${server.url}/c`)
  await later.getByRole('button', { name: /^10 %/ }).click()
  await button(later, 'Ver el QR grande').waitFor()
  // It came from somebody else all the same.
  await button(later, 'Hacelo mío').waitFor()
  expect(complaints).toEqual([])
})

test('a usable coupon is removed after a question, and does not come back by itself', async () => {
  const nonce = await mint()
  const { page } = await open(`/c#${nonce}`)
  await button(page, 'Volver a mis cupones').click()
  await button(page, 'Quitar de este equipo: Medialuna de regalo').click()
  await page.getByText('sólo con su QR o su enlace').waitFor()
  await checkEveryWidth(page, 'coupon-remove')
  await expectToast(page.getByText('Lo quitamos de este equipo'), () =>
    button(page, 'Sí, quitarlo').click(),
  )
  // The entry of the history was seen before.
  await page.goBack()
  await page.getByText('Sin usar').waitFor()
  await page.reload()
  await page.getByText('Sin usar').waitFor()
  expect(await keptCodes(page)).toEqual([])
  // A person who wants it back says so, and the coupon page removes it, too.
  await button(page, 'Guardar en mis cupones').click()
  await button(page, 'Quitar de este equipo').click()
  await button(page, 'Cancelar').click()
  expect(await keptCodes(page)).toEqual([nonce])
  // A code that nobody else has says so.
  await button(page, 'Hacelo mío').click()
  await page.getByText('Ya es tuyo').waitFor()
  await button(page, 'Quitar de este equipo').click()
  await page.getByText('este código lo tenés sólo vos: si lo quitás').waitFor()
  await button(page, 'Sí, quitarlo').click()
  await page.getByText('Todavía no tenés cupones').waitFor()
  expect(await keptCodes(page)).toEqual([])
})

test('a coupon that is over is not kept, and a kept one leaves its page without a question', async () => {
  const nonce = await mint()
  const claim = () => call(server.url, '/api/coupons/claim', { body: { nonce } })
  const { page, context } = await open(`/c#${nonce}`)
  await page.getByText('Está en tus cupones').waitFor()
  await claim()
  await page.reload()
  await page.getByText('Se canjeó hoy').waitFor()
  await checkPage(page, 'coupon-kept-redeemed')
  await button(page, 'Quitar de este equipo').click()
  await page.getByText('Todavía no tenés cupones').waitFor()
  const later = await context.newPage()
  await later.goto(`${server.url}/c#${nonce}`)
  await later.getByText('Se canjeó hoy').waitFor()
  expect(await keptCodes(later)).toEqual([])
})

test('a full list drops no usable coupon, says so, and keeps the new one as soon as it has room', async () => {
  const entry = {
    ...{ name: 'Otro', npub: npubOf(merchant.pubkey), coupon: { type: 'percent', percent: 5 } },
    ...{ status: 'minted', description: '', expiresAt: null, image: null, couponId: definition },
    ...{ claimedAt: null, checkedAt: 1, addedAt: 1, voucher: null, own: false, sent: null },
  }
  const list = Array.from({ length: 300 }, (_, at) => ({ ...entry, nonce: `code-${at}` }))
  const [place, text] = ['cuponera:coupons', JSON.stringify(list)].map((one) => JSON.stringify(one))
  const before = `localStorage.getItem(${place}) ?? localStorage.setItem(${place}, ${text});`
  const nonce = await mint()
  const { page } = await open(`/c#${nonce}`, { before })
  await page.getByText('ya hay 300 sin usar').waitFor()
  await checkEveryWidth(page, 'coupon-list-full')
  expect(await keptCodes(page)).toEqual(list.map((one) => one.nonce))
  await button(page, 'Volver a mis cupones').click()
  await button(page, 'Quitar de este equipo: Otro').first().click()
  await expectToast(page.getByText('Lo quitamos de este equipo'), () =>
    button(page, 'Sí, quitarlo').click(),
  )
  await page.goBack()
  await page.getByText('Está en tus cupones').waitFor()
  expect(await keptCodes(page)).toContain(nonce)
})

test('a device that stores nothing keeps no coupon, and says so when asked', async () => {
  const { page } = await open(`/c#${await mint()}`, { before: keepNothing })
  await page.getByText('Sin usar').waitFor()
  await expectToast(page.getByText('Este equipo no lo pudo guardar'), () =>
    button(page, 'Guardar en mis cupones').click(),
  )
  expect(await page.getByText('Está en tus cupones').count()).toBe(0)
})

test('a coupon sent to a name of this service is in its inbox, and this copy is worth nothing', async () => {
  const holder = newHolder('juana')
  await addAccount(server.dataDir, holder.name, holder.signer.pubkey)
  const nonce = await mint()
  const { page, complaints } = await open(`/c#${nonce}`)
  await button(page, 'Enviarlo a una dirección').click()
  const to = `juana@${new URL(server.url).host}`
  await page.getByRole('textbox', { name: 'Dirección' }).fill(to)
  await page.getByRole('textbox', { name: 'Mensaje' }).fill('Feliz cumple')
  await button(page, 'Enviar').click()
  await page.getByText(`${to} lo recibió`).waitFor()
  await checkPage(page, 'coupon-sent')
  await button(page, 'Cerrar').click()
  await page.getByText('Este código ya no vale').waitFor()
  const { json } = await call(server.url, '/api/wallet/vouchers', { signer: holder.signer })
  expect(json.vouchers).toMatchObject([{ status: 'minted', comment: 'Feliz cumple' }])
  expect(await statusOf(nonce)).toBe('refreshed')
  expect(complaints).toEqual([])
})

test('each outcome of sending has its own text', async () => {
  const { page } = await open('/c')
  for (const [status, heading, words] of [
    ['SENT', 'Enviado', 'lo recibió'],
    ['NOT_SENT', 'No se envió', 'sigue siendo tuyo'],
    ['MOVED', 'Pasó a otras manos', 'ya cambió de código'],
    // No answer at all.
    [null, 'No sabemos si llegó', 'todavía puede tomarlo'],
    ['UNKNOWN', 'No sabemos si llegó', 'todavía puede tomarlo'],
  ] as const) {
    const nonce = await mint()
    await page.evaluate((code) => {
      location.hash = code
    }, nonce)
    await page.getByText('Sin usar').waitFor()
    await page.route('**/api/transfer', async (route) => {
      if (status === null) return route.abort()
      const { to, nonce: sent } = route.request().postDataJSON()
      expect([to, sent]).toEqual(['juana@tienda.example', nonce])
      return route.fulfill({ json: { status, reason: 'Una frase.' } })
    })
    await button(page, 'Enviarlo a una dirección').click()
    const address = page.getByRole('textbox', { name: 'Dirección' })
    await address.fill('juana')
    await button(page, 'Enviar').click()
    await page.getByText('es como un correo').waitFor()
    if (status === 'SENT') await checkPage(page, 'coupon-send')
    await address.fill('juana@tienda.example')
    await button(page, 'Enviar').click()
    await page.getByRole('heading', { name: heading }).waitFor()
    await page.getByRole('dialog').getByText(words).waitFor()
    await checkPage(page, `coupon-send-${(status ?? 'lost').toLowerCase()}`)
    await page.unrouteAll()
    if (status !== 'UNKNOWN') {
      await button(page, 'Cerrar').click()
      await button(page, 'Volver a mis cupones').click()
      continue
    }
    await expectToast(page.getByText('Ya es tuyo'), () => button(page, 'Recuperarlo ahora').click())
    expect(await statusOf(nonce)).toBe('refreshed')
  }
})

test('a QR stays black on white with the colours of a device', async () => {
  const { page } = await open(`/c#${await mint()}`, { dark: true })
  await page.emulateMedia({ forcedColors: 'active' })
  // It is drawn after the first paint.
  const drawn = page.locator('.qr:has(path)')
  await drawn.waitFor()
  const colours = await drawn.evaluate((code) => {
    const module = code.querySelector('path') as SVGPathElement
    return [getComputedStyle(code).backgroundColor, getComputedStyle(module).fill]
  })
  expect(colours).toEqual(['rgb(255, 255, 255)', 'rgb(0, 0, 0)'])
})
