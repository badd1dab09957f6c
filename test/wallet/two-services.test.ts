/** Two services on one desk: the commands of docs/two-services.md as they are printed, on other ports. */
import { afterAll, expect, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { npubOf } from '../../src/nostr/keys.ts'
import { runCommand } from '../support/cli.ts'
import {
  call,
  createDefinition,
  mintOne,
  newSigner,
  openSession,
  sha256Hex,
} from '../support/client.ts'
import { program } from '../support/program.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { openInbox } from '../support/shops.ts'
import { logged, until } from '../support/until.ts'

const page = readFileSync(join(import.meta.dir, '../../docs/two-services.md'), 'utf8')
const [serveOne = '', serveTwo = '', serveAgain = '', nameAna = '', send = ''] = [
  ...page.matchAll(/^```sh\n([\s\S]*?)^```/gm),
].map(([, text = '']) => text)

const running: Bun.Subprocess[] = []
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(running.map(({ exited }) => exited))
  await cleanUp()
})

/** Ports that nobody has at the moment. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const bound = server.address()
            resolve(typeof bound === 'object' && bound !== null ? bound.port : 0)
          })
        }),
    ),
  )
  for (const server of servers) server.close()
  return ports
}

const desk = newDirectory()
const ports = await freePorts(2)
const [one, two] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string]
writeFileSync(join(desk, 'cuponera'), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`)
chmodSync(join(desk, 'cuponera'), 0o755)

/** A shell with the text of a block, and the command `cuponera` in its path. */
function shell(text: string, env: Record<string, string> = {}) {
  const here = text.replaceAll('3001', String(ports[0])).replaceAll('3002', String(ports[1]))
  const child = Bun.spawn(['bash', '-c', `set -eu\n${here}`], {
    cwd: desk,
    env: { ...env, PATH: `${desk}:${process.env.PATH}` },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running.push(child)
  return child
}
async function outputOf(text: string, env = {}): Promise<string> {
  const child = shell(text, env)
  const [output] = await Promise.all([new Response(child.stdout).text(), child.exited])
  return output
}
/** A block that serves: its last command takes the place of the shell. */
const serve = (text: string) =>
  shell(text.replace(/^(ALLOW_PRIVATE_SERVICES=\S+) cuponera serve/m, 'exec env $1 cuponera serve'))
const answers = (base: string) =>
  until(
    `${base} answers`,
    async () => (await fetch(`${base}/livez`).catch(() => null))?.ok === true,
  )

test('the chapter brings a coupon from one service to the other', async () => {
  serve(serveOne)
  const before = serve(serveTwo)
  await Promise.all([answers(one), answers(two)])
  before.kill('SIGTERM')
  await before.exited
  serve(serveAgain)
  await answers(two)

  const named = await outputOf(nameAna)
  expect(named).toContain('"allowVouchers":true')
  const token = await openSession(one, newSigner())
  const { nonce } = await mintOne(one, token, await createDefinition(one, token))
  expect(JSON.parse(await outputOf(send, { link: `${one}/c#${nonce}` }))).toEqual({
    status: 'SENT',
  })

  const secret = Uint8Array.fromHex(sha256Hex('customer'))
  const [held] = await openInbox(two, { name: 'ana', secret, signer: newSigner(secret) })
  const { pubkey } = (await call(one, '/api/coupons/manager')).json
  expect(held?.service).toEqual({ npub: npubOf(pubkey), url: one })
  const body = { nonce: held?.nonce }
  expect((await call(one, '/api/coupons/preview', { body })).json.status).toBe('minted')
})

test('without the switch, and without the other service, the log says why nothing arrives', async () => {
  const plain = await startServer()
  const token = await openSession(plain.url, newSigner())
  const couponId = await createDefinition(plain.url, token)
  const sendTo = async (base: string, to: string, nonce: string) =>
    (await call(base, '/api/transfer', { body: { nonce, to } })).json.code
  const { nonce } = await mintOne(plain.url, token, couponId)
  expect(await sendTo(plain.url, 'ana@127.0.0.1:9', nonce)).toBe('address-silent')
  const line = (why: string, origin: string) => (text: string) =>
    text.includes('service.unreachable') && text.includes(why) && text.includes(origin)
  const private_ = line('ALLOW_PRIVATE_SERVICES does not name it', 'https://127.0.0.1:9')
  await until('the log says so', () => plain.output().split('\n').some(private_))

  const env = { ALLOW_PRIVATE_SERVICES: 'http://127.0.0.1:9' }
  const open = await startServer({ env })
  await logged(open, 'outbound.private')
  const own = await openSession(open.url, newSigner())
  const other = await mintOne(open.url, own, await createDefinition(open.url, own))
  expect(await sendTo(open.url, 'ana@127.0.0.1:9', other.nonce)).toBe('address-silent')
  const refused = line('no connection', 'http://127.0.0.1:9')
  await until('the log says so', () => open.output().split('\n').some(refused))
  expect(open.output()).not.toContain(other.nonce)
})

test('the switch is refused beside a public https address, and plain http without the switch', async () => {
  const key = newSigner().pubkey
  const open = { ALLOW_PRIVATE_SERVICES: 'http://127.0.0.1:9' }
  const service = { VOUCHER_SERVICES: `${key}|http://127.0.0.1:9/api/coupons/refresh` }
  const refused = async (env: Record<string, string>, sentence: string) => {
    const { code, stderr } = await runCommand(['serve'], { env })
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(sentence)])
  }
  await refused(
    { ...open, PUBLIC_URL: 'https://cupones.example' },
    'ALLOW_PRIVATE_SERVICES: for development only',
  )
  await refused(service, 'VOUCHER_SERVICES: expected https, or a service of ALLOW_PRIVATE')
  for (const bad of ['127.0.0.1', 'http://127.0.0.1:9/api', 'ftp://127.0.0.1', 'http://a:b@c'])
    await refused({ ALLOW_PRIVATE_SERVICES: bad }, 'ALLOW_PRIVATE_SERVICES: ')
})
