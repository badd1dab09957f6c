import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { limits } from '../../src/base/limits.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { type Run, type RunOptions, runCommand } from '../support/cli.ts'
import {
  call,
  createDefinition,
  mintOne,
  newKey,
  newSigner,
  openSession,
} from '../support/client.ts'
import { admitByCode, sendCode, startClosed } from '../support/closed.ts'
import { damage, databaseOf, describeFile, testOfFile } from '../support/database.ts'
import { expectRefusal, readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { logged, until } from '../support/until.ts'

afterAll(cleanUp)

const lan = { HOST: '0.0.0.0' }
const manage = (url: string, token: string) => call(url, '/api/coupons', { token })
const good = (stdout: string) => ({ code: 0, stdout, stderr: '' })
const bad = (line: string) => ({ code: 1, stdout: '', stderr: `cuponera: ${line}\n` })
const newNpub = () => npubOf(newSigner().pubkey)

/** The same commands with a server and without one. */
const ways: [name: string, directory: () => Promise<string>][] = [
  ['through the running server', async () => (await startClosed()).dataDir],
  [
    'on the database, without a server',
    async () => {
      const server = await startClosed()
      await server.stop()
      return server.dataDir
    },
  ],
]

const testCommands = (way: string, open: () => Promise<string>) => {
  test('show the setup code, and replace it by a new one', async () => {
    const dataDir = await open()
    const run = (...args: string[]) => runCommand(args, { dataDir, env: lan })
    const shown = await run('setup')
    const [, code = ''] = /once: (\S+)\n/.exec(shown.stdout) ?? []
    expect(code).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){2}$/)
    expect(shown.stdout).toMatch(new RegExp(`  http://\\S+/panel#alta=${code}\\n`))
    // The link again, as a code to scan.
    expect(shown.stdout).toMatch(/█▀/)
    expect(shown.stdout.includes('start it first')).toBe(way.includes('without'))
    expect((await run('setup')).stdout).toBe(shown.stdout)
    const [, other] = /once: (\S+)\n/.exec((await run('setup', '--new')).stdout) ?? []
    expect(other).not.toBe(code)
    expect((await run('setup')).stdout).toContain(`${other}\n`)
  })

  test('add, list and remove merchants', async () => {
    const dataDir = await open()
    const run = (...args: string[]) => runCommand(args, { dataDir, env: lan })
    const [npub, other] = [newNpub(), newNpub()]
    expect(await run('merchants', 'list')).toEqual(
      good('nobody may manage coupons yet: see "cuponera setup"\n'),
    )
    const label = ['--label', 'Café']
    expect(await run('merchants', 'add', npub, ...label)).toEqual(good(`${npub} was let in\n`))
    expect(await run('merchants', 'add', npub)).toEqual(good(`${npub} had been let in before\n`))
    expect((await run('merchants', 'add', `nostr:${other}`)).code).toBe(0)
    const { stdout } = await run('merchants', 'list')
    const [first, head, ...rows] = stdout.trimEnd().split('\n')
    expect(first).toBe('merchants that were let in may manage coupons')
    expect(head).toMatch(/^key +since +adds others +label$/)
    expect(rows).toHaveLength(2)
    for (const row of [`${npub} +\\S+Z +yes +Café`, `${other} +\\S+Z +yes`]) {
      expect(rows).toContainEqual(expect.stringMatching(new RegExp(`^${row}$`)))
    }
    expect(await run('setup')).toEqual(
      bad(
        'no code is needed: 2 merchant(s) were let in; add others in the panel or with "cuponera merchants add"',
      ),
    )
    expect((await readRows(dataDir)).setup_code).toEqual([])

    // The text is not repeated: it may be a secret key, pasted by mistake.
    for (const key of ['x', `nsec1${'q'.repeat(58)}`]) {
      expect(await run('merchants', 'add', key)).toEqual(bad('that is no public key: npub or hex'))
    }
    expect(await run('merchants', 'add', npub, '--label', 'x'.repeat(81))).toEqual(
      bad('a label has at most 80 characters, none of them invisible'),
    )
    const stranger = newNpub()
    expect(await run('merchants', 'remove', stranger)).toEqual(
      bad(`${stranger} is not among the merchants that were let in`),
    )
    const gone = (key: string) => `${key} is no merchant any more; its vouchers stay valid\n`
    expect(await run('merchants', 'remove', npub)).toEqual(good(gone(npub)))
    expect(await run('merchants', 'remove', other)).toEqual(
      good(`${gone(other)}nobody may manage coupons yet: see "cuponera setup"\n`),
    )
    expect((await run('setup')).code).toBe(0)
    expect((await run('check')).code).toBe(0)
  })

  test('refuse a merchant beyond the maximum', async () => {
    const dataDir = await open()
    await databaseOf(dataDir).runEach(
      'INSERT INTO merchants (pubkey, owner, created_at) VALUES (?, 0, 1)',
      Array.from({ length: limits.merchantsMax }, () => [randomBytes(32)]),
    )
    expect(await runCommand(['merchants', 'add', newNpub()], { dataDir, env: lan })).toEqual(
      bad('there would be more than 1000 merchants: MERCHANTS=open takes any key'),
    )
  })
}
describe.each(ways.slice(0, 1))('the operator’s commands %s', testCommands)
describeFile.each(ways.slice(1))('the operator’s commands %s', testCommands)

test('a key that is added through the running server may manage at once, and no longer once it is removed', async () => {
  const server = await startClosed()
  const { url, dataDir, code } = server
  const run = (...args: string[]) => runCommand(args, { dataDir })
  const signer = newSigner()
  const npub = npubOf(signer.pubkey)
  const token = await openSession(url, signer)
  expectRefusal(await manage(url, token), 403, 'merchant-not-allowed', { setup: true })
  await run('merchants', 'add', npub)
  expect((await manage(url, token)).status).toBe(200)
  expectRefusal(await sendCode(url, newSigner(), code), 403, 'setup-code-wrong')
  // The operator's merchants add others.
  const body = { pubkey: newSigner().pubkey }
  expect((await call(url, '/api/merchants', { body, token })).status).toBe(201)
  await run('merchants', 'remove', npub)
  expectRefusal(await manage(url, token), 403, 'merchant-not-allowed')
  // After the last one is removed there is a new code.
  await run('merchants', 'remove', body.pubkey)
  expectRefusal(await manage(url, token), 403, 'merchant-not-allowed', { setup: true })
  expectRefusal(await sendCode(url, newSigner(), code), 403, 'setup-code-wrong')
})

test('a merchant added by another becomes an owner when the operator adds it', async () => {
  const server = await startClosed()
  const { url, dataDir } = server
  const { token } = await admitByCode(server)
  const other = newSigner()
  const body = { pubkey: other.pubkey, label: 'Panadería' }
  await call(url, '/api/merchants', { body, token })
  const by = await openSession(url, other)
  expectRefusal(await call(url, '/api/merchants', { token: by }), 403, 'merchants-owner-only')
  await runCommand(['merchants', 'add', npubOf(other.pubkey)], { dataDir })
  const { json } = await call(url, '/api/merchants', { token: by })
  expect(json.merchants).toContainEqual(expect.objectContaining({ ...body, owner: true }))
})

testOfFile('the command explains why no setup code is needed', async () => {
  const answers: [env: Record<string, string>, line: string][] = [
    [{}, 'by its settings only this machine reaches the service, and any key may manage coupons'],
    [{ ...lan, MERCHANTS: newNpub() }, 'MERCHANTS names the keys that may manage coupons'],
    [{ ...lan, MERCHANTS: 'open' }, 'any key may manage coupons (MERCHANTS=open)'],
  ]
  for (const [env, line] of answers) {
    const server = await startServer({ env })
    const { dataDir } = server
    const expected = bad(`no code is needed: ${line}`)
    expect(await runCommand(['setup'], { dataDir })).toEqual(expected)
    expect(await runCommand(['setup', '--new'], { dataDir })).toEqual(expected)
    await server.stop()
    expect(await runCommand(['setup'], { dataDir, env })).toEqual(expected)
    const npub = newNpub()
    const added = await runCommand(['merchants', 'add', npub], { dataDir, env })
    expect(added.stdout).toMatch(/ was let in\nThis has no effect while .+\.\n$/)
    const { stdout } = await runCommand(['merchants', 'list'], { dataDir, env })
    expect(stdout).toContain('not used by these settings')
    expect(stdout).toContain(npub)
  }
})

describe('a database with coupons that is older than the list of merchants', () => {
  /** Two owners with coupons, and one whose coupons are all archived; made on this machine alone. */
  async function newShops() {
    const server = await startServer()
    const { url, dataDir } = server
    const [busy, quiet, over] = [newSigner(), newSigner(), newSigner()]
    const open = async (signer: typeof busy) => {
      const token = await openSession(url, signer)
      return { signer, token, couponId: await createDefinition(url, token) }
    }
    const first = await open(busy)
    await createDefinition(url, first.token, { name: 'Otro' })
    const second = await open(quiet)
    const third = await open(over)
    const path = `/api/coupons/${third.couponId}`
    await call(url, path, { method: 'PATCH', body: { archived: true }, token: third.token })
    const { nonce } = await mintOne(url, first.token, first.couponId)
    const body = { pubkey: second.signer.pubkey }
    await call(url, '/api/coupons/minters', { body, token: first.token })
    await server.stop()
    const npubs = [busy, quiet, over].map(({ pubkey }) => npubOf(pubkey))
    return { dataDir, first, second, nonce, npubs }
  }

  test('starts without management and tells the operator; everything else works', async () => {
    const { dataDir, first, second, nonce, npubs } = await newShops()
    const [busy = '', quiet = '', over = ''] = npubs
    const server = await startClosed({ dataDir })
    const { url } = server
    await logged(server, '"management.waiting"')
    const said = server.output()
    expect(said).toMatch(new RegExp(`waiting +${busy}  2 coupon\\(s\\)\\n +${quiet}  1 coupon`))
    expect(said).not.toContain(over)
    expect(said).toMatch(/"management.waiting".+"owners":2.+merchants confirm.+MERCHANTS=open/)
    const setup = { setup: true } as const
    for (const { token } of [first, second]) {
      expectRefusal(await manage(url, token), 403, 'merchant-not-allowed', setup)
    }
    const seen = await call(url, '/api/coupons/preview', { body: { nonce } })
    expect(seen.json.status).toBe('minted')
    const headers = { 'Idempotency-Key': newKey() }
    const swapped = await call(url, '/api/coupons/refresh', { body: { nonce }, headers })
    expect(swapped.status).toBe(201)
    const body = { nonce: swapped.json.nonce }
    expect((await call(url, '/api/coupons/claim', { body })).json.status).toBe('success')
    expect(await mintOne(url, second.token, first.couponId)).toMatchObject({ npub: busy })
    const mintable = await call(url, '/api/coupons/mintable', { token: second.token })
    expect(mintable.json.coupons).toHaveLength(3)

    const list = async () => (await runCommand(['merchants', 'list'], { dataDir })).stdout
    expect(await list()).toMatch(new RegExp(`waits to be let in.+\\n${busy} +2\\n${quiet} +1\\n$`))
    expect(await runCommand(['merchants', 'confirm', quiet], { dataDir })).toEqual(
      good(`${quiet} was let in\n`),
    )
    expect((await manage(url, second.token)).status).toBe(200)
    expectRefusal(await manage(url, first.token), 403, 'merchant-not-allowed')
    expect(await list()).toMatch(new RegExp(`\\n${busy} +2\\n$`))
    // A key that waits for nothing stops the whole command.
    const line = `${over} has no coupons that wait: let it in with "cuponera merchants add"`
    const both = ['merchants', 'confirm', busy, over]
    expect(await runCommand(both, { dataDir })).toEqual(bad(line))
    expectRefusal(await manage(url, first.token), 403, 'merchant-not-allowed')
    expect((await runCommand(['merchants', 'add', over], { dataDir })).code).toBe(0)

    await server.stop()
    // Once somebody was let in the start says no more about it.
    const later = await startClosed({ dataDir })
    expect(later.output()).not.toContain('waiting')
  })

  testOfFile(
    'is confirmed for all its owners by one command, also while no server runs',
    async () => {
      const { dataDir, first, second, npubs } = await newShops()
      const all = ['merchants', 'confirm', '--all']
      const confirmed = await runCommand(all, { dataDir, env: lan })
      const lines = npubs.slice(0, 2).map((npub) => `${npub} was let in\n`)
      expect(confirmed).toEqual(good(lines.join('')))
      expect(await runCommand(all, { dataDir, env: lan })).toEqual(
        good('nobody waits for confirmation\n'),
      )
      const { url, code } = await startClosed({ dataDir })
      expect(code).toBe('')
      for (const { token } of [first, second]) expect((await manage(url, token)).status).toBe(200)
    },
  )

  test('is given back to its owner by the setup code', async () => {
    const { dataDir, first } = await newShops()
    const { url, code } = await startClosed({ dataDir })
    expect((await sendCode(url, first.signer, code)).status).toBe(201)
    expect((await manage(url, first.token)).json.coupons).toHaveLength(2)
  })

  test('is open to its owners with MERCHANTS=open, and only that warning is shown', async () => {
    const { dataDir, first } = await newShops()
    const server = await startClosed({ dataDir, env: { MERCHANTS: 'open' } })
    expect((await manage(server.url, first.token)).status).toBe(200)
    await logged(server, '"management.open"')
    expect(server.output()).not.toContain('waiting')
    expect(server.output()).toMatch(/"management.open".+MERCHANTS=open/)
  })
})

describe('the demo', () => {
  const runDemo = (server: TestServer, args: string[], options: RunOptions = {}): Promise<Run> =>
    runCommand(['demo', ...args], { dataDir: server.dataDir, ...options })
  const story = 'Everything as it should be'

  test.each<[string, Record<string, string>]>([
    ['this machine alone', { HOST: '127.0.0.1' }],
    ['the network of a shop', {}],
    ['listed merchants', { MERCHANTS: newSigner().pubkey }],
    ['a public name', { PUBLIC_URL: 'https://cupones.example' }],
  ])('runs against a server for %s, and leaves no merchant behind', async (_, env) => {
    const server = await startClosed({ env })
    const publicUrl = env.PUBLIC_URL ? { env: { PUBLIC_URL: env.PUBLIC_URL } } : {}
    const { code, stdout, stderr } = await runDemo(server, [], publicUrl)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(story)
    const { merchants, setup_code = [] } = await readRows(server.dataDir)
    expect(merchants).toEqual([])
    // The setup code stays valid for the first merchant.
    expect(setup_code.length).toBe(server.code === '' ? 0 : 1)
  })

  test('detects that the given address is its own server', async () => {
    const server = await startClosed()
    const { code, stdout } = await runDemo(server, ['--url', `${server.url}/`])
    expect([code, stdout.includes(story)]).toEqual([0, true])
  })

  test('explains what it needs at another service', async () => {
    const [server, other] = [await startClosed(), await startClosed()]
    const { code, stderr } = await runDemo(server, ['--url', other.url])
    expect(code).toBe(1)
    expect(stderr).toMatch(/merchant-not-allowed.+DATA_DIR.+MERCHANTS=open/)
    expect((await readRows(server.dataDir)).merchants).toEqual([])
  })

  test('leaves, when it is killed, a key that may manage for ten minutes and counts for nothing', async () => {
    const server = await startClosed()
    const { url, dataDir, code } = server
    const guest = newSigner()
    const control = { unix: `${dataDir}/control.sock`, method: 'POST' }
    const order = (command: string) =>
      fetch('http://control/merchants', {
        ...control,
        body: JSON.stringify({ do: command, pubkey: guest.pubkey }),
      })
    expect((await order('admit-guest')).status).toBe(200)
    const token = await openSession(url, guest)
    expect((await manage(url, token)).status).toBe(200)
    expectRefusal(await call(url, '/api/merchants', { token }), 403, 'merchants-owner-only')
    const { merchants = [] } = await readRows(dataDir)
    const [row] = merchants as { created_at: number; expires_at: number }[]
    expect((row?.expires_at ?? 0) - (row?.created_at ?? 0)).toBe(limits.guestSeconds)
    // The guest does not use up the setup code, and no merchant sees or removes it.
    const { signer, token: owner } = await admitByCode({ ...server, code })
    const list = await call(url, '/api/merchants', { token: owner })
    expect(list.json.merchants.map(({ pubkey }: { pubkey: string }) => pubkey)).toEqual([
      signer.pubkey,
    ])
    const path = `/api/merchants/${guest.pubkey}`
    const removed = await call(url, path, { method: 'DELETE', token: owner })
    expectRefusal(removed, 404, 'merchant-unknown')
    await damage(dataDir, `UPDATE merchants SET expires_at = ${row?.created_at} WHERE owner = 0`)
    expectRefusal(await manage(url, token), 403, 'merchant-not-allowed')
    await server.stop()
    const later = await startClosed({ dataDir })
    await until(
      'the guest is gone',
      async () => ((await readRows(dataDir)).merchants ?? []).length === 1,
    )
    expect(later.output()).toMatch(/management +1 merchant/)
  })
})
