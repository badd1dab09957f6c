/** The reference of the API as a browser shows it: navigation, search, commands, both languages, on any screen. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { ApiDocument } from '../../src/http/openapi.ts'
import { closeBrowser, openBrowser, type VisitOptions, visit } from '../support/browser.ts'
import { call } from '../support/client.ts'
import { expectAccessible } from '../support/page-checks.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast } from '../support/page-states.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

/** The page itself as it stands, and all that a visit loads as it travels, the description included. */
const bytesMax = { page: 100_000, loaded: 100_000 }

let server: TestServer
let document: ApiDocument

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
  document = (await call(server.url, '/openapi.json')).json
})

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const open = (view = '', options: VisitOptions = {}) => visit(`${server.url}/docs${view}`, options)
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })
const searchField = (page: Page) => page.getByRole('searchbox')

test('the page and all that it loads weigh at most 100 KB each', async () => {
  const html = (await call(server.url, '/docs')).text
  const paths = [
    ...new Set([...html.matchAll(/"(\/ui\/[^"]+\.(?:js|css))"/g)].map(([, one = '']) => one)),
  ]
  const whole = await Promise.all(['/docs', ...paths].map((path) => weightOf(path, 'identity')))
  const sent = await Promise.all(['/docs', ...paths].map((path) => weightOf(path, 'gzip')))
  const page = sum(whole)
  console.log(`/docs: ${page} bytes, ${sum(sent)} compressed`)
  expect(page).toBeGreaterThan(20_000)
  expect(page).toBeLessThanOrEqual(bytesMax.page)
  for (const language of ['es', 'en']) {
    const description = await weightOf(`/openapi.json?lang=${language}`, 'gzip')
    console.log(`its description in ${language}: ${description} bytes compressed`)
    expect(sum(sent) + description).toBeLessThanOrEqual(bytesMax.loaded)
  }
})

async function weightOf(path: string, encoding: string): Promise<number> {
  const headers = { 'Accept-Encoding': encoding }
  const answer = await fetch(`${server.url}${path}`, { headers, decompress: false })
  expect(answer.status).toBe(200)
  return (await answer.arrayBuffer()).byteLength
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

test('the start shows every group, and asks nobody else', async () => {
  const { page, complaints } = await open('', { width: 1440 })
  await title(page, 'Referencia de la API').waitFor()
  for (const { name } of document.tags) {
    await page.locator(`main a[href="#group-${name}"]`).waitFor()
  }
  expect(await page.locator('.nav summary').count()).toBe(document.tags.length)
  expect(complaints).toEqual([])
  await checkEveryWidth(page, 'docs-start')
})

test('an operation is found by its address, and has all that a caller needs', async () => {
  const { page } = await open('#postCouponsClaim')
  await title(page, 'Canjear un cupón').waitFor()
  const text = await page.getByRole('main').innerText()
  const { 'x-refusals': refusals } = document.paths['/api/coupons/claim']!.post!
  for (const word of ['POST', '/api/coupons/claim', 'Idempotency-Key', 'zapRequest', ...refusals]) {
    expect(text).toContain(word)
  }
  expect(text).toContain(`curl -sS -X POST "${server.url}/api/coupons/claim"`)
  await checkEveryWidth(page, 'docs-operation')
})

test('every operation, model and code has a view of its own', async () => {
  const { page, complaints } = await open('', { locale: 'en-GB' })
  await title(page, 'API reference').waitFor()
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const codes = new Set(operations.flatMap((one) => one['x-refusals']))
  const views = [
    ...operations.map(({ operationId }) => operationId),
    ...Object.keys(document.components.schemas).map((name) => `model-${name}`),
    ...[...codes].map((code) => `code-${code}`),
  ]
  expect(views.length).toBeGreaterThan(300)
  const missing = await page.evaluate(async (names) => {
    const shown = (name: string) => globalThis.document.querySelector(`article[id="${name}"]`)
    for (const name of names) {
      location.hash = name
      // The description of the API may still be on its way.
      const giveUpAt = performance.now() + 20_000
      while (!shown(name)) {
        if (performance.now() > giveUpAt) return name
        await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))
      }
    }
    return null
  }, views)
  expect(missing).toBeNull()
  expect(complaints).toEqual([])
})

const views = ['group-Management', 'authentication', 'models', 'model-VoucherResult', 'codes']
test.each([...views, 'code-voucher-expired'])('the view %s stands by itself', async (view) => {
  const { page } = await open(`#${view}`)
  await page.locator(`article#${view}`).waitFor()
  await checkPage(page, `docs-${view}`)
})

test('a search finds operations by path, field and code, without accents, and asks nobody', async () => {
  const { page } = await open('', { width: 1440 })
  await title(page, 'Referencia de la API').waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.keyboard.press('/')
  const found = (id: string) => page.locator(`main a[href="#${id}"]`)
  await searchField(page).fill('zapRequest')
  await found('postCouponsClaim').waitFor()
  expect(await page.locator('main li').count()).toBeLessThan(4)
  await searchField(page).fill('voucher-moved')
  await found('postCouponsClaim').getByText('código voucher-moved').waitFor()
  await found('code-voucher-moved').waitFor()
  await searchField(page).fill('cupon direccion lightning')
  await found('postTransfer').waitFor()
  await checkEveryWidth(page, 'docs-search')
  expect(await page.locator('.nav a[href="#postTransfer"]').count()).toBe(1)
  expect(await page.locator('.nav a[href="#postCouponsClaim"]').count()).toBe(0)
  await searchField(page).fill('qqqq')
  await page.getByText('Nada coincide').waitFor()
  await page.keyboard.press('Escape')
  await title(page, 'Referencia de la API').waitFor()
  expect(asked).toEqual([])
})

test('a keyboard is enough: search, choose, read, go back', async () => {
  const { page } = await open('', { width: 1440 })
  await title(page, 'Referencia de la API').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('balances')
  const found = page.locator('main a[href="#getLedgerBalancesKey"]')
  await found.waitFor()
  for (let presses = 0; presses < 30; presses++) {
    await page.keyboard.press('Tab')
    if (await found.evaluate((link) => link === globalThis.document.activeElement)) break
  }
  await page.keyboard.press('Enter')
  await page.locator('article#getLedgerBalancesKey').waitFor()
  // A screen reader learns of the new view by its heading.
  await page.locator('main h1:focus').waitFor()
  expect(await page.title()).toBe('GET /api/ledger/balances/{key} · Cuponera')
  await page.goBack()
  await title(page, 'Referencia de la API').waitFor()
})

test('a command is copied as it is printed', async () => {
  const { page, context } = await open('#postCouponsRefresh')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const command = page.locator('.command pre')
  await command.waitFor()
  await expectToast(page.locator('.toast', { hasText: 'Copiado' }), () =>
    page.getByRole('button', { name: 'Copiar' }).click(),
  )
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toBe(await command.innerText())
  expect(copied).toContain(`"${server.url}/api/coupons/refresh"`)
  // Each value of one's own is explained below it.
  for (const [name] of copied.matchAll(/\$[A-Z]+/g)) {
    await page.locator('.needs code', { hasText: name }).waitFor()
  }
})

test('the language is that of the browser, and a choice stays', async () => {
  const { page } = await open('#postCouponsClaim', { locale: 'en-GB' })
  await title(page, 'Redeem a voucher').waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('en-GB')
  await page.getByRole('button', { name: 'Pasar a español' }).click()
  await title(page, 'Canjear un cupón').waitFor()
  await page.reload()
  await title(page, 'Canjear un cupón').waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('es-AR')
})

test('a description that does not arrive can be asked for again', async () => {
  const { page } = await open('#codes')
  await page.locator('article#codes').waitFor()
  await page.route('**/openapi.json?lang=en', (route) => route.abort())
  await page.getByRole('button', { name: 'Switch to English' }).click()
  await page.getByRole('alert').waitFor()
  await page.unroute('**/openapi.json?lang=en')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('article#codes').waitFor()
})

test('on a small screen the list of operations opens, and closes with a choice', async () => {
  const { page } = await open('#group-Vouchers')
  await page.locator('article#group-Vouchers').waitFor()
  const menu = page.getByRole('button', { name: 'Operaciones' })
  expect(await page.locator('.nav').isVisible()).toBe(false)
  await menu.click()
  await checkPage(page, 'docs-menu')
  await page.locator('.nav a[href="#postCouponsClaim"]').click()
  await title(page, 'Canjear un cupón').waitFor()
  expect(await page.locator('.nav').isVisible()).toBe(false)
})

test('paper shows the view alone, with its folds open', async () => {
  const { page } = await open('#postCouponsPreview', { width: 1440 })
  await title(page, 'Mirar un cupón, sin poner su nonce en una URL').waitFor()
  const example = page.locator('.example pre').first()
  expect(await example.isVisible()).toBe(false)
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('.side').isVisible()).toBe(false)
  expect(await example.evaluate((pre) => pre.getBoundingClientRect().height)).toBeGreaterThan(20)
})

test('without a script the page leads to all of it as text', async () => {
  const browser = await openBrowser()
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 360, height: 800 },
  })
  const page = await context.newPage()
  await page.goto(`${server.url}/docs`)
  await page.getByRole('link', { name: 'La referencia de la API, como texto' }).click()
  await title(page, 'Referencia de la API').waitFor()
  // The title comes first: 600 KB of text follow it.
  await page.waitForLoadState()
  expect(await page.locator('.operation').count()).toBeGreaterThan(90)
  expect(await page.locator('html').evaluate((html) => html.scrollWidth <= html.clientWidth)).toBe(
    true,
  )
  await context.close()
})

test('the page of text is accessible', async () => {
  const { page } = await visit(`${server.url}/openapi.html?lang=en`)
  await title(page, 'API reference').waitFor()
  await page.waitForLoadState()
  const ids = await page.locator('[id]').evaluateAll((list) => list.map(({ id }) => id))
  expect(ids).toEqual([...new Set(ids)])
  const links = page.locator('a[href^="#"]')
  const targets = await links.evaluateAll((list) => list.map((one) => one.getAttribute('href')))
  expect(targets.length).toBeGreaterThan(90)
  const lost = targets.filter((target) => !ids.includes(decodeURIComponent(`${target}`.slice(1))))
  expect(lost).toEqual([])
  // The checks of all 600 KB take half a minute on a loaded machine, and one template makes all operations.
  await page.locator('.operation').evaluateAll((list) => {
    for (const [at, operation] of list.entries()) if (at % 8 > 0) operation.remove()
  })
  await expectAccessible(page)
})
