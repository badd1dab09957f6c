/** Each block of each page has a test that runs or reads it; those that no other test reads are read here. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { decode } from 'nostr-tools/nip19'
import { blocksOf, blockWith, openDesk, readText, root } from '../support/printed.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const [here, operators] = ['page-blocks', 'operator-pages'].map(
  (name) => `test/conformance/${name}.test.ts`,
) as [string, string]
const reference = 'test/conformance/docs.test.ts'
const proxies = 'test/conformance/proxies.test.ts'
/** The tests of the blocks by their page and language. */
const readers: Record<string, string> = {
  'README.md sh': operators,
  'README.md bash': operators,
  'README.md text': here,
  'docs/operations.md sh': operators,
  'docs/operations.md ini': operators,
  'docs/operations.md nginx': proxies,
  'docs/operations.md caddyfile': proxies,
  'docs/operations.md text': here,
  'docs/cards.md console': operators,
  'docs/cards.md sh': operators,
  'docs/cluster.md sh': 'test/postgres/pages.test.ts',
  'docs/two-services.md sh': 'test/wallet/two-services.test.ts',
  'docs/monitoring.md yaml': 'test/conformance/alerts.test.ts',
  'docs/transactions.md ts': 'test/tidy/roots.ts',
  'docs/api/start.md sh': 'test/conformance/start-page.test.ts',
  'docs/api/client.md js': 'test/client/package.test.ts',
  'docs/api/recipes.md js': reference,
  'docs/api/gateway.md text': here,
  'docs/api/statistics.md text': here,
  'docs/api/transfers.md mermaid': here,
  'docs/api/vouchers.md mermaid': here,
}

afterAll(cleanUp)

test('each block is read by a test, and each test reads its page', () => {
  const names = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  const pages = names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
  const kinds = ['README.md', ...pages].flatMap((page) =>
    blocksOf(page).map(({ language }) => `${page} ${language}`),
  )
  const ofReference = /^docs\/api\/[a-z-]+\.md (json|http)$/
  const others = new Set(kinds.filter((kind) => !ofReference.test(kind)))
  expect(others).toEqual(new Set(Object.keys(readers)))
  for (const [kind, reader] of Object.entries(readers)) {
    expect(existsSync(join(root, reader))).toBe(true)
    const [page = ''] = kind.split(' ')
    if (reader !== reference) expect(readText(reader)).toContain(basename(page))
  }
})

/** Directives of a file for nginx or Caddy, without comments. */
const plain = (block: string) => block.replace(/^\s*#.*\n/gm, '')

test('the blocks for proxies are whole, and keep the metrics inside', () => {
  for (const { language, text } of blocksOf('docs/operations.md')) {
    if (language !== 'nginx' && language !== 'caddyfile') continue
    const quoted = plain(text).replace(/"[^"\n]*"|'[^'\n]*'/g, '')
    const braces = quoted.replace(/\$\{\w+\}/g, '').match(/[{}]/g) ?? []
    let depth = 0
    for (const brace of braces) {
      depth += brace === '{' ? 1 : -1
      expect(depth).toBeGreaterThanOrEqual(0)
    }
    expect(depth).toBe(0)
    if (language !== 'nginx') continue
    const lines = plain(text).split('\n')
    expect(lines.filter((line) => !/^\s*$|[;{}]$/.test(line))).toEqual([])
  }
  const nginx = blockWith('docs/operations.md', 'log_format nosecrets')
  const [, path = ''] = /^location ~ (\S+) \{ deny all; \}$/m.exec(nginx) ?? []
  const denied = ['/metrics', '/metrics/', '/metrics/x', '/'].map((one) =>
    new RegExp(path).test(one),
  )
  expect(denied).toEqual([true, true, false, false])
  const caddy = blockWith('docs/operations.md', 'reverse_proxy')
  expect(caddy).toContain('@metrics path /metrics /metrics/\n    respond @metrics 403\n')
})

test('a start prints the blocks of the README, here and behind a public address', async () => {
  const labels = (text: string) =>
    [...text.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name)
  const alone = openDesk({ DATA_DIR: join(newDirectory(), 'data') })
  const printed = blockWith('README.md', 'management  open to any key')
  expect(labels(await alone.run('cuponera serve'))).toEqual(labels(printed))
  const open = { PUBLIC_URL: 'http://192.168.1.10:3000' }
  const closed = openDesk({ DATA_DIR: join(newDirectory(), 'data'), ...open })
  const form = (text: string) =>
    [...text.matchAll(/^ {2}(?:management|setup) .*/gm)].map(([line]) =>
      line.replace(/\b[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2}/, 'CODE'),
    )
  const setUp = blockWith('README.md', 'setup code is used')
  expect(form(await closed.run('cuponera serve'))).toEqual(form(setUp))
})

test('the texts of the reference have the form that they show', () => {
  const { data } = decode(
    /nostr:(nevent1\w+)/.exec(blockWith('docs/api/gateway.md', '202 A'))?.[1] as `nevent1${string}`,
  )
  const sent = blockWith('docs/api/gateway.md', 'POST /nostr/publish')
  const { id, pubkey, kind } = JSON.parse(sent.slice(sent.indexOf('{')))
  expect(data).toMatchObject({ id, author: pubkey, kind })
  const [, told = ''] = /^data: (.*)$/m.exec(blockWith('docs/api/statistics.md', 'retry:')) ?? []
  expect(Object.keys(JSON.parse(told))).toEqual(['couponId', 'at', 'handle', 'count', 'mintedBy'])
  for (const page of ['docs/api/transfers.md', 'docs/api/vouchers.md']) {
    for (const { language, text } of blocksOf(page)) {
      if (language === 'mermaid') expect(text).toMatch(/^(sequenceDiagram|stateDiagram-v2)\n/)
    }
  }
  const [titles = ''] = blockWith('docs/operations.md', 'last error').split('\n')
  for (const title of titles.split(/ {2,}/)) expect(readText('src/cli/relays.ts')).toContain(title)
})
