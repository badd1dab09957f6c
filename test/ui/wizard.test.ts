/** Each benefit through the wizard as a merchant types it, and coupons on paper. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { closeBrowser, picture, shownQr, type Visit, visit } from '../support/browser.ts'
import { call, type Json, newKey } from '../support/client.ts'
import { makeKey, next } from '../support/merchant-page.ts'
import { expectNoOverflow } from '../support/page-checks.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast } from '../support/page-states.ts'
import { pagesOf } from '../support/pdf.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let page: Page
let opened: Visit

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
  // A headless browser has no print dialog.
  opened = await visit(`${server.url}/panel`, { before: 'window.print = () => {}' })
  page = opened.page
  await makeKey(page)
})

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const fill = (name: string, text: string) => page.getByLabel(name, { exact: true }).fill(text)
const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const wrong = () => page.locator('.wrong').allTextContents()

type Case = {
  type: string
  /** Wrong input that is typed first, and the report of the page. */
  mistake: () => Promise<void>
  says: string
  write: () => Promise<void>
  words: string
  /** The warning that other systems do not read it. */
  unread?: string
  benefit: { type: string; [field: string]: unknown }
}

const unreadPercent = 'Con decimales, otros sistemas no lo leen. Acá anda igual.'
const unreadProducts =
  'Otros sistemas no lo leen: esperan los códigos de su catálogo. Acá anda igual.'

const cases: Case[] = [
  {
    type: 'Un porcentaje de descuento',
    mistake: () => fill('Descuento', '120'),
    says: 'Un número mayor que 0 y hasta 100.',
    async write() {
      await fill('Descuento', '12,5')
      await page.getByLabel('Poner un tope al descuento').check()
      await fill('Tope', '3.000,50')
    },
    words: '12,5 % de descuento en toda tu compra, hasta $3.000,50',
    unread: unreadPercent,
    benefit: { type: 'percent', percent: 12.5, cap: { amount: 3000.5, currency: 'ARS' } },
  },
  {
    type: 'Un monto de descuento',
    mistake: async () => {
      await page.getByLabel('Moneda').selectOption('SAT')
      await fill('Monto', '1,5')
    },
    says: 'Un monto mayor que 0. En sats, sin decimales.',
    async write() {
      await fill('Monto', '2100')
      await page.getByLabel('¿En qué productos?').fill('café, té , café')
    },
    words: '2.100 sats de descuento en café y té',
    unread: unreadProducts,
    benefit: { type: 'fixed', amount: 2100, currency: 'SAT', productDs: ['café', 'té'] },
  },
  {
    type: 'Llevás más, pagás menos',
    mistake: () => fill('Paga', '3'),
    says: 'Tiene que pagar menos de los que lleva.',
    async write() {
      await fill('Lleva', '3')
      await fill('Paga', '2')
      await page.getByLabel('¿En qué productos?').fill('alfajor')
    },
    words: '3x2 en alfajor',
    unread: unreadProducts,
    benefit: { type: 'multibuy', buyQty: 3, payQty: 2, productDs: ['alfajor'] },
  },
  {
    type: 'Comprando uno, otro de regalo',
    mistake: () => fill('Comprando', 'café'),
    says: 'Escribí qué producto.',
    async write() {
      await fill('Comprando', 'café')
      await fill('Se lleva de regalo', 'medialuna')
    },
    words: 'Comprando café, medialuna de regalo',
    benefit: { type: 'buyXgetY', buyProductD: 'café', giftProductD: 'medialuna' },
  },
  {
    type: 'Productos gratis',
    mistake: async () => {
      await fill('Producto', 'café')
      await press('Agregar otro')
      await page.getByLabel('Producto', { exact: true }).last().fill('café')
    },
    says: 'Cada producto una sola vez.',
    async write() {
      await page.getByLabel('Producto', { exact: true }).last().fill('medialuna')
      await page.getByLabel('Cantidad').last().fill('2')
    },
    words: 'Gratis: café y 2 × medialuna',
    benefit: {
      type: 'freeItems',
      items: [
        { d: 'café', qty: 1 },
        { d: 'medialuna', qty: 2 },
      ],
    },
  },
]

test.each(cases)(
  '$type: mistakes are reported beside the field, and the coupon reads $words',
  async (one) => {
    await page.goto(`${server.url}/panel#/new`)
    await page.getByRole('radio', { name: one.type }).check()
    await next(page)
    await one.mistake()
    await next(page)
    expect(await wrong()).toEqual([one.says])
    if (one.type === 'Productos gratis') await checkEveryWidth(page, 'panel-wizard-wrong')
    await one.write()
    await page.locator('.coupon-benefit').getByText(one.words, { exact: true }).waitFor()
    const unread = await page.getByText(/otros sistemas/i).allTextContents()
    expect(unread).toEqual(one.unread === undefined ? [] : [one.unread])
    await checkPage(page, `panel-wizard-${one.benefit.type}`)
    await next(page)
    // The browser keeps no body that a page reads as a stream.
    const created = Promise.withResolvers<Json>()
    await page.route('**/api/coupons', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      const response = await route.fetch()
      created.resolve(await response.json())
      await route.fulfill({ response })
    })
    await press('Crear el cupón')
    const { coupon } = await created.promise
    await page.unroute('**/api/coupons')
    expect(coupon.benefit).toEqual(one.benefit)
    // A coupon without a name gets the one of its benefit.
    await page.getByRole('heading', { level: 1 }).getByText(coupon.name).waitFor()
  },
)

test('a coupon without vouchers is deleted', async () => {
  const name = await page.getByRole('heading', { level: 1 }).textContent()
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await press('Borrar')
  await page.getByText('Nunca se emitió ninguno').waitFor()
  await expectToast(page.getByText('Borrado.'), () =>
    page.getByRole('dialog').getByRole('button', { name: 'Borrar' }).click(),
  )
  await page.getByText(`${cases.length - 1} cupones`).waitFor()
  expect(await page.locator('.tile-name').allTextContents()).not.toContain(name)
})

test('invalid names, dates and numbers are reported before anything is sent', async () => {
  await page.goto(`${server.url}/panel#/new`)
  await next(page)
  await fill('Descuento', '10')
  await next(page)
  await page.getByLabel('¿Cuántos como mucho?').fill('cero')
  await page.getByLabel('Vence el').fill('2020-01-01')
  await page.getByText('Otra forma').click()
  await page.getByLabel('Foto de tu web').fill('http://tienda.example/foto.png')
  await press('Crear el cupón')
  expect(await wrong()).toEqual([
    'Un número entero de 1 a 1.000.000, o vacío.',
    'Elegí una fecha futura.',
    'Tiene que empezar con https://',
  ])
  await checkPage(page, 'panel-wizard-terms-wrong')
  await page.getByLabel('¿Cuántos como mucho?').fill('1.000')
  await page.getByLabel('Vence el').fill('2031-05-04')
  await page.getByLabel('Foto de tu web').fill('')
  await page
    .getByLabel('Nombre del cupón')
    .fill('Un nombre tan largo que casi no entra en el papel de la impresora del mostrador')
  await page.getByLabel('Descripción').fill('Con estas condiciones. '.repeat(12))
  await page.getByText('Vale hasta el 4 de mayo de 2031').waitFor()
  await press('Crear el cupón')
  await page.getByRole('button', { name: 'Emitir varios' }).waitFor()
})

test('a change of language in the middle of a form changes no number and reports no false conflict', async () => {
  const speak = (name: string) =>
    page.getByRole('button', { name: new RegExp(`^${name}:`) }).click()
  const amount = () => page.locator('.money input').inputValue()
  await page.goto(`${server.url}/panel#/new`)
  await page.getByRole('radio', { name: 'Un monto de descuento' }).check()
  await next(page)
  await fill('Monto', '5.000,50')
  await speak('EN')
  await page.getByText('$5,000.5').first().waitFor()
  expect(await amount()).toBe('5000.5')
  await speak('ES')
  await page.getByText('$5.000,5').first().waitFor()
  expect(await amount()).toBe('5000,5')
  await next(page)
  await press('Crear el cupón')
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await page.getByRole('link', { name: 'Cambiar' }).click()
  await speak('EN')
  await page.getByRole('button', { name: 'Next' }).waitFor()
  expect(await amount()).toBe('5000.5')
  expect(await page.getByText('This coupon has changed').count()).toBe(0)
  await speak('ES')
})

test('a name without a space does not overflow, and formulas and tags are shown as text', async () => {
  const name = `=1+1<b>${'x'.repeat(60)}`
  await page.goto(`${server.url}/panel#/new`)
  await page.getByRole('radio', { name: 'Un monto de descuento' }).check()
  await next(page)
  await fill('Monto', '9.999.999,50')
  await next(page)
  await page.getByLabel('Nombre del cupón').fill(name)
  await press('Crear el cupón')
  await page.getByRole('heading', { level: 1 }).getByText(name).waitFor()
  // Back leads to the page before the form, which is done.
  await page.goBack()
  await page.getByRole('heading', { level: 1 }).getByText(name).waitFor({ state: 'detached' })
  expect(page.url()).not.toContain('#/new')
  await page.goForward()
  await checkEveryWidth(page, 'panel-long-name')
  await page.setViewportSize({ width: 320, height: 800 })
  await expectNoOverflow(page)
  await page.goto(`${server.url}/panel#/coupons`)
  await page.locator('.tile-name').getByText(name).waitFor()
  await checkPage(page, 'panel-coupons-many')
  await page.goto(`${server.url}/panel#/`)
  await page.getByText(`Se creó «${name}»`).waitFor()
  await expectNoOverflow(page)
  await page.setViewportSize({ width: 360, height: 800 })
  await page.goto(`${server.url}/panel#/coupons`)
  await page.getByRole('link', { name: /Un nombre tan largo/ }).click()
  await page.getByRole('button', { name: 'Emitir varios' }).waitFor()
})

test('a form that was left in the middle keeps its input, and can be started again', async () => {
  const step = (at: number) => page.getByText(`Paso ${at} de 3`).waitFor()
  const told = page.getByText('Esto lo habías escrito')
  const here = page.url()
  await page.goto(`${server.url}/panel#/new`)
  await page.getByRole('radio', { name: 'Un monto de descuento' }).check()
  await next(page)
  await fill('Monto', '5.000,50')
  await next(page)
  await page.getByLabel('Descripción').fill('De lunes a viernes.')
  // Back of the browser goes one step back, and from the first one out of the form.
  await page.goBack()
  await step(2)
  await page.goForward()
  await step(3)
  await page.goBack()
  await press('Volver')
  await step(1)
  await page.goBack()
  await page.getByRole('button', { name: 'Emitir varios' }).waitFor()
  await page.goForward()
  await step(1)
  await told.waitFor()
  await next(page)
  await next(page)
  expect(await page.getByLabel('Descripción').inputValue()).toBe('De lunes a viernes.')
  await checkPage(page, 'panel-wizard-resumed')
  // The input survives a reload by pulling down, too; and another language writes its numbers in its format.
  await page.getByRole('button', { name: /^EN:/ }).click()
  for (const at of [2, 1]) {
    await page.goBack()
    await page.getByText(`Step ${at} of 3`).waitFor()
  }
  await page.goBack()
  await page.getByRole('button', { name: 'Issue several' }).waitFor()
  await page.getByRole('button', { name: /^ES:/ }).click()
  await page.goForward()
  await next(page)
  await next(page)
  await page.reload()
  await step(3)
  await press('Volver')
  expect(await page.getByLabel('Monto', { exact: true }).inputValue()).toBe('5000,5')
  await press('Empezar de nuevo')
  await step(1)
  expect(await told.count()).toBe(0)
  await page.reload()
  await step(1)
  expect(await told.count()).toBe(0)
  expect(await page.getByRole('radio', { name: 'Un porcentaje' }).isChecked()).toBe(true)
  await page.goto(here)
})

test('a coupon deleted elsewhere leaves the typed input in the form', async () => {
  const here = page.url()
  const token = await page.evaluate(
    () => JSON.parse(sessionStorage.getItem('cuponera:panel') ?? '{}').token,
  )
  const fields = { name: 'Pasajero', benefit: { type: 'percent', percent: 15 } }
  const { json } = await call(server.url, '/api/coupons', {
    body: fields,
    token,
    headers: { 'Idempotency-Key': newKey() },
  })
  await page.goto(`${server.url}/panel#/coupons/${json.coupon.id}/edit`)
  await next(page)
  await fill('Nombre del cupón (opcional)', 'Lo que escribí')
  await call(server.url, `/api/coupons/${json.coupon.id}`, { method: 'DELETE', token })
  await page.getByText('Este cupón ya no está').waitFor()
  expect(await page.getByLabel('Nombre del cupón').inputValue()).toBe('Lo que escribí')
  await checkEveryWidth(page, 'panel-edit-gone')
  await press('Crear el cupón')
  await page.getByRole('heading', { level: 1 }).getByText('Lo que escribí').waitFor()
  // After saving, the draft is gone.
  await page.goto(`${server.url}/panel#/coupons/${json.coupon.id}/edit`)
  await page.getByText('Ese cupón no está').waitFor()
  await page.goto(here)
})

/** Millimetres in the points of a PDF. */
const points = (millimetres: number) => (millimetres / 25.4) * 72
const papers = [
  { format: 'Hoja A4, para recortar', wide: 210, high: 297, margin: 10, pages: 2 },
  { format: 'Ticket de 80 mm', wide: 80, high: 120, margin: 3, pages: 20 },
  { format: 'Ticket de 58 mm', wide: 58, high: 100, margin: 2, pages: 20 },
]

test('many vouchers are printed: ten to an A4 sheet, or a ticket each', async () => {
  await page.getByRole('button', { name: 'Emitir varios' }).click()
  await page.getByLabel('¿Cuántos?').fill('20')
  await press('Emitir')
  // The last sheet is a full one.
  await page.getByText('20 cupones listos').waitFor()
  for (const { format, wide, high, margin, pages } of papers) {
    await page.getByLabel('Formato').selectOption({ label: format })
    await press('Imprimir')
    await page.locator('.paper').waitFor({ state: 'attached' })
    const room = Math.round(((wide - 2 * margin) / 25.4) * 96)
    await page.setViewportSize({ width: room, height: 800 })
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.paper-coupon:visible').count()).toBe(20)
    expect(await page.locator('.dialog').isVisible()).toBe(false)
    // No part of a coupon is cut off.
    const cut = await page.locator('.paper-coupon').evaluateAll(
      (coupons) =>
        coupons.filter((coupon) => {
          const { bottom, right } = coupon.getBoundingClientRect()
          const parts = [
            ...coupon.querySelectorAll('.qr, .paper-name, .paper-benefit, .paper-fine'),
          ]
          return parts.some((part) => {
            const box = part.getBoundingClientRect()
            return box.bottom > bottom + 1 || box.right > right + 1 || box.height === 0
          })
        }).length,
    )
    expect({ format, cut }).toEqual({ format, cut: 0 })
    expect(await shownQr(page, '.paper')).toStartWith(`${server.url}/c#`)
    await picture(page, `print-${wide}`)
    await page.emulateMedia({ media: null })
    await page.setViewportSize({ width: 768, height: 800 })
    const name = `${import.meta.dir}/../../test-output/pages/print-${wide}.pdf`
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true, path: name })
    const boxes = [...pdf.toString('latin1').matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)]
    expect({ format, ...pagesOf(pdf) }).toEqual({ format, count: pages, empty: [] })
    for (const [, x, y] of boxes) {
      expect(Number(x)).toBeCloseTo(points(wide), -0.5)
      expect(Number(y)).toBeCloseTo(points(high), -0.5)
    }
    await page.locator('.paper').waitFor({ state: 'detached' })
  }
  expect(opened.complaints).toEqual([])
})
