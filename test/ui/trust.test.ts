import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { closeBrowser, visit } from '../support/browser.ts'
import { runCommand } from '../support/cli.ts'
import { checkEveryWidth } from '../support/page-looks.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  const dataDir = join(newDirectory(), 'data')
  await runCommand(['tls'], { dataDir })
  server = await startServer({ dataDir, env: { TLS_PORT: '0' } })
})
afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

test('the page about the shop’s authority fits and reads well, in both languages, light and dark', async () => {
  for (const language of ['es', 'en']) {
    const { page, context } = await visit(`${server.url}/tls?lang=${language}`)
    const closed = page.locator('details:not([open]) > summary')
    while ((await closed.count()) > 0) await closed.first().click()
    await checkEveryWidth(page, `tls-${language}`)
    expect(await page.locator('ol').count()).toBe(await page.locator('summary').count())
    await context.close()
  }
})
