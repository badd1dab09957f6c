import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { encodeQR } from 'qr'
import { decodeQR } from 'qr/decode.js'

/** What the camera of the browser sees; written by `holdBeforeCamera`. */
const cameraFile = join(tmpdir(), `cuponera-camera-${process.pid}.y4m`)

const flags = [
  // A name that is not localhost: a page on it is as insecure as in a shop's network.
  ...['--host-resolver-rules=MAP tienda.test 127.0.0.1'],
  ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
  `--use-file-for-fake-video-capture=${cameraFile}`,
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
  rmSync(cameraFile, { force: true })
}

/** Let the camera see a QR code, in a room that is not too bright. Before the page opens it. */
export function holdBeforeCamera(text: string): void {
  const [width, height, scale] = [640, 480, 8]
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: 4 })
  const left = Math.floor((width - modules.length * scale) / 2)
  const top = Math.floor((height - modules.length * scale) / 2)
  const luma = Buffer.alloc(width * height, 90)
  for (const [y, row] of modules.entries()) {
    for (const [x, dark] of row.entries()) {
      for (let line = 0; line < scale; line++) {
        const from = (top + y * scale + line) * width + left + x * scale
        luma.fill(dark ? 30 : 215, from, from + scale)
      }
    }
  }
  const frame = Buffer.concat([
    Buffer.from('FRAME\n'),
    luma,
    Buffer.alloc((width * height) / 2, 128),
  ])
  const header = Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`)
  writeFileSync(cameraFile, Buffer.concat([header, frame, frame]))
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
    // A device of the shop trusts its authority; this stands in for that.
    ignoreHTTPSErrors: true,
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

/** What the first QR code on a page says. */
export async function shownQr(page: Page): Promise<string> {
  const drawn = page.locator('.qr svg').first()
  const box = (await drawn.getAttribute('viewBox')) ?? ''
  const path = (await drawn.locator('path').getAttribute('d')) ?? ''
  const [size = 0] = box.split(' ').slice(2).map(Number)
  const [scale, quiet] = [4, 4]
  const side = (size + 2 * quiet) * scale
  const data = new Uint8Array(side * side * 4).fill(255)
  for (const [, x = '', y = ''] of path.matchAll(/M(\d+) (\d+)h1/g)) {
    for (let line = 0; line < scale; line++) {
      const from = ((Number(y) + quiet) * scale + line) * side + (Number(x) + quiet) * scale
      for (let at = from; at < from + scale; at++) data.fill(0, at * 4, at * 4 + 3)
    }
  }
  return decodeQR({ width: side, height: side, data })
}

/** Keep a picture of a page under test-output/, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const path = join(import.meta.dir, '../../test-output/pages', `${name}.png`)
  await page.screenshot({ path, fullPage: true })
}
