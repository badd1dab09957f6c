/** Below a floor of free disk strangers write nothing more; vouchers can still be redeemed and handed on. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../support/cli.ts'
import {
  type Answer,
  call,
  createDefinition,
  type Json,
  mintOne,
  newKey,
  newSigner,
  sha256Hex,
  withKey,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { startForeignService } from '../support/foreign-service.ts'
import { identityEvent } from '../support/identities.ts'
import { readRows } from '../support/refusals.ts'
import { closeClients, connectRelay, type RelayClient } from '../support/relay-client.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { addAccount, callAs, newHolder, planShop, runShop, type Shop } from '../support/shops.ts'
import { until } from '../support/until.ts'

const plenty = 50_000_000
/** The floor of a disk of 100 MB is 2 %. */
const floor = 2_000_000
const foreign = startForeignService()
const merchant = newSigner()
const ana = newHolder('ana')
const stored = 'https://shop.test/stored.png'
const missing = 'https://shop.test/missing.png'
const mounted: string[] = []
let freeFile: string
let shop: Shop
let token: string
let couponId: string
let relay: RelayClient

const setFree = (bytes: number) => writeFileSync(freeFile, String(bytes))
const ask = (path: string, body?: unknown, more: Json = {}): Promise<Answer> =>
  call(shop.server.url, path, { ...(body !== undefined && { body }), token, ...more })
const ready = async () => (await call(shop.server.url, '/readyz')).json
const mint = async (): Promise<Json> => mintOne(shop.server.url, token, couponId)
const refresh = (nonce: string, key: string) => ask('/api/coupons/refresh', { nonce }, withKey(key))
const logged = (event: string) =>
  shop.server
    .output()
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line))

const diskMetrics = async () => {
  const { text } = await call(shop.server.url, '/metrics')
  return text.split('\n').filter((line) => line.startsWith('cuponera_disk_'))
}
const untilLow = () => until('the disk is low', async () => (await ready()).warnings !== undefined)
const untilRoom = () =>
  until('the disk has room', async () => (await ready()).warnings === undefined)

beforeAll(async () => {
  freeFile = join(newDirectory(), 'free')
  setFree(plenty)
  const plan = await planShop('shop.test')
  Object.assign(plan.env, { FREE_FILE: freeFile, IDENTITY_ISSUERS: merchant.pubkey })
  for (const name of ['keys', 'images']) mkdirSync(join(plan.dataDir, name))
  writeFileSync(join(plan.dataDir, 'images', `${sha256Hex(stored)}.png`), 'a picture')
  shop = await runShop(plan, { knows: [foreign] })
  const path = '/api/auth/session'
  const session = { method: 'POST', body: {}, signer: merchant }
  token = (await callAs(shop.server.url, shop.url, path, session)).json.token
  couponId = await createDefinition(shop.server.url, token, { image: stored })
  await createDefinition(shop.server.url, token, { image: missing })
  await addAccount(shop.dataDir, ana.name, ana.signer.pubkey)
  relay = await connectRelay(shop.server.url)
})
afterAll(async () => {
  closeClients()
  foreign.stop()
  shop.front.close()
  for (const mountPoint of mounted) Bun.spawnSync(['umount', '-l', mountPoint])
  await cleanUp()
})

describe('with less than the floor free', () => {
  let before: Record<'live' | 'refreshed' | 'claimed' | 'moved' | 'voided', Json>
  const keys = { refresh: newKey(), mint: newKey(), define: newKey() }
  let refreshed: Answer
  let minted: Answer
  let defined: Answer
  let identityNonce: string
  const definition = { name: 'Té', benefit: { type: 'percent', percent: 5 } }

  beforeAll(async () => {
    const [live, old, claimed, moved, voided] = [
      await mint(),
      await mint(),
      await mint(),
      await mint(),
      await mint(),
    ]
    refreshed = await refresh(old.nonce, keys.refresh)
    before = { live, refreshed: old, claimed, moved, voided }
    minted = await ask('/api/coupons/mint', { couponId }, withKey(keys.mint))
    defined = await ask('/api/coupons', definition, withKey(keys.define))
    const body = identityEvent(merchant, null, {}, { tags: [['t', 'create-nonce']] })
    identityNonce = (await ask('/api/nonce', body)).json.nonce
    setFree(floor - 1)
    await untilLow()
  })

  const announcement = () =>
    merchant.sign({
      kind: 30_078,
      created_at: secondsNow(),
      tags: [['d', 'lacrypta.merchant/coupons']],
      content: JSON.stringify({ v: 2 }),
    })
  const refused: [string, () => Promise<Answer>][] = [
    ['a mint', () => ask('/api/coupons/mint', { couponId })],
    ['a mint of many', () => ask('/api/coupons/mint', { couponId, count: 30 })],
    ['a definition', () => ask('/api/coupons', definition)],
    [
      'a change of what it promises',
      () => ask(`/api/coupons/${couponId}`, { name: 'Mate' }, { method: 'PATCH' }),
    ],
    ['a minter', () => ask('/api/coupons/minters', { pubkey: newSigner().pubkey })],
    [
      'an announcement',
      () => ask('/api/coupons/discovery', { event: announcement() }, { method: 'PUT' }),
    ],
    ['an event to publish', () => ask('/nostr/publish', createEvent({ signer: merchant }))],
    ['a picture that is not here', () => ask(`/api/coupons/images/${sha256Hex(missing)}`)],
    [
      'a nonce for an identity',
      () => ask('/api/nonce', identityEvent(merchant, null, {}, { tags: [['t', 'create-nonce']] })),
    ],
    [
      'an identity',
      () => {
        const wanted = { name: 'eva', pubkey: newSigner().pubkey }
        return ask('/api/identity', identityEvent(merchant, identityNonce, wanted))
      },
    ],
    [
      'a coupon of another service',
      () => {
        const { nonce, voucher } = foreign.mint()
        return ask(`/api/lud16/${ana.name}/cb`, { action: 'voucher', nonce, voucher })
      },
    ],
  ]
  for (const [name, request] of refused) {
    test(`${name} is 503 disk-low, and nothing is written`, async () => {
      const rows = await readRows(shop.dataDir)
      const { status, json, headers } = await request()
      expect({ status, code: json.code }).toEqual({ status: 503, code: 'disk-low' })
      expect(json.retryAfter).toBe(60)
      expect(headers.get('retry-after')).toBe('60')
      expect(await readRows(shop.dataDir)).toEqual(rows)
    })
  }

  test('an event over the relay is refused, and one that is not stored is passed on', async () => {
    expect(await relay.publish(createEvent({ signer: merchant }))).toEqual([
      false,
      expect.stringMatching(/^error: /),
    ])
    const passing = createEvent({ signer: merchant, kind: 24_133 })
    expect((await relay.publish(passing))[0]).toBe(true)
  })

  test('coupons are previewed, handed on and redeemed, and answers are repeated', async () => {
    const preview = await ask('/api/coupons/preview', { nonce: before.live.nonce })
    expect(preview.json.status).toBe('minted')
    expect((await refresh(before.refreshed.nonce, keys.refresh)).text).toBe(refreshed.text)
    const swapped = await refresh(before.moved.nonce, newKey())
    expect(swapped.status).toBe(201)
    const claim = (nonce: string) => ask('/api/coupons/claim', { nonce })
    expect((await claim(swapped.json.nonce)).json.status).toBe('success')
    expect((await claim(before.claimed.nonce)).json.status).toBe('success')
    expect((await claim(before.claimed.nonce)).json.status).toBe('claimed')
    const again = await ask('/api/coupons/mint', { couponId }, withKey(keys.mint))
    expect([again.status, again.text]).toEqual([200, minted.text])
    const redefined = await ask('/api/coupons', definition, withKey(keys.define))
    expect([redefined.status, redefined.text]).toEqual([201, defined.text])
    const { nonce, voucher } = before.live
    const arrival = { action: 'voucher', nonce, voucher }
    const received = await ask(`/api/lud16/${ana.name}/cb`, arrival)
    expect(received.json).toEqual({ status: 'ACCEPTED' })
  })

  test('the merchant signs in, reads, voids and archives', async () => {
    const session = { method: 'POST', body: {}, signer: newSigner() }
    const signedIn = await callAs(shop.server.url, shop.url, '/api/auth/session', session)
    expect(signedIn.status).toBe(200)
    expect((await ask('/api/coupons')).status).toBe(200)
    const path = `/api/coupons/${couponId}/mints/${before.voided.nonce}`
    expect((await ask(path, undefined, { method: 'DELETE' })).status).toBe(200)
    const archive = (archived: boolean) =>
      ask(`/api/coupons/${couponId}`, { archived }, { method: 'PATCH' })
    expect((await archive(true)).status).toBe(200)
    expect((await archive(false)).status).toBe(200)
    const picture = await fetch(`${shop.server.url}/api/coupons/images/${sha256Hex(stored)}`)
    expect([picture.status, await picture.text()]).toEqual([200, 'a picture'])
  })

  test('readiness, health, metrics and one line of the log report it', async () => {
    expect(await ready()).toEqual({ status: 'ok', warnings: ['disk-low'] })
    const health = await runCommand(['health'], { dataDir: shop.dataDir })
    expect([health.code, health.stdout.trim()]).toEqual([0, 'ready, but: disk-low'])
    expect(await diskMetrics()).toEqual([
      `cuponera_disk_free_bytes ${floor - 1}`,
      'cuponera_disk_low 1',
    ])
    expect(logged('disk.low')).toEqual([
      expect.objectContaining({ level: 'warn', freeBytes: floor - 1, floorBytes: floor }),
    ])
  })

  test('writes go on once there is a little more than the floor', async () => {
    setFree(floor * 1.05)
    const seen = `cuponera_disk_free_bytes ${floor * 1.05}`
    await until('the disk was looked at', async () => (await diskMetrics()).includes(seen))
    expect((await ask('/api/coupons/mint', { couponId })).json.code).toBe('disk-low')
    setFree(floor * 1.1)
    await untilRoom()
    for (const [name, request] of refused) {
      const { status } = await request()
      // The picture has no server, and what was announced needs none.
      expect({ name, low: status === 503 }).toEqual({ name, low: false })
    }
    expect((await relay.publish(createEvent({ signer: merchant })))[0]).toBe(true)
    expect(logged('disk.low')).toHaveLength(1)
    expect(logged('disk.ok')).toHaveLength(1)
    expect(await diskMetrics()).toContain('cuponera_disk_low 0')
  })
})

test('a disk that does not report its free space counts as one with room', async () => {
  setFree(0)
  await untilLow()
  rmSync(freeFile)
  await untilRoom()
  expect((await ask('/api/coupons/mint', { couponId })).status).toBe(200)
  expect(await diskMetrics()).toEqual(['cuponera_disk_free_bytes -1', 'cuponera_disk_low 0'])
  setFree(plenty)
})

test('a service that starts on a low disk refuses from its first request, and so does its relay', async () => {
  setFree(0)
  await shop.server.stop()
  shop = await runShop(shop, { knows: [foreign] })
  expect((await ask('/api/coupons/mint', { couponId })).json.code).toBe('disk-low')
  relay = await connectRelay(shop.server.url)
  expect((await relay.publish(createEvent({ signer: merchant })))[1]).toMatch(/^error: /)
})

test('DISK_FLOOR is a number of bytes or a percentage, and 0 turns it off', async () => {
  for (const [setting, free, low] of [
    ['0', 0, false],
    ['3000000', 2_999_999, true],
    ['3000000', 3_000_000, false],
    ['50%', 49_999_999, true],
    ['50%', 50_000_000, false],
  ] as const) {
    setFree(free)
    await shop.server.stop()
    shop.env.DISK_FLOOR = setting
    shop = await runShop(shop)
    const { status } = await ask('/api/coupons/mint', { couponId })
    expect({ setting, free, status }).toEqual({ setting, free, status: low ? 503 : 200 })
  }
})

test.skipIf(process.getuid?.() !== 0)('so it is on a real disk that somebody fills', async () => {
  const mountPoint = join(newDirectory(), 'disk')
  mkdirSync(mountPoint)
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', mountPoint])
  mounted.push(mountPoint)
  const server: TestServer = await startServer({
    dataDir: join(mountPoint, 'data'),
    env: { DISK_FLOOR: '50%', RATE_LIMIT: 'off' },
  })
  const path = '/api/auth/session'
  const session = await call(server.url, path, { body: {}, signer: merchant })
  const by = session.json.token as string
  const id = await createDefinition(server.url, by)
  const { nonce } = await mintOne(server.url, by, id)
  const status = async () => (await call(server.url, '/readyz')).json
  const again = () => call(server.url, '/api/coupons/mint', { body: { couponId: id }, token: by })
  expect(await status()).toEqual({ status: 'ok' })
  const filler = join(mountPoint, 'filler')
  writeFileSync(filler, Buffer.alloc(40 * 1024 * 1024))
  await until('the disk is low', async () => (await status()).warnings !== undefined)
  expect((await again()).json.code).toBe('disk-low')
  const claimed = await call(server.url, '/api/coupons/claim', { body: { nonce } })
  expect(claimed.json.status).toBe('success')
  rmSync(filler)
  await until('the disk has room', async () => (await status()).warnings === undefined)
  expect((await again()).status).toBe(200)
})
