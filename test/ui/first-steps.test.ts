/** The way of a new merchant from the first page to the first redeemed coupon, with its clicks and fields counted. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { closeBrowser } from '../support/browser.ts'
import { startClosed } from '../support/closed.ts'
import { makeKey } from '../support/merchant-page.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { closePanels, openPanel, openWithKey } from '../support/panel-page.ts'
import { cleanUp, startServer } from '../support/server.ts'

afterEach(closePanels)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

/** Before the scripts of each page: the clicks and the labels of the fields of a person, in all tabs. */
const counting = `
  const keep = (name, more) => {
    const list = JSON.parse(localStorage.getItem(name) ?? '[]')
    if (!list.includes(more)) localStorage.setItem(name, JSON.stringify([...list, more]))
  }
  addEventListener('click', (event) => {
    if (event.isTrusted) keep('walk:clicks', event.timeStamp + event.target.textContent)
  }, true)
  addEventListener('input', ({ target }) => keep('walk:fields', target.labels[0].textContent), true)
`

const open = {
  'of this machine alone': async () => ({
    server: await startServer({ env: { RATE_LIMIT: 'off' } }),
    place: '',
  }),
  'of a shop’s network, by the link with its setup code': async () => {
    const server = await startClosed()
    return { server, place: `#alta=${server.code}` }
  },
}

test.each(Object.entries(open))(
  'on a service %s, six clicks and two fields redeem the first coupon',
  async (_, start) => {
    const { server, place } = await start()
    const { page, press } = await openPanel(server, { place, before: counting })
    await makeKey(page)
    await press('10 % de descuento')
    await page.locator('#first-steps:focus').waitFor()
    await press('Entregar uno')
    await page.getByRole('img', { name: 'Código QR del cupón' }).waitFor()
    await checkEveryWidth(page, `panel-first-hand-over${place && '-network'}`)
    const opening = page.context().waitForEvent('page')
    await page.getByRole('link', { name: 'Canjear acá' }).click()
    const till = await opening
    await till.getByRole('heading', { name: '10 %' }).waitFor()
    // The code is money: it leaves the address and the history.
    expect(till.url()).toBe(`${server.url}/caja`)
    await checkPage(till, 'till-first-coupon')
    await till.getByRole('button', { name: 'Canjear' }).last().click()
    await till.getByRole('heading', { name: 'Canjeado' }).waitFor()
    await page.getByText('¡Listo! Tu negocio ya tiene cupones.').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await checkEveryWidth(page, `panel-first-redeemed${place && '-network'}`)
    const [clicks, fields] = await page.evaluate(() =>
      ['walk:clicks', 'walk:fields'].map((name) => JSON.parse(localStorage.getItem(name) ?? '[]')),
    )
    expect(clicks).toHaveLength(6)
    // A reload keeps the list of events.
    await page.reload()
    for (const event of ['creó', 'emitió', 'canjeó']) {
      await page.getByText(`Se ${event} «10 % de descuento en toda tu compra»`).waitFor()
    }
    expect(fields).toEqual(['¿Cómo se llama tu negocio?', 'Elegí un PIN'])
    // After the first copy the second one is still offered.
    const second = page.getByRole('region', { name: 'Segunda copia' })
    await press('Ya la guardé')
    await second.waitFor()
    await checkPage(page, `panel-second-reminder${place && '-network'}`)
    await press('No me lo recuerdes más')
    await second.waitFor({ state: 'detached' })
  },
)

test('a first coupon that was refused is reported, and the next tap creates one', async () => {
  const server = await startServer({ env: { RATE_LIMIT: 'off' } })
  const { page, press, ask } = await openWithKey(server)
  await page.route('**/api/coupons', async (route) => {
    return route.request().method() === 'POST' ? route.abort() : route.continue()
  })
  await press('2x1')
  await page.getByText('No pudimos hablar con el servicio').waitFor()
  await page.unrouteAll()
  await press('2x1')
  await page.getByRole('button', { name: 'Entregar uno' }).waitFor()
  const { coupons } = (await ask('/api/coupons')).json
  expect(coupons.map(({ name }: { name: string }) => name)).toEqual(['2x1 en toda tu compra'])
})
