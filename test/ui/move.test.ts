/** The move of a shop by its pages: out of one service and into another. */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { closeBrowser, visit } from '../support/browser.ts'
import { call, createDefinition, mintOne } from '../support/client.ts'
import { startClosed } from '../support/closed.ts'
import { makeKey, pin } from '../support/merchant-page.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const otherWords = 'abaco abaco abaco abaco abaco abaco abaco abaco'

test('a shop walks out of one service and into another, which redeems its coupon', async () => {
  const [old, fresh] = await Promise.all([startClosed(), startClosed()])
  const { page, context } = await visit(`${old.url}/panel#alta=${old.code}`)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await makeKey(page)
  const [token, key] = await page.evaluate(() => [
    JSON.parse(sessionStorage.getItem('cuponera:panel') ?? '{}').token as string,
    /ncryptsec1\w+/.exec(JSON.stringify(localStorage))?.[0] ?? '',
  ])
  const coupon = await createDefinition(old.url, token)
  const [{ nonce }, unseen] = [
    await mintOne(old.url, token, coupon),
    await mintOne(old.url, token, coupon),
  ]
  const { page: phone } = await visit(`${old.url}/c#${nonce}`)
  await phone.getByRole('button', { name: 'Hacelo mío' }).waitFor()

  await press('Ajustes')
  await page.getByRole('heading', { name: 'Mudarse a otra computadora' }).scrollIntoViewIfNeeded()
  await checkPage(page, 'panel-settings-move')
  await press('Empezar la mudanza')
  await page.getByLabel('Escribí MUDAR para seguir').fill('mudar')
  await press('Seguir')
  const words = await page.locator('dialog .recovery-words li').allTextContents()
  expect(words).toHaveLength(8)
  await checkPage(page, 'panel-move-words')
  await press('Ya las guardé: cerrar el negocio acá')
  await page.getByText('En esta computadora el negocio está cerrado').waitFor()
  expect(await page.locator('.toast').count()).toBe(0)
  const [download] = await Promise.all([page.waitForEvent('download'), press('Bajar el archivo')])
  const file = join(newDirectory(), download.suggestedFilename())
  expect(file).toEndWith('.cuponera')
  await download.saveAs(file)
  await checkEveryWidth(page, 'panel-moved')

  await page.goto(`${old.url}/caja`)
  await page.getByText('Acá ya no se canjea nada').first().waitFor()
  await checkPage(page, 'moved-till')
  // A customer learns that the code is good, and cannot begin a swap that nobody finishes.
  await phone.goto(`${old.url}/c#${unseen.nonce}`)
  await phone.getByText('Tus cupones sin usar valen igual').waitFor()
  await phone.getByRole('img', { name: 'Tu cupón' }).waitFor()
  expect(await phone.getByText('conexión').count()).toBe(0)
  await checkPage(phone, 'moved-coupon')
  await phone.getByRole('button', { name: 'Volver a mis cupones' }).click()
  await phone.getByText('no se pudo revisar').waitFor()
  await checkPage(phone, 'moved-coupons')
  await phone.locator('.held-open').last().click()
  await phone.getByText('El QR sirve igual en la caja').waitFor()
  await phone.getByRole('img', { name: 'QR de' }).waitFor()
  expect(await phone.getByText('Hacelo mío').count()).toBe(0)
  await checkPage(phone, 'moved-coupon-known')
  await phone.context().close()

  const arriving = await visit(`${fresh.url}/panel#alta=${fresh.code}`)
  const at = arriving.page
  const tap = (name: string) => at.getByRole('button', { name, exact: true }).click()
  await tap('Vengo de otra computadora')
  await at.getByLabel('Elegir el archivo').setInputFiles(file)
  await at.getByLabel('Las ocho palabras').fill(otherWords.replace('abaco', 'abbaco'))
  await tap('Traer mi negocio')
  await at.getByText('«abbaco» no es una').waitFor()
  await at.getByLabel('Las ocho palabras').fill(otherWords)
  let pieces = 0
  at.on('request', (request) => {
    if (request.url().includes('/pieces')) pieces++
  })
  await tap('Traer mi negocio')
  await at.getByText('Esas palabras no abren el archivo').waitFor()
  await checkEveryWidth(at, 'panel-move-in')
  await at.getByLabel('Las ocho palabras').fill(words.join(' ').toUpperCase())
  await tap('Traer mi negocio')
  await at.getByText('Listo: entrá con tu clave').waitFor()
  expect(pieces).toBe(1)
  await checkPage(at, 'panel-moved-in')
  await tap('Ya tengo una clave o una copia')
  await at.getByLabel('Tu clave o tu copia').fill(key)
  await at.getByLabel('Lo que abre esta copia').fill(pin)
  await tap('Entrar')
  await at.getByRole('heading', { name: 'Primeros pasos' }).waitFor()
  const claim = () => call(fresh.url, '/api/coupons/claim', { body: { nonce } })
  expect((await claim()).json.status).toBe('success')
  expect((await claim()).json.status).toBe('claimed')
  await arriving.context.close()

  // Without the page that closed it, the owner still has both actions.
  await page.goto(`${old.url}/panel`)
  await page.reload()
  await page.getByRole('heading', { name: 'Este negocio se mudó' }).waitFor()
  await checkPage(page, 'panel-moved-locked')
  await page.getByLabel('PIN', { exact: true }).fill(pin)
  await press('Entrar')
  await page.getByText('Son nuevas').waitFor()
  await press('La mudanza no se hizo')
  await page.getByText('Antes destruí todas las copias').waitFor()
  await checkPage(page, 'panel-move-back')
  await press('Destruí el archivo: abrir acá')
  await page.getByRole('heading', { name: 'Primeros pasos' }).waitFor()
  expect((await call(old.url, '/readyz')).status).toBe(200)
  await context.close()
})
