import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  copyDirectory,
  createPopulated,
  type Populated,
  type RunOptions,
  runCommand,
} from '../support/cli.ts'
import { call, createDefinition, newKey, newSigner, openSession } from '../support/client.ts'
import { damage, describeFile, onFile } from '../support/database.ts'
import { expectRefusal, readRows } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

const passphrase = 'una frase para la mudanza'
let sound: Populated
/** The file of a service that was moved out, and its data directory. */
let moved: { file: string; dataDir: string; stdout: string }

beforeAll(async () => {
  if (!onFile) return
  sound = await createPopulated()
  const dataDir = copyDirectory(sound.dataDir)
  const file = join(newDirectory(), 'mudanza.cuponera')
  const { code, stdout, stderr } = await runCommand(
    ['move', 'out', file, '--passphrase-file', writePassphrase()],
    { dataDir },
  )
  expect(stderr).toBe('')
  expect(code).toBe(0)
  moved = { file, dataDir, stdout }
})
afterAll(cleanUp)

function writePassphrase(text = passphrase): string {
  const file = join(newDirectory(), 'passphrase')
  writeFileSync(file, `${text}\n`)
  return file
}

function moveIn(dataDir: string, options: RunOptions = {}, file = moved.file) {
  return runCommand(['move', 'in', file, '--passphrase-file', writePassphrase()], {
    dataDir,
    ...options,
  })
}

async function readFacts(dataDir: string): Promise<string[]> {
  return ((await readRows(dataDir)).facts as { name: string }[]).map(({ name }) => name)
}

function readKeys(dataDir: string): string[] {
  const names = ['manager.nsec', 'session.secret', 'store.key', 'card.key']
  return names.map((name) => readFileSync(join(dataDir, 'keys', name), 'utf8'))
}

describeFile('cuponera move out', () => {
  test('writes one file for this user only, which shows no key, and leaves no copy behind', () => {
    expect(statSync(moved.file).mode & 0o777).toBe(0o600)
    const bytes = readFileSync(moved.file)
    expect(bytes.subarray(0, 21).toString()).toBe('age-encryption.org/v1')
    for (const secret of readKeys(sound.dataDir)) expect(bytes.includes(secret.trim())).toBe(false)
    expect(readdirSync(moved.dataDir)).not.toContain('move.db')
    expect(moved.stdout).not.toContain(passphrase)
  })

  test('closes the service: it refuses to change anything, also after restarts', async () => {
    for (const _ of [1, 2]) {
      const server = await startServer({ dataDir: moved.dataDir })
      const claim = await call(server.url, '/api/coupons/claim', { body: { nonce: sound.open } })
      expectRefusal(claim, 503, 'moved')
      const body = { nonce: sound.open }
      const headers = { 'Idempotency-Key': newKey() }
      expectRefusal(await call(server.url, '/api/coupons/refresh', { body, headers }), 503, 'moved')
      expectRefusal(await call(server.url, '/nostr/publish', { body: {} }), 503, 'moved')
      const relay = await fetch(`${server.url}/relay`, { headers: { Upgrade: 'websocket' } })
      expect(relay.status).toBe(503)
      expectRefusal(await call(server.url, '/readyz'), 503, 'moved')
      expect((await call(server.url, '/livez')).status).toBe(200)
      expect((await call(server.url, '/panel')).status).toBe(200)
      expect(server.output()).toContain('moved       closed')
      const { stderr } = await runCommand(['merchants', 'list'], { dataDir: moved.dataDir })
      expect(stderr).toContain('moved to another computer')
      await server.stop()
    }
    const { stderr, code } = await runCommand(['merchants', 'list'], { dataDir: moved.dataDir })
    expect(stderr).toContain('moved to another computer')
    expect(code).toBe(1)
  })

  test('makes a passphrase of eight words where none is given', async () => {
    const dataDir = copyDirectory(sound.dataDir)
    const file = join(newDirectory(), 'mudanza.cuponera')
    const { stdout } = await runCommand(['move', 'out', file], { dataDir })
    const [words = ''] = stdout.match(/^ {2}([a-z]+ ){7}[a-z]+$/m) ?? []
    const typed = words.trim().toUpperCase().replaceAll(' ', '\n')
    const there = newDirectory()
    const args = ['move', 'in', file, '--passphrase-file', writePassphrase(typed)]
    expect((await runCommand(args, { dataDir: there })).code).toBe(0)
  })

  test.each(['move.db', 'incoming', 'arriving.cuponera'])(
    'does not write to %s in the data directory, which a move uses itself',
    async (name) => {
      const dataDir = copyDirectory(sound.dataDir)
      const args = ['move', 'out', join(dataDir, name), '--passphrase-file', writePassphrase()]
      const { stderr, code } = await runCommand(args, { dataDir })
      expect(stderr).toContain('belongs to the service itself')
      expect(code).toBe(1)
      expect(await readFacts(dataDir)).not.toContain('moved')
    },
  )

  test('needs the service stopped, and does not replace a file', async () => {
    const dataDir = copyDirectory(sound.dataDir)
    const file = join(newDirectory(), 'x')
    writeFileSync(file, 'x')
    const args = ['move', 'out', file, '--passphrase-file', writePassphrase()]
    expect((await runCommand(args, { dataDir })).stderr).toContain('exists already')
    const server = await startServer({ dataDir })
    expect((await runCommand([...args, '--force'], { dataDir })).stderr).toContain('stop it first')
    const claim = await call(server.url, '/api/coupons/claim', { body: { nonce: sound.open } })
    expect(claim.json.status).toBe('success')
    await server.stop()
  })
})

describeFile('cuponera move in', () => {
  test('brings everything to a new computer, where a voucher is redeemed once', async () => {
    const dataDir = newDirectory()
    const { code, stderr, stdout } = await moveIn(dataDir)
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toContain('2 definitions, 6 vouchers, 1 refreshes, 1 redemptions')
    expect(readKeys(dataDir)).toEqual(readKeys(sound.dataDir))
    expect(await readFacts(dataDir)).toEqual(['manager', 'store-key'])
    expect((await readRows(dataDir)).session_cutoffs).toEqual([])

    const server = await startServer({ dataDir })
    const claim = (nonce: string) => call(server.url, '/api/coupons/claim', { body: { nonce } })
    expect((await claim(sound.open)).json.status).toBe('success')
    expect((await claim(sound.open)).json.status).toBe('claimed')
    expect((await claim(sound.claimed)).json.status).toBe('claimed')
    await server.stop()
  })

  test('goes into a service that was started and not used, and keeps what was there', async () => {
    const dataDir = newDirectory()
    await (await startServer({ dataDir })).stop()
    const keys = readKeys(dataDir)
    expect((await moveIn(dataDir)).stderr).toBe('')
    expect(readKeys(dataDir)).toEqual(readKeys(sound.dataDir))
    const [aside = ''] = readdirSync(dataDir).filter((name) => name.startsWith('before-move-'))
    expect(readKeys(join(dataDir, aside))).toEqual(keys)
    expect(existsSync(join(dataDir, aside, 'cuponera.db'))).toBe(true)
    expect(existsSync(join(dataDir, 'incoming'))).toBe(false)
  })

  test('does not go into a service that has a coupon', async () => {
    const server = await startServer()
    const { url, dataDir } = server
    const couponId = await createDefinition(url, await openSession(url, newSigner()))
    await server.stop()
    const { stderr, code } = await moveIn(dataDir)
    expect(stderr).toContain('has data already')
    expect(code).toBe(1)
    expect((await readRows(dataDir)).definitions).toHaveLength(1)
    expect(couponId).toBeString()
  })

  test('does not go into a service whose settings name another key', async () => {
    const dataDir = newDirectory()
    const env = { COUPON_MANAGER_NSEC: '11'.repeat(32) }
    const { stderr } = await moveIn(dataDir, { env })
    expect(stderr).toContain('the settings of this service name other keys')
    expect(existsSync(join(dataDir, 'cuponera.db'))).toBe(false)
    expect(existsSync(join(dataDir, 'incoming'))).toBe(false)
  })

  const spoilt: [string, (bytes: Buffer) => Buffer, RegExp][] = [
    ['was cut', (bytes) => bytes.subarray(0, bytes.length - 1), /damaged or incomplete/],
    ['was cut in the middle', (bytes) => bytes.subarray(0, bytes.length / 2), /damaged/],
    ['was cut after its header', (bytes) => bytes.subarray(0, 200), /damaged|wrong passphrase/],
    ['has another last byte', (bytes) => flip(bytes, bytes.length - 1), /damaged or incomplete/],
    ['has another byte within', (bytes) => flip(bytes, bytes.length >> 1), /damaged/],
    ['asks for a high cost', (bytes) => replace(bytes, ' 17\n', ' 20\n'), /damaged/],
    ['is empty', () => Buffer.alloc(0), /damaged/],
  ]
  test.each(spoilt)('refuses a file that %s, and leaves nothing', async (_, spoil, why) => {
    const dataDir = newDirectory()
    const file = join(newDirectory(), 'spoilt')
    writeFileSync(file, spoil(readFileSync(moved.file)))
    const { stderr, code } = await moveIn(dataDir, {}, file)
    expect(stderr).toMatch(why)
    expect(code).toBe(1)
    expect(readdirSync(dataDir)).toEqual(['lock'])
  })

  test('refuses a wrong passphrase, and shows neither', async () => {
    const dataDir = newDirectory()
    const args = ['move', 'in', moved.file, '--passphrase-file', writePassphrase('otra frase')]
    const { stderr, stdout, code } = await runCommand(args, { dataDir })
    expect(stderr).toContain('wrong passphrase')
    expect(stderr + stdout).not.toContain('frase')
    expect(code).toBe(1)
    expect(readdirSync(dataDir)).toEqual(['lock'])
  })

  test('refuses a damaged database in a sound file', async () => {
    const from = copyDirectory(sound.dataDir)
    await damage(from, 'UPDATE definitions SET claimed = claimed + 1')
    const file = join(newDirectory(), 'mudanza.cuponera')
    const args = ['move', 'out', file, '--passphrase-file', writePassphrase()]
    const { stderr, code } = await runCommand(args, { dataDir: from })
    expect(stderr).toContain('There is no file')
    expect(code).toBe(1)
    expect(existsSync(file)).toBe(false)
  })
})

describeFile('cuponera move back', () => {
  test('opens the service again, with --force alone', async () => {
    const dataDir = copyDirectory(moved.dataDir)
    const asked = await runCommand(['move', 'back'], { dataDir })
    expect(asked.stderr).toContain('destroy every copy of the file')
    expect(asked.code).toBe(1)
    const { stdout } = await runCommand(['move', 'back', '--force'], { dataDir })
    expect(stdout).toContain('open again')
    const server = await startServer({ dataDir })
    const claim = await call(server.url, '/api/coupons/claim', { body: { nonce: sound.open } })
    expect(claim.json.status).toBe('success')
    await server.stop()
  })

  test('says so where nothing was moved', async () => {
    const dataDir = copyDirectory(sound.dataDir)
    const { stderr } = await runCommand(['move', 'back', '--force'], { dataDir })
    expect(stderr).toContain('was not moved')
  })

  test('a backup of a moved service is closed, too, when it is restored', async () => {
    const file = join(newDirectory(), 'copy.db')
    await runCommand(['backup', file], { dataDir: moved.dataDir })
    const dataDir = copyDirectory(sound.dataDir)
    expect((await runCommand(['restore', file, '--force'], { dataDir })).code).toBe(0)
    expect(await readFacts(dataDir)).toContain('moved')
  })

  test('a backup does not open a service that was moved', async () => {
    const file = join(newDirectory(), 'copy.db')
    await runCommand(['backup', file], { dataDir: sound.dataDir })
    const dataDir = copyDirectory(moved.dataDir)
    const { stderr, code } = await runCommand(['restore', file, '--force'], { dataDir })
    expect(stderr).toContain('moved to another computer')
    expect(code).toBe(1)
    expect(await readFacts(dataDir)).toContain('moved')
  })
})

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

function replace(bytes: Buffer, old: string, by: string): Buffer {
  const at = bytes.indexOf(old)
  expect(at).toBeGreaterThan(0)
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(by), bytes.subarray(at + old.length)])
}
