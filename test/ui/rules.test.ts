/** The rules of a coupon in a real browser: set in the wizard, and said on the coupon and at the till. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { closeBrowser } from '../support/browser.ts'
import { secondsNow } from '../support/clock.ts'
import { checkEveryWidth } from '../support/page-looks.ts'
import { closePanels, signIn } from '../support/panel-page.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { closePages, openPage, tillOf } from '../support/shop-pages.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})

afterEach(async () => {
  await closePages()
  await closePanels()
})

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

test('a merchant sets rules, and her coupon says them', async () => {
  const merchant = await signIn(server)
  const { page, press } = await merchant.open('#/new')
  await page.getByRole('radio', { name: 'Un porcentaje' }).check()
  await press('Seguir')
  await page.getByRole('textbox', { name: 'Descuento' }).fill('20')
  await press('Seguir')
  await page.getByText('Reglas (opcional)').click()
  await page.getByLabel('Vale desde el').fill('2030-12-01')
  await press('Elegir días y horarios')
  await page.getByRole('checkbox', { name: 'viernes' }).uncheck()
  await page.getByLabel('Desde las').fill('15:00')
  await press('Crear el cupón')
  // A rule that makes no sense is reported where it stands, and takes the focus.
  await page.getByText('Completá las dos horas').waitFor()
  await page.getByLabel('Hasta las').fill('18:00')
  await page.getByLabel('Compra mínima').fill('10.000')
  await page.getByLabel('Otras condiciones').fill('Sólo en efectivo.')
  await checkEveryWidth(page, 'panel-wizard-rules')
  await press('Crear el cupón')
  await page.getByRole('button', { name: 'Entregar uno' }).waitFor()
  const said = ['Lunes a jueves de 15 a 18 h', 'Compra mínima $10.000', 'Sólo en efectivo.']
  for (const line of said) await page.getByText(line).first().waitFor()
  await page.getByText('Desde el 1 de diciembre de 2030').first().waitFor()
  const { id, rules } = await merchant.stored()
  expect(rules).toMatchObject({
    times: { windows: [{ days: [1, 2, 3, 4], from: '15:00', to: '18:00' }] },
    minimum: { amount: 10_000, currency: 'ARS' },
    conditions: 'Sólo en efectivo.',
  })
  const { page: coupon } = await openPage(`${server.url}/c#${await merchant.issue(id)}`)
  for (const line of said) await coupon.getByText(line).first().waitFor()
  // The clock of the phone may be wrong: the code stays.
  await coupon.getByText(/^Se puede usar desde el \d/).waitFor()
  await coupon.getByRole('button', { name: 'Ver el QR grande' }).waitFor()
  await checkEveryWidth(coupon, 'coupon-rules')
})

test('a till says the rules, asks for the purchase, and explains a refusal', async () => {
  const merchant = await signIn(server)
  const minimum = { amount: 10_000, currency: 'ARS' }
  const always = { days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:00' }
  const times = { timeZone: 'UTC', windows: [always] }
  const bought = await merchant.createCoupon({ rules: { times, minimum } })
  const startsAt = secondsNow() + 30 * 86_400
  const later = await merchant.createCoupon({ rules: { startsAt, conditions: 'Uno por mesa.' } })
  const [{ npub }] = (await merchant.ask('/api/coupons/mintable')).json.coupons
  const { page } = await openPage(`${server.url}/caja`, { before: tillOf(npub) })
  const enter = async (nonce: string) => {
    await page.getByLabel('Código del cupón').fill(nonce)
    await page.getByRole('button', { name: 'Ver cupón' }).click()
  }
  const redeem = () => page.locator('.till-view').getByRole('button', { name: 'Canjear' }).click()
  const heading = (name: string) => page.getByRole('heading', { name }).waitFor()
  await enter(await merchant.issue(bought))
  await page.getByText('Todos los días').waitFor()
  await page.getByText('Compra mínima $10.000').waitFor()
  const amount = page.getByLabel('¿De cuánto es la compra?')
  await amount.fill('mucho')
  await page.locator('.resting[aria-disabled=false]').first().waitFor()
  await redeem()
  await page.getByText('Escribí un monto, o dejalo vacío.').waitFor()
  await amount.fill('9.999,50')
  await redeem()
  await page.getByText('La compra tiene que ser de $10.000 o más.').waitFor()
  await checkEveryWidth(page, 'till-rules-purchase')
  await amount.fill('10.000')
  await redeem()
  await heading('Canjeado')
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await enter(await merchant.issue(later))
  await page.getByText('Uno por mesa.').waitFor()
  await page.getByText(/^Se puede usar desde el \d/).waitFor()
  await checkEveryWidth(page, 'till-rules-early')
  await redeem()
  await heading('Ahora no se puede usar')
  await page.getByText(/^Se puede usar desde el \d/).waitFor()
  await checkEveryWidth(page, 'till-rules-refused')
})
