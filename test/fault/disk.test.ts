import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { shopCertificate } from '../support/certificates.ts'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newKey,
  newSigner,
  openSession,
  sha256Hex,
} from '../support/client.ts'
import { expectRefusal } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { logged } from '../support/until.ts'
import { checkInvariants } from '../support/workload.ts'

/** No floor: these tests need a disk that is full in spite of it. */
const full = { RATE_LIMIT: 'off', DISK_FLOOR: '0' }
const mounted: string[] = []
afterAll(async () => {
  for (const mountPoint of mounted) run(['umount', '-l', mountPoint])
  await cleanUp()
})

/** Breaks the disk under a data directory, and mends it. */
type Disk = { dataDir: string; fill: (server: TestServer) => void; free: () => void }

test.each([
  ['a log that may not grow (file size limit)', openLimited],
  ['a full disk (a small tmpfs, for root; else the limit again)', openTmpfs],
])('%s: writes come to 503, reads go on, and it recovers by itself', async (_, open) => {
  const disk = open()
  const server = await startServer({ dataDir: disk.dataDir, env: full })
  await breakAndMend(server, disk)
})

test.each([
  ['a log that may not grow', openLimited],
  ['a full disk', openTmpfs],
])(
  'SIGTERM on %s ends with 0 and no trace, and the next start finds all that was answered',
  async (_, open) => {
    const disk = open()
    const { dataDir } = disk
    const server = await startServer({ dataDir, env: full })
    const token = await openSession(server.url, newSigner())
    const couponId = await createDefinition(server.url, token)
    const { nonce } = await mintOne(server.url, token, couponId)
    const mint = { body: { couponId, count: 50 }, token }
    disk.fill(server)
    let written = 0
    while ((await call(server.url, '/api/coupons/mint', mint)).status === 200) written += 50
    expect(await server.stop()).toBe(0)
    const output = server.output()
    expect(output).toContain('"stopped"')
    expect(output).not.toMatch(/^\s+at |^\w*Error:|^error:/m)

    disk.free()
    const clean = closedClean(dataDir)
    const next = await startServer({ dataDir, env: full })
    const session = await openSession(next.url, newSigner())
    expect((await call(next.url, '/api/coupons', { token: session })).status).toBe(200)
    const preview = await call(next.url, '/api/coupons/preview', { body: { nonce } })
    expect(preview.json.status).toBe('minted')
    expect((await call(next.url, '/api/coupons/mint', mint)).status).toBe(200)
    expect(await minted(next.url, token)).toBe(1 + written + 50)
    // After an unclean stop the file is checked while the service runs.
    if (!clean) await logged(next, '"check.passed"')
    expect(await next.stop()).toBe(0)
    expect(checkInvariants(join(dataDir, 'cuponera.db'))).toEqual([])
  },
)

test.each([
  ['no room for a file of its size', openLimited],
  ['a full disk', openTmpfs],
])(
  'with %s a picture is told as unavailable and leaves no half behind; with room it comes',
  async (_, open) => {
    const picture = Buffer.alloc(limits.imageBytesMax, Buffer.from('89504e470d0a1a0a', 'hex'))
    const far = Bun.serve({ port: 0, tls: shopCertificate, fetch: () => new Response(picture) })
    const disk = open()
    const { dataDir } = disk
    const command = [process.execPath, join(import.meta.dir, '../support/loopback-child.ts')]
    const server = await startServer({ command, dataDir, env: full })
    const token = await openSession(server.url, newSigner())
    const image = `https://shop.test:${far.port}/a.png`
    const { nonce } = await mintOne(
      server.url,
      token,
      await createDefinition(server.url, token, { image }),
    )
    const path = `/api/coupons/images/${sha256Hex(image)}`
    disk.fill(server)
    const answer = await call(server.url, path)
    expectRefusal(answer, 503, 'unavailable', { retry: true })
    expect(readdirSync(join(dataDir, 'images'))).toEqual([])
    const preview = await call(server.url, '/api/coupons/preview', { body: { nonce } })
    expect([preview.status, preview.json.status]).toEqual([200, 'minted'])
    disk.free()
    const got = await fetch(`${server.url}${path}`)
    expect([got.status, Buffer.from(await got.bytes()).equals(picture)]).toEqual([200, true])
    await far.stop(true)
    expect(await server.stop()).toBe(0)
  },
)

async function breakAndMend(server: TestServer, disk: Disk): Promise<void> {
  const { url } = server
  const token = await openSession(url, newSigner())
  const couponId = await createDefinition(url, token)
  const { nonce } = await mintOne(url, token, couponId)
  const claimed = await mintOne(url, token, couponId)
  await call(url, '/api/coupons/claim', { body: { nonce: claimed.nonce } })
  const keyed = { 'Idempotency-Key': newKey() }
  const refresh = () => call(url, '/api/coupons/refresh', { body: { nonce }, headers: keyed })
  const mint = () => call(url, '/api/coupons/mint', { body: { couponId, count: 50 }, token })
  const before = await minted(url, token)

  disk.fill(server)
  // A write that still fits may succeed; after the first refusal every write is refused.
  const broken = [await mint(), await mint(), await mint(), await refresh()]
  const last = broken.slice(-2)
  expect(last.map(({ status }) => status)).toEqual([503, 503])
  for (const { json, headers } of last) {
    expect(json.code).toBe('unavailable')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const written = broken.filter(({ status }) => status === 200).length
  expect(await minted(url, token)).toBe(before + written * 50)
  const read = await call(url, '/api/coupons/preview', { body: { nonce } })
  expect([read.status, read.json.status]).toEqual([200, 'minted'])
  const spent = await call(url, '/api/coupons/preview', { body: { nonce: claimed.nonce } })
  expect([spent.status, spent.json.status]).toEqual([200, 'claimed'])
  expect((await call(url, '/livez')).status).toBe(200)
  await logged(server, '"commit.failed"')

  disk.free()
  expect((await mint()).status).toBe(200)
  const refreshed = await refresh()
  expect(refreshed.status).toBe(201)
  expect((await refresh()).text).toBe(refreshed.text)
  expect(await minted(url, token)).toBe(before + written * 50 + 50)
  expect(await server.stop()).toBe(0)
  expect(checkInvariants(join(disk.dataDir, 'cuponera.db'))).toEqual([])
}

function closedClean(dataDir: string): boolean {
  const file = new Database(join(dataDir, 'cuponera.db'), { readonly: true })
  try {
    return file.query<{ clean: number }, []>('SELECT clean FROM state').get()?.clean === 1
  } finally {
    file.close()
  }
}

async function minted(url: string, token: string): Promise<number> {
  const { json } = await call(url, '/api/coupons', { token })
  return (json.coupons as Json[]).reduce((sum, coupon) => sum + coupon.minted, 0)
}

/** The kernel lets no file of the server grow beyond what the log has now: EFBIG. */
function openLimited(): Disk {
  const dataDir = newDirectory()
  let limited: TestServer | null = null
  const limit = (bytes: string) => {
    if (limited) run(['prlimit', '--pid', String(limited.pid), `--fsize=${bytes}:unlimited`])
  }
  return {
    dataDir,
    fill(server) {
      limited = server
      // The limit ends with its process.
      void server.exited.then(() => {
        limited = null
      })
      limit(String(statSync(join(dataDir, 'cuponera.db-wal')).size))
    },
    free() {
      limit('unlimited')
      limited = null
    },
  }
}

/** A disk of its own, full to the last byte: ENOSPC. Mounting takes root. */
function openTmpfs(): Disk {
  if (process.getuid?.() !== 0) return openLimited()
  const mountPoint = join(newDirectory(), 'disk')
  mkdirSync(mountPoint)
  run(['mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', mountPoint])
  mounted.push(mountPoint)
  const filler = join(mountPoint, 'filler')
  return {
    dataDir: join(mountPoint, 'data'),
    fill() {
      for (const kilobytes of [1024, 64, 4, 1]) fillUp(filler, kilobytes)
    },
    free: () => rmSync(filler, { force: true }),
  }
}

function fillUp(path: string, kilobytes: number): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(kilobytes * 1024), { flag: 'a' })
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC')) throw cause
  }
}

function run(command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`)
}
