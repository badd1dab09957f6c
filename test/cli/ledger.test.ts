/** `cuponera ledger`: issuing through the server, and reading with and without one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { csvCell } from '../../src/cli/ledger.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { runCommand } from '../support/cli.ts'
import { newSigner } from '../support/client.ts'
import { balancesOf, createStart, publish } from '../support/ledger.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const secret = randomBytes(32)
const manager = newSigner(secret)
const other = newSigner()
const env = {
  COUPON_MANAGER_NSEC: secret.toString('hex'),
  TOKENS: `ARS:2:${manager.pubkey},PTS:0:${other.pubkey}`,
}
const customer = newSigner()
const npub = npubOf(customer.pubkey)

let server: TestServer
beforeAll(async () => {
  server = await startServer({ env })
})
afterAll(cleanUp)

const run = (...args: string[]) => runCommand(['ledger', ...args], { dataDir: server.dataDir, env })

describe('with a running server', () => {
  test('issue moves tokens from the manager key, and two equal runs issue twice', async () => {
    const first = await run('issue', 'ARS', npub, '1500.50', '--memo', '=Carga')
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toStartWith(`1500.50 ARS to ${npub}, who has 1500.50 now (`)
    const twice = await Promise.all([
      run('issue', 'ARS', customer.pubkey, '1'),
      run('issue', 'ARS', customer.pubkey, '1'),
    ])
    expect(twice.map(({ code }) => code)).toEqual([0, 0])
    expect(await balancesOf(server.url, customer)).toEqual({ ARS: 150_250 })
  })

  test.each([
    ['a token nobody knows', ['USD', npub, '1'], /TOKENS names no USD/],
    ['a token of another issuer', ['PTS', npub, '1'], /PTS is issued by npub1/],
    ['a key that is none', ['ARS', 'x', '1'], /: that is no public key/],
    ['more decimals than it has', ['ARS', npub, '1.005'], /1\.005 is no amount of ARS/],
    ['nothing', ['ARS', npub, '0'], /0 is no amount of ARS/],
    ['itself', ['ARS', manager.pubkey, '1'], /El destinatario no es válido/],
  ])('issue refuses %s', async (_, args, message) => {
    const { code, stderr } = await run('issue', ...args)
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
  })

  test('statement lists movements oldest first, in a format that a spreadsheet reads', async () => {
    const shop = newSigner()
    const start = createStart({
      ledger: manager.pubkey,
      from: customer,
      to: shop.pubkey,
      tokens: { ARS: 250 },
      memo: 'Café "doble"',
    })
    await publish(server.url, start)
    const { code, stdout } = await run('statement', npub, '--token', 'ARS')
    expect(code).toBe(0)
    const [head, ...rows] = stdout.trim().split('\n')
    expect(head).toBe('time,token,amount,balance,counterparty,memo,event')
    expect(rows).toHaveLength(4)
    expect(rows[0]).toMatch(/^\d{4}-\S+Z,ARS,1500\.50,1500\.50,npub1\w+,"'=Carga",[0-9a-f]{64}$/)
    expect(rows[3]).toEndWith(
      `,ARS,-2.50,1500.00,${npubOf(shop.pubkey)},"Café ""doble""",${start.id}`,
    )
  })

  test('statement refuses an unknown account or token', async () => {
    expect((await run('statement', 'x')).stderr).toContain(': that is no public key')
    expect((await run('statement', npub, '--token', 'USD')).stderr).toContain(
      'no token is called USD',
    )
  })
})

test('balances can be read without a server, and nothing can be issued', async () => {
  await server.stop()
  const { code, stdout } = await run('balances')
  expect(code).toBe(0)
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  expect(rows).toContainEqual(['ARS', '-1502.50', npubOf(manager.pubkey)])
  expect(rows).toContainEqual(['ARS', '1500.00', npub])
  const one = await run('balances', npub)
  expect(one.stdout).toBe(`ARS\t1500.00\t${npub}\n`)
  const { code: refused, stderr } = await run('issue', 'ARS', npub, '1')
  expect([refused, stderr]).toEqual([
    1,
    expect.stringMatching(/no server is running|start the server, and run the command/),
  ])
})

test.each([
  ['Café', '"Café"'],
  ['say "hi"', '"say ""hi"""'],
  ['=1+1', `"'=1+1"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['  =1', `"'  =1"`],
  ['\t=1', `"'\t=1"`],
  ['\u0001=1', `"'\u0001=1"`],
  ['＝1', `"'＝1"`],
  ['\t1', `"'\t1"`],
  ['a,b\nc', '"a,b\nc"'],
])('the cell of %p is %s', (text, cell) => {
  expect(csvCell(text)).toBe(cell)
})
