/** The blocks of docs/operations.md for Docker, as printed, by the stand-in of test/support/docker. */
import { afterEach, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npubOf } from '../../src/nostr/keys.ts'
import { shopCertificate } from '../support/certificates.ts'
import {
  call,
  createDefinition,
  mintOne,
  newSigner,
  openSession,
  percentBenefit,
} from '../support/client.ts'
import { instructionsOf } from '../support/docker/image.ts'
import { openDocker } from '../support/docker/open.ts'
import { blockWith, type Replacement, readText, root } from '../support/printed.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const page = 'docs/operations.md'
const publicUrl = 'https://cupones.example'
const forwarded = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' }
const coupon = { name: 'Café gratis', benefit: percentBenefit }
const opened = new Set<ReturnType<typeof openDocker>>()

function newMachine() {
  const machine = openDocker()
  opened.add(machine)
  return machine
}

afterEach(async () => {
  for (const machine of opened) await machine.end()
  opened.clear()
  await cleanUp()
})

test('build the image, start it, check it, and keep its data behind a proxy', async () => {
  const machine = newMachine()
  const [merchant, stranger] = [newSigner(), newSigner()]
  const here: Replacement = ['npub1…', () => npubOf(merchant.pubkey)]
  const reached = () => machine.reached('cuponera', '3000') ?? 'nothing'
  await machine.run(blockWith(page, 'docker build'), here)
  await machine.healthy('cuponera')
  expect(await machine.run(blockWith(page, 'docker exec cuponera cuponera check'))).toContain(
    'no problems',
  )
  const first = reached()
  const token = await openSession(first, merchant, publicUrl)
  const couponId = await createDefinition(first, token)
  const { nonce } = await mintOne(first, token, couponId)
  const theirs = await openSession(first, stranger, publicUrl)
  const refused = await call(first, '/api/coupons', { token: theirs, body: coupon })
  expect(refused).toMatchObject({ status: 403 })
  const plain = await call(first, '/livez', { headers: forwarded })
  expect(plain).toMatchObject({ status: 200 })
  expect(plain.headers.has('Strict-Transport-Security')).toBe(false)

  const died = machine.containers.pid('cuponera')
  process.kill(died, 'SIGKILL')
  await machine.healthy('cuponera')
  expect(machine.containers.pid('cuponera')).not.toBe(died)

  const behindProxy = blockWith(page, 'docker inspect')
  const [gateways = ''] = (await machine.run(behindProxy, here)).split('\n')
  expect(behindProxy).toContain(`-e TRUSTED_PROXIES=${gateways.trim()} `)
  await machine.healthy('cuponera')
  const proxied = await call(reached(), '/livez', { headers: forwarded })
  expect(proxied.headers.has('Strict-Transport-Security')).toBe(true)
  expect(await call(reached(), '/api/coupons/claim', { body: { nonce } })).toMatchObject({
    status: 200,
  })
  await machine.run('docker stop cuponera')
  expect(await machine.fieldOf('cuponera', 'ExitCode')).toBe('0')
})

test('make a certificate in the volume, with which it answers https after its restart', async () => {
  const machine = newMachine()
  await machine.run('docker build -t cuponera .')
  await machine.run(blockWith(page, '--network host'))
  await machine.healthy('cuponera')
  expect(machine.reached('cuponera', '3443')).toBeNull()
  await machine.run(blockWith(page, 'docker exec cuponera cuponera tls'))
  await machine.healthy('cuponera')
  const secured = async () => {
    const url = machine.reached('cuponera', '3443') ?? 'nothing'
    const tls = { rejectUnauthorized: false }
    return (await fetch(`${url}/readyz`, { tls })).status
  }
  expect(await secured()).toBe(200)
  await machine.run('docker stop cuponera && docker rm cuponera')
  await machine.run(blockWith(page, '--network host'))
  await machine.healthy('cuponera')
  expect(await secured()).toBe(200)
})

test('the flags of the text open the address of the shop, and take a certificate from elsewhere', async () => {
  const machine = newMachine()
  const tls = newDirectory()
  writeFileSync(join(tls, 'cert.pem'), shopCertificate.cert)
  writeFileSync(join(tls, 'key.pem'), shopCertificate.key, { mode: 0o600 })
  const flags = [...readText(page).matchAll(/`(-p \d+[^`]+)`/g)].map(([, text = '']) => text)
  const [ofShop = '', ofCertificate = ''] = flags
  expect(flags).toHaveLength(2)
  await machine.run('docker build -t cuponera .')
  await machine.run(`docker run -d --name shop ${ofShop} cuponera`)
  const given: Replacement = ['/etc/cuponera/tls', () => tls]
  await machine.run(
    `docker run -d --name secured ${ofCertificate.replace(/\n/g, ' ')} cuponera`,
    given,
  )
  await machine.healthy('shop')
  const url = machine.reached('shop', '3000') ?? 'nothing'
  const [, address = ''] = /PUBLIC_URL=(\S+)/.exec(ofShop) ?? []
  expect(await openSession(url, newSigner(), address)).toBeString()
  await machine.healthy('secured')
  const secure = machine.reached('secured', '3443') ?? 'nothing'
  const answer = await fetch(`${secure}/livez`, { tls: { rejectUnauthorized: false } })
  expect(answer.status).toBe(200)
})

test('the file for the image makes the user that it names, and sends what there is', () => {
  const instructions = instructionsOf(readText('Dockerfile'))
  const last = (wanted: string) => instructions.findLast(({ word }) => word === wanted)?.rest ?? ''
  const [user, group] = last('USER').split(':')
  const volume = last('VOLUME')
  for (const part of [`groupadd --gid ${group} `, `--uid ${user} --gid ${group} `, ` ${volume}`]) {
    expect(last('RUN')).toContain(part)
  }
  const sent = [...readText('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path = '']) => path)
  expect(sent.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('the stand-in refuses what Docker refuses', async () => {
  const machine = newMachine()
  await machine.run('docker build -t cuponera . && docker run -d --name one -p 3000:3000 cuponera')
  const refused: Record<string, RegExp> = {
    'docker ps': /not a docker command/,
    'docker run -d --restrat always cuponera': /unknown flag: --restrat/,
    'docker run -d --restart sometimes cuponera': /invalid restart policy/,
    'docker run -d cupones': /Unable to find image/,
    'docker run -d --name one cuponera': /name "one" is in use/,
    'docker run -d -p 3000:3000 cuponera': /allocated already/,
    'docker run -d -p 3001:3001 cuponera': /no port 3001/,
    'docker run -d -v datos:/datos cuponera': /no volume \/datos/,
    'docker run -d -v /not/here:/tls:ro cuponera': /there is no \/not\/here/,
    'docker exec two cuponera check': /No such container/,
    'docker exec one cupones check': /executable file not found/,
    'docker rm one': /is running/,
    "docker inspect one -f '{{.State.Sttus}}'": /can't evaluate field Sttus/,
    'docker stop one && docker exec one cuponera check': /is not running/,
  }
  for (const [line, why] of Object.entries(refused)) {
    const failed = machine.run(line).then(
      () => 'done',
      (cause: Error) => cause.message,
    )
    expect({ line, why: await failed }).toEqual({ line, why: expect.stringMatching(why) })
  }
})
