import { afterEach, expect } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { encodeQR } from 'qr'
import { decodeQR } from 'qr/decode.js'
import { findBrowser } from '../../.tools/browser.ts'
import { patienceSeconds } from './until.ts'

/** The picture before the camera of the browser; written by `showToCamera`. */
const cameraFile = join(tmpdir(), `cuponera-camera-${process.pid}.y4m`)

const flags = [
  // A name that is not localhost: a page on it is as insecure as in a shop's network.
  ...['--host-resolver-rules=MAP tienda.test 127.0.0.1'],
  ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
  `--use-file-for-fake-video-capture=${cameraFile}`,
  ...['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/**
 * A policy for windows has no effect on plain http, and Chromium reports that. The flag that replaces
 * a device's trust in the shop's authority does not reach service workers.
 */
const tolerated = /Cross-Origin-Opener-Policy|SSL certificate error/

/** Unexpected complaints of the pages of this file since the last test. */
const unexpected: string[] = []

afterEach(() => {
  expect(unexpected.splice(0)).toEqual([])
})

let browser: Browser | undefined

/** The one browser of a test file. */
export async function openBrowser(): Promise<Browser> {
  if (browser) return browser
  const found = findBrowser()
  if (!found) throw new Error('no browser: run "bun .tools/browser.ts", or set CHROMIUM to one')
  const env = { ...process.env, ...found.env } as Record<string, string>
  browser = await chromium.launch({ executablePath: found.path, args: flags, env })
  return browser
}

/** Close the browser: for `afterAll`. */
export async function closeBrowser(): Promise<void> {
  await browser?.close()
  browser = undefined
  rmSync(cameraFile, { force: true })
}

/** Let the camera see a QR code, in a room that is not too bright. Before the page opens it. */
export function showToCamera(text: string): void {
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
  /** Let pages keep themselves on the device; else nothing stands between them and the network. */
  worker?: boolean
  /** Runs in the page before its own scripts. */
  before?: string
}

export type Visit = {
  page: Page
  context: BrowserContext
  /** Errors of the page, and every address that it requested beyond its own origin. */
  complaints: string[]
}

/** A fresh visitor at an address of the server. */
export async function visit(url: string, options: VisitOptions = {}): Promise<Visit> {
  const {
    width = 360,
    height = 800,
    dark = false,
    locale = 'es-AR',
    worker = false,
    before,
  } = options
  const opened = await openBrowser()
  const context = await opened.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    locale,
    reducedMotion: 'reduce',
    serviceWorkers: worker ? 'allow' : 'block',
    // A device of the shop trusts its authority; this stands in for that.
    ignoreHTTPSErrors: true,
  })
  context.setDefaultTimeout(patienceSeconds * 1000)
  if (before) await context.addInitScript(before)
  const page = await context.newPage()
  const complaints: string[] = []
  const complain = (text: string) => {
    complaints.push(text)
    if (!tolerated.test(text)) unexpected.push(text)
  }
  const own = new URL(url).host
  context.on('weberror', (error) => complain(`error: ${error.error().message}`))
  context.on('console', (message) => {
    // A refusal is expected; the page shows it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complain(`console: ${message.text()}`)
    }
    // A file that is fetched twice, or for nothing.
    if (message.type() === 'warning' && message.text().includes('preload')) {
      complain(`console: ${message.text()}`)
    }
  })
  context.on('response', (response) => {
    // Only the settings refuse a question like this, and a page knows them.
    if (response.status() === 409 && response.request().method() === 'GET') {
      complain(`asked in vain: ${response.url()}`)
    }
  })
  context.on('request', (request) => {
    const { protocol, host, origin } = new URL(request.url())
    if (protocol.startsWith('http') && host !== own) complain(`asked ${origin}`)
  })
  page.on('websocket', (socket) => {
    const { host, origin } = new URL(socket.url())
    if (host !== own) complain(`asked ${origin}`)
  })
  await page.goto(url)
  return { page, context, complaints }
}

/** Before a page's own scripts: nothing is kept, as where a person switched storage off. */
export const keepNothing = `
  Storage.prototype.setItem = () => {
    throw new DOMException('nothing is kept', 'QuotaExceededError')
  }
`

/** White modules that scanners want on each side of a code (ISO/IEC 18004). */
const quietZone = 4

/** The text of the first QR code within a part of a page; its quiet zone is checked as it is drawn. */
export async function shownQr(page: Page, within = 'body'): Promise<string> {
  const path = page.locator(`${within} .qr path`).first()
  await path.scrollIntoViewIfNeeded()
  let place = await placeOf(path)
  let noisy = await noisyPoints(page, place)
  // A part of the page that is drawn above a code meanwhile moves it.
  for (let now = await placeOf(path); !Bun.deepEquals(now, place); now = await placeOf(path)) {
    place = now
    noisy = await noisyPoints(page, place)
  }
  expect(noisy).toBe(0)
  return decodeQR(drawnAgain(place.size, (await path.getAttribute('d')) ?? ''))
}

type Place = { size: number; left: number; top: number; side: number }

/** The dark modules, which reach into three corners, on the page. */
function placeOf(path: Locator): Promise<Place> {
  return path.evaluate((drawn) => {
    const { x, y, width } = drawn.getBoundingClientRect()
    const modules = (drawn as SVGPathElement).getBBox().width
    return { size: modules, left: x + scrollX, top: y + scrollY, side: width }
  })
}

/** How many points of the quiet zone of a code are not white. */
async function noisyPoints(page: Page, { size, left, top, side }: Place): Promise<number> {
  const quiet = (quietZone * side) / size
  const [x, y] = [Math.ceil(left - quiet), Math.ceil(top - quiet)]
  const end = (start: number) => Math.floor(start + side + quiet)
  const clip = { x, y, width: end(left) - x, height: end(top) - y }
  const shot = await page.screenshot({ fullPage: true, clip })
  const { width, height, points } = await greyOf(page, shot.toString('base64'))
  expect([width, height]).toEqual([clip.width, clip.height])
  // A pixel on an edge may have a share of both of its sides.
  const inside = (at: number, start: number) => at >= start - 1 && at <= start + side + 1
  const edge = (at: number, length: number) => at === 0 || at === length - 1
  const noisy = points.filter((grey, at) => {
    const [column, row] = [at % width, Math.floor(at / width)]
    const beside = inside(x + column, left) !== inside(y + row, top)
    return beside && !edge(column, width) && !edge(row, height) && grey < 255
  })
  return noisy.length
}

/** A picture of the modules of a path. */
function drawnAgain(size: number, path: string) {
  const scale = 4
  const side = (size + 2 * quietZone) * scale
  const data = new Uint8Array(side * side * 4).fill(255)
  for (const [, x = '', y = ''] of path.matchAll(/M(\d+) (\d+)h1/g)) {
    for (let line = 0; line < scale; line++) {
      const from = ((Number(y) + quietZone) * scale + line) * side + (Number(x) + quietZone) * scale
      for (let at = from; at < from + scale; at++) data.fill(0, at * 4, at * 4 + 3)
    }
  }
  return { width: side, height: side, data }
}

/** The points of a picture in shades of grey, told by a page. */
async function greyOf(page: Page, picture: string, scale = 1) {
  const { points, ...size } = await page.evaluate(
    async ([base64, smaller]) => {
      const blob = new Blob([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))])
      const image = await createImageBitmap(blob)
      const canvas = new OffscreenCanvas(image.width * smaller, image.height * smaller)
      const pen = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
      pen.drawImage(image, 0, 0, canvas.width, canvas.height)
      const { data } = pen.getImageData(0, 0, canvas.width, canvas.height)
      const grey = data.filter((_, at) => at % 4 === 0)
      return {
        width: canvas.width,
        height: canvas.height,
        points: Array.from(grey, (one) => String.fromCharCode(one)).join(''),
      }
    },
    [picture, scale] as const,
  )
  return { ...size, points: Array.from(points, (one) => one.charCodeAt(0)) }
}

/** The text of the QR code in a picture file. */
export async function qrInPicture(page: Page, path: string): Promise<string> {
  const bytes = (await Bun.file(path).bytes()).toBase64()
  const { width, height, points } = await greyOf(page, bytes, 0.5)
  const data = new Uint8Array(width * height * 4).fill(255)
  for (const [at, grey] of points.entries()) data.fill(grey, at * 4, at * 4 + 3)
  return decodeQR({ width, height, data })
}

/** Keep a picture of a page under test-output/, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const path = join(import.meta.dir, '../../test-output/pages', `${name}.png`)
  await page.screenshot({ path, fullPage: true })
}
