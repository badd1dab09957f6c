/** The package as npm makes it: its contents, its types, and the recipes of its page in plain Node. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packClient } from '../../.tools/client/pack.ts'
import { type Folder, openFolder } from '../../src/client/folder.ts'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newSigner,
  openSession,
} from '../support/client.ts'
import {
  type Fault,
  type FaultyProxy,
  gatewayPage,
  startFaultyProxy,
} from '../support/faulty-proxy.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dir, '../..')
const page = readFileSync(join(root, 'docs/api/client.md'), 'utf8')
/** The scripts of the page by the name in their first line. */
const scripts = new Map(
  [...page.matchAll(/^```js\n\/\/ ([a-z]+\.js)[\s\S]*?^```$/gm)].map(([fence, name = '']) => [
    name,
    fence.slice('```js\n'.length, -'```'.length),
  ]),
)
const claim = 'POST /api/coupons/claim'
const refresh = 'POST /api/coupons/refresh'

let archive: string
let server: TestServer
const secret = randomBytes(32)
const merchant = newSigner(secret)
const proxies: FaultyProxy[] = []

beforeAll(async () => {
  archive = await packClient(newDirectory())
  server = await startServer({ env: always })
}, 240_000)

afterAll(async () => {
  for (const proxy of proxies) proxy.stop()
  await cleanUp()
})

/** Signatures name the address of the service, whose port changes with each start. */
const origin = 'http://cupones.example:3000'
const always = { PUBLIC_URL: origin, MERCHANTS: 'open', RATE_LIMIT: 'off' }

/** Start the service again on its data, as after a power cut. */
async function restart(): Promise<void> {
  await server.kill()
  server = await startServer({ dataDir: server.dataDir, env: always })
  for (const proxy of proxies) proxy.target = server.url
}

/** A folder with the package and nostr-tools, as npm would install them, and the scripts of the page. */
function newProject(): string {
  const folder = newDirectory()
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  Bun.spawnSync(['tar', '-xzf', archive, '-C', modules])
  Bun.spawnSync(['mv', 'package', 'cuponera'], { cwd: modules })
  symlinkSync(join(root, 'node_modules/nostr-tools'), join(modules, 'nostr-tools'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, text] of scripts) writeFileSync(join(folder, name), text)
  return folder
}

function start(cwd: string, url: string, ...args: string[]) {
  const env = { PATH: process.env.PATH, URL: url, SHOP_KEY: secret.toString('hex') }
  return Bun.spawn(['node', '--import', node20, ...args], { cwd, env, stderr: 'pipe' })
}

/** Takes away functions that Node 20 does not have, the oldest that the package is for. */
const node20 = `data:text/javascript,${encodeURIComponent(
  [
    'URL.parse',
    'Promise.withResolvers',
    'Promise.try',
    'Map.groupBy',
    'Object.groupBy',
    'Array.fromAsync',
    'globalThis.WebSocket',
  ]
    .map((name) => `delete ${name}`)
    .join(';'),
)}`

async function run(...args: Parameters<typeof start>): Promise<string> {
  const child = start(...args)
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return (await child.exited) === 0 ? out.trim() : `failed: ${err}`
}

test('the package has the client, its types and its licences, and no file beside them', () => {
  const list = Bun.spawnSync(['tar', '-tzf', archive]).stdout.toString().trim().split('\n')
  const plain = list.map((path) => path.replace(/-[a-z0-9]{8}\.js$/, '-hash.js'))
  const described = readdirSync(join(root, 'src/client/described'))
  const types = ['api-error', 'bunker', 'caller', 'client', 'folder', 'index', 'issue', 'key-text']
  const more = [
    'outcome',
    'persist',
    'receive',
    'redeem',
    'signer',
    'storage',
    'texts',
    'voucher-proof',
  ]
  const signers = ['extension', 'key', 'remote'].map((name) => `signer-${name}`)
  expect(new Set(plain)).toEqual(
    new Set(
      [
        ...['LICENSE', 'README.md', 'licences.txt', 'package.json', 'index.js'],
        ...['folder.js', 'index-hash.js', 'signer-remote-hash.js'],
        ...[...types, ...more, ...signers, 'voucher-rules'].map((name) => `types/${name}.d.ts`),
        ...described
          .filter((name) => name !== 'facts.ts' && name !== 'unkeyed.ts')
          .map((name) => `types/described/${name.replace('.ts', '.d.ts')}`),
      ].map((path) => `package/${path}`),
    ),
  )
})

test('the package needs nostr-tools and nothing else, and carries nothing of the service', () => {
  const folder = join(newProject(), 'node_modules/cuponera')
  const { dependencies, private: closed } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  expect([Object.keys(dependencies), closed]).toEqual([['nostr-tools'], undefined])
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  // The storage for Node is an entry of its own, which no other file imports.
  const files = names.filter((name) => /\.[jt]s$/.test(name) && name !== 'folder.js')
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8'))
  const transpiler = new Bun.Transpiler({ loader: 'ts' })
  const imported = texts.flatMap((text) => transpiler.scanImports(text).map(({ path }) => path))
  const foreign = new Set(imported.filter((path) => !path.startsWith('.')))
  expect(foreign).toEqual(
    new Set(['pure', 'nip19', 'nip46', 'utils'].map((name) => `nostr-tools/${name}`)),
  )
  const ofService = /elysia|typebox|bun:|node:|process\.env|\bBun\.|CREATE TABLE|cuponera serve/i
  expect(files.filter((_, at) => ofService.test(texts[at] ?? ''))).toEqual([])
  const own = readFileSync(join(folder, 'folder.js'), 'utf8')
  const needed = transpiler.scanImports(own).map(({ path }) => path)
  expect(new Set(needed)).toEqual(new Set(['node:crypto', 'node:fs', 'node:path']))
  expect(texts.filter((text) => /['"]\.\/folder\.js['"]/.test(text))).toEqual([])
  // Browsers have it later than all the rest.
  expect(files.filter((_, at) => texts[at]?.includes('URL.parse('))).toEqual([])
  // The program itself cannot be published by mistake.
  expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).private).toBe(true)
})

test('a bundle for browsers has the client, and no storage for Node', async () => {
  const folder = newProject()
  const bundle = async (text: string) => {
    writeFileSync(join(folder, 'page.js'), text)
    const entry = join(folder, 'page.js')
    const built = Bun.build({ entrypoints: [entry], target: 'browser', throw: true, minify: true })
    return (await built).outputs[0]?.text()
  }
  const script = (scripts.get('till.js') ?? '').replace(/.*openFolder.*\n/g, '')
  const page = await bundle(script.replace(', storage,', ', storage: new Map(),'))
  expect(page).toContain('/api/coupons/claim')
  expect(page).not.toMatch(/node:|writeFileSync/)
  await expect(bundle(scripts.get('till.js') ?? '')).rejects.toThrow()
})

test('a till, a wallet and an issuer are ten lines each', () => {
  for (const name of ['till.js', 'wallet.js', 'issuer.js']) {
    const lines = (scripts.get(name) ?? '').trimEnd().split('\n')
    expect([name, lines.length <= 10, lines.filter((line) => line.length > 100)]).toEqual([
      name,
      true,
      [],
    ])
  }
})

test('the types of the package hold in a project of its own, under both resolutions', () => {
  const folder = newProject()
  writeFileSync(
    join(folder, 'till.ts'),
    `import { createClient, type ClaimAnswer, receive, redeem, verifyVoucher } from 'cuponera/client'
     import { openFolder } from 'cuponera/client/folder'
     const client = createClient({ url: 'https://cupones.example', storage: new Map() })
     const other = createClient({ url: 'https://cupones.example', storage: openFolder('keys') })
     const redeemed = await redeem(client, { nonce: 'x', sale: '1', owner: '' })
     export const told: string =
       redeemed.outcome === 'granted' ? redeemed.once :
       redeemed.outcome === 'used' ? redeemed.coupon.name : redeemed.code
     const received = await receive(other, { nonce: 'x' })
     export const mine: string =
       received.outcome === 'received' ? received.coupon.nonce : received.sentence
     // @ts-expect-error a till names its merchant
     await redeem(client, { nonce: 'x', sale: '1' })
     const body = { nonce: 'x' }
     const answer: ClaimAnswer = await client.call('POST /api/coupons/claim', { body, once: 'a' })
     const verdict = verifyVoucher(answer.voucher, { manager: '' })
     export const name: string = verdict.genuine ? verdict.promise.name : verdict.why
     // @ts-expect-error a refresh needs a key
     await client.call('POST /api/coupons/refresh', { body })\n`,
  )
  const tsc = join(root, 'node_modules/.bin/tsc')
  for (const module of ['nodenext', 'preserve']) {
    const settings = {
      compilerOptions: {
        ...{ strict: true, noEmit: true, target: 'esnext', types: [], module },
        lib: ['esnext', 'dom'],
      },
      files: ['till.ts'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const { stdout } = Bun.spawnSync([tsc, '-p', folder], { cwd: folder })
    expect(stdout.toString()).toBe('')
  }
})

/** A proxy for one script, whose faults are those of the route in their order. */
async function newProxy(route: string, ...faults: (Fault | 'restart')[]): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy()
  proxies.push(proxy)
  proxy.target = server.url
  proxy.fault = (asked, times) => {
    const fault = asked === route ? faults[times - 1] : undefined
    if (fault !== 'restart') return fault ?? null
    void restart()
    return { at: 'before', how: 'cut' }
  }
  return proxy
}

const badGateway = { status: 502, body: gatewayPage }
const trouble: [what: string, faults: (Fault | 'restart')[]][] = [
  [
    '502',
    [
      { at: 'before', how: badGateway },
      { at: 'after', how: badGateway },
    ],
  ],
  ['hanging', [{ at: 'after', how: 'hang' }]],
  ['a break in the answer', [{ at: 'after', how: 'half' }]],
  ['a restart', [{ at: 'after', how: badGateway }, 'restart']],
]

/** The storage of a script. */
function kept(project: string, name: string): Folder {
  return openFolder(join(project, name))
}

test('the scripts of the page spend every coupon once, whatever the proxy does, and know it', async () => {
  expect([...scripts.keys()]).toEqual(['look.js', 'till.js', 'wallet.js', 'issuer.js'])
  const token = await openSession(server.url, merchant, origin)
  const couponId = await createDefinition(server.url, token)
  const owner = merchant.pubkey
  const { url } = server
  const minted = trouble.map(async (one) => {
    return [...one, (await mintOne(url, token, couponId)).nonce as string] as const
  })
  const lived = (await Promise.all(minted)).map(async ([what, faults, nonce]) => {
    const [till, wallet] = [newProject(), newProject()]
    const { origin: toWallet } = await newProxy(refresh, ...faults)
    const taken = await run(wallet, toWallet, 'wallet.js', nonce)
    expect({ what, taken }).toEqual({ what, taken: expect.stringMatching(/^received [\w-]{22}$/) })
    const mine = taken.slice('received '.length)
    expect(new Set(kept(wallet, 'wallet').names())).toEqual(
      new Set([`manager ${toWallet}`, `receive:{"nonce":"${nonce}"}`]),
    )
    const { origin: toTill } = await newProxy(claim, ...faults)
    const sales = ['sale 1', 'sale 1', 'sale 2']
    const said: string[] = []
    for (const sale of sales) said.push(await run(till, toTill, 'till.js', mine, sale, owner))
    const grant = 'granted Café gratis'
    expect({ what, said }).toEqual({ what, said: [grant, grant, 'used Café gratis'] })
    expect(await run(till, toTill, 'look.js', mine)).toBe('claimed Café gratis')
    expect(await run(till, toTill, 'till.js', nonce, 'sale 3', owner)).toBe('refused voucher-moved')
    return mine
  })
  const spent = await Promise.all(lived)
  const { json } = await call(server.url, '/api/coupons/redemptions', { token })
  expect(json.redemptions).toHaveLength(spent.length)
  const issued = await call(server.url, `/api/coupons/${couponId}/mints`, { token })
  const states: string[] = issued.json.mints.map(({ status }: Json) => status)
  const count = (state: string) => states.filter((one) => one === state).length
  expect([states.length, count('claimed'), count('refreshed')]).toEqual([8, 4, 4])
}, 120_000)

test('a till that dies before the answer learns it when it starts again', async () => {
  const token = await openSession(server.url, merchant, origin)
  const { nonce } = await mintOne(server.url, token, await createDefinition(server.url, token))
  const till = newProject()
  const proxy = await newProxy(claim, { at: 'after', how: 'hang' })
  const args = ['till.js', nonce, 'sale 1', merchant.pubkey]
  const dying = start(till, proxy.origin, ...args)
  await until('the service redeemed it', async () => {
    const { json } = await call(server.url, '/api/coupons/preview', { body: { nonce } })
    return json.status === 'claimed'
  })
  dying.kill('SIGKILL')
  await dying.exited
  expect(await run(till, proxy.origin, ...args)).toBe('granted Café gratis')
  // Without its key the program would call its own sale used.
  rmSync(join(till, 'till'), { recursive: true })
  expect(await run(till, proxy.origin, ...args)).toBe('used Café gratis')
})

test('a mistyped nonce whose first attempt was lost leaves no key behind', async () => {
  const folder = newProject()
  const [claims, refreshes] = await Promise.all(
    [claim, refresh].map((route) => newProxy(route, { at: 'before', how: 'hang' })),
  )
  const lose = async (proxy: FaultyProxy | undefined, route: string, ...args: string[]) => {
    const url = proxy?.origin ?? ''
    const dying = start(folder, url, ...args)
    await until('the request left', async () => proxy?.seen.get(route) === 1)
    dying.kill('SIGKILL')
    await dying.exited
    return run(folder, url, ...args)
  }
  expect(
    await Promise.all([
      lose(claims, claim, 'till.js', 'mistyped', 'sale 1', merchant.pubkey),
      lose(refreshes, refresh, 'wallet.js', 'mistyped'),
    ]),
  ).toEqual(['refused nonce-invalid', 'refused nonce-invalid'])
  expect(kept(folder, 'till').names()).toEqual([])
  expect(kept(folder, 'wallet').names()).toEqual([`manager ${refreshes?.origin}`])
})

test('a till sells under yesterday’s number again, and gets over yesterday’s key', async () => {
  const token = await openSession(server.url, merchant, origin)
  const couponId = await createDefinition(server.url, token)
  const [first = '', second = ''] = await Promise.all(
    [1, 2].map(async () => (await mintOne(server.url, token, couponId)).nonce as string),
  )
  const till = newProject()
  const sell = (nonce: string) =>
    run(till, server.url, 'till.js', nonce, 'sale 17', merchant.pubkey)
  const grant = 'granted Café gratis'
  expect([await sell(first), await sell(second)]).toEqual([grant, grant])
  expect(await sell('A'.repeat(22))).toBe('refused voucher-unknown')
  const other = await run(till, server.url, 'till.js', first, 'sale 17', newSigner().pubkey)
  expect(other).toBe('other-body idempotency-key-reused')
  const keys = kept(till, 'till')
  expect(keys.names()).toHaveLength(2)
  for (const name of keys.names()) keys.set(name, `${'k'.repeat(22)} 1000`)
  expect(await sell(first)).toBe('used Café gratis')
  expect(keys.names()).toHaveLength(1)
})

test('a till is not granted by the JSON of another server', async () => {
  const till = newProject()
  const other = JSON.stringify({ nonce: 'csp-nonce', status: 'success', voucher: {}, name: 'x' })
  const { origin } = await newProxy(claim, { at: 'before', how: { status: 200, body: other } })
  const nonce = 'A'.repeat(22)
  const told = await run(till, origin, 'till.js', nonce, 'sale 1', merchant.pubkey)
  // The client asked again, and the service does not know the coupon.
  expect(told).toBe('refused voucher-unknown')
  expect(kept(till, 'till').names()).toEqual([])
})

test('a bunker in a Node without WebSocket is an error that a program can catch', async () => {
  const folder = newProject()
  writeFileSync(
    join(folder, 'bunker.js'),
    `import { openBunker, SignerError } from 'cuponera/client'
     const address = 'bunker://${'a'.repeat(64)}?relay=wss://relay.example'
     await openBunker(address).catch((cause) => console.log(cause instanceof SignerError, cause.code))\n`,
  )
  expect(await run(folder, server.url, 'bunker.js')).toBe('true no-relay')
})

test('the script of the issuer signs in, and mints the same voucher when it runs again', async () => {
  const local = await startServer()
  const couponId = await createDefinition(local.url, await openSession(local.url, merchant))
  const issuer = newProject()
  const order = (number: string) => run(issuer, local.url, 'issuer.js', couponId, number)
  const first = await order('1')
  expect(first).toMatch(/^issued [\w-]{22}$/)
  expect(await order('1')).toBe(first)
  expect(await order('2')).not.toBe(first)
  // No key stays, which tomorrow would be too old.
  const names = ['1', '2'].map((one) => `issue:${JSON.stringify({ couponId, order: one })}`)
  expect(new Set(kept(issuer, 'issued').names())).toEqual(new Set(names))
})
