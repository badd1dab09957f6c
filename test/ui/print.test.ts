/** Coupons on paper and as a picture: the shop, the whole promise and the code, however long the terms are. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { limits } from '../../src/base/limits.ts'
import { readTyped } from '../../src/client/typed-code.ts'
import type { Rules } from '../../src/coupons/rules.ts'
import type { PrintFormat } from '../../src/ui/parts/print-fit.ts'
import { closeBrowser, picture, qrInPicture, shownQr } from '../support/browser.ts'
import { call } from '../support/client.ts'
import { shownAddress } from '../support/merchant-page.ts'
import { waitForLooks } from '../support/page-states.ts'
import { closePanels, openCoupon } from '../support/panel-page.ts'
import { pagesOf } from '../support/pdf.ts'
import { pngOf } from '../support/pictures.ts'
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

const shop = 'Almacén y Café «La Luna de los Pájaros» de Ñandú Hermanos SRL'

/** A text of just so many characters, whose last word tells that it is whole. */
const texted = (words: string, length: number) =>
  `${words.repeat(Math.ceil(length / words.length)).slice(0, length - 4)} FIN`

const terms = {
  name: texted('Nombre del cupón con muchas letras ', limits.nameCharsMax),
  description: texted(
    'De lunes a jueves, de 15 a 18, salvo feriados. ',
    limits.descriptionCharsMax,
  ),
  expiresAt: 4_070_908_800,
}
const cap = { amount: 5000, currency: 'ARS' }
const products = (length: number) =>
  Array.from({ length }, (_, at) => texted(`Producto ${at} `, limits.productCharsMax))

/** Two windows a day, and every other rule. */
const rules: Rules = {
  startsAt: 1_900_000_000,
  times: {
    timeZone: 'UTC',
    windows: [1, 2, 3, 4, 5, 6, 7].flatMap((day) => [
      { days: [day], from: `0${day}:00`, to: '13:30' },
      { days: [day], from: '15:00', to: '20:45' },
    ]),
  },
  minimum: { amount: 10_000, currency: 'ARS' },
  conditions: texted('Sólo en efectivo. ', limits.conditionsCharsMax),
}

type Case = {
  what: string
  fields: {
    name: string
    description: string
    benefit: { productDs?: string[]; [key: string]: unknown }
    rules?: Rules
  }
  fits: { [F in PrintFormat]?: boolean }
}

/**
 * The longest that the service takes. `fits`: two coupons take no more pages than short ones do; absent where the
 * font decides.
 */
const cases: Case[] = [
  {
    what: 'the longest terms',
    fields: { ...terms, benefit: { type: 'percent', percent: 25, cap } },
    fits: { a4: true, '80': true },
  },
  {
    what: 'the longest terms without a space',
    fields: {
      ...terms,
      name: 'M'.repeat(limits.nameCharsMax),
      description: 'W'.repeat(limits.descriptionCharsMax),
      benefit: { type: 'percent', percent: 25, cap },
    },
    fits: { a4: true, '80': false, '58': false },
  },
  {
    what: 'the longest list of products and rules',
    fields: {
      ...terms,
      rules,
      benefit: { type: 'percent', percent: 25, cap, productDs: products(limits.productsMax) },
    },
    fits: { a4: false, '80': false, '58': false },
  },
]

const papers = [
  { format: 'a4', label: 'Hoja A4, para recortar', wide: 190, code: 44 },
  { format: '80', label: 'Ticket de 80 mm', wide: 74, code: 64 },
  { format: '58', label: 'Ticket de 58 mm', wide: 54, code: 50 },
] as const

/** Open the codes that were issued; `count` of them. */
async function handOver(fields: Record<string, unknown>, count: number) {
  const panel = await openCoupon(server, { fields, issued: 1 })
  const { page, press, nonces } = panel
  const { json } = await call(server.url, '/api/coupons/preview', { body: { nonce: nonces[0] } })
  await page.evaluate(
    ([key = '', name]) =>
      localStorage.setItem('cuponera:merchants', JSON.stringify({ [key]: { name } })),
    [json.npub, shop],
  )
  await page.addInitScript('window.print = () => {}')
  await page.reload()
  if (count === 1) {
    await press('Entregar uno')
  } else {
    await press('Emitir varios')
    await page.getByLabel('¿Cuántos?').fill(String(count))
    await press(/^Emitir$/)
  }
  await page.getByRole('button', { name: 'Imprimir' }).waitFor()
  return panel
}

/** The sentences of the benefit and of the rules, without the marks that isolate names. */
const promised = ({ benefit, rules: { conditions, times, minimum } = {} }: Case['fields']) => [
  ...(conditions ? [conditions] : []),
  ...(minimum ? ['Compra mínima $10.000', 'Desde el 17 de marzo de 2030'] : []),
  ...(times ? ['Lunes de 1 a 13:30 h y de 15 a 20:45 h', 'domingos de 7 a 13:30 h'] : []),
  ...(benefit.productDs ?? ['en toda tu compra']),
  'hasta $5.000',
]

/** Parts of the paper whose words are hidden or reach beyond them. */
function cutParts(page: Page): Promise<string[]> {
  return page.locator('.paper').evaluate((paper) =>
    [paper, ...paper.querySelectorAll<HTMLElement>('.paper-sheet, .paper-coupon, .paper-coupon *')]
      .filter((one): one is HTMLElement => one instanceof HTMLElement)
      .filter((one) => one.checkVisibility())
      .filter((one) => {
        const { overflowX, overflowY, webkitLineClamp } = getComputedStyle(one)
        const clips = overflowX !== 'visible' || overflowY !== 'visible'
        const past =
          one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1
        return webkitLineClamp !== 'none' || clips || past
      })
      .map((one) => `${one.className}: ${one.scrollHeight} in ${one.clientHeight}`),
  )
}

for (const { what, fields, fits } of cases) {
  test(`nothing of ${what} is cut on any paper`, async () => {
    const { page } = await handOver(fields, 2)
    for (const { format, label, wide, code } of papers) {
      await page.getByLabel('Formato').selectOption({ label })
      await page.getByRole('button', { name: 'Imprimir' }).click()
      const paper = page.locator(`.paper-${format}:not(.paper-measured)`)
      await paper.waitFor({ state: 'attached' })
      await page.setViewportSize({ width: Math.round((wide / 25.4) * 96), height: 800 })
      await page.emulateMedia({ media: 'print' })
      expect({ format, cut: await cutParts(page) }).toEqual({ format, cut: [] })
      const printed = await page.locator('.paper-words').evaluateAll((coupons) =>
        coupons.map((one) => ({
          text: (one as HTMLElement).innerText,
          smallest: Math.min(
            ...[...one.children].map((part) => Number.parseFloat(getComputedStyle(part).fontSize)),
          ),
        })),
      )
      expect(printed).toHaveLength(2)
      for (const { text, smallest } of printed) {
        // Six points, which a person still reads.
        expect(smallest).toBeGreaterThanOrEqual(8 - 0.01)
        expect(text).not.toContain('npub')
        const due = [shop, fields.name, fields.description, 'Vale hasta el', ...promised(fields)]
        expect(due.filter((words) => !text.includes(words))).toEqual([])
      }
      // The code keeps its size, its quiet zone and its content.
      const sides = await page
        .locator('.paper .qr')
        .evaluateAll((codes) => codes.map((one) => one.getBoundingClientRect().width))
      for (const side of sides) expect(side).toBeCloseTo((code / 25.4) * 96, 0)
      const address = await shownQr(page, '.paper')
      expect(address).toStartWith(`${server.url}/c#`)
      const typed = await page.locator('.paper .code-text').first().textContent()
      expect(readTyped(typed ?? '')).toEqual({ nonce: new URL(address).hash.slice(1) })
      const name = `print-${what.replaceAll(' ', '-')}-${format}`
      await picture(page, name)
      await page.emulateMedia({ media: null })
      await page.setViewportSize({ width: 768, height: 800 })
      const path = join(import.meta.dir, '../../test-output/pages', `${name}.pdf`)
      const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true, path })
      const { count, empty } = pagesOf(pdf)
      const fitted = count === (format === 'a4' ? 1 : 2)
      expect({ format, empty }).toEqual({ format, empty: [] })
      expect({ format, fitted }).toEqual({ format, fitted: fits[format] ?? fitted })
      await page.locator('.paper').waitFor({ state: 'detached' })
    }
  })
}

/** Keeps every text that a canvas draws, with its place. */
const recorder = `
  window.drawn = []
  const fillText = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
    const { width } = this.measureText(text)
    window.drawn.push({ text, y, squeezed: width > most + 1, high: this.canvas.height })
    return fillText.call(this, text, x, y, most)
  }
`
type Drawn = { text: string; y: number; squeezed: boolean; high: number }

test('a shop without a known name has nothing in its place, on paper and in the picture', async () => {
  const { page, press } = await openCoupon(server)
  await page.evaluate('window.print = () => {}')
  await press('Entregar uno')
  await press('Imprimir')
  await page.locator('.paper-80, .paper-58, .paper-a4').waitFor({ state: 'attached' })
  const text = await page.locator('.paper').textContent()
  expect(text).toContain('2x1 en café, hasta $5.000')
  expect(await page.locator('.paper-shop').count()).toBe(0)
  expect(text).not.toContain('npub')
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
  await page.evaluate(recorder)
  const download = page.waitForEvent('download')
  await press('Guardar imagen')
  await download
  const drawn = (await page.evaluate('window.drawn')) as Drawn[]
  expect(drawn.map((one) => one.text)).toEqual([
    '2x1',
    'Café de a dos',
    '2x1 en café, hasta $5.000',
    expect.stringMatching(/^(\w{4} ){6}\w{4}$/),
    'No vence',
  ])
})

test('the logo of a shop stands on paper and in the picture', async () => {
  const { page, press, ask } = await openCoupon(server)
  const { json } = await ask('/api/pictures', { body: pngOf(300, 200, { shade: 90 }) })
  const { hash } = json.picture
  await ask('/api/shop', { method: 'PATCH', body: { name: 'Café Sol', picture: hash } })
  await page.reload()
  await page.locator('.top img.logo').waitFor()
  await page.evaluate('window.print = () => {}')
  await waitForLooks(page)
  await press('Entregar uno')
  await press('Imprimir')
  const logo = page.locator('.paper-logo')
  await logo.waitFor({ state: 'attached' })
  const drawn = await logo.evaluate((image: HTMLImageElement) => [
    image.getAttribute('src'),
    image.naturalWidth,
  ])
  expect(drawn).toEqual([`/api/pictures/${hash}`, 300])
  await page.setViewportSize({ width: 794, height: 800 })
  await page.emulateMedia({ media: 'print' })
  await picture(page, 'paper-logo')
  await page.emulateMedia({ media: 'screen' })
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
  const download = page.waitForEvent('download')
  await press('Guardar imagen')
  const path = join(import.meta.dir, '../../test-output/pages/saved-logo.png')
  await (await download).saveAs(path)
  const greys = await page.evaluate(
    async (bytes) => {
      const bitmap = await createImageBitmap(new Blob([Uint8Array.fromBase64(bytes)]))
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
      const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
      context.drawImage(bitmap, 0, 0)
      return [...context.getImageData(bitmap.width / 2, 125, 1, 1).data]
    },
    Buffer.from(await Bun.file(path).arrayBuffer()).toString('base64'),
  )
  expect(greys).toEqual([90, 90, 90, 255])
})

test.each(cases)('nothing of $what is cut in the saved picture', async ({ what, fields }) => {
  const { page, press } = await handOver(fields, 1)
  const address = await shownAddress(page)
  await page.evaluate(recorder)
  const download = page.waitForEvent('download')
  await press('Guardar imagen')
  const path = join(
    import.meta.dir,
    '../../test-output/pages',
    `saved-${what.replaceAll(' ', '-')}.png`,
  )
  await (await download).saveAs(path)
  const drawn = (await page.evaluate('window.drawn')) as Drawn[]
  expect(drawn.filter(({ y, high, squeezed }) => squeezed || y > high - 20)).toEqual([])
  // Lines break where they must, also within a word.
  const text = drawn
    .map((one) => one.text)
    .join('')
    .replace(/\s/g, '')
  const due = [shop, fields.name, fields.description, 'Vale hasta el', ...promised(fields)]
  expect(due.filter((words) => !text.includes(words.replace(/\s/g, '')))).toEqual([])
  expect(text).not.toContain('npub')
  expect(await qrInPicture(page, path)).toBe(address)
})
