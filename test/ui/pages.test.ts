/** The pages as a browser gets them: headers, sizes, languages. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { closeBrowser, visit } from '../support/browser.ts'
import { call } from '../support/client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const pages = ['/panel', '/caja', '/c', '/docs']
/**
 * Compressed script that a page loads before anybody acts, for which an old phone on a slow network waits; and all that
 * it can ever load, which includes what comes with its first use, such as the reader of QR codes.
 */
const scriptBytesMax = { atFirst: 150 * 1024, ever: 200 * 1024 }

let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

test('the root address leads to the panel', async () => {
  const { status, headers } = await call(server.url, '/', { headers: { Accept: 'text/html' } })
  expect([status, headers.get('location')]).toEqual([302, '/panel'])
  expect((await call(server.url, '/')).status).toBe(404)
})

test.each(pages)('%s allows only its own scripts and styles', async (path) => {
  const { headers } = await call(server.url, path)
  const policy = Object.fromEntries(
    (headers.get('content-security-policy') ?? '').split('; ').map((part) => {
      const [name = '', ...sources] = part.split(' ')
      return [name, sources.join(' ')]
    }),
  )
  const socket = server.url.replace('http', 'ws')
  expect(policy).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data: blob:",
    'media-src': "'self' blob:",
    'font-src': "'self'",
    'connect-src': path === '/panel' ? `'self' wss: ${socket}` : "'self'",
    'worker-src': "'self'",
    'manifest-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  const devices = ['/c', '/docs'].includes(path) ? '()' : '(self)'
  expect(headers.get('permissions-policy')).toBe(
    `camera=${devices}, usb=${devices}, serial=${devices}, microphone=(), geolocation=(), payment=()`,
  )
})

test('a Host header cannot change the policy', async () => {
  const { headers } = await call(server.url, '/panel', {
    headers: { Host: "a;script-src 'unsafe-inline'" },
  })
  expect(headers.get('content-security-policy')).not.toContain('unsafe')
})

test.each(pages)('%s is revalidated by its ETag, its files never', async (path) => {
  const first = await call(server.url, path)
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  const again = await call(server.url, path, { headers: { 'If-None-Match': etag } })
  expect([again.status, again.text]).toEqual([304, ''])
  for (const file of filesOf(first.text)) {
    const { headers } = await call(server.url, file)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  }
})

test.each(pages)('%s starts with at most 150 KB of compressed script', async (path) => {
  const { text } = await call(server.url, path)
  // The scripts and all their static imports; an attribute names those of workers.
  const files = [...text.matchAll(/<(?:script|link)[^>]* (?:src|href)="(\/ui\/[^"]+\.js)"/g)]
  const scripts = new Map<string, string>()
  let bytes = 0
  for (const [, file = ''] of files) {
    const script = (await call(server.url, file)).text
    scripts.set(file, script)
    bytes += Bun.gzipSync(script, { level: 9 }).byteLength
  }
  console.log(`${path}: ${(bytes / 1024).toFixed(1)} KB of script at first`)
  for (const script of scripts.values()) {
    for (const [, part = ''] of script.matchAll(/(?:from|import)\s*"(\/ui\/[\w-]+\.js)"/g)) {
      expect([...scripts.keys()]).toContain(part)
    }
  }
  expect(bytes).toBeGreaterThan(1024)
  expect(bytes).toBeLessThan(scriptBytesMax.atFirst)
})

test.each(pages)('%s can load at most 200 KB of compressed script', async (path) => {
  const { text } = await call(server.url, path)
  const seen = new Set<string>()
  let bytes = 0
  const waiting = filesOf(text).filter((file) => file.endsWith('.js'))
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    const response = await fetch(`${server.url}${file}`)
    const script = new Uint8Array(await response.arrayBuffer())
    bytes += Bun.gzipSync(script, { level: 9 }).byteLength
    const code = new TextDecoder().decode(script)
    waiting.push(...[...code.matchAll(/\/ui\/[\w-]+\.js/g)].map(([found]) => found))
  }
  console.log(`${path}: ${(bytes / 1024).toFixed(1)} KB of script in all`)
  expect(bytes).toBeGreaterThan(1024)
  expect(bytes).toBeLessThan(scriptBytesMax.ever)
})

test('the coupon page starts without the code of signatures', async () => {
  // The generator of secp256k1 (SEC 2).
  const curve = /79be667ef9dcbbac/i
  const { text } = await call(server.url, '/c')
  const scripts = filesOf(text).filter((file) => file.endsWith('.js'))
  const parts = new Set<string>()
  for (const file of scripts) {
    const script = (await call(server.url, file)).text
    expect(curve.test(script)).toBe(false)
    for (const [part] of script.matchAll(/\/ui\/[\w-]+\.js/g)) parts.add(part)
  }
  // It loads with the first name that is checked.
  const later = [...parts].filter((part) => !scripts.includes(part))
  const texts = await Promise.all(later.map(async (part) => (await call(server.url, part)).text))
  expect(texts.some((one) => curve.test(one))).toBe(true)
})

test('the script that encrypts keys calls nobody, and the till keeps it for without a connection', async () => {
  const { text } = await call(server.url, '/caja')
  const [script = ''] = /\/ui\/key-worker-\w+\.js/.exec(text) ?? []
  expect(script).not.toBe('')
  // It sees keys, so it may load its parts and call nobody.
  const { headers } = await call(server.url, script)
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; script-src 'self'")
  const kept = (await call(server.url, '/sw.js')).text
  for (const file of [script, ...filesOf((await call(server.url, script)).text)]) {
    expect(kept).toContain(file)
  }
})

test.each(pages)('%s opens without an error and speaks both languages', async (path) => {
  const { page, complaints } = await visit(`${server.url}${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('es-AR')
  await page.getByRole('button', { name: 'Switch to English' }).click()
  expect(await page.locator('html').getAttribute('lang')).toBe('en-GB')
  await page.getByRole('button', { name: 'Switch to dark' }).click()
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  await page.reload()
  expect(await page.locator('html').getAttribute('lang')).toBe('en-GB')
  expect(complaints).toEqual([])
})

test('a cut-off address leads to the start page', async () => {
  const { page } = await visit(`${server.url}/panel#/coupons/%E0%A4%A`)
  await page.getByRole('heading', { level: 1 }).waitFor()
})

function filesOf(html: string): string[] {
  return [...new Set([...html.matchAll(/"(\/ui\/[^"]+)"/g)].map(([, file = '']) => file))]
}
