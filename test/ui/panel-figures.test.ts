/** The figures of the panel: every number on a page adds up with the others, and with those of the service. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { closeBrowser } from '../support/browser.ts'
import { call } from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { checkEveryWidth } from '../support/page-looks.ts'
import { closePanels, signIn } from '../support/panel-page.ts'
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

/** The large numbers of a page by their words. */
async function totalsOf(page: Page): Promise<Record<string, number>> {
  const totals = page.locator('.totals .total')
  await totals.first().waitFor()
  const pairs = await totals.evaluateAll((found) =>
    found.map((one) => [
      one.querySelector('dt')?.textContent ?? '',
      Number(one.querySelector('dd')?.textContent),
    ]),
  )
  return Object.fromEntries(pairs)
}

/** The sums of the columns of the chart's table. */
async function chartOf(page: Page): Promise<number[]> {
  await page.getByText('Ver como tabla').click()
  const rows = page.locator('details tbody tr')
  await rows.first().waitFor()
  const cells = await rows.evaluateAll((found) =>
    found.map((row) =>
      [...row.querySelectorAll('td')].slice(1).map((cell) => Number(cell.textContent)),
    ),
  )
  return cells.reduce((sums, row) => sums.map((sum, at) => sum + (row[at] ?? 0)), [0, 0])
}

/** Issued is the sum of the others, but for the number that may still be issued. */
function expectSum(totals: Record<string, number>): void {
  const { emitidos, quedan: _left, ...parts } = totals
  expect(Object.values(parts).reduce((sum, one) => sum + one, 0)).toBe(emitidos ?? 0)
}

test('issued, redeemed, open, expired and voided add up on every page', async () => {
  const { ask, createCoupon, issue, open } = await signIn(server)
  const expiresAt = secondsNow() + briefSeconds
  const first = await createCoupon({ expiresAt })
  const [claimed, voided] = [await issue(first), await issue(first)]
  for (let more = 0; more < 2; more++) await issue(first)
  await call(server.url, '/api/coupons/claim', { body: { nonce: claimed } })
  await ask(`/api/coupons/${first}/mints/${voided}`, { method: 'DELETE' })
  const second = await createCoupon({ name: 'Otro', maxUses: null })
  for (let more = 0; more < 2; more++) await issue(second)
  await ask(`/api/coupons/${second}/mints`, { method: 'DELETE' })
  await untilSecond(expiresAt)
  await ask(`/api/coupons/${first}`, { method: 'PATCH', body: { expiresAt: null } })
  for (let more = 0; more < 3; more++) await issue(first)

  const { page, main } = await open()
  const all = await totalsOf(page)
  expect(all).toEqual({
    emitidos: 9,
    canjeado: 1,
    'sin usar': 3,
    'vencidos sin usar': 2,
    anulados: 3,
  })
  expectSum(all)
  expect(await chartOf(page)).toEqual([9, 1])
  await checkEveryWidth(page, 'panel-figures')

  await page.getByRole('link', { name: 'Cupones' }).click()
  await main().getByText('7 emitidos · 1 canjeado').waitFor()
  await main().getByText('2 emitidos · 0 canjeados').waitFor()
  await main().getByText('7 emitidos · 1 canjeado').click()
  await page.getByRole('button', { name: 'Entregar uno' }).waitFor()
  const one = await totalsOf(page)
  expect(one).toEqual({
    emitidos: 7,
    canjeado: 1,
    'sin usar': 3,
    'vencidos sin usar': 2,
    anulado: 1,
    quedan: 34,
  })
  expectSum(one)
  await page.getByRole('tab', { name: 'Movimiento' }).click()
  expect(await chartOf(page)).toEqual([7, 1])
  // A void changes none of the others, and is seen at once.
  await issue(first)
  await main().locator('.total', { hasText: 'emitidos' }).getByText('8', { exact: true }).waitFor()
  await ask(`/api/coupons/${first}/mints`, { method: 'DELETE' })
  await main().locator('.total', { hasText: 'anulados' }).getByText('7', { exact: true }).waitFor()
  const after = await totalsOf(page)
  expect(after).toMatchObject({ emitidos: 8, canjeado: 1, 'sin usar': 0, anulados: 7 })
  expectSum(after)
})
