/** The panel of a service whose management is closed: the setup code, and who else is let in. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { encodeQR } from 'qr'
import { npubOf } from '../../src/nostr/keys.ts'
import { closeBrowser, showToCamera } from '../support/browser.ts'
import { call, newSigner, openSession } from '../support/client.ts'
import { admitByCode, startClosed } from '../support/closed.ts'
import { chooseKey, makeKey, pin } from '../support/merchant-page.ts'
import { textTurnedBy } from '../support/page-checks.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast } from '../support/page-states.ts'
import { closePanels, openPanel } from '../support/panel-page.ts'
import { cleanUp, type TestServer } from '../support/server.ts'

afterEach(closePanels)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

/** A service that nobody manages yet, and the link that its start block shows. */
async function open() {
  const server = await startClosed()
  const address = /setup\s+(http\S+)/.exec(server.output())?.[1] ?? ''
  expect(address).toEndWith(`/panel#alta=${server.code}`)
  const place = new URL(address).hash
  return { server, code: server.code, address, place }
}

const asked = (page: Page) => page.getByRole('heading', { name: 'Un código, y empezás' }).waitFor()
const inside = (page: Page) => page.getByRole('heading', { name: 'Primeros pasos' }).waitFor()
const field = (page: Page) => page.getByLabel('Código', { exact: true })

const photoOf = (text: string) => ({
  name: 'foto.gif',
  mimeType: 'image/gif',
  buffer: Buffer.from(encodeQR(text, 'gif', { scale: 6, border: 4 })),
})

/** The storage of the device, of the tab and for longer. */
const keptBy = (page: Page) => page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))

test('the first sign-in asks for the setup code, accepts it in any notation, and continues', async () => {
  const { server, code } = await open()
  const { page, press } = await openPanel(server)
  await chooseKey(page)
  await asked(page)
  await page.getByRole('heading', { name: 'Un código' }).and(page.locator(':focus')).waitFor()
  expect(await page.getByRole('navigation').count()).toBe(0)
  await checkEveryWidth(page, 'panel-setup')
  await press('Empezar')
  await page.getByText('Escribí el código').waitFor()
  await field(page).fill('AAAA-AAAA-AAAA')
  await press('Empezar')
  await page.getByText('Ese código no es correcto').waitFor()
  await checkEveryWidth(page, 'panel-setup-wrong')
  // The operator can add the key, too.
  await page.getByText('No consigo el código').click()
  await page.getByText('Ver clave').click()
  await page.getByText(/^npub1/).waitFor()
  await checkEveryWidth(page, 'panel-setup-none')
  // With the keyboard only.
  await field(page).focus()
  await field(page).fill('')
  await page.keyboard.type(` ${code.toLowerCase().replaceAll('-', '')} `)
  await expectToast(page.getByText('Listo: ya podés crear cupones'), () =>
    page.keyboard.press('Enter'),
  )
  await inside(page)
  // The live stream, which was refused until now, opens at once.
  await page.getByText('en vivo', { exact: true }).waitFor()
  await page.reload()
  await inside(page)
})

test('a key that a code cannot help is told whom to ask, and is shown as a QR', async () => {
  const { server } = await open()
  await admitByCode(server)
  const { page } = await openPanel(server)
  await chooseKey(page)
  await page.getByRole('heading', { name: 'Falta que te habiliten' }).waitFor()
  await page.getByRole('img', { name: 'QR de tu clave' }).waitFor()
  expect(await field(page).count()).toBe(0)
  await checkEveryWidth(page, 'panel-not-allowed')
})

test('the panel opened by the QR of the code needs only a sign-in', async () => {
  const { server, code, place } = await open()
  const { page } = await openPanel(server, { place })
  await page.getByText('Ya tenemos el código de alta').waitFor()
  // The code has left the address bar and the history, and a reloaded page still has it.
  expect(page.url()).toBe(`${server.url}/panel`)
  expect(await page.evaluate(() => JSON.stringify(history.state))).not.toContain(code)
  await checkEveryWidth(page, 'panel-setup-held')
  await page.reload()
  await page.getByText('Ya tenemos el código de alta').waitFor()
  expect(page.url()).toBe(`${server.url}/panel`)
  await makeKey(page)
  expect(await keptBy(page)).not.toContain(code)
  await page.goBack()
  expect(page.url()).not.toContain('alta')
})

test('an expired code in the address is reported, and can be typed again', async () => {
  const { server, code } = await open()
  const { page } = await openPanel(server, { place: '#alta=0000-0000-0000' })
  await chooseKey(page)
  await page.getByText('Ese código no es correcto').waitFor()
  expect(await field(page).inputValue()).toBe('0000-0000-0000')
  expect(await keptBy(page)).not.toContain('0000-0000')
  // Pasted as the whole address.
  await field(page).fill(`${server.url}/panel#alta=${code}`)
  expect(await field(page).inputValue()).toBe(code)
  await page.keyboard.press('Enter')
  await inside(page)
})

test('a code in the address survives a lost answer', async () => {
  const { server, code, place } = await open()
  const { page } = await openPanel(server, { place })
  await page.route('**/api/setup', (route) => route.abort())
  await chooseKey(page)
  await page.getByRole('alert').getByText('No pudimos hablar con el servicio').waitFor()
  expect(await field(page).inputValue()).toBe(code)
  await page.unrouteAll()
  await page.reload()
  // The key of a reloaded page needs the PIN.
  await page.getByRole('dialog').getByLabel('PIN').fill(pin)
  await page.keyboard.press('Enter')
  await inside(page)
})

test('the code is read from a photo of its QR, and another QR is reported', async () => {
  const { server, address } = await open()
  const { page } = await openPanel(server)
  await chooseKey(page)
  await asked(page)
  const photo = page.getByLabel('Usar una foto del QR')
  await photo.setInputFiles(photoOf(`${server.url}/c#AAAAAAAAAAAAAAAAAAAAAA`))
  await page.getByText('Ese QR no es el del código').waitFor()
  await checkPage(page, 'panel-setup-unread')
  await photo.setInputFiles(photoOf(address))
  await inside(page)
})

test('the code is read by the camera', async () => {
  const { server, address } = await open()
  showToCamera(address)
  const { page, press } = await openPanel(server)
  await chooseKey(page)
  await press('Escanear el QR')
  await inside(page)
})

test('a reloaded page signs for the code with the PIN', async () => {
  const { server, code } = await open()
  const { page, press, dialog } = await openPanel(server)
  await chooseKey(page)
  await asked(page)
  await page.reload()
  await field(page).fill(code)
  await press('Empezar')
  await dialog().getByLabel('PIN').fill(pin)
  await page.keyboard.press('Enter')
  await inside(page)
})

test('a lost answer does not cost the code: the key is in', async () => {
  const { server, code } = await open()
  const { page } = await openPanel(server)
  await chooseKey(page)
  await page.route(
    '**/api/setup',
    async (route) => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
  await field(page).fill(code)
  await page.keyboard.press('Enter')
  await inside(page)
})

test('too many tries, or a missing answer, are reported and keep the typed code', async () => {
  const { server, code } = await open()
  const { page, press } = await openPanel(server)
  await chooseKey(page)
  const refusal = { code: 'rate-limited', error: 'Esperá un momento.', retryAfter: 40 }
  await page.route('**/api/setup', (route) => route.fulfill({ status: 429, json: refusal }), {
    times: 1,
  })
  await field(page).fill(code)
  await press('Empezar')
  await page.getByRole('alert').getByText('en 40 segundos').waitFor()
  await checkPage(page, 'panel-setup-limited')
  await page.route('**/api/**', (route) => route.abort())
  await press('Empezar')
  await page.getByRole('alert').getByText('No pudimos hablar con el servicio').waitFor()
  await page.unrouteAll()
  expect(await field(page).inputValue()).toBe(code)
  await press('Empezar')
  await inside(page)
})

// ── Who else is let in

/** The panel of the first merchant, with her key and session open. */
async function openOwner() {
  const { server, place } = await open()
  const panel = await openPanel(server, { place })
  await makeKey(panel.page)
  await panel.press('Ajustes')
  const list = panel.dialog().getByRole('region', { name: 'Comercios de este servicio' })
  await list.waitFor()
  return { ...panel, server, list }
}

const managing = async (server: TestServer, signer: ReturnType<typeof newSigner>) =>
  (await call(server.url, '/api/coupons', { token: await openSession(server.url, signer) })).status

test('the first merchant adds others, by key or by QR, and removes them', async () => {
  const { page, press, server, list } = await openOwner()
  await list.getByText('Vos', { exact: true }).waitFor()
  await checkEveryWidth(page, 'panel-merchants-alone')
  const [baker, greengrocer] = [newSigner(), newSigner()]
  await press('Sumar un comercio')
  const adding = page.getByRole('dialog', { name: 'Sumar un comercio' })
  await adding.getByLabel('Clave del comercio').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('nada')
  await page.keyboard.press('Enter')
  await adding.getByText('Eso no es la clave de un comercio').waitFor()
  await checkEveryWidth(page, 'panel-merchant-wrong')
  await adding.getByLabel('Clave del comercio').fill(npubOf(baker.pubkey))
  await adding.getByLabel('¿Cómo lo llamás?').fill('Panadería de Ana')
  await page.keyboard.press('Enter')
  await adding.waitFor({ state: 'detached' })
  await list.getByText('Panadería de Ana').waitFor()
  expect(await managing(server, baker)).toBe(200)

  await press('Sumar un comercio')
  await adding.getByLabel('Usar una foto del QR').setInputFiles(photoOf(npubOf(greengrocer.pubkey)))
  await adding.getByText('Leímos la clave.').waitFor()
  expect(await adding.locator('code').textContent()).toBe(npubOf(greengrocer.pubkey))
  await adding.getByRole('button', { name: 'Sumar', exact: true }).click()
  await list.getByText('Sin nombre').waitFor()
  await checkEveryWidth(page, 'panel-merchants')

  // A name from right to left stays isolated, in the list and in a question.
  const label = 'مخبز 9'
  const pubkey = npubOf(newSigner().pubkey)
  await press('Sumar un comercio')
  await adding.getByLabel('Clave del comercio').fill(pubkey)
  await adding.getByLabel('¿Cómo lo llamás?').fill(label)
  await page.keyboard.press('Enter')
  await list.getByText(label).waitFor()
  await adding.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: new RegExp(label) }).click()
  const question = page.getByRole('dialog', { name: '¿Quitar a' })
  await question.waitFor()
  expect(await textTurnedBy(page, [label])).toEqual([])
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })

  await press('Quitar el comercio Panadería de Ana')
  const sure = page.getByRole('dialog', { name: '¿Quitar a Panadería de Ana?' })
  await checkEveryWidth(page, 'panel-merchant-remove')
  // A second Enter only goes back.
  await page.keyboard.press('Enter')
  await sure.waitFor({ state: 'detached' })
  expect(await managing(server, baker)).toBe(200)
  await press('Quitar el comercio Panadería de Ana')
  await sure.getByRole('button', { name: 'Quitar', exact: true }).click()
  await list.getByText('Panadería de Ana', { exact: true }).waitFor({ state: 'detached' })
  expect(await managing(server, baker)).toBe(403)
  expect(await managing(server, greengrocer)).toBe(200)
})

test('a removed merchant is told so while she works', async () => {
  const { server } = await open()
  const { token } = await admitByCode(server)
  const { page } = await openPanel(server)
  await chooseKey(page)
  const npub = (await page.getByText(/^npub1/).textContent()) ?? ''
  await call(server.url, '/api/merchants', { body: { pubkey: npub }, token })
  await page.getByRole('button', { name: 'Probar de nuevo' }).click()
  await page.getByText('en vivo', { exact: true }).waitFor()
  const path = `/api/merchants/${npub}`
  expect((await call(server.url, path, { method: 'DELETE', token })).status).toBe(200)
  await page.getByRole('alert').getByText('Tu clave no está habilitada').waitFor()
  await checkEveryWidth(page, 'panel-taken-off')
  await page.reload()
  await page.getByRole('heading', { name: 'Falta que te habiliten' }).waitFor()
})

test('only the first merchant sees the others', async () => {
  const { server } = await open()
  const { token } = await admitByCode(server)
  const { page, press, dialog } = await openPanel(server)
  await chooseKey(page)
  const npub = (await page.getByText(/^npub1/).textContent()) ?? ''
  await call(server.url, '/api/merchants', { body: { pubkey: npub }, token })
  await press('Probar de nuevo')
  await inside(page)
  const answered = page.waitForResponse('**/api/merchants')
  await press('Ajustes')
  expect((await answered).status()).toBe(403)
  await dialog().getByText('Publicar mi negocio').waitFor()
  expect(await page.getByText('Comercios de este servicio').count()).toBe(0)
})
