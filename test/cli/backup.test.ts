import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { checkDatabase } from '../../src/db/check.ts'
import { noPause } from '../../src/db/check-report.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { parseSecret } from '../../src/nostr/keys.ts'
import { copyDirectory, createPopulated, type Populated, runCommand } from '../support/cli.ts'
import { call, createDefinition, newKey, newSigner, openSession } from '../support/client.ts'
import { damage, describeFile } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import { pngOf } from '../support/pictures.ts'
import { expectRefusal, readRows } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const counts = '2 definitions, 6 vouchers, 1 refreshes, 1 redemptions'
let sound: Populated

beforeAll(async () => {
  sound = await createPopulated()
})
afterAll(cleanUp)

/** The error of a backup to a path in the data directory. */
async function backUpTo(name: string, dataDir: string): Promise<string> {
  const { code, stderr } = await runCommand(['backup', name, '--force'], { dataDir, cwd: dataDir })
  expect(code).toBe(1)
  return stderr
}

function isOwn(name: string, dataDir: string): string {
  return `cuponera: ${resolve(dataDir, name)} belongs to the service itself: choose another name\n`
}

/** A backup of the sound directory, in a directory of its own. */
async function createBackup(): Promise<string> {
  const cwd = newDirectory()
  const { code } = await runCommand(['backup', 'copy.db'], { dataDir: sound.dataDir, cwd })
  expect(code).toBe(0)
  return join(cwd, 'copy.db')
}

function bringKeys(dataDir: string): void {
  mkdirSync(join(dataDir, 'keys'))
  for (const name of readdirSync(join(sound.dataDir, 'keys'))) {
    copyFileSync(join(sound.dataDir, 'keys', name), join(dataDir, 'keys', name))
  }
}

describeFile('cuponera backup', () => {
  test.each(['stopped', 'running'])(
    'writes a verified copy where the caller is (%s)',
    async (how) => {
      const dataDir = copyDirectory(sound.dataDir)
      const server = how === 'running' ? await startServer({ dataDir }) : null
      const cwd = newDirectory()
      const { code, stdout, stderr } = await runCommand(['backup', 'copy.db'], { dataDir, cwd })
      expect(stderr).toBe('')
      expect(stdout).toContain(`${join(cwd, 'copy.db')}: 0.`)
      expect(stdout).toContain(` MB, checked: ${counts}, 0 events of the relay\n`)
      expect(code).toBe(0)
      expect(statSync(join(cwd, 'copy.db')).mode & 0o777).toBe(0o600)
      expect(readdirSync(cwd)).toEqual(['copy.db'])
      await server?.stop()
    },
  )

  test('is consistent while vouchers are minted and claimed, and restores to the same', async () => {
    const server = await startServer({ env: { RATE_LIMIT: 'off' } })
    const { url, dataDir } = server
    const token = await openSession(url, newSigner())
    const couponId = await createDefinition(url, token)
    const before: string[] = []
    let running = true
    const sell = async () => {
      while (running) {
        const minted = await call(url, '/api/coupons/mint', { body: { couponId, count: 5 }, token })
        for (const { nonce } of minted.json.vouchers) {
          before.push(nonce)
          await call(url, '/api/coupons/claim', { body: { nonce } })
        }
      }
    }
    const selling = Promise.all([sell(), sell(), sell(), sell()])
    await until('a hundred are minted', () => before.length >= 100)
    const claimed = before.slice(0, 50)
    const file = join(newDirectory(), 'copy.db')
    const made = await runCommand(['backup', file], { dataDir })
    running = false
    await selling
    expect(made.stderr).toBe('')
    await server.stop()

    const restored = copyDirectory(dataDir)
    expect((await runCommand(['restore', file, '--force'], { dataDir: restored })).code).toBe(0)
    const again = await startServer({ dataDir: restored })
    for (const nonce of claimed) {
      const { json } = await call(again.url, '/api/coupons/preview', { body: { nonce } })
      expect(json.status).toBe('claimed')
    }
    const { json } = await call(again.url, '/api/coupons/preview', {
      body: { nonce: before.at(-1) },
    })
    expect(json.code ?? json.status).not.toBe('claimed')
    await again.stop()
    const { found, rows } = await checkDatabase(join(restored, 'cuponera.db'), noPause)
    expect(found).toBe(0)
    expect(made.stdout).toContain(`${rows.vouchers} vouchers`)
  })

  test('contains no key', async () => {
    const bytes = readFileSync(await createBackup())
    const texts = readdirSync(join(sound.dataDir, 'keys')).map((name) =>
      readFileSync(join(sound.dataDir, 'keys', name), 'utf8').trim(),
    )
    expect(texts).toHaveLength(4)
    for (const text of texts) {
      const raw = parseSecret(text) ?? Buffer.from(text, 'hex')
      expect(bytes.includes(text)).toBe(false)
      if (raw.length === 32) {
        expect(bytes.includes(raw)).toBe(false)
        expect(bytes.includes(Buffer.from(raw).toString('hex'))).toBe(false)
      }
    }
    for (const nonce of [sound.open, sound.claimed, sound.refreshed]) {
      expect(bytes.includes(nonce)).toBe(false)
    }
  })

  test.each(['stopped', 'running'])('replaces a file only when told to (%s)', async (how) => {
    const dataDir = copyDirectory(sound.dataDir)
    const server = how === 'running' ? await startServer({ dataDir }) : null
    const file = join(newDirectory(), 'copy.db')
    writeFileSync(file, 'precious')
    const refused = await runCommand(['backup', file], { dataDir })
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: `cuponera: ${file} exists already: --force replaces it\n`,
    })
    expect(readFileSync(file, 'utf8')).toBe('precious')
    expect((await runCommand(['backup', file, '--force'], { dataDir })).code).toBe(0)
    expect(readFileSync(file).subarray(0, 6).toString()).toBe('SQLite')
    await server?.stop()
  })

  test('never overwrites a file of the service, and refuses a path that cannot be written', async () => {
    const { dataDir } = sound
    const whole = readFileSync(join(dataDir, 'cuponera.db'))
    const folder = newDirectory()
    symlinkSync(dataDir, join(folder, 'link'))
    const own = ['cuponera.db', 'relay.db-wal', 'lock', 'control.sock', 'keys/manager.nsec']
    own.push(
      'images',
      'incoming',
      'arriving.cuponera',
      'backed-up',
      'move.db',
      join(folder, 'link', 'move.db'),
    )
    for (const name of own) expect(await backUpTo(name, dataDir)).toBe(isOwn(name, dataDir))
    expect(readFileSync(join(dataDir, 'cuponera.db'))).toEqual(whole)
    expect((await runCommand(['backup', '/nowhere/copy.db'], { dataDir })).stderr).toBe(
      'cuponera: there is no directory /nowhere\n',
    )
    expect((await runCommand(['backup', dataDir, '--force'], { dataDir })).stderr).toBe(
      `cuponera: ${dataDir} is a directory: name a file\n`,
    )
  })

  test('never overwrites a file of the service that runs', async () => {
    const dataDir = copyDirectory(sound.dataDir)
    mkdirSync(join(dataDir, 'tls'))
    const server = await startServer({ dataDir })
    for (const name of ['cuponera.db', 'move.db', 'tls/authority.key']) {
      expect(await backUpTo(name, dataDir)).toBe(isOwn(name, dataDir))
    }
    await server.stop()
  })

  test('refuses a damaged database and leaves no file behind', async () => {
    const dataDir = copyDirectory(sound.dataDir)
    await damage(dataDir, 'UPDATE totals SET refreshed = 7')
    const cwd = newDirectory()
    const { code, stderr } = await runCommand(['backup', 'copy.db'], { dataDir, cwd })
    expect(stderr).toContain('does not pass the check (totals: refreshed is 7, but the sum is 1)')
    expect(code).toBe(1)
    expect(readdirSync(cwd)).toEqual([])
  })
})

describeFile('cuponera restore', () => {
  test('replaces the database by the backup and keeps the old one', async () => {
    const file = await createBackup()
    const dataDir = copyDirectory(sound.dataDir)
    const server = await startServer({ dataDir })
    await call(server.url, '/api/coupons/claim', { body: { nonce: sound.open } })
    // The acknowledged writes are in the WAL only: they must not get lost, nor get into the restored file.
    await server.kill()
    const { code, stdout, stderr } = await runCommand(['restore', file, '--force'], { dataDir })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toContain(`restored from ${file}, checked: ${counts}`)
    expect(stdout).toContain('become spendable again')
    expect(stdout).toContain('merchants that were let in')
    const left = readdirSync(dataDir).filter((name) => name.startsWith('cuponera.db'))
    const aside = left.find((name) => /^cuponera\.db\.before-restore-\d+$/.test(name)) as string
    expect(left.sort()).toEqual(['cuponera.db', aside])
    expect(statSync(join(dataDir, 'cuponera.db')).mode & 0o777).toBe(0o600)
    expect((await checkDatabase(join(dataDir, aside), noPause)).rows.redemptions).toBe(2)

    const again = await startServer({ dataDir })
    const { json } = await call(again.url, '/api/coupons/preview', { body: { nonce: sound.open } })
    expect(json.status).toBe('minted')
    await again.stop()
  })

  test('ends every session and setup code, and lets cards wait for their counters', async () => {
    const dataDir = copyDirectory(sound.dataDir)
    const server = await startServer({ dataDir })
    const token = await openSession(server.url, newSigner())
    await server.stop()
    const card = `'${crypto.randomUUID()}', x'04112233445566', 1, 7, '${crypto.randomUUID()}', '', '', 1`
    await damage(
      dataDir,
      `INSERT INTO cards (uuid, cid, key_version, counter, design_uuid, design_name, name, created_at)
         VALUES (${card});
       INSERT INTO setup_code (id, salt, tries) VALUES (1, zeroblob(16), 0) ON CONFLICT DO NOTHING`,
    )
    const file = join(newDirectory(), 'copy.db')
    for (const args of [
      ['backup', file],
      ['restore', file, '--force'],
    ]) {
      expect((await runCommand(args, { dataDir })).code).toBe(0)
    }
    const { cards, setup_code } = await readRows(dataDir)
    expect(cards).toMatchObject([{ counter: 7, counter_known: 0 }])
    expect(setup_code).toEqual([])
    const again = await startServer({ dataDir })
    const answer = await call(again.url, '/api/coupons', { token })
    expectRefusal(answer, 401, 'auth-session-expired', { reason: 'session-expired' })
    await again.stop()
  })

  test('keeps a damaged database and its WAL, too', async () => {
    const file = await createBackup()
    const dataDir = copyDirectory(sound.dataDir)
    writeFileSync(join(dataDir, 'cuponera.db'), 'nothing of the kind'.repeat(500))
    writeFileSync(join(dataDir, 'cuponera.db-wal'), 'stale')
    expect((await runCommand(['restore', file, '--force'], { dataDir })).code).toBe(0)
    const left = readdirSync(dataDir).filter((name) => name.startsWith('cuponera.db'))
    expect(left.filter((name) => name.endsWith('-wal')).join()).toMatch(/before-restore-\d+-wal$/)
    expect((await runCommand(['check'], { dataDir })).code).toBe(0)
  })

  test('replaces nothing without --force and explains the effect of going back', async () => {
    const file = await createBackup()
    const dataDir = copyDirectory(sound.dataDir)
    const whole = readFileSync(join(dataDir, 'cuponera.db'))
    const { code, stderr } = await runCommand(['restore', file], { dataDir })
    expect(code).toBe(1)
    expect(stderr).toContain('--force replaces it')
    expect(stderr).toContain('become spendable again')
    expect(readFileSync(join(dataDir, 'cuponera.db'))).toEqual(whole)
  })

  test('restores into a new directory without --force, and waits for the keys', async () => {
    const file = await createBackup()
    const dataDir = join(newDirectory(), 'new')
    const { code, stdout } = await runCommand(['restore', file], { dataDir })
    expect(code).toBe(0)
    expect(stdout).toContain('are not here yet: bring them with "cuponera keys import"')
    expect((await runCommand(['serve'], { dataDir })).stderr).toContain('manager.nsec is missing')
    bringKeys(dataDir)
    const server = await startServer({ dataDir })
    expect(await server.stop()).toBe(0)
  })

  test('brings back shops, rules, tills, posters, batches and pictures', async () => {
    const server = await startServer()
    const { url, dataDir } = server
    const [signer, till, taker] = [newSigner(), newSigner(), newSigner()]
    const token = await openSession(url, signer)
    const made = async (path: string, body: object | Uint8Array, method = 'POST') => {
      const { status, json } = await call(url, path, { method, body, token })
      expect([path, status === 200 || status === 201]).toEqual([path, true])
      return json
    }
    await made('/api/shop', { name: 'Café Ñandú', onlyAuthorizedTills: true }, 'PATCH')
    await made('/api/coupons/minters', { pubkey: till.pubkey, label: 'Barra', mint: false })
    const { picture } = await made('/api/pictures', pngOf(2, 2))
    const minimum = { amount: 500, currency: 'ARS' }
    const couponId = await createDefinition(url, token, {
      ...{ expiresAt: 4_102_444_800, picture: picture.hash },
      rules: { minimum, conditions: 'Uno por mesa.' },
    })
    const mint = { couponId, count: 2, batch: { name: 'Feria' }, labels: ['Ana', null] }
    const { vouchers } = await made('/api/coupons/mint', mint)
    const { poster } = await made('/api/posters', { couponId, label: 'Vidriera', perDay: 5 })
    const key = newKey()
    const take = (at: string) =>
      call(at, `/api/posters/${poster.id}/take`, {
        ...{ method: 'POST', signer: taker, headers: { 'Idempotency-Key': key } },
      })
    const taken = await take(url)
    expect(taken.status).toBe(201)
    const claim = { nonce: vouchers[0].nonce, purchase: minimum }
    const session = await openSession(url, till)
    const claimed = await call(url, '/api/coupons/claim', { body: claim, token: session })
    expect(claimed.json.status).toBe('success')

    const file = join(newDirectory(), 'copy.db')
    expect((await runCommand(['backup', file], { dataDir })).code).toBe(0)
    await server.stop()
    const restored = newDirectory()
    cpSync(join(dataDir, 'keys'), join(restored, 'keys'), { recursive: true })
    expect((await runCommand(['restore', file], { dataDir: restored })).code).toBe(0)
    const after = await readRows(restored)
    // The two tables that a restore writes to.
    const { facts = [], session_cutoffs = [] } = after
    expect(after).toEqual({ ...(await readRows(dataDir)), facts, session_cutoffs })
    for (const table of ['shops', 'tills', 'till_hours', 'pictures', 'posters', 'poster_takes'])
      expect([table, after[table]?.length]).toEqual([table, 1])
    for (const table of ['batches', 'voucher_labels', 'expiries'])
      expect(after[table]).not.toEqual([])
    expect(facts).toContainEqual(expect.objectContaining({ name: 'restored' }))
    expect((await runCommand(['check'], { dataDir: restored })).code).toBe(0)
    const again = await startServer({ dataDir: restored })
    expect((await take(again.url)).text).toBe(taken.text)
    const shown = await fetch(`${again.url}${picture.url}`)
    expect(Buffer.from(await shown.bytes())).toEqual(pngOf(2, 2))
    await again.stop()
  })

  test('refuses while a server runs', async () => {
    const file = await createBackup()
    const server = await startServer({ dataDir: copyDirectory(sound.dataDir) })
    const { code, stderr } = await runCommand(['restore', file, '--force'], server)
    expect(stderr).toBe(`cuponera: a server is using ${server.dataDir}: stop it first\n`)
    expect(code).toBe(1)
    await server.stop()
  })

  test.each([
    ['manager.nsec', /belongs to the manager key npub1\w+, not to npub1\w+; nothing was replaced/],
    ['store.key', /belongs to another store key than this one; nothing was replaced/],
  ])('refuses when %s is not the key of the backup', async (name, refusal) => {
    const file = await createBackup()
    const dataDir = copyDirectory(sound.dataDir)
    writeFileSync(join(dataDir, 'keys', name), `${'ab'.repeat(32)}\n`)
    const whole = readFileSync(join(dataDir, 'cuponera.db'))
    const { code, stderr } = await runCommand(['restore', file, '--force'], { dataDir })
    expect(stderr).toMatch(refusal)
    expect(code).toBe(1)
    expect(readFileSync(join(dataDir, 'cuponera.db'))).toEqual(whole)
    expect(readdirSync(dataDir).filter((left) => left.includes('restor'))).toEqual([])
  })

  const unfit: [name: string, make: (directory: string) => void | Promise<void>, says: RegExp][] = [
    ['that is not there', () => undefined, /there is no file/],
    [
      'that is no database',
      (directory) => writeFileSync(join(directory, 'cuponera.db'), 'x'.repeat(9000)),
      /is not a sound database: file is not a database/,
    ],
    [
      'that is empty',
      (directory) => writeFileSync(join(directory, 'cuponera.db'), ''),
      /is not a database of Cuponera/,
    ],
    [
      'that does not pass the check',
      (directory) => spoil(directory, 'DELETE FROM totals'),
      /does not pass the check: the row of totals is missing/,
    ],
    [
      'of a newer program',
      (directory) => spoil(directory, 'PRAGMA user_version = 99'),
      /the database has schema 99, this program knows up to \d+: upgrade it/,
    ],
    [
      'of a much older program',
      (directory) => spoil(directory, 'PRAGMA user_version = 14'),
      /the database has schema 14, which Cuponera 0\.1\.0 is the last to read: start that on it once/,
    ],
    [
      'that is a database in use',
      async (directory) => {
        await spoil(directory, 'DELETE FROM answers')
        writeFileSync(join(directory, 'cuponera.db-wal'), 'frames')
      },
      /not a backup; make one with "cuponera backup"/,
    ],
  ]
  test.each(unfit)('refuses a file %s', async (_, make, says) => {
    const directory = newDirectory()
    await make(directory)
    const dataDir = newDirectory()
    const file = join(directory, 'cuponera.db')
    const { code, stderr } = await runCommand(['restore', file], { dataDir })
    expect(stderr).toMatch(says)
    expect(code).toBe(1)
    expect(existsSync(join(dataDir, 'cuponera.db'))).toBe(false)
    expect(readdirSync(dataDir).filter((name) => name.startsWith('cuponera'))).toEqual([])
  })
})

describeFile('the embedded relay', () => {
  const publish = async (url: string) => {
    const event = createEvent()
    expect((await call(url, '/nostr/publish', { body: event })).status).toBe(202)
    await until('kept', () => has(url, event))
    return event
  }
  const has = async (url: string, { id }: NostrEvent) =>
    (await call(url, '/nostr/fetch', { body: { ids: [id] } })).json.length === 1
  const asides = (dataDir: string) =>
    readdirSync(dataDir).filter((name) => /^relay\.db\.before-restore-\d+$/.test(name))

  /** A backup that holds one event of a running server, and one more that came later. */
  async function createBoth() {
    const server = await startServer({ dataDir: copyDirectory(sound.dataDir) })
    const before = await publish(server.url)
    const file = join(newDirectory(), 'copy.db')
    const made = await runCommand(['backup', file], { dataDir: server.dataDir })
    expect(made.stdout).toContain(', 1 events of the relay\n')
    const after = await publish(server.url)
    return { server, before, after, file, dataDir: server.dataDir }
  }
  const spoilBackup = (file: string, sql: string) => {
    using database = new Database(file)
    database.run(sql)
  }

  test('is part of the backup of a running server, and is restored as it was', async () => {
    const { server, before, after, file, dataDir } = await createBoth()
    // The events that it took since are in the WAL only.
    await server.kill()
    const { code, stdout } = await runCommand(['restore', file, '--force'], { dataDir })
    expect(code).toBe(0)
    expect(stdout).toContain(`checked: ${counts}, 1 events of the relay\n`)
    const [aside] = asides(dataDir)
    expect(stdout).toContain(`The relay's events before are kept as ${join(dataDir, `${aside}`)}\n`)
    expect(statSync(join(dataDir, 'relay.db')).mode & 0o777).toBe(0o600)
    const left = readdirSync(dataDir).filter((name) => name.startsWith('relay.db'))
    expect(left.sort()).toEqual(['relay.db', `${aside}`])
    expect(statSync(file).size).toBeGreaterThan(statSync(join(dataDir, 'cuponera.db')).size)
    const again = await startServer({ dataDir })
    expect([await has(again.url, before), await has(again.url, after)]).toEqual([true, false])
    await again.stop()
    expect((await runCommand(['check'], { dataDir })).code).toBe(0)
  })

  test('is left as it is by a backup that does not contain it', async () => {
    const { server, before, after, file, dataDir } = await createBoth()
    await server.stop()
    spoilBackup(file, 'DROP TABLE relay_file')
    const { code, stdout } = await runCommand(['restore', file, '--force'], { dataDir })
    expect(code).toBe(0)
    expect(stdout).toContain('holds no events of the relay')
    expect(asides(dataDir)).toEqual([])
    const again = await startServer({ dataDir })
    expect([await has(again.url, before), await has(again.url, after)]).toEqual([true, true])
    await again.stop()
  })

  test('is restored into a new directory, too', async () => {
    const { server, before, file } = await createBoth()
    await server.stop()
    const dataDir = newDirectory()
    bringKeys(dataDir)
    expect((await runCommand(['restore', file], { dataDir })).code).toBe(0)
    const again = await startServer({ dataDir })
    expect(await has(again.url, before)).toBe(true)
    await again.stop()
  })

  test('is neither backed up nor restored when it is damaged, and nothing is replaced', async () => {
    const { server, file, dataDir } = await createBoth()
    await server.stop()
    spoilBackup(file, 'UPDATE relay_file SET bytes = zeroblob(length(bytes))')
    const whole = readFileSync(join(dataDir, 'cuponera.db'))
    const restored = await runCommand(['restore', file, '--force'], { dataDir })
    expect(restored.stderr).toBe('cuponera: the relay in the backup is damaged\n')
    expect(readFileSync(join(dataDir, 'cuponera.db'))).toEqual(whole)
    expect(readdirSync(dataDir).filter((name) => name.includes('restor'))).toEqual([])

    writeFileSync(join(dataDir, 'relay.db'), 'nothing of the kind'.repeat(500))
    const cwd = newDirectory()
    const made = await runCommand(['backup', 'copy.db'], { dataDir, cwd })
    expect(made.stderr).toContain(`${join(dataDir, 'relay.db')} is damaged`)
    expect([made.code, readdirSync(cwd)]).toEqual([1, []])
  })
})

async function spoil(directory: string, sql: string): Promise<void> {
  copyFileSync(join(sound.dataDir, 'cuponera.db'), join(directory, 'cuponera.db'))
  await damage(directory, sql)
}
