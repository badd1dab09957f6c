/** The posters of a coupon in the panel: made, limited, paused, printed. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { limits } from '../../src/base/limits.ts'
import { closeBrowser, picture, shownQr } from '../support/browser.ts'
import { call, newSigner, withKey } from '../support/client.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
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

/** A text of just so many characters, whose last word tells that it is whole. */
const long = (words: string, length: number) =>
  `${words.repeat(Math.ceil(length / words.length)).slice(0, length - 4)} FIN`

const terms = {
  name: long('Nombre del cupón con muchas letras ', limits.nameCharsMax),
  description: long('De lunes a jueves, salvo feriados. ', limits.descriptionCharsMax),
  rules: { conditions: long('No se suma a otros. ', limits.conditionsCharsMax) },
}

/** Print, and look at the paper: its words, the width of its code, and its pages. */
async function printed(page: Page, format: 'a4' | 'a5', width: number) {
  await page.getByRole('button', { name: `Imprimir en ${format.toUpperCase()}` }).click()
  const paper = page.locator(`.poster-${format}:not(.paper-measured)`)
  await paper.waitFor({ state: 'attached' })
  await page.setViewportSize({ width: Math.round((width / 25.4) * 96), height: 800 })
  await page.emulateMedia({ media: 'print' })
  const code = await shownQr(page, '.paper')
  const cut = await paper.evaluate(
    (one) =>
      [one, ...one.querySelectorAll('*')]
        .filter((part) => part.scrollWidth > part.clientWidth + 1)
        .filter((part) => part instanceof HTMLElement).length,
  )
  const text = await paper.innerText()
  const logo = await paper
    .locator('.poster-logo')
    .evaluate((image: HTMLImageElement) => [image.getAttribute('src'), image.naturalWidth])
  const sizes = await paper
    .locator('p')
    .evaluateAll((lines) => lines.map((line) => Number.parseFloat(getComputedStyle(line).fontSize)))
  await picture(page, `poster-paper-${format}`)
  await page.emulateMedia({ media: null })
  await page.setViewportSize({ width: 768, height: 800 })
  const path = join(import.meta.dir, '../../test-output/pages', `poster-${format}.pdf`)
  const pdf = await page.pdf({ preferCSSPageSize: true, path })
  const pages = pagesOf(pdf)
  await page.locator('.paper').waitFor({ state: 'detached' })
  return { code, cut, text, logo, smallest: Math.min(...sizes), pages }
}

test('a merchant hangs a poster, follows it, pauses it and takes it down', async () => {
  const { page, press, ask, dialog, id: couponId } = await openCoupon(server, { fields: terms })
  const { json } = await ask('/api/pictures', { body: pngOf(300, 200, { shade: 90 }) })
  const { hash } = json.picture
  await ask('/api/shop', { method: 'PATCH', body: { name: 'Café Sol', picture: hash } })
  await page.reload()
  await page.locator('.top img.logo').waitFor()
  await page.evaluate('window.print = () => {}')
  await waitForLooks(page)
  await page.getByRole('tab', { name: 'Afiche' }).click()
  await page.getByText('Este cupón no tiene afiche').waitFor()
  await press('Crear un afiche')
  await page.getByLabel('Por persona').fill('0')
  await press('Crear el afiche')
  await page.getByText('Un número entero, de 1 a 100.').waitFor()
  await checkPage(page, 'panel-poster-form')
  await page.getByLabel('Por persona').fill('1')
  await page.getByLabel('Por día').fill('5')
  await page.getByLabel('Nombre para vos').fill('Vidriera')
  await press('Crear el afiche')
  await page.getByRole('heading', { name: 'Vidriera' }).waitFor()
  await page.getByText('quien abre otro navegador puede llevarse otro').waitFor()
  const [poster] = (await ask('/api/posters')).json.posters
  expect(poster).toMatchObject({ couponId, perPerson: 1, perDay: 5, total: 100, label: 'Vidriera' })
  const zone = await page.evaluate(() => new Intl.DateTimeFormat().resolvedOptions().timeZone)
  expect(poster.timeZone).toBe(zone)

  const path = `/api/posters/${poster.id}/take`
  const taken = () => call(server.url, path, { method: 'POST', signer: newSigner(), ...withKey() })
  expect((await taken()).status).toBe(201)
  await page.getByText('Se llevó 1 de 100 · Hoy: 1 de 5').waitFor()
  await checkEveryWidth(page, 'panel-poster')

  await press('Pausar')
  await page.getByText('En pausa').waitFor()
  await checkPage(page, 'panel-poster-paused')
  expect((await taken()).json.code).toBe('poster-paused')
  await press('Seguir entregando')
  await page.getByText('Entregando', { exact: true }).waitFor()
  await press('Cambiar los topes')
  await dialog().getByLabel('Por día').fill('')
  await dialog().getByLabel('En total').fill('1')
  await press('Guardar')
  await page.getByText('Se llevaron todos').waitFor()

  for (const [format, width] of [
    ['a4', 186],
    ['a5', 132],
  ] as const) {
    const { code, cut, text, logo, smallest, pages } = await printed(page, format, width)
    expect(code).toBe(`${server.url}/c/p/${poster.id}`)
    expect({ format, cut, pages }).toEqual({ format, cut: 0, pages: { count: 1, empty: [] } })
    expect(logo).toEqual([`/api/pictures/${hash}`, 300])
    // Eight points, which a person reads at the counter.
    expect(smallest).toBeGreaterThanOrEqual(8 * (96 / 72) - 0.01)
    const due = [terms.name, terms.description, terms.rules.conditions, 'hasta $5.000']
    const said = [...due, 'Café Sol', 'Un cupón por persona.', 'Escaneá', 'No vence']
    expect(said.filter((words) => !text.includes(words))).toEqual([])
    expect(text).not.toContain('npub')
  }

  await page.getByRole('tab', { name: 'Emitidos' }).click()
  await page.getByRole('cell', { name: 'Afiche' }).waitFor()
  await page.getByRole('tab', { name: 'Afiche' }).click()
  await press('Borrar')
  await dialog().getByRole('button', { name: 'Borrar' }).waitFor()
  await checkPage(page, 'panel-poster-delete')
  await dialog().getByRole('button', { name: 'Borrar' }).click()
  await page.getByText('Este cupón no tiene afiche').waitFor()
  expect((await ask('/api/posters')).json.posters).toEqual([])
})
