/** The merchant's way from nothing to the first redeemed coupon, and every state on it as it looks. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Locator, Page, Route } from 'playwright-core'
import { encodeQR } from 'qr'
import { npubOf } from '../../src/nostr/keys.ts'
import { closeBrowser, holdBeforeCamera, qrInPicture, visit } from '../support/browser.ts'
import { shopCertificate } from '../support/certificates.ts'
import { call, createProof, newKey, newSigner, nostrHeader } from '../support/client.ts'
import { makeKey, next, shownAddress } from '../support/merchant-page.ts'
import { good, looks } from '../support/page-looks.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let page: Page
let complaints: string[]

/** The keys behind the names that shop.test knows (NIP-05). */
const names: Record<string, string> = {}
let far: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  far = Bun.serve({
    port: 0,
    tls: shopCertificate,
    fetch({ url }) {
      const { pathname } = new URL(url)
      if (pathname === '/.well-known/nostr.json') return Response.json({ names })
      const gif = encodeQR('una foto', 'gif', { scale: 4 })
      return pathname === '/foto.gif' ? new Response(gif) : new Response('no', { status: 404 })
    },
  })
  server = await startServer({
    // Its way out leads to the loopback, which the program's own never does.
    command: [process.execPath, join(import.meta.dir, '../support/loopback-child.ts')],
    env: { RATE_LIMIT: 'off', HTTPS_PORT: String(far.port) },
  })
  const opened = await visit(`${server.url}/panel`)
  page = opened.page
  complaints = opened.complaints
  page.setDefaultTimeout(20_000)
})

afterAll(async () => {
  await closeBrowser()
  await far.stop(true)
  await cleanUp()
})

const main = () => page.locator('main')
const heading = (name: string) => page.getByRole('heading', { name }).first().waitFor()
const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
const tokenOf = () =>
  page.evaluate(() => JSON.parse(sessionStorage.getItem('cuponera:panel') ?? '{}').token)
const overview = async () =>
  (await call(server.url, '/api/coupons', { token: await tokenOf() })).json
const patch = async (id: string, body: Record<string, unknown>) =>
  call(server.url, `/api/coupons/${id}`, { method: 'PATCH', body, token: await tokenOf() })
const toNonce = (address: string) => address.split('#')[1] ?? ''

test('a stranger is told what this is, and makes a key under a PIN', async () => {
  await heading('Cupones para tu negocio')
  await looks(page, 'panel-welcome')
  await press(/^Crear mi clave/)
  await page.getByLabel('Repetí el PIN').waitFor()
  await good(page, 'panel-new-key')
  await press('Entrar de otra forma')
  await makeKey(page)
  await looks(page, 'panel-first-steps')
})

test('the announcement is signed, and seen to arrive at the relay', async () => {
  await press('Firmar y anunciar')
  await page.getByText('llegó').waitFor()
  expect(await page.locator('.relays').textContent()).toContain('El relay de este servicio')
  // The button that did it is gone; who has no mouse goes on from here.
  await page.locator('*:focus').getByText('llegó').waitFor()
})

test('it can be withdrawn and made again, and what the service has to say of it is told', async () => {
  await press('Tu clave y sesión')
  await press('Retirar el anuncio')
  await page.getByText('Anuncio retirado').waitFor()
  expect((await overview()).discovery).toBeNull()
  await page.route('**/api/coupons/discovery', async (route) => {
    const response = await route.fetch()
    const message = 'Falta refreshUrl.'
    await route.fulfill({
      response,
      json: { ...(await response.json()), warnings: [{ code: 'no-refreshUrl', message }] },
    })
  })
  await page.getByRole('dialog').getByRole('button', { name: 'Firmar y anunciar' }).click()
  await page.getByText(/algo para revisar.*Falta refreshUrl/).waitFor()
  await looks(page, 'panel-announced')
  await page.unroute('**/api/coupons/discovery')
  await page.keyboard.press('Escape')
  expect((await overview()).discovery).not.toBeNull()
})

test('a coupon is made in three steps, and shown as it grows', async () => {
  await page.getByRole('link', { name: 'Crear un cupón' }).click()
  await looks(page, 'panel-wizard-type')
  await page.getByRole('radio', { name: 'Llevás más' }).check()
  await next(page)
  await page.getByLabel('¿En qué productos?').fill('café')
  await page.getByLabel('Poner un tope').check()
  await page.getByRole('textbox', { name: 'Tope' }).fill('5.000')
  await page.getByText('2x1 en café, hasta $5.000').waitFor()
  await looks(page, 'panel-wizard-benefit')
  await next(page)
  await page.getByLabel('Nombre del cupón').fill('Café de a dos')
  await page.getByLabel('¿Cuántos como mucho?').fill('40')
  await looks(page, 'panel-wizard-terms')
  await press('Crear el cupón')
  await heading('Café de a dos')
  await page.getByText('Todavía no emitiste ninguno').waitFor()
})

test('one is issued, and handed over as a QR', async () => {
  await good(page, 'panel-coupon-new')
  await press('Entregar uno')
  await page.getByRole('button', { name: 'Emitir uno' }).waitFor()
  await good(page, 'panel-issue-one')
  await press('Emitir uno')
  await page.getByRole('img', { name: 'Código QR del cupón' }).waitFor()
  await looks(page, 'panel-hand-over')
  const address = await shownAddress(page)
  expect(address).toMatch(new RegExp(`^${server.url}/c#[\\w-]{22}$`))
  const download = page.waitForEvent('download')
  await press('Guardar imagen')
  const image = await download
  expect(image.suggestedFilename()).toMatch(/\.png$/)
  expect(await qrInPicture(page, await image.path())).toBe(address)
  // What is said is said inside the dialog: behind it nobody would hear it.
  await page.context().grantPermissions(['clipboard-write'])
  await press('Copiar el enlace')
  await page.getByRole('dialog').getByText('Enlace copiado').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Entregar uno' }).and(page.locator(':focus')).waitFor()
  await main().getByText('Sin usar', { exact: true }).waitFor()

  // A customer's phone shows it, the till redeems it, and here it is seen without a hand on the page.
  const { page: phone, context } = await visit(address)
  await phone.getByText('2x1 en café, hasta $5.000').waitFor()
  await phone.goto(`${server.url}/caja`)
  await phone.getByLabel('Código del cupón').fill(address)
  await phone.getByRole('button', { name: 'Ver cupón' }).click()
  await phone.locator('.till-view').getByRole('button', { name: 'Canjear' }).click()
  await phone.getByRole('heading', { name: 'Canjeado', exact: true }).waitFor()
  const started = performance.now()
  await main().getByText('Canjeado', { exact: true }).waitFor()
  console.log(`seen ${Math.round(performance.now() - started)} ms after the till`)
  await context.close()
  await looks(page, 'panel-coupon')
})

test('the first steps are all done, and what happened is told', async () => {
  await page.getByRole('link', { name: 'Inicio' }).click()
  await page.getByText('Se canjeó «Café de a dos»').waitFor()
  await page.locator('.plot canvas').waitFor()
  await looks(page, 'panel-home')
  await press('Ya la guardé')
  await page.getByRole('link', { name: 'Cupones' }).click()
  await looks(page, 'panel-coupons')
  await page.getByLabel('Buscar un cupón').fill('nada de nada')
  await page.getByText('Nada coincide').waitFor()
  await good(page, 'panel-coupons-none')
  await page.getByLabel('Buscar un cupón').fill('2X1 cafe')
  await page.getByText('1 cupón').waitFor()
  await page.getByLabel('Mostrar').selectOption('archived')
  await page.getByText('Nada coincide').waitFor()
  await page.getByLabel('Mostrar').selectOption('all')
  await page.getByText('1 cupón').waitFor()
})

test('a coupon that moved on is followed, and voided wherever it is', async () => {
  await page.getByRole('link', { name: /Café de a dos/ }).click()
  await press('Entregar uno')
  await press('Emitir uno')
  const address = await shownAddress(page)
  await page.keyboard.press('Escape')
  const refreshed = await call(server.url, '/api/coupons/refresh', {
    body: { nonce: toNonce(address) },
    headers: { 'Idempotency-Key': newKey() },
  })
  await main().getByText('Pasó a otra mano').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'Pasó a otra mano' })
  await row.getByRole('button', { name: 'Seguir' }).click()
  await page.getByRole('dialog').getByText('Sin usar', { exact: true }).waitFor()
  await looks(page, 'panel-chain')
  await press('Anularlo donde esté')
  await press('Anularlo donde esté')
  await page.getByRole('dialog').getByText('Anulado').first().waitFor()
  await page.keyboard.press('Escape')
  const { json } = await call(server.url, '/api/coupons/preview', {
    body: { nonce: refreshed.json.nonce },
  })
  expect(json.status).toBe('voided')
})

test('one voucher is voided by its row, all open ones by the red button', async () => {
  for (let times = 0; times < 2; times++) {
    await press('Entregar uno')
    await press('Emitir uno')
    await page.getByRole('img', { name: 'Código QR del cupón' }).waitFor()
    await page.keyboard.press('Escape')
  }
  await main()
    .getByRole('button', { name: /^Anular el cupón/ })
    .nth(1)
    .waitFor()
  await main()
    .getByRole('button', { name: /^Anular el cupón/ })
    .first()
    .click()
  await looks(page, 'panel-void')
  await page.getByRole('dialog').getByRole('button', { name: 'Anular', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await looks(page, 'panel-manage')
  await press('Anular todos')
  await page.getByLabel('Para confirmar').fill('anular')
  await good(page, 'panel-void-all')
  await page.getByRole('dialog').getByRole('button', { name: 'Anular todos' }).click()
  await page.getByText('Se anuló 1 cupón.').waitFor()
})

test('an edit says that what is out does not change; archiving and deleting ask first', async () => {
  await page.getByRole('link', { name: 'Cambiar' }).click()
  await page.getByText('Los cupones que ya entregaste no cambian').waitFor()
  await looks(page, 'panel-edit')
  await next(page)
  await page.getByLabel('Nombre del cupón').fill('Café para dos')
  await press('Guardar los cambios')
  await heading('Café para dos')
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await press('Archivar')
  await page.getByRole('dialog').getByRole('button', { name: 'Archivar' }).click()
  await page.getByText('Ya no se emite').waitFor()
  await good(page, 'panel-archived')
  await press('Volver a activar')
  await press('Borrar')
  await page.getByText('en vez de borrarse, se archiva').waitFor()
  await good(page, 'panel-delete')
  await press('Cancelar')
  await page.getByRole('tab', { name: 'Movimiento' }).click()
  await page.locator('.plot canvas').waitFor()
  await looks(page, 'panel-chart')
  await page.getByText('Ver como tabla').click()
  await good(page, 'panel-chart-table')
})

test('who changes a coupon that somebody else has changed meanwhile is told before it is overwritten', async () => {
  const stored = async () => (await overview()).coupons[0]
  const { id } = await stored()
  const elsewhere = (name: string) => patch(id, { name })
  const name = page.getByLabel('Nombre del cupón')
  const told = page.getByText('Este cupón cambió después de que lo abriste')
  // Nobody tells this window: it looks by itself before it saves.
  await page.route('**/api/coupons/live', (route) => route.abort())
  await page.reload()
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await page.getByRole('link', { name: 'Cambiar' }).click()
  await next(page)
  await name.fill('Lo mío')
  await elsewhere('Lo de otro')
  await press('Guardar los cambios')
  await told.waitFor()
  await looks(page, 'panel-edit-newer')
  expect((await stored()).name).toBe('Lo de otro')
  await press('Descartar lo mío')
  expect(await name.inputValue()).toBe('Lo de otro')
  await name.fill('Café para dos')
  await elsewhere('Otra vez')
  await press('Guardar los cambios')
  await press('Seguir con lo mío')
  expect(await told.count()).toBe(0)
  await press('Guardar los cambios')
  await heading('Café para dos')
  expect((await stored()).name).toBe('Café para dos')
  // One's own change, whose answer was lost, is nobody else's.
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await page.getByRole('link', { name: 'Cambiar' }).click()
  await next(page)
  await page.getByLabel('Condiciones').fill('De mañana.')
  const answerLost = async (route: Route) => {
    if (route.request().method() !== 'PATCH') return route.continue()
    await route.fetch()
    await route.abort()
  }
  await page.route(`**/api/coupons/${id}`, answerLost, { times: 1 })
  await press('Guardar los cambios')
  await page.getByText('No pudimos hablar con el servicio').waitFor()
  await page.unroute(`**/api/coupons/${id}`)
  await press('Guardar los cambios')
  await heading('Café para dos')
  expect((await stored()).description).toBe('De mañana.')
  await page.unroute('**/api/coupons/live')
  await page.reload()
  await heading('Café para dos')
})

test('a new name moves no expiry: a day that nobody touched keeps its clock time', async () => {
  const stored = async () => (await overview()).coupons[0]
  const { id } = await stored()
  const expiresAt = Date.UTC(2031, 4, 4, 15, 30) / 1000
  await patch(id, { expiresAt })
  const edit = async (label: string, text: string) => {
    await page.getByRole('tab', { name: 'Administrar' }).click()
    await page.getByRole('link', { name: 'Cambiar' }).click()
    await next(page)
    await page.getByLabel(label).fill(text)
    await press('Guardar los cambios')
    await page.getByRole('button', { name: 'Entregar uno' }).waitFor()
  }
  await page.reload()
  await edit('Condiciones', 'De tarde.')
  expect(await stored()).toMatchObject({ description: 'De tarde.', expiresAt })
  await edit('Vence el', '')
  expect((await stored()).expiresAt).toBeNull()
})

test('a picture shows once it is saved, from this service alone; where it cannot be had, that is said', async () => {
  const image = page.getByLabel('Imagen')
  const drawn = () =>
    page.waitForFunction(() => {
      const picture = document.querySelector<HTMLImageElement>('.coupon-worth img')
      return picture?.complete && picture.naturalWidth > 0
    })
  const change = async (path: string) => {
    await page.getByRole('link', { name: 'Cambiar' }).click()
    await next(page)
    await image.fill(path === '' ? '' : `https://shop.test:${far.port}${path}`)
  }
  const save = async () => {
    await press('Guardar los cambios')
    await page.getByRole('button', { name: 'Entregar uno' }).waitFor()
  }
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await change('/foto.gif')
  await page.getByText('La foto aparece cuando lo guardás').waitFor()
  expect(await page.locator('.wizard-preview img').count()).toBe(0)
  await looks(page, 'panel-wizard-picture')
  await save()
  await drawn()
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await change('/foto.gif')
  await drawn()
  expect(await page.getByText('La foto aparece').count()).toBe(0)
  await image.fill(`https://shop.test:${far.port}/nada.gif`)
  await page.getByText('La foto aparece').waitFor()
  await save()
  const told = page.getByText('No pudimos traer la foto')
  await told.waitFor()
  await looks(page, 'panel-pictureless')
  // A service that is out of reach says nothing of the address.
  await page.route('**/api/coupons/images/*', (route) => route.abort())
  let failures = 0
  // By the picture, and by the page that asks why.
  const asked = page.waitForEvent(
    'requestfailed',
    (one) => one.url().includes('/images/') && ++failures === 2,
  )
  await page.reload()
  await Promise.race([asked, told.waitFor()])
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
  expect(await told.count()).toBe(0)
  await page.unroute('**/api/coupons/images/*')
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await change('')
  await save()
  expect(await told.count()).toBe(0)
})

test('a question begins at its field, at the way back or at its title, and ends where it began', async () => {
  const focus = page.locator(':focus')
  const ask = async (name: string, begins: Locator) => {
    const asks = page.getByRole('button', { name, exact: true })
    await asks.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').locator(begins).and(focus).waitFor()
    await page.keyboard.press('Escape')
    await asks.and(focus).waitFor()
  }
  await ask('Entregar uno', page.getByRole('heading', { name: 'Entregá el cupón' }))
  await ask('Emitir varios', page.getByLabel('¿Cuántos?'))
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await ask('Archivar', page.getByRole('button', { name: 'Archivar' }))
  await ask('Borrar', page.getByRole('button', { name: 'Cancelar' }))
  await ask('Anular todos', page.getByLabel('Para confirmar'))
  await page.getByRole('tab', { name: 'Movimiento' }).click()
})

test('many are issued at once, and leaving them unprinted is asked about', async () => {
  await press('Emitir varios')
  await page.getByLabel('¿Cuántos?').fill('12')
  await good(page, 'panel-issue-many')
  await page.getByRole('dialog').getByRole('button', { name: 'Emitir' }).click()
  await heading('12 cupones listos')
  await looks(page, 'panel-many')
  await page.keyboard.press('Escape')
  await page.getByText('Estos códigos no se pueden volver a mostrar').waitFor()
  await good(page, 'panel-leave')
  await press('Sí, terminé')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('codes that nobody has yet outlive a step back and a page that is loaded anew', async () => {
  await press('Emitir varios')
  await page.getByLabel('¿Cuántos?').fill('3')
  await page.getByRole('dialog').getByRole('button', { name: 'Emitir' }).click()
  await heading('3 cupones listos')
  const place = page.url()
  for (const _ of ['once', 'and again']) {
    await page.goBack()
    await page.getByText('Estos códigos no se pueden volver a mostrar').waitFor()
    await press('Cancelar')
    await heading('3 cupones listos')
  }
  // Further back than one step, and to another place of this page.
  for (const leave of ['history.go(-2)', "location.hash = '#/tills'"]) {
    await page.evaluate(leave)
    await page.getByText('Estos códigos no se pueden volver a mostrar').waitFor()
    await press('Cancelar')
    await heading('3 cupones listos')
    expect(page.url()).toBe(place)
  }
  const asked = page.waitForEvent('dialog')
  const reload = page.reload().catch(() => null)
  const question = await asked
  expect(question.type()).toBe('beforeunload')
  await question.dismiss()
  await heading('3 cupones listos')
  await page.keyboard.press('Escape')
  await press('Sí, terminé')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(page.url()).toBe(place)
  await reload
})

test('an answer that was lost costs no coupon: it is asked for again', async () => {
  const minted = async () => {
    const counts = await main().locator('.total').first().locator('dd').textContent()
    return Number(counts)
  }
  const before = await minted()
  // The service does it, the answer never comes.
  await page.route('**/api/coupons/mint', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await press('Entregar uno')
  await press('Emitir uno')
  await page.getByText('No pudimos hablar con el servicio').waitFor()
  await looks(page, 'panel-lost-answer')
  await page.unroute('**/api/coupons/mint')
  await press('Emitir uno')
  await page.getByRole('img', { name: 'Código QR del cupón' }).waitFor()
  await page.keyboard.press('Escape')
  await main()
    .getByText(String(before + 1), { exact: true })
    .first()
    .waitFor()
  await page.reload()
  await heading('Café para dos')
  expect(await minted()).toBe(before + 1)
})

test('a till is authorised by a photo of its QR', async () => {
  const till = newSigner()
  await page.getByRole('link', { name: 'Cajas' }).click()
  await page.getByLabel('Usar una foto del QR').setInputFiles({
    name: 'foto.png',
    mimeType: 'image/png',
    buffer: await pictureOf(`nostr:${npubOf(till.pubkey)}`),
  })
  const read = (npub: string) =>
    [...document.querySelectorAll('input')].some(({ value }) => value === npub)
  await page.waitForFunction(read, npubOf(till.pubkey))
  await press('Autorizar')
  await page.getByText('Sin nombre').waitFor()
  await press(/^Quitar la caja/)
  await page.getByRole('dialog').getByRole('button', { name: 'Quitar' }).click()
  await page.getByText('Todavía no hay cajas').waitFor()
})

/** A QR code as a photo would hold it. */
async function pictureOf(text: string): Promise<Buffer> {
  const rows = encodeQR(text, 'raw', { border: 4 })
  const address = await page.evaluate((modules) => {
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = modules.length * 6
    const pen = canvas.getContext('2d') as CanvasRenderingContext2D
    for (const [y, row] of modules.entries()) {
      for (const [x, dark] of row.entries()) {
        pen.fillStyle = dark ? '#222' : '#eee'
        pen.fillRect(x * 6, y * 6, 6, 6)
      }
    }
    return canvas.toDataURL('image/png')
  }, rows)
  return Buffer.from(address.split(',')[1] ?? '', 'base64')
}

test('a till is authorised by what the camera sees', async () => {
  const till = newSigner()
  holdBeforeCamera(`nostr:${npubOf(till.pubkey)}`)
  await press('Escanear el QR')
  const key = page.getByLabel('Clave de la caja')
  while ((await key.inputValue()) === '') await page.locator('.film').waitFor({ state: 'detached' })
  expect(await key.inputValue()).toBe(npubOf(till.pubkey))
})

test('a name (NIP-05) that leads nowhere is told as such', async () => {
  await page.getByLabel('Clave de la caja').fill('caja@shop.test')
  const sent = page.waitForRequest('**/api/coupons/minters')
  await press('Autorizar')
  expect((await sent).postDataJSON().pubkey).toBe('caja@shop.test')
  await main().getByRole('alert').getByText('No encontramos').waitFor()
  await good(page, 'panel-till-wrong')
})

test('a till is authorised by its name (NIP-05), and issues until it is taken back', async () => {
  const till = newSigner()
  const [coupon] = (await overview()).coupons
  const issue = () =>
    call(server.url, '/api/coupons/mint', { body: { couponId: coupon.id }, signer: till })
  expect((await issue()).json.code).toBe('mint-not-allowed')
  names.caja = till.pubkey
  await page.getByLabel('¿Cómo la llamás?').fill('Caja con nombre')
  await press('Autorizar')
  const row = page.getByRole('listitem').filter({ hasText: 'Caja con nombre' })
  await row.getByText(npubOf(till.pubkey).slice(0, 8)).waitFor()
  const { status, json } = await issue()
  const { nonce } = json
  const preview = await call(server.url, '/api/coupons/preview', { body: { nonce } })
  expect([status, preview.json.status]).toEqual([200, 'minted'])
  await row.getByRole('button').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Quitar' }).click()
  await page.getByText('Todavía no hay cajas').waitFor()
  expect((await issue()).json.code).toBe('mint-not-allowed')
})

test('a till is authorised by its key, and taken back', async () => {
  const till = newSigner()
  await page.getByRole('link', { name: 'Cajas' }).click()
  await page.getByLabel('Clave de la caja').fill('nada')
  await press('Autorizar')
  await main().getByRole('alert').waitFor()
  await page.getByLabel('Clave de la caja').fill(till.pubkey)
  await page.getByLabel('¿Cómo la llamás?').fill('Caja del fondo')
  await press('Autorizar')
  await page.getByText('Caja del fondo').waitFor()
  await looks(page, 'panel-tills')
  const mintable = await call(server.url, '/api/coupons/mintable', {
    headers: {
      Authorization: nostrHeader(createProof(till, `${server.url}/api/coupons/mintable`)),
    },
  })
  expect(mintable.json.coupons).toHaveLength(1)
  await press('Quitar la caja Caja del fondo')
  await page.getByRole('dialog').getByRole('button', { name: 'Quitar' }).click()
  await page.getByText('Todavía no hay cajas').waitFor()
})

test('redemptions are filtered, and leave as a file that runs no formula', async () => {
  await page.getByRole('link', { name: 'Canjes' }).click()
  await main().getByRole('cell', { name: 'Café de a dos' }).waitFor()
  await looks(page, 'panel-redemptions')
  const download = page.waitForEvent('download')
  await press('Exportar a planilla')
  const file = await (await download).path()
  const text = await Bun.file(file).text()
  expect(text.split('\r\n')).toHaveLength(3)
  expect(text).toContain('"2x1 en café, hasta $5.000"')
  await page.getByLabel('Hasta').fill('2020-01-01')
  await page.getByText('Ningún canje coincide').waitFor()
  await good(page, 'panel-redemptions-none')
})

test('the page speaks English as soon as it is asked to', async () => {
  await press('Switch to English')
  await heading('Redemptions')
  await page.getByRole('link', { name: 'Coupons' }).click()
  await page.getByText('2x1 on coffee').or(page.getByText('2x1 on café, up to $5,000')).waitFor()
  await looks(page, 'panel-coupons-english')
  await press('Pasar a español')
})

test('whoever signs out leaves nothing but the encrypted key', async () => {
  await press('Tu clave y sesión')
  await looks(page, 'panel-account')
  await press('Salir')
  await heading('Entrá con tu PIN')
  await looks(page, 'panel-unlock')
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))
  expect(kept).toContain('ncryptsec1')
  expect(kept).not.toMatch(/nsec1|eyJ/)
})

test('nothing was complained about, and nobody else was asked anything', () => {
  expect(complaints).toEqual([])
})
