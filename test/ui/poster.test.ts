/** The poster in a real browser: a visitor takes a coupon. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { closeBrowser, keepNothing, shownQr, type VisitOptions } from '../support/browser.ts'
import { call, createDefinition } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { cleanUp } from '../support/server.ts'
import { closePages, openPage, startShop } from '../support/shop-pages.ts'

afterEach(closePages)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const { server, token, statusOf } = await startShop()

const open = (id: string, options: VisitOptions = {}) =>
  openPage(`${server.url}/c/p/${id}`, options)

/** A poster of a new coupon. */
async function hang(limits: object = {}): Promise<string> {
  const terms = { name: 'Medialuna de regalo', description: 'Con cualquier café' }
  const couponId = await createDefinition(server.url, token, terms)
  const body = { couponId, ...limits }
  return (await call(server.url, '/api/posters', { body, token })).json.poster.id
}

const change = (id: string, body: object) =>
  call(server.url, `/api/posters/${id}`, { method: 'PATCH', token, body })

test('a visitor takes a coupon with one tap, and finds it again by a second scan', async () => {
  const id = await hang({ total: 2, endsAt: secondsNow() + 9000 })
  const { page, complaints } = await open(id)
  const take = page.getByRole('button', { name: 'Quiero mi cupón' })
  await take.waitFor()
  await checkEveryWidth(page, 'poster')
  // By the keyboard alone: the button is what the focus finds.
  await take.focus()
  await page.keyboard.press('Enter')
  await page.getByText('Sin usar').waitFor()
  await page.getByText('Está en tus cupones').waitFor()
  expect(page.url()).toBe(`${server.url}/c`)
  const code = (await shownQr(page)).split('#')[1] ?? ''
  expect(await statusOf(code)).toBe('minted')
  await checkPage(page, 'poster-taken')

  await page.goto(`${server.url}/c/p/${id}`)
  await page.getByText('Sin usar').waitFor()
  expect((await shownQr(page)).split('#')[1]).toBe(code)

  await call(server.url, '/api/coupons/claim', { body: { nonce: code } })
  await page.reload()
  await page.getByText('Canjeado', { exact: true }).waitFor()
  await page.goto('about:blank')
  await page.goto(`${server.url}/c/p/${id}`)
  await page.getByText('Ya te llevaste tu cupón').waitFor()
  await checkPage(page, 'poster-had')
  await page.getByRole('button', { name: 'Quiero otro' }).click()
  await page.getByText('Ya tenés tu cupón de este afiche').waitFor()
  expect(await page.getByRole('button', { name: 'Quiero otro' }).count()).toBe(0)
  expect(await page.getByText('Podés llevarte tu cupón').count()).toBe(0)
  await checkPage(page, 'poster-refused')
  expect(complaints).toEqual([])
})

test('a poster that gives nothing says why', async () => {
  const id = await hang({ perDay: 1 })
  const { page } = await open(id, { before: keepNothing })
  await page.getByText('Este navegador no guarda nada').waitFor()
  await checkPage(page, 'poster-unkept')
  // For the page it stays the same day, even where midnight passes.
  const now = secondsNow()
  await page.clock.setFixedTime(now * 1000)
  const words: [state: string, change: object, says: RegExp][] = [
    ['paused', { paused: true }, /pausó/],
    [
      'not-started',
      { paused: false, startsAt: now + 86_400 },
      /Todavía no empezó\..* mañana a las? \d/,
    ],
    ['ended', { startsAt: null, endsAt: 5 }, /ya terminó/],
  ]
  for (const [state, changes, says] of words) {
    expect((await change(id, changes)).status).toBe(200)
    await page.reload()
    await page.getByText(says).waitFor()
    expect(await page.getByRole('button', { name: 'Quiero mi cupón' }).count()).toBe(0)
    await checkPage(page, `poster-${state}`)
  }
  await call(server.url, `/api/posters/${id}`, { method: 'DELETE', token })
  await page.reload()
  await page.getByRole('heading', { name: 'Este afiche ya no está' }).waitFor()
  await checkPage(page, 'poster-gone')
})
