/** Coupons issued together: recipients, and ways to hand each over. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { closeBrowser } from '../support/browser.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast } from '../support/page-states.ts'
import { closePanels, openCoupon } from '../support/panel-page.ts'
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

test('a batch is issued to the people of a file, each code shows its person, and voiding it leaves figures that add up', async () => {
  const panel = await openCoupon(server)
  const { page, press, dialog, heading, ask, id } = panel
  const bodies: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/coupons/mint')) bodies.push(request.postData() ?? '')
  })
  await page.evaluate('window.print = () => {}')
  await press('Emitir varios')
  await page.getByText('Poner un nombre a cada uno').click()
  // An error in a closed part would be found by nobody.
  await page.getByLabel('Para quién es cada uno').fill('Ana; casa')
  await page.getByText('Poner un nombre a cada uno').click()
  await press('Emitir 1 con nombre')
  await dialog().getByText('Línea 1: ese teléfono no puede ser').waitFor()
  const csv =
    '\ufeff"Destinatario";"Teléfono"\r\n"Ana";"11 2345-6789"\r\n"Beto";"casa"\r\n"Caro";\r\n'
  const file = { name: 'gente.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
  // Moved or locked since it was chosen: the browser has its name and none of its bytes.
  await page.evaluate(() => {
    const { arrayBuffer } = File.prototype
    File.prototype.arrayBuffer = () => {
      File.prototype.arrayBuffer = arrayBuffer
      return Promise.reject(new DOMException('locked', 'NotReadableError'))
    }
  })
  await dialog().locator('input[type=file]').setInputFiles(file)
  await dialog().getByText('lo tiene abierto otro programa').waitFor()
  await dialog().locator('input[type=file]').setInputFiles(file)
  await dialog().getByText('Línea 2: ese teléfono no puede ser').waitFor()
  await checkEveryWidth(page, 'batch-form')
  const people = page.getByLabel('Para quién es cada uno')
  await people.fill((await people.inputValue()).replace('; casa', ''))
  await page.getByLabel('Nombre de la tanda').fill('Feria')
  // A dialog that closes by accident loses nothing that was typed.
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
  await press('Emitir varios')
  expect(await people.inputValue()).toBe('Ana; 11 2345-6789\nBeto\nCaro')
  expect(await page.getByLabel('Nombre de la tanda').inputValue()).toBe('Feria')
  await press('Emitir 3 con nombre')
  await heading('3 cupones listos')
  expect(bodies.map((body) => JSON.parse(body))).toEqual([
    { couponId: id, batch: { name: 'Feria' }, count: 3, labels: ['Ana', 'Beto', 'Caro'] },
  ])

  await dialog().getByText('Para Ana', { exact: true }).waitFor()
  const link = page.getByRole('link', { name: 'WhatsApp al +54 9 11 2345-6789' })
  expect(await link.getAttribute('href')).toStartWith('https://wa.me/5491123456789?text=')
  await checkEveryWidth(page, 'batch-given')
  await page.keyboard.press('Escape')
  await page.getByText('Estos códigos no se pueden volver a mostrar').waitFor()
  await press('Cancelar')
  await press('El siguiente')
  await dialog().getByText('Para Beto', { exact: true }).waitFor()

  await dialog().getByRole('button', { name: 'Imprimir', exact: true }).click()
  const paper = page.locator('.paper-a4:not(.paper-measured)')
  await paper.waitFor({ state: 'attached' })
  for (const name of ['Ana', 'Beto', 'Caro']) {
    expect(await paper.getByText(`Para ${name}`, { exact: true }).count()).toBe(1)
  }
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))

  const saved = page.waitForEvent('download')
  await press('Bajar planilla')
  const rows = (await readFile(await (await saved).path(), 'utf8')).split('\r\n')
  expect(rows[0]).toBe('\ufeff"Destinatario";"Enlace";"Código para escribir"')
  expect(rows[1]).toMatch(/^"Ana";"http:\S+\/c#[\w-]{22}";"([0-9A-Z]{4} ){6}[0-9A-Z]{4}"$/)
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })

  const main = page.locator('main')
  const nonce = /#([\w-]{22})/.exec(rows[1] ?? '')?.[1]
  expect((await ask('/api/coupons/claim', { body: { nonce } })).status).toBe(200)
  await page.getByText('Tandas', { exact: true }).click()
  const batch = main.getByRole('row').filter({ hasText: 'Feria' })
  const figures = async () =>
    (await batch.locator('td.number').allTextContents()).slice(1).map(Number)
  await until('its redemption shows', async () => (await figures()).join() === '3,2,1,0,0')
  await checkEveryWidth(page, 'batches')
  await press('Anular la tanda Feria')
  await dialog().getByText('Dejan de valer 2 cupones sin canjear').waitFor()
  await checkPage(page, 'batch-void')
  await expectToast(page.getByText('Se anularon 2 cupones.'), () =>
    dialog().getByRole('button', { name: 'Anular la tanda' }).click(),
  )
  // Issued = open + redeemed + expired + voided.
  await until('its figures add up', async () => (await figures()).join() === '3,0,1,0,2')
  await page.getByLabel('Buscar un destinatario').fill('béto')
  await press('Buscar')
  await main.getByText('Ana', { exact: true }).waitFor({ state: 'detached' })
  expect(await main.getByText('Beto', { exact: true }).count()).toBe(1)
  const exported = page.waitForEvent('download')
  await press('Exportar a planilla')
  const list = await readFile(await (await exported).path(), 'utf8')
  expect(list).toContain('"Anulado";"Caro";"Feria";"Vos";')
  await page.goto(`${server.url}/panel#/redemptions`)
  await heading('Canjes')
  await main.getByText('Ana', { exact: true }).waitFor()

  // A copy has the fields of its coupon, and nothing of what was issued.
  await page.goto(`${server.url}/panel#/coupons/${id}`)
  await page.getByRole('tab', { name: 'Administrar' }).click()
  await page.getByRole('link', { name: 'Duplicar cupón' }).click()
  await heading('Nuevo cupón')
  await press('Seguir')
  await press('Crear el cupón')
  await page.getByRole('button', { name: 'Entregar uno' }).waitFor()
  const [copy, model] = (await ask('/api/coupons')).json.coupons
  expect([copy.name, copy.benefit, copy.maxUses]).toEqual([
    model.name,
    model.benefit,
    model.maxUses,
  ])
  expect(copy.minted).toBe(0)
})
