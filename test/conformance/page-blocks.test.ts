/** Each block of each page has a test that runs or reads it; those that no other test reads are read here. */
import { afterAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { decode } from 'nostr-tools/nip19'
import type { Stores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import { handleOf } from '../../src/coupons/nonce.ts'
import { kindOf, type Root } from '../../src/db/roots.ts'
import { newSigner } from '../support/client.ts'
import { engineIn } from '../support/engine.ts'
import { blocksOf, blockWith, openDesk, readText, root } from '../support/printed.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { addAccount } from '../support/shops.ts'

const conformance = (name: string) => `test/conformance/${name}.test.ts`
const here = conformance('page-blocks')
const operators = conformance('operator-pages')
const proxies = conformance('proxies')
const diagrams = conformance('diagrams')
const exchanges = 'test/conformance/answers/pages.ts'

/** A test takes each block by a text in it, or all of a language. */
type Reader = [reader: string, taken: readonly string[] | number]

/** The tests of the blocks by their page and language. */
const readers: Record<string, Reader[]> = {
  'README.md sh': [
    [here, ['npm start']],
    [operators, ['cuponera restore --force']],
  ],
  'README.md bash': [
    [operators, ['cuponera merchants confirm --all', 'cuponera identity add ana']],
  ],
  'README.md text': [
    [here, ['management  open to any key', 'setup code is used', 'one writer, group commit']],
    ['test/cli/demo.test.ts', ['The minter mints']],
  ],
  'docs/operations.md sh': [
    [conformance('docker'), ['docker build', 'docker exec cuponera cuponera check']],
    [
      conformance('docker'),
      ['docker inspect', '--network host', 'docker exec cuponera cuponera tls'],
    ],
    [operators, ['cuponera serve --host 0.0.0.0', 'cuponera identity add ana']],
    [operators, ['cuponera ledger issue ARS', '/etc/cron.daily/cuponera', 'cuponera move out']],
  ],
  'docs/operations.md ini': [[conformance('units'), ['[Service]']]],
  'docs/operations.md nginx': [[proxies, ['log_format nosecrets', 'refreshed=0']]],
  'docs/operations.md caddyfile': [[proxies, ['reverse_proxy']]],
  'docs/operations.md text': [['test/gateway/delivery.test.ts', ['last error']]],
  'docs/cards.md console': [
    [operators, ['$ cuponera keys show', '$ cuponera card-sim new', '$ cuponera card-sim pay']],
  ],
  'docs/cards.md sh': [[operators, ['cuponera cards otc UID']]],
  'docs/cluster.md sh': [
    ['test/postgres/pages.test.ts', ['createuser --pwprompt', 'cuponera move --from ./data']],
    ['test/fault/patroni/cluster.ts', ['PATRONI_NAME']],
  ],
  'docs/two-services.md sh': [['test/wallet/two-services.test.ts', 5]],
  'docs/monitoring.md yaml': [[conformance('alerts'), ['scrape_configs']]],
  'docs/transactions.md ts': [[here, ['database.transact(', 'tx.lock(']]],
  'docs/api/start.md sh': [[conformance('start-page'), 6]],
  'docs/api/client.md js': [['test/client/package.test.ts', 4]],
  'docs/api/recipes.md js': [[conformance('docs'), 1]],
  'docs/api/gateway.md text': [[exchanges, ['202 A']]],
  'docs/api/statistics.md text': [[exchanges, ['retry:']]],
  'docs/api/transfers.md mermaid': [
    [diagrams, ['A->>S: POST /api/transfer']],
    [here, ['killed after the intent']],
  ],
  'docs/api/vouchers.md mermaid': [[diagrams, ['stateDiagram']]],
}

afterAll(cleanUp)

test('each block is taken by one test, which names it', () => {
  const names = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  const pages = names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
  const blocks = ['README.md', ...pages].flatMap((page) =>
    blocksOf(page).map((block) => ({ page, ...block })),
  )
  // Every one of these is compared: answers/pages.ts.
  const ofReference = ({ page, language }: { page: string; language: string }) =>
    page.startsWith('docs/api/') && ['json', 'http'].includes(language)
  const kinds = Map.groupBy(
    blocks.filter((block) => !ofReference(block)),
    ({ page, language }) => `${page} ${language}`,
  )
  expect(new Set(kinds.keys())).toEqual(new Set(Object.keys(readers)))
  for (const [kind, list] of kinds) {
    const taken = readers[kind] ?? []
    const texts = taken.flatMap(([, one]) => (typeof one === 'number' ? [] : one))
    const whole = taken.find(([, one]) => typeof one === 'number')
    if (whole) expect({ kind, blocks: list.length }).toEqual({ kind, blocks: Number(whole[1]) })
    else {
      for (const { text } of list) {
        const found = texts.filter((one) => text.includes(one))
        expect({ kind, text, found }).toEqual({ kind, text, found: [expect.any(String)] })
      }
    }
    for (const [reader, one] of taken) {
      const source = readText(reader)
      const [page = ''] = kind.split(' ')
      if (!(page === 'docs/api/recipes.md')) expect(source).toContain(basename(page))
      for (const text of typeof one === 'number' ? [] : one) {
        expect({ reader, text, is: source.includes(text) }).toEqual({ reader, text, is: true })
        expect({ text, at: list.some((block) => block.text.includes(text)) }).toEqual({
          text,
          at: true,
        })
      }
    }
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
  // Without its log. The folder and the engine of signatures are those of this machine.
  const lines = (text: string) =>
    text
      .replace(/^\{.*/gm, '')
      .trim()
      .replace(/^( {2}(?:data|signatures) ).*/gm, '$1')
      .replace(/npub1\w+/, 'npub')
      .replace(/(?<=:)\d{4,5}\b/g, 'port')
  const alone = openDesk({ DATA_DIR: join(newDirectory(), 'data') })
  const printed = blockWith('README.md', 'management  open to any key')
  expect(lines(await alone.run('cuponera serve'))).toBe(lines(printed))
  const open = { PUBLIC_URL: 'http://192.168.1.10:3000' }
  const closed = openDesk({ DATA_DIR: join(newDirectory(), 'data'), ...open })
  const form = (text: string) =>
    [...text.matchAll(/^ {2}(?:management|setup) .*/gm)].map(([line]) =>
      line.replace(/\b[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2}/, 'CODE'),
    )
  const setUp = blockWith('README.md', 'setup code is used')
  expect(form(await closed.run('cuponera serve'))).toEqual(form(setUp))
})

test('the first command of the README starts the service in its folder', async () => {
  const child = Bun.spawn(['sh', '-c', blockWith('README.md', 'npm start')], {
    cwd: root,
    env: { ...process.env, PORT: '0', DATA_DIR: join(newDirectory(), 'data') },
    detached: true,
    stdin: 'ignore',
    stderr: 'pipe',
  })
  let printed = ''
  try {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      printed += part
      if (/^ {2}management +open to any key/m.test(printed)) break
    }
    expect(printed).toMatch(/^ {2}address +http:/m)
  } finally {
    // Ctrl-C goes to all of them. If they have ended by themselves, there is no such group.
    if (child.exitCode === null) process.kill(-child.pid, 'SIGINT')
    await child.exited
  }
})

test('the blocks on transactions run on a database', async () => {
  const directory = newDirectory()
  const database = (await engineIn(directory))(systemClock)
  await addAccount(directory, 'ana', newSigner().pubkey)
  const [nonce, name] = ['Anf-OSv8elgEZg1_GQowWQ', 'ana']
  const run = (text: string, given: Record<string, unknown>) =>
    new AsyncFunction(...Object.keys(given), text)(...Object.values(given))
  const [rooted, locked] = ['database.transact(', 'tx.lock('].map((text) =>
    blockWith('docs/transactions.md', text),
  ) as [string, string]
  const roots: Root[] = []
  const transact = (plan: { roots: Root[] }, operation: (tx: Stores) => Promise<unknown>) => {
    roots.push(...plan.roots)
    return database.transact(plan, operation)
  }
  const find = rooted.replace('…', 'tx.vouchers.find(handleOf(nonce))')
  expect(await run(`return ${find}`, { database: { transact }, handleOf, nonce })).toBeNull()
  const account = await database.transact({ roots: [] }, (real) => {
    const lock = (root: Root) => {
      roots.push(root)
      return real.lock(root)
    }
    const tx = { accounts: real.accounts, lock }
    return run(`${locked}\nreturn account`, { tx, name })
  })
  expect(account).toMatchObject({ name })
  expect(roots.map(kindOf)).toEqual(['voucher', 'holder'])
  await database.close()
})

const AsyncFunction = (async () => undefined).constructor as new (
  ...parts: string[]
) => (...given: unknown[]) => Promise<unknown>

test('the blocks that nothing can run name things that there are', () => {
  const { data } = decode(
    /nostr:(nevent1\w+)/.exec(blockWith('docs/api/gateway.md', '202 A'))?.[1] as `nevent1${string}`,
  )
  const sent = blockWith('docs/api/gateway.md', 'POST /nostr/publish')
  const { id, pubkey, kind } = JSON.parse(sent.slice(sent.indexOf('{')))
  expect(data).toMatchObject({ id, author: pubkey, kind })
  // Its cases are those of test/fault/transfer-crash.test.ts.
  const recovery = blockWith('docs/api/transfers.md', 'killed after the intent')
  expect(recovery.match(/^ +(?:alt|else) /gm)).toHaveLength(4)
  const overview = blockWith('README.md', 'one writer, group commit')
  const words = ['/relay', 'relay.db', 'cuponera.db', 'outbox']
  expect(words.filter((word) => !overview.includes(word))).toEqual([])
})
