/** A merchant's coupon in the panel: made, edited, pictured, archived. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Locator, Page, Route } from 'playwright-core'
import { encodeQR } from 'qr'
import { limits } from '../../src/base/limits.ts'
import { closeBrowser } from '../support/browser.ts'
import { secondsNow } from '../support/clock.ts'
import { next } from '../support/merchant-page.ts'
import { expectNoOverflow } from '../support/page-checks.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast, nextFrame } from '../support/page-states.ts'
import {
  closePanels,
  type FarHost,
  openCoupon,
  signIn,
  startWithFarHost,
} from '../support/panel-page.ts'
import { cleanUp, type TestServer } from '../support/server.ts'

let server: TestServer
/** The host of the pictures. */
let far: FarHost

beforeAll(async () => {
  ;({ server, far } = await startWithFarHost((path) =>
    path === '/foto.gif' ? new Response(encodeQR('una foto', 'gif', { scale: 4 })) : null,
  ))
})

afterEach(closePanels)

afterAll(async () => {
  await closeBrowser()
  await far.stop(true)
  await cleanUp()
})

/** From the coupon to the last step of its form. */
async function editTerms(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await page.getByRole('link', { name: 'Cambiar' }).click()
  await next(page)
}

/** Back at the coupon, which then is as the form had it. */
async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Guardar los cambios' }).click()
  await page.getByRole('button', { name: 'Entregar uno' }).waitFor()
}

test('the list of coupons keeps its words readable in letters that are twice as large', async () => {
  const { open, createCoupon } = await signIn(server)
  // Three days from the end, as a pill shows it.
  await createCoupon({ expiresAt: secondsNow() + 3 * 24 * 3600, maxUses: 40 })
  const { page } = await open('#/coupons')
  const words = page.locator('.tile > .grow')
  await words.waitFor()
  const widthOf = () => words.evaluate((one) => one.getBoundingClientRect().width)
  const linesOf = () =>
    page
      .locator('.tile .badge')
      .evaluateAll((pills) => pills.map((one) => one.getBoundingClientRect().height))
  // One line, beside the amount, on the smallest phones.
  for (const width of [320, 360]) {
    await page.setViewportSize({ width, height: 800 })
    for (const height of await linesOf()) expect(height).toBeLessThan(30)
  }
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'))
  expect(await widthOf()).toBeGreaterThan(200)
  await expectNoOverflow(page)
})

test('a coupon is created in three steps, with a preview that grows', async () => {
  const { open } = await signIn(server)
  const { page, press, heading } = await open()
  await page.getByRole('link', { name: 'Armar el mío' }).click()
  await checkEveryWidth(page, 'panel-wizard-type')
  await page.getByRole('radio', { name: 'Llevás más' }).check()
  await next(page)
  await page.getByLabel('¿En qué productos?').fill('café')
  await page.getByLabel('Poner un tope').check()
  await page.getByRole('textbox', { name: 'Tope' }).fill('5.000')
  await page.getByText('2x1 en café, hasta $5.000').waitFor()
  await checkEveryWidth(page, 'panel-wizard-benefit')
  await next(page)
  await page.getByLabel('Nombre del cupón').fill('Café de a dos')
  await page.getByLabel('¿Cuántos como mucho?').fill('40')
  await checkEveryWidth(page, 'panel-wizard-terms')
  await press('Crear el cupón')
  await heading('Café de a dos')
  await page.getByText('Todavía no emitiste ninguno').waitFor()
  await checkPage(page, 'panel-coupon-new')
})

test('an edit explains that issued vouchers do not change', async () => {
  const { page, press, heading } = await openCoupon(server, { issued: 1 })
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await page.getByRole('link', { name: 'Cambiar' }).click()
  await page.getByText('Los cupones que ya entregaste no cambian').waitFor()
  await checkEveryWidth(page, 'panel-edit')
  await next(page)
  await page.getByLabel('Nombre del cupón').fill('Café para dos')
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
  await expectToast(page.getByText('Guardado.'), () => press('Guardar los cambios'))
  await heading('Café para dos')
})

test('archiving asks first, and can be undone', async () => {
  const { page, press, dialog } = await openCoupon(server, { issued: 1 })
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await press('Archivar')
  await dialog().getByRole('button', { name: 'Archivar' }).waitFor()
  await checkPage(page, 'panel-archive')
  await dialog().getByRole('button', { name: 'Archivar' }).click()
  await page.getByText('Ya no se emite').waitFor()
  await checkPage(page, 'panel-archived')
  await expectToast(page.getByText('Activo de nuevo.'), () => press('Volver a activar'))
  await page.getByRole('button', { name: 'Entregar uno' }).waitFor()
})

test('a coupon with vouchers cannot be deleted, and says so before: also when the first is issued meanwhile', async () => {
  const { page, press, dialog, id, issue, stored } = await openCoupon(server)
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await press('Borrar')
  await dialog().getByRole('button', { name: 'Borrar' }).waitFor()
  await issue(id)
  await dialog().getByText('Sus canjes quedan en tus registros').waitFor()
  expect(await page.getByRole('button', { name: 'Borrar' }).count()).toBe(0)
  await page.getByText('no se puede borrar: archivalo').waitFor()
  await checkPage(page, 'panel-delete')
  await dialog().getByRole('button', { name: 'Archivar' }).click()
  await page.getByText('Ya no se emite').waitFor()
  expect((await stored()).archivedAt).toBeNumber()
})

test('the chart of a coupon can be read as a table', async () => {
  const { page } = await openCoupon(server, { issued: 1 })
  await page.getByRole('tab', { name: 'Movimiento' }).click()
  await page.locator('.plot svg').waitFor()
  await checkEveryWidth(page, 'panel-chart')
  await page.getByText('Ver como tabla').click()
  await checkPage(page, 'panel-chart-table')
})

test('an edit that would overwrite a change made elsewhere warns first', async () => {
  const { page, press, heading, id, ask, stored } = await openCoupon(server)
  const elsewhere = (name: string) => ask(`/api/coupons/${id}`, { method: 'PATCH', body: { name } })
  const name = page.getByLabel('Nombre del cupón')
  const told = page.getByText('Este cupón cambió después de que lo abriste')
  // This window gets no event: it looks by itself before it saves.
  await page.route('**/api/coupons/live', (route) => route.abort())
  await page.reload()
  await editTerms(page)
  await name.fill('Lo mío')
  await elsewhere('Lo de otro')
  await press('Guardar los cambios')
  await told.waitFor()
  await checkEveryWidth(page, 'panel-edit-newer')
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
})

test('the user’s own change with a lost answer is not taken for a change made elsewhere', async () => {
  const { page, press, heading, id, stored } = await openCoupon(server)
  await page.route('**/api/coupons/live', (route) => route.abort())
  await page.reload()
  await editTerms(page)
  await page.getByLabel('Descripción').fill('De mañana.')
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
  await heading('Café de a dos')
  expect((await stored()).description).toBe('De mañana.')
})

test('a new name does not change the expiry: a day that was not edited keeps its time', async () => {
  const expiresAt = Date.UTC(2031, 4, 4, 15, 30) / 1000
  const { page, stored } = await openCoupon(server, { fields: { expiresAt } })
  const edit = async (label: string, text: string) => {
    await editTerms(page)
    await page.getByLabel(label).fill(text)
    await save(page)
  }
  await edit('Descripción', 'De tarde.')
  expect(await stored()).toMatchObject({ description: 'De tarde.', expiresAt })
  await edit('Vence el', '')
  expect((await stored()).expiresAt).toBeNull()
})

const pictureless = (page: Page) => page.getByText('No pudimos traer la foto')

test('a picture is shown after saving, from this service', async () => {
  const { page } = await openCoupon(server)
  const drawn = () =>
    page.waitForFunction(() => {
      const picture = document.querySelector<HTMLImageElement>('.coupon-worth img')
      return picture?.complete && picture.naturalWidth > 0
    })
  const address = `https://shop.test:${far.port}`
  await editTerms(page)
  await page.getByText('Otra forma').click()
  await page.getByLabel('Foto de tu web').fill(`${address}/foto.gif`)
  await page.getByText('La foto aparece cuando lo guardás').waitFor()
  expect(await page.locator('.wizard-preview img').count()).toBe(0)
  await checkEveryWidth(page, 'panel-wizard-picture')
  await save(page)
  await drawn()
  await editTerms(page)
  await page.getByLabel('Foto de tu web').fill(`${address}/foto.gif`)
  await drawn()
  expect(await page.getByText('La foto aparece').count()).toBe(0)
  await page.getByLabel('Foto de tu web').fill(`${address}/nada.gif`)
  await page.getByText('La foto aparece').waitFor()
})

test('a photo of the device is shrunk, uploaded without its place, and shown by this service', async () => {
  const { page, stored } = await openCoupon(server)
  await editTerms(page)
  const photo = page.locator('fieldset', { hasText: 'Foto (opcional)' })
  const choose = (name: string, mimeType: string, buffer: Buffer) =>
    photo.locator('input[type=file]').first().setInputFiles({ name, mimeType, buffer })
  await choose('foto.heic', 'image/heic', Buffer.from('....ftypheic'))
  await page.getByText('Tu navegador no puede abrir esa foto.').waitFor()
  await checkEveryWidth(page, 'panel-wizard-unreadable-photo')
  const held = Promise.withResolvers<void>()
  await page.route('**/api/pictures', async (route) => {
    await held.promise
    await route.continue()
  })
  await choose('foto.jpg', 'image/jpeg', turnedPhoto(await noisyPhoto(page)))
  // Saved now, the coupon would be without the photo.
  await page.locator('.wizard-foot button[type=submit][aria-disabled=true]').waitFor()
  held.resolve()
  const shown = photo.getByRole('img')
  await shown.waitFor()
  const { src, width, height } = await shown.evaluate(async (image: HTMLImageElement) => {
    await image.decode()
    return { src: image.src, width: image.naturalWidth, height: image.naturalHeight }
  })
  // It lay on its side, as phones store an upright photo.
  expect([width, height]).toEqual([900, 1200])
  const bytes = Buffer.from(await (await fetch(src)).bytes())
  expect(bytes.length).toBeLessThanOrEqual(limits.pictureBytesMax)
  expect(bytes.includes('Exif')).toBe(false)
  await checkEveryWidth(page, 'panel-wizard-photo')
  await save(page)
  await page.waitForFunction(() => {
    const picture = document.querySelector<HTMLImageElement>('.coupon-worth img')
    return picture?.complete && picture.naturalWidth === 900
  })
  const coupon = await stored()
  expect([coupon.image, src.endsWith(`/api/pictures/${coupon.picture}`)]).toEqual([null, true])
  await editTerms(page)
  await page.getByRole('button', { name: 'Quitar la foto' }).click()
  await save(page)
  expect(await page.locator('.coupon-worth img').count()).toBe(0)
})

/** A JPEG of 2400 by 1800 that no quality makes very small. */
async function noisyPhoto(page: Page): Promise<Buffer> {
  const text = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(2400, 1800)
    const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
    for (let at = 0; at < 40_000; at++) {
      context.fillStyle = `hsl(${(at * 47) % 360} 80% ${(at * 31) % 100}%)`
      context.fillRect((at * 7919) % 2400, (at * 104_729) % 1800, 23, 17)
    }
    const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 })
    return new Uint8Array(await blob.arrayBuffer()).toBase64()
  })
  return Buffer.from(text, 'base64')
}

/** The JPEG with an EXIF that says that it lies on its side (orientation 6). */
function turnedPhoto(jpeg: Buffer): Buffer {
  const exif = '4578696600004d4d002a000000080001011200030000000100060000000000000000'
  const segment = Buffer.from(exif, 'hex')
  const head = Buffer.from([0xff, 0xe1, 0, segment.length + 2])
  return Buffer.concat([jpeg.subarray(0, 2), head, segment, jpeg.subarray(2)])
}

test('a picture that the service cannot load is reported until its address is removed', async () => {
  const image = `https://shop.test:${far.port}/nada.gif`
  const { page } = await openCoupon(server, { fields: { image } })
  await pictureless(page).waitFor()
  await checkEveryWidth(page, 'panel-pictureless')
  await editTerms(page)
  await page.getByLabel('Foto de tu web').fill('')
  await save(page)
  expect(await pictureless(page).count()).toBe(0)
})

test('an unreachable service is not reported as a problem of the picture', async () => {
  const image = `https://shop.test:${far.port}/nada.gif`
  const { page } = await openCoupon(server, { fields: { image } })
  await pictureless(page).waitFor()
  await page.route('**/api/coupons/images/*', (route) => route.abort())
  let failures = 0
  // Once by the picture, and once by the page for the reason.
  const asked = page.waitForEvent(
    'requestfailed',
    (one) => one.url().includes('/images/') && ++failures === 2,
  )
  await page.reload()
  await Promise.race([asked, pictureless(page).waitFor()])
  await nextFrame(page)
  expect(await pictureless(page).count()).toBe(0)
})

test('the focus of a dialog starts at its field, its way back or its title, and returns where it was', async () => {
  const { page, dialog } = await openCoupon(server)
  const focus = page.locator(':focus')
  const pressEscape = () => page.keyboard.press('Escape')
  const ask = async (name: string, begins: Locator, leave = pressEscape) => {
    const asks = page.getByRole('button', { name, exact: true })
    await asks.focus()
    await page.keyboard.press('Enter')
    await dialog().locator(begins).and(focus).waitFor()
    await leave()
    await asks.and(focus).waitFor()
  }
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await ask('Archivar', page.getByRole('button', { name: 'Archivar' }))
  await ask('Borrar', page.getByRole('button', { name: 'Cancelar' }))
  await ask('Anular todos', page.getByLabel('Para confirmar'))
  await ask('Emitir varios', page.getByLabel('¿Cuántos?'))
  await ask('Entregar uno', page.getByRole('heading', { name: 'Entregá el cupón' }), () =>
    page.getByRole('button', { name: 'Listo, ya lo tiene' }).click(),
  )
})
