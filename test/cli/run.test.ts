import { afterAll, expect, test } from 'bun:test'
import { version } from '../../package.json'
import { runCommand } from '../support/cli.ts'
import { cleanUp, startServer } from '../support/server.ts'

afterAll(cleanUp)

const misunderstood: [args: string, line: string][] = [
  ['frobnicate', 'unknown command frobnicate: see cuponera help'],
  ['constructor', 'unknown command constructor: see cuponera help'],
  ['serve now', 'serve takes no operand, but got now'],
  ['check now', 'check takes no operand, but got now'],
  ['backup', 'backup needs FILE'],
  ['backup a b', 'backup takes FILE only, but got b'],
  ['restore', 'restore needs FILE'],
  ['keys', 'keys needs one of: keys show, keys export, keys import'],
  ['keys burn', 'keys needs one of: keys show, keys export, keys import'],
  ['keys export', 'keys export needs either FILE or --ncryptsec'],
  ['keys export a --ncryptsec', 'keys export needs either FILE or --ncryptsec'],
  ['sessions end', 'sessions end needs either NPUB or --all'],
  ['sessions end a --all', 'sessions end needs either NPUB or --all'],
  [
    'merchants',
    'merchants needs one of: merchants list, merchants add, merchants remove, merchants confirm',
  ],
  ['merchants add', 'merchants add needs NPUB'],
  ['merchants add a b', 'merchants add takes NPUB only, but got b'],
  ['merchants confirm', 'merchants confirm needs either NPUB… or --all'],
  ['merchants confirm a --all', 'merchants confirm needs either NPUB… or --all'],
  ['serve --frob 1', 'serve knows no flag --frob'],
  ['check --force', 'check knows no flag --force'],
  ['backup a --force=no', '--force takes no value'],
  ['backup a --force --force', '--force is given twice'],
  ['serve --port', '--port needs a value'],
  ['serve -p', 'unknown flag -p'],
  ['backup -force', 'unknown flag -force'],
  ['serve -- --port', 'serve takes no operand, but got --port'],
  ['backup a b c', 'backup takes FILE only, but got b'],
  ['serve --abcdefghijklmnopqrsg secret', 'serve knows no flag --abcdefghijklmnopqrsg'],
]
test.each(misunderstood)('cuponera %s ends with 2 and one line', async (args, line) => {
  const { code, stdout, stderr } = await runCommand(args.split(' '))
  expect(stderr).toBe(`cuponera: ${line}\n`)
  expect(stdout).toBe('')
  expect(code).toBe(2)
})

test('a malformed setting ends any command with 1 and one line that names it', async () => {
  const { code, stderr } = await runCommand(['check', '--port', 'many'])
  expect(stderr).toBe('cuponera: PORT: expected a port from 0 to 65535\n')
  expect(code).toBe(1)
})

test('commands, too, warn of a variable that looks like a misspelt setting', async () => {
  const { stderr } = await runCommand(['check'], { env: { DATA_DIRR: '/srv' } })
  expect(stderr).toContain('DATA_DIRR is set, but not used: did you mean DATA_DIR?')
})

test.each(['help', '--help', '-h', 'backup --help'])(
  '%s lists every command in a line',
  async (args) => {
    const { code, stdout } = await runCommand(args.split(' '))
    const list = /Commands:\n(.*)\n\n/s.exec(stdout)?.[1] ?? ''
    const names = list.split('\n').map((line) => /^ {2}(\S+( \S+)?)/.exec(line)?.[1])
    expect(names).toEqual([
      'serve',
      'status',
      'health',
      'check',
      'setup',
      'merchants list',
      'merchants add',
      'merchants remove',
      'merchants confirm',
      'relays',
      'nodes',
      'sessions end',
      'nonce',
      'identity add',
      'identity list',
      'identity remove',
      'cards list',
      'cards init',
      'cards otc',
      'cards disable',
      'cards enable',
      'cards keys',
      'cards delete',
      'card-sim new',
      'card-sim activate',
      'card-sim tap',
      'card-sim pay',
      'backup FILE',
      'restore [FILE]',
      'move',
      'move out',
      'move in',
      'move back',
      'ledger balances',
      'ledger issue',
      'ledger statement',
      'tls',
      'keys show',
      'keys export',
      'keys import',
      'sign METHOD',
      'licences',
      'demo',
      'version, help',
    ])
    expect(code).toBe(0)
  },
)

test.each(['version', '--version', '-v'])('%s prints the version', async (args) => {
  expect((await runCommand([args])).stdout).toBe(`${version}\n`)
})

test('the demo uses the server of the settings, or the one of its argument', async () => {
  const server = await startServer()
  const { port } = new URL(server.url)
  expect((await runCommand(['demo'], { env: { PORT: port } })).code).toBe(0)
  expect((await runCommand(['demo', '--url', server.url])).code).toBe(0)
  await server.stop()
})
