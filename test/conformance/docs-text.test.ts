/** The document as one page of text: whole, self-contained, and nothing that a strict policy forbids. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { nextTurn } from '../../src/base/next-turn.ts'
import type { ApiDocument } from '../../src/http/openapi.ts'
import { describeApi } from '../../src/http/openapi.ts'
import { route } from '../../src/http/route.ts'
import { createDocsTextPage } from '../../src/ui/docs-text-page.tsx'
import { type Answer, call } from '../support/client.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

let url: string
let page: Answer
let document: ApiDocument

beforeAll(async () => {
  ;({ url } = await startServer())
  page = await call(url, '/openapi.html?lang=en')
  document = (await call(url, '/openapi.json')).json
})

afterAll(cleanUp)

test('is HTML with the right content type', () => {
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  expect(page.text).toStartWith('<!doctype html>')
})

test('allows its own style by hash and nothing else', () => {
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page.text) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  expect(page.headers.get('content-security-policy')).toBe(
    `default-src 'none'; img-src data:; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  expect(page.text.match(/<style/g)).toHaveLength(1)
})

test('has no script, no style attribute, and loads nothing', () => {
  const body = page.text.replace('<link rel="icon" href="data:,">', '')
  expect(body).not.toMatch(/<(script|link|img|iframe|object|embed|base|form)\b/i)
  expect(body).not.toMatch(/<[^>]*\s(style|src|on\w+)=/i)
  expect(body).not.toMatch(/href="(?!#|\/openapi\.)|url\(|@import/i)
})

test('shows every operation with its summary, and every refusal with its sentence', () => {
  const text = plain(page.text)
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, summary, ...operation }] of Object.entries(methods)) {
      const [, section = ''] = page.text.split(`<article class="operation" id="${operationId}">`)
      const [own = ''] = section.split('</article>')
      expect(plain(own)).toContain(`${method.toUpperCase()} ${path}`)
      expect(plain(own)).toContain(summary)
      for (const code of operation['x-refusals']) expect(own).toContain(`#code-${code}"`)
    }
  }
  for (const { sentence } of Object.values(document['x-codes'])) expect(text).toContain(sentence)
})

test('has only links to places that exist on the page', () => {
  const links = [...page.text.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target)
  expect(links.length).toBeGreaterThan(300)
  const missing = [...new Set(links)].filter((target) => !page.text.includes(`id="${target}"`))
  expect(missing).toEqual([])
})

test('can be made by a program that was started in another folder', () => {
  const source = join(import.meta.dir, '../../src/ui/docs-text-page.tsx')
  const load = `await import(${JSON.stringify(source)})`
  const { stderr, exitCode } = Bun.spawnSync([process.execPath, '-e', load], {
    cwd: newDirectory(),
  })
  expect({ stderr: stderr.toString(), exitCode }).toEqual({ stderr: '', exitCode: 0 })
})

test('is made in parts, between which others are served', async () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods))
  expect(await turnsOf(createDocsTextPage(document, 'es'))).toBeGreaterThan(operations.length)
  const routes = Array.from({ length: 50 }, (_, at) => ({
    ...{ method: 'GET', path: `/part/${at}` },
    hooks: { detail: route({ summary: '', access: 'public', answers: {} }).detail },
  }))
  const parts = { version: '', sections: {}, securitySchemes: {}, models: {}, catalogue: new Map() }
  const words = { descriptions: {}, patterns: {} }
  const described = describeApi(routes, { ...parts, words, reference: () => undefined })
  expect(await turnsOf(described)).toBeGreaterThan(50)
})

/** Turns of the event loop until it is done. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const done = work.finally(() => {
    over = true
  })
  for (; !over; turns++) await nextTurn()
  await done
  return turns
}

test('escapes the text of descriptions', async () => {
  const hostile = structuredClone(document)
  hostile.info.description = '<script>alert(1)</script> "quoted" `co<de`'
  const { html } = await createDocsTextPage(hostile, 'en')
  expect(html).not.toContain('<script')
  expect(html).toContain('<code>co&lt;de</code>')
})

test('speaks the language that is asked for, else that of the browser', async () => {
  const languageOf = async (path: string, accepted: string) => {
    const { text } = await call(url, path, { headers: { 'Accept-Language': accepted } })
    return /<html lang="([^"]+)"/.exec(text)?.[1]
  }
  expect(await languageOf('/openapi.html', 'en-GB,en;q=0.9')).toBe('en')
  expect(await languageOf('/openapi.html', 'es-AR')).toBe('es-AR')
  expect(await languageOf('/openapi.html?lang=es', 'en')).toBe('es-AR')
  expect((await call(url, '/openapi.html?lang=fr')).json.code).toBe('field-invalid')
})

test.each(['/openapi.json', '/openapi.json?lang=es', '/openapi.html?lang=es'])(
  '%s is compressed for those who take it, and revalidated',
  async (path) => {
    const zipped = await fetch(`${url}${path}`, { headers: { 'Accept-Encoding': 'gzip' } })
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    const whole = await fetch(`${url}${path}`, { headers: { 'Accept-Encoding': 'identity' } })
    expect(whole.headers.get('content-encoding')).toBe(null)
    expect(await whole.text()).toBe(await zipped.text())
    const known = { headers: { 'If-None-Match': zipped.headers.get('etag') ?? '' } }
    expect((await call(url, path, known)).status).toBe(304)
  },
)

function plain(html: string): string {
  const text = html.replace(/<wbr>/g, '').replace(/<[^>]*>/g, '')
  return text.replaceAll('&#x27;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
