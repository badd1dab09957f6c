/** The page that shows the document: whole, self-contained, and nothing that a strict policy forbids. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { ApiDocument } from '../../src/http/openapi.ts'
import { createDocsPage } from '../../src/ui/docs-page.ts'
import { type Answer, call } from '../support/client.ts'
import { cleanUp, startServer } from '../support/server.ts'

let page: Answer
let document: ApiDocument

beforeAll(async () => {
  const { url } = await startServer()
  page = await call(url, '/docs')
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
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  expect(page.text.match(/<style/g)).toHaveLength(1)
})

test('has no script, no style attribute, and loads nothing', () => {
  expect(page.text).not.toMatch(/<(script|link|img|iframe|object|embed|base|form)\b/i)
  expect(page.text).not.toMatch(/\s(style|src|on\w+)=/i)
  expect(page.text).not.toMatch(/https?:\/\/|url\(|@import/i)
})

test('shows every operation with its summary and every refusal', () => {
  const text = plain(page.text)
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, summary, ...operation }] of Object.entries(methods)) {
      const [, section = ''] = page.text.split(`<details id="${operationId}">`)
      const [own = ''] = section.split('</details>')
      expect(plain(own)).toContain(`${method.toUpperCase()} ${path} ${summary}`)
      for (const code of operation['x-refusals']) expect(own).toContain(`<code>${code}</code>`)
    }
  }
  for (const { summary } of Object.values(document.components.examples)) {
    const [, sentence = ''] = /^\d+ (.*)$/.exec(summary) ?? []
    const anywhere = !/Esa dirección no existe|Ese método no se puede/.test(sentence)
    if (anywhere) expect(text).toContain(sentence)
  }
})

test('has only links to places that exist on the page', () => {
  const links = [...page.text.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target)
  expect(links.length).toBeGreaterThan(30)
  for (const target of new Set(links)) expect(page.text).toContain(`id="${target}"`)
})

test('escapes the text of descriptions', () => {
  const hostile = structuredClone(document)
  hostile.info.description = '<script>alert(1)</script> "quoted" `co<de`'
  const { html } = createDocsPage(hostile)
  expect(html).not.toContain('<script')
  expect(html).toContain('<code>co&lt;de</code>')
})

function plain(html: string): string {
  const text = html.replace(/<wbr>/g, '').replace(/<[^>]*>/g, '')
  return text.replaceAll('&#x27;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
