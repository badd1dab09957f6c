/** Tills in the panel: authorised by photo, camera, name or key, and taken back. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { encodeQR } from 'qr'
import { npubOf } from '../../src/nostr/keys.ts'
import { closeBrowser, shownQr, showToCamera, visit } from '../support/browser.ts'
import { call, newSigner } from '../support/client.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast } from '../support/page-states.ts'
import {
  closePanels,
  type FarHost,
  openWithKey,
  signIn,
  startWithFarHost,
} from '../support/panel-page.ts'
import { cleanUp, type TestServer } from '../support/server.ts'

let server: TestServer
/** The host of the names (NIP-05). */
let far: FarHost
/** The keys behind the names that shop.test knows. */
const names: Record<string, string> = {}

beforeAll(async () => {
  ;({ server, far } = await startWithFarHost((path) =>
    path === '/.well-known/nostr.json' ? Response.json({ names }) : null,
  ))
})

afterEach(closePanels)

afterAll(async () => {
  await closeBrowser()
  await far.stop(true)
  await cleanUp()
})

/** A merchant with one coupon before the list of her tills. */
async function openTills() {
  const merchant = await signIn(server)
  const id = await merchant.createCoupon()
  const panel = await merchant.open('#/tills')
  const key = panel.page.getByLabel('Clave de la caja')
  await key.waitFor()
  return { ...merchant, ...panel, id, key }
}

/** The answer to the page's next change there: a late look at the same path is none. */
const changedAt = (page: Page, path: string) =>
  page.waitForResponse(
    (response) =>
      response.request().method() !== 'GET' && new URL(response.url()).pathname === path,
  )

const noTills = (page: Page) => page.getByText('Todavía no hay cajas').waitFor()

test('a till is authorised by a photo of its QR', async () => {
  const till = newSigner()
  const { page, press, dialog } = await openTills()
  await page.getByLabel('Usar una foto del QR').setInputFiles({
    name: 'foto.png',
    mimeType: 'image/png',
    buffer: await pictureOf(page, `nostr:${npubOf(till.pubkey)}`),
  })
  // The key shows to those who ask.
  await page.getByText('Leímos la clave.').waitFor()
  const shown = page.getByText(npubOf(till.pubkey))
  expect(await shown.isVisible()).toBe(false)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await shown.waitFor()
  await checkPage(page, 'panel-till-read')
  await expectToast(page.getByText('Autorizada: ya puede'), () => press('Autorizar'))
  await page.getByText('Sin nombre', { exact: true }).waitFor()
  await press(/^Quitar la caja/)
  await dialog().getByRole('button', { name: 'Quitar' }).click()
  await noTills(page)
})

test('a till opened from the panel knows its shop; another till gets it by a QR', async () => {
  const { page } = await openWithKey(server)
  await page.getByRole('link', { name: 'Cajas' }).click()
  await page.getByRole('link', { name: 'Abrir la caja acá' }).waitFor()
  const pubkey = await page.evaluate(
    () => JSON.parse(sessionStorage.getItem('cuponera:panel') ?? '{}').pubkey,
  )
  expect(await shownQr(page, '.till-door')).toBe(`${server.url}/caja#comercio=${npubOf(pubkey)}`)
  const opened = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'Abrir la caja acá' }).click()
  const till = await opened
  await till.getByRole('heading', { name: 'Canjear un cupón' }).waitFor()
  expect(till.url()).toBe(`${server.url}/caja`)
  expect(await till.getByRole('dialog').count()).toBe(0)
  await till.getByRole('button', { name: 'Ajustes' }).click()
  await till.getByText('Ver clave').click()
  await till.locator('.lines code').getByText(npubOf(pubkey)).waitFor()
})

/** A QR code as a photo would hold it. */
async function pictureOf(page: Page, text: string): Promise<Buffer> {
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

test('a till is authorised by a QR before the camera', async () => {
  const till = newSigner()
  const { page, press, key } = await openTills()
  showToCamera(`nostr:${npubOf(till.pubkey)}`)
  await press('Escanear el QR')
  await page.getByText('Leímos la clave.').waitFor()
  await page.locator('.film').waitFor({ state: 'detached' })
  expect(await page.locator('form code').textContent()).toBe(npubOf(till.pubkey))
  // Another one takes its place.
  await press('Poner otra')
  expect(await key.inputValue()).toBe('')
})

test('a name (NIP-05) that leads nowhere is told as such', async () => {
  const { page, press, main, key } = await openTills()
  await key.fill('caja@shop.test')
  const answered = changedAt(page, '/api/coupons/minters')
  await press('Autorizar')
  expect((await answered).request().postDataJSON().pubkey).toBe('caja@shop.test')
  await main().getByRole('alert').getByText('No encontramos').waitFor()
  await checkPage(page, 'panel-till-wrong')
})

test('a till is authorised by its name (NIP-05), and issues until it is taken back', async () => {
  const till = newSigner()
  const { page, press, dialog, key, id } = await openTills()
  const issue = () =>
    call(server.url, '/api/coupons/mint', { body: { couponId: id }, signer: till })
  expect((await issue()).json.code).toBe('mint-not-allowed')
  names.despacho = till.pubkey
  await key.fill('despacho@shop.test')
  await page.getByLabel('¿Cómo la llamás?').fill('Caja con nombre')
  await press('Autorizar')
  const row = page.getByRole('listitem').filter({ hasText: 'Caja con nombre' })
  await row.getByText('Ver clave').click()
  await row.getByText(npubOf(till.pubkey)).waitFor()
  const { status, json } = await issue()
  const { nonce } = json
  const preview = await call(server.url, '/api/coupons/preview', { body: { nonce } })
  expect([status, preview.json.status]).toEqual([200, 'minted'])
  await row.getByRole('button').click()
  await dialog().getByRole('button', { name: 'Quitar' }).click()
  await noTills(page)
  expect((await issue()).json.code).toBe('mint-not-allowed')
})

test('a till is authorised by its key, and removed', async () => {
  const till = newSigner()
  const { page, press, main, dialog, key } = await openTills()
  await key.fill('nada')
  await press('Autorizar')
  await main().getByRole('alert').waitFor()
  await key.fill(till.pubkey)
  await page.getByLabel('¿Cómo la llamás?').fill('Caja del fondo')
  await press('Autorizar')
  await page.getByText('Caja del fondo', { exact: true }).waitFor()
  await checkEveryWidth(page, 'panel-tills')
  const mintable = await call(server.url, '/api/coupons/mintable', { signer: till })
  expect(mintable.json.coupons).toHaveLength(1)
  await press('Quitar la caja Caja del fondo')
  await dialog().getByRole('button', { name: 'Quitar' }).waitFor()
  await checkPage(page, 'panel-till-remove')
  await dialog().getByRole('button', { name: 'Quitar' }).click()
  await noTills(page)
})

test('only authorised tills redeem, each by its name, and another is told what to do', async () => {
  const till = newSigner()
  const { page, press, main, key, ask, id, issue } = await openTills()
  const claim = async (nonce: string, signer?: typeof till) =>
    (await call(server.url, '/api/coupons/claim', { body: { nonce }, ...(signer && { signer }) }))
      .json
  await claim(await issue(id))
  const only = page.getByLabel('Sólo cajas autorizadas canjean')
  await only.click()
  await page.getByRole('dialog', { name: '¿Sin ninguna caja autorizada?' }).waitFor()
  await checkPage(page, 'panel-tills-only-none')
  await press('Cancelar')
  expect(await only.isChecked()).toBe(false)
  await key.fill(till.pubkey)
  await page.getByLabel('¿Cómo la llamás?').fill('Barra')
  await page.getByLabel('¿Qué puede hacer?').selectOption('Sólo canjea')
  await press('Autorizar')
  const may = page.getByLabel('Qué puede hacer la caja Barra')
  await may.waitFor()
  expect(await may.inputValue()).toBe('redeem')
  const changed = changedAt(page, '/api/shop')
  await only.check()
  await changed
  await checkEveryWidth(page, 'panel-tills-only')
  const nonce = await issue(id)
  expect((await claim(nonce)).code).toBe('till-not-allowed')
  expect((await claim(nonce, till)).status).toBe('success')
  const mint = () => call(server.url, '/api/coupons/mint', { body: { couponId: id }, signer: till })
  expect((await mint()).json.code).toBe('mint-not-allowed')
  const permitted = changedAt(page, '/api/coupons/minters')
  await may.selectOption('Puede entregar y canjear')
  await permitted
  expect((await mint()).status).toBe(200)

  await page.getByRole('link', { name: 'Canjes' }).click()
  await main().getByRole('cell', { name: 'Barra' }).waitFor()
  await main().getByRole('cell', { name: 'Sin identificar' }).waitFor()
  await page.getByRole('link', { name: 'Inicio' }).click()
  const rows = main().getByRole('table', { name: 'Canjes por caja' }).locator('tbody tr')
  await rows.first().waitFor()
  expect((await rows.allTextContents()).toSorted()).toEqual(['Barra1', 'Sin identificar1'])
  await checkEveryWidth(page, 'panel-by-till')

  // Another till of the same shop, without a key.
  const { npub } = (await ask('/api/coupons/mint', { body: { couponId: id } })).json
  const code = await issue(id)
  const { page: other, context } = await visit(`${server.url}/caja`, {
    before: `localStorage.setItem('cuponera:till:shops', '${JSON.stringify([npub])}')`,
  })
  await other.getByLabel('Código del cupón').fill(`${server.url}/c#${code}`)
  await other.getByRole('button', { name: 'Ver cupón' }).click()
  await other.locator('.till-view').getByRole('button', { name: 'Canjear' }).click()
  await other.getByRole('heading', { name: 'Esta caja no está autorizada' }).waitFor()
  await checkEveryWidth(other, 'till-barred')
  await other.getByLabel('PIN (6 números o más)').fill('135790')
  await other.getByRole('button', { name: 'Hacer la clave' }).click()
  await other.getByRole('img', { name: 'QR de la clave de esta caja' }).waitFor()
  await other.getByRole('heading', { name: 'Esta caja no está autorizada' }).waitFor()
  await checkPage(other, 'till-barred-key')
  await context.close()
})
