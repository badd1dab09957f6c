import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** Where Chromium is on this machine. */
function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? '/usr/bin/chromium'
  if (!existsSync(path)) throw new Error(`no browser at ${path}: set CHROMIUM to one`)
  return path
}

let browser: Browser | undefined

/** The one browser of a test file. */
export async function openBrowser(): Promise<Browser> {
  browser ??= await chromium.launch({ executablePath: chromiumPath(), args: flags })
  return browser
}

/** Ends it: for `afterAll`. */
export async function closeBrowser(): Promise<void> {
  await browser?.close()
  browser = undefined
}

export type VisitOptions = {
  width?: number
  height?: number
  dark?: boolean
  locale?: string
  /** Runs in the page before its own scripts. */
  before?: string
}

export type Visit = {
  page: Page
  context: BrowserContext
  /** What the page complained about, and every address it asked beyond its own origin. */
  complaints: string[]
}

/** A fresh visitor at an address of the server. */
export async function visit(url: string, options: VisitOptions = {}): Promise<Visit> {
  const { width = 360, height = 800, dark = false, locale = 'es-AR', before } = options
  const opened = await openBrowser()
  const context = await opened.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    locale,
    reducedMotion: 'reduce',
  })
  if (before) await context.addInitScript(before)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A refusal is a part of life; the page shows it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(`console: ${message.text()}`)
    }
  })
  page.on('request', (request) => {
    const address = new URL(request.url())
    if (address.protocol.startsWith('http') && address.origin !== new URL(url).origin) {
      complaints.push(`asked ${address.origin}`)
    }
  })
  await page.goto(url)
  return { page, context, complaints }
}

/** Keep a picture of a page under test-output/, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const path = join(import.meta.dir, '../../test-output/pages', `${name}.png`)
  await page.screenshot({ path, fullPage: true })
}
