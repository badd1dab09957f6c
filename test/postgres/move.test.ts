/** `cuponera move --from … --to …`: a service goes from a file to PostgreSQL and back, and nothing of it is lost or twice. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../src/cli/run.ts'
import { couponSchema, relaySchema } from '../../src/db/migrations.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { openLoaded } from '../../src/db/postgres/move/load.ts'
import { closeServer, unloadServer } from '../../src/db/postgres/move/unload.ts'
import type { SqlValue } from '../../src/db/sql.ts'
import { ledger, payment, poster, sha256OfOne, transfer } from '../support/check-wrongs.ts'
import { copyDirectory, type Run, runCommand } from '../support/cli.ts'
import {
  call,
  createDefinition,
  mintOne,
  newKey,
  newSigner,
  openSession,
} from '../support/client.ts'
import { damage } from '../support/database.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { nameStandby } from '../support/postgres-standby.ts'
import { program } from '../support/program.ts'
import { expectRefusal } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { backendsOf, codeOf, idsIn, openRows } from './rows.ts'

const databases = await openDatabases()
const rows = openRows(databases)
/** A data directory with rows of every kind, and what is known of two of its vouchers. */
let sound: {
  dataDir: string
  signer: ReturnType<typeof newSigner>
  /** A coupon with three vouchers that count, and one with a limit and a place left. */
  couponId: string
  limited: string
  open: string
  refreshed: string
  key: string
  answer: string
}

beforeAll(async () => {
  const server = await startServer()
  const { url, dataDir } = server
  const signer = newSigner()
  const token = await openSession(url, signer)
  const limited = await createDefinition(url, token, { maxUses: 3 })
  for (let count = 0; count < 2; count++) await mintOne(url, token, limited)
  const couponId = await createDefinition(url, token)
  await createDefinition(url, token, { name: 'Otro', expiresAt: 4_102_444_800 })
  const mint = async () => (await mintOne(url, token, couponId)).nonce as string
  const [open, claimed, refreshed, voided] = [
    await mint(),
    await mint(),
    await mint(),
    await mint(),
  ]
  await call(url, '/api/coupons/claim', { body: { nonce: claimed } })
  const key = newKey()
  const answer = await refreshAt(url, refreshed, key)
  await call(url, `/api/coupons/${couponId}/mints/${voided}`, { method: 'DELETE', token })
  await server.stop()
  await damage(dataDir, strange)
  sound = { dataDir, signer, couponId, limited, open, refreshed, key, answer }
  expect((await command(['check'], dataDir)).stdout).toStartWith('no problems')
})
afterAll(async () => {
  await cleanUp()
  await databases.stop()
})

/** Values that an engine could change: integers beyond 2^53, characters that a text of PostgreSQL has not, an id given out. */
const strange = `
  ${ledger}
  UPDATE ledger_accounts SET balance = balance * 1400000000000000001;
  UPDATE ledger_entries SET amount = amount * 1400000000000000001;
  UPDATE ledger_movements SET memo = 'a' || char(0) || char(65535) || '0 "{\\,}" NULL é';
  ${transfer} ${poster} ${payment('pending').replaceAll("'ARS'", "'PTS'").replaceAll('"ARS"', '"PTS"')}
  INSERT INTO transfer_intents (service, handle, holder, owner, sealed, next_at, created_at)
    VALUES (zeroblob(32), zeroblob(16), zeroblob(32), zeroblob(32), x'', 1, 1);
  DELETE FROM transfer_intents;
  INSERT INTO pictures (id, owner, hash, type, bytes, content)
    VALUES (7, zeroblob(32), ${sha256OfOne}, 'image/png', 1, x'01')`

async function refreshAt(url: string, nonce: string, key: string): Promise<string> {
  const headers = { 'Idempotency-Key': key, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ nonce })
  return (await fetch(`${url}/api/coupons/refresh`, { method: 'POST', headers, body })).text()
}

/** The statuses of so many mints of these coupons. */
async function mintsAt(url: string, counts: { limited?: number; couponId?: number }) {
  const token = await openSession(url, sound.signer)
  const statuses: number[] = []
  for (const name of ['limited', 'couponId'] as const) {
    const asked = { body: { couponId: sound[name] }, token }
    for (let count = 0; count < (counts[name] ?? 0); count++) {
      statuses.push((await call(url, '/api/coupons/mint', asked)).status)
    }
  }
  return statuses
}

const newUrl = async () => databases.server.url(await databases.createBare())
const move = (from: string, to: string, dataDir = newDirectory()): Promise<Run> =>
  command(['move', '--from', from, '--to', to], dataDir)
const serve = (dataDir: string, env: Record<string, string> = {}) =>
  runCommand(['serve'], { dataDir, env })

/** Run a command in this process: tens of processes would cost more than all that they do. */
async function command(args: string[], dataDir: string, url?: string): Promise<Run> {
  const told = { log: '', error: '' }
  const spies = (['log', 'error'] as const).map((name) =>
    spyOn(console, name).mockImplementation((line: string) => {
      told[name] += `${line}\n`
    }),
  )
  try {
    const database = url === undefined ? [] : ['--database-url', url]
    const code = await run([...args, '--data-dir', dataDir, ...database])
    return { code, stdout: told.log, stderr: told.error }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

async function done(run: Promise<Run>): Promise<string> {
  const { code, stdout, stderr } = await run
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** All rows of a file, but for how it was closed. */
function rowsOf(dataDir: string) {
  const file = new Sqlite(join(dataDir, 'cuponera.db'), { safeIntegers: true })
  const tables = file
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .filter(({ name }) => name !== 'state' && !name.startsWith('sqlite_stat'))
  const rows = Object.fromEntries(
    tables.map(({ name }) => [name, file.query(`SELECT * FROM ${name} ORDER BY 1`).all()]),
  )
  file.close()
  rows.facts = (rows.facts as { name: string }[]).filter(({ name }) => !/^(mov|arr)/.test(name))
  return rows
}

async function connectTo(url: string) {
  return databases.connect(/\/(\w+)\?/.exec(url)?.[1] ?? '')
}

/** Constraints and indexes of a database, and the last id of each sequence that gave out one. */
async function structureOf(name: string) {
  const connection = await databases.connect(name)
  const { rows } = await connection.send(
    `SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS line
       FROM pg_constraint WHERE connamespace = 'public'::regnamespace
     UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
    [],
  )
  await connection.end()
  return rows.map(({ line }) => line)
}

test('a service goes to PostgreSQL and back, and its other side is closed each time', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const name = await databases.createBare()
  const address = databases.server.url(name)
  const env = { DATABASE_URL: address }
  await done(move(dataDir, address))
  expect(await structureOf(name)).toEqual(await structureOf('empty'))
  expect(await done(move(dataDir, address))).toContain('complete already')
  expect(await done(command(['check'], dataDir, address))).toStartWith('no problems')

  const closed = await startServer({ dataDir })
  expectRefusal(
    await call(closed.url, '/api/coupons/claim', { body: { nonce: sound.open } }),
    503,
    'moved',
  )
  await closed.stop()
  const out = await command(['move', 'out', join(newDirectory(), 'file')], dataDir)
  expect([out.code, out.stderr]).toEqual([1, expect.stringContaining('goes on in PostgreSQL')])

  const server = await startServer({ dataDir, env })
  expect(await refreshAt(server.url, sound.refreshed, sound.key)).toBe(sound.answer)
  expect((await move(address, newDirectory(), dataDir)).stderr).toContain('uses the database')
  expect(await mintsAt(server.url, { limited: 2, couponId: 1 })).toEqual([200, 409, 200])
  await server.stop()

  const back = join(newDirectory(), 'data')
  await done(move(address, back, dataDir))
  expect(await done(move(address, back, dataDir))).toContain('complete already')
  const other = await startServer({ dataDir, env })
  expectRefusal(
    await call(other.url, '/api/coupons/claim', { body: { nonce: sound.open } }),
    503,
    'moved',
  )
  await other.stop()

  // The keys came along, and no id is given out twice.
  const again = await startServer({ dataDir: back })
  expect(await mintsAt(again.url, { limited: 1, couponId: 1 })).toEqual([409, 200])
  const token = await openSession(again.url, sound.signer)
  const limit = { method: 'PATCH', body: { maxUses: 6 }, token }
  await call(again.url, `/api/coupons/${sound.couponId}`, limit)
  expect(await mintsAt(again.url, { couponId: 2 })).toEqual([200, 409])
  const claim = () => call(again.url, '/api/coupons/claim', { body: { nonce: sound.open } })
  expect([(await claim()).json.status, (await claim()).json.status]).toEqual(['success', 'claimed'])
  expect(await refreshAt(again.url, sound.refreshed, sound.key)).toBe(sound.answer)
  await again.stop()
})

test('ids go on behind the last one that was given out', async () => {
  const address = await newUrl()
  await done(move(copyDirectory(sound.dataDir), address))
  const connection = await connectTo(address)
  const next = async (table: string) => {
    const { rows } = await connection.send(
      `SELECT nextval(pg_get_serial_sequence('${table}', 'id')) AS id`,
      [],
    )
    return rows[0]?.id
  }
  expect([await next('transfer_intents'), await next('pictures'), await next('minters')]).toEqual([
    2, 8, 1,
  ])
  await connection.end()
})

test('every row comes back into the directory that it came from', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const address = await newUrl()
  await done(move(dataDir, address))
  await done(command(['move', '--to', dataDir], dataDir, address))
  expect(rowsOf(dataDir)).toEqual(rowsOf(sound.dataDir))
})

/** Run a move and kill it when it has told so many lines. */
async function killed(lines: number, from: string, to: string, dataDir: string): Promise<void> {
  const child = Bun.spawn([...program, 'move', '--from', from, '--to', to], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let told = 0
  for await (const chunk of child.stdout) {
    told += new TextDecoder().decode(chunk).split('\n').length - 1
    if (told >= lines) break
  }
  child.kill('SIGKILL')
  await child.exited
}

test('a move that is killed again and again ends whole, in either direction', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const address = await newUrl()
  for (const lines of [1, 3, 4]) await killed(lines, dataDir, address, dataDir)
  await done(move(dataDir, address))
  expect(await done(command(['check'], dataDir, address))).toStartWith('no problems')
  const back = newDirectory()
  for (const lines of [1, 2]) await killed(lines, address, back, dataDir)
  await done(move(address, back, dataDir))
  expect(rowsOf(back)).toEqual(rowsOf(sound.dataDir))
})

/** Run a move whose server is killed before a statement reaches it, and started again. Resolves to what the move told. */
async function withoutServer(statement: string, moving: () => Promise<Run>): Promise<Run> {
  let dying: Promise<void> | null = null
  const { send } = Connection.prototype
  const spy = spyOn(Connection.prototype, 'send').mockImplementation(function (
    this: Connection,
    text: string,
    params: readonly SqlValue[],
  ) {
    if (text.startsWith(statement)) dying ??= databases.server.kill()
    return send.call(this, text, params)
  })
  try {
    return await moving()
  } finally {
    spy.mockRestore()
    expect(dying).not.toBeNull()
    await dying
    await databases.server.start()
  }
}

test('a move whose server dies again and again ends whole, in either direction', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const address = await newUrl()
  const back = newDirectory()
  const dies = async (statement: string, from: string, to: string) => {
    const { code, stdout, stderr } = await withoutServer(statement, () => move(from, to, dataDir))
    expect({ statement, code }).toEqual({ statement, code: 1 })
    expect(stderr).toStartWith('cuponera: cannot use the database on the server')
    return stdout
  }
  // While rows are copied, at the commit, and when the file is closed already.
  await dies('INSERT INTO vouchers', dataDir, address)
  expect(await dies('COMMIT', dataDir, address)).toContain('every row was read back')
  const last = await dies(`UPDATE facts SET name = 'arrived'`, dataDir, address)
  expect(last).toContain('the file is closed')
  expect((await serve(dataDir, { DATABASE_URL: address })).stderr).toContain('was not completed')
  expect(await done(move(dataDir, address))).not.toContain('rows are copied')
  expect(await done(command(['check'], dataDir, address))).toStartWith('no problems')

  await dies('FETCH', address, back)
  // The file has everything, and the server was not closed.
  expect(await dies('COMMIT', address, back)).toContain('every row is copied')
  await done(move(address, back, dataDir))
  expect(rowsOf(back)).toEqual(rowsOf(sound.dataDir))
})

test('no service starts on a database that is not open yet, and the move begins anew or ends', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const address = await newUrl()
  const env = { DATABASE_URL: address }
  await done(move(dataDir, address))
  const connection = await connectTo(address)
  const unopened = () =>
    connection.send(`UPDATE facts SET name = 'arriving' WHERE name = 'arrived'`, [])

  // As if it was killed before the file was closed. The service went on there.
  await unopened()
  await damage(dataDir, `DELETE FROM facts WHERE name IN ('moved', 'moved-to')`)
  expect((await serve(dataDir, env)).stderr).toContain('was not completed')
  const server = await startServer({ dataDir })
  expect((await move(dataDir, address)).stderr).toContain('is using')
  await call(server.url, '/api/coupons/claim', { body: { nonce: sound.open } })
  await server.stop()
  expect(await done(move(dataDir, address))).toContain('rows are copied')
  const { rows } = await connection.send(`SELECT count(*) AS n FROM redemptions`, [])
  expect(rows[0]?.n).toBe(2)

  // As if it was killed between the closing of the file and the opening of the database.
  await unopened()
  expect((await serve(dataDir, env)).stderr).toContain('was not completed')
  expect(await done(move(dataDir, address))).not.toContain('rows are copied')
  const { count } = await connection.send(`SELECT 1 FROM facts WHERE name = 'arrived'`, [])
  expect(count).toBe(1)

  // A file that was closed for another database does not open this one.
  await unopened()
  await connection.send(`UPDATE facts SET value = '1' WHERE name = 'arriving'`, [])
  expect((await move(dataDir, address)).stderr).toContain('was moved already')
  await connection.end()
})

test('no service starts in a directory that waits for the rest of a move', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const address = await newUrl()
  await done(move(dataDir, address))
  const whole = newDirectory()
  await done(move(address, whole, dataDir))
  // As if it was killed when the database had been closed.
  const half = newDirectory()
  const incoming = join(half, 'incoming')
  mkdirSync(incoming)
  cpSync(join(whole, 'cuponera.db'), join(incoming, 'cuponera.db'))
  cpSync(join(whole, 'keys'), join(incoming, 'keys'), { recursive: true })
  writeFileSync(join(incoming, 'from-server'), '')
  writeFileSync(join(half, 'lock'), '')
  expect((await serve(half)).stderr).toContain('was not completed')
  expect(existsSync(join(half, 'cuponera.db'))).toBe(false)
  expect((await move(address, newDirectory(), dataDir)).stderr).toContain('was moved already')
  expect(await done(move(address, half, dataDir))).not.toContain('is copied')
  expect(rowsOf(half)).toEqual(rowsOf(sound.dataDir))
  // The database opens again by the word of its operator alone.
  expect((await command(['move', 'back'], dataDir, address)).stderr).toContain('--force')
  expect(await done(command(['move', 'back', '--force'], dataDir, address))).toContain('open again')
  const connection = await connectTo(address)
  const { count } = await connection.send(`SELECT 1 FROM facts WHERE name LIKE 'moved%'`, [])
  expect(count).toBe(0)
  await connection.end()
})

test('a copy that is not the same is refused, and the file goes on', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const address = await newUrl()
  const connection = await connectTo(address)
  // A database that changes a sealed answer on its way.
  for (const text of [
    `CREATE SCHEMA other`,
    `CREATE FUNCTION other.change() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN NEW.sealed := set_byte(NEW.sealed, 0, 255 - get_byte(NEW.sealed, 0)); RETURN NEW; END $$`,
    `CREATE FUNCTION other.interpose() RETURNS event_trigger LANGUAGE plpgsql AS
       $$ BEGIN IF to_regclass('refreshes') IS NOT NULL THEN
         CREATE OR REPLACE TRIGGER change BEFORE INSERT ON refreshes FOR EACH ROW EXECUTE FUNCTION other.change();
       END IF; END $$`,
    `GRANT USAGE ON SCHEMA other TO cuponera`,
    `CREATE EVENT TRIGGER interpose ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION other.interpose()`,
  ]) {
    await connection.send(text, [])
  }
  const { code, stderr } = await move(dataDir, address)
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('the copy of refreshes is not what was copied'),
  ])
  await connection.send('DROP EVENT TRIGGER interpose', [])
  await done(move(dataDir, address))
  await connection.end()
})

test('the events of the relay come along, with texts that a server orders otherwise', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  rmSync(join(dataDir, 'relay.db'), { force: true })
  const from = openRelay(dataDir)
  from.run(relaySchema.text)
  from.run(
    `INSERT INTO events (id, event_id, pubkey, kind, created_at, event)
       VALUES (5, randomblob(32), randomblob(32), 1, 1, '{}')`,
  )
  for (const value of ['a', '', '\0', 'a\0', 'a\uFFFF', 'a\uFFFE', '\uFFFF1', 'é', '😀']) {
    from.run('INSERT INTO tags (letter, value, created_at, id) VALUES (?, ?, 1, 5)', ['t', value])
  }
  from.run(`INSERT INTO deletions (pubkey, target, upto) VALUES (zeroblob(32), '1:d', 7)`)
  // Longer than a row of an index may be, and hard to compress.
  const long = Array.from({ length: 99 }, (_, at) => Bun.SHA256.hash(`${at}`, 'hex')).join('\\')
  from.run(
    `INSERT INTO events (id, event_id, pubkey, kind, created_at, d, event)
       VALUES (6, randomblob(32), randomblob(32), 30078, 1, ?, '{}')`,
    [long],
  )
  from.run('INSERT INTO deletions (pubkey, target, upto) VALUES (zeroblob(32), ?, 7)', [
    `30078:${long}`,
  ])
  const read = (file: Sqlite) =>
    ['events', 'tags', 'deletions'].map((table) =>
      file.query(`SELECT * FROM ${table} ORDER BY 2`).all(),
    )
  const before = read(from)
  from.close()
  const address = await newUrl()
  await done(move(dataDir, address))
  const connection = await connectTo(address)
  const { count } = await connection.send('UPDATE events SET created_at = 2', [])
  expect(count).toBe(2)
  await connection.end()
  // Back over the file that the way out left behind, which has the event as it was.
  await done(move(address, dataDir))
  const to = openRelay(dataDir)
  expect(to.query('SELECT created_at FROM events').get()).toEqual({ created_at: 2 })
  to.run('UPDATE events SET created_at = 1')
  expect(read(to)).toEqual(before)
  to.close()
})

function openRelay(dataDir: string) {
  return new Sqlite(join(dataDir, 'relay.db'), { create: true, readwrite: true, strict: true })
}

test('a node that nobody saw, since it was cut off, writes nothing beside a move and nothing after it', async () => {
  const { name, other, url } = await rows.create()
  const node = rows.engine(url)
  const insert = (id: number) => node.transact({ roots: 'none' }, (tx) => tx.insert(id))
  await insert(1)
  const mover = await databases.connect(name)
  const path = join(newDirectory(), 'cuponera.db')
  const tell = () => undefined
  await unloadServer(mover, [{ schema: couponSchema, path }], { arrived: '7', tell })
  const beside = codeOf(insert(2))
  await until(
    'its commit waits',
    async () => (await backendsOf(other, `wait_event_type = 'Lock'`)).length === 1,
  )
  await closeServer(mover, '7')
  expect([await beside, await codeOf(insert(3))]).toEqual(['moved', 'moved'])
  expect(await idsIn(other)).toEqual([1])
})

describe('where the server gave up waiting for its standby', () => {
  const unconfirmed = 'the standby did not confirm a commit: run the same command again'

  /** Run a part of a move while no standby confirms a commit, and each wait for one is ended. */
  async function withoutStandby<T>(other: Connection, work: () => Promise<T>): Promise<T> {
    await nameStandby(databases.server, 'nobody')
    try {
      let ended = false
      const running = work().finally(() => {
        ended = true
      })
      running.catch(() => undefined)
      await until('it has ended', async () => {
        for (const pid of await backendsOf(other, `wait_event = 'SyncRep'`)) {
          await other.send('SELECT pg_cancel_backend($1)', [pid])
        }
        return ended
      })
      return await running
    } finally {
      await nameStandby(databases.server, '')
    }
  }

  test('neither side is closed or opened by a commit of a move', async () => {
    const { other, name } = await rows.create()
    const mover = await databases.connect(name)
    const path = join(newDirectory(), 'cuponera.db')
    const told = { arrived: '7', tell: () => undefined }
    await unloadServer(mover, [{ schema: couponSchema, path }], told)
    await expect(withoutStandby(other, () => closeServer(mover, '7'))).rejects.toThrow(unconfirmed)
    await other.send(`INSERT INTO facts (name, value) VALUES ('arriving', '8')`, [])
    await expect(withoutStandby(other, () => openLoaded(mover))).rejects.toThrow(unconfirmed)
  })

  test('a move goes on by no mark that only this server may have', async () => {
    const dataDir = copyDirectory(sound.dataDir)
    const address = await newUrl()
    await done(move(dataDir, address))
    const other = await connectTo(address)
    const back = join(newDirectory(), 'data')
    // A run before has closed the server, and was interrupted.
    await other.send(
      `INSERT INTO facts (name, value) VALUES ('moved', '7'), ('moved-to', 'file')`,
      [],
    )
    const refused = await withoutStandby(other, () => move(address, back, dataDir))
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(unconfirmed)])
    expect(existsSync(join(back, 'cuponera.db'))).toBe(false)
    expect((await move(address, back, dataDir)).stderr).toContain('this service was moved already')
    await other.end()
  })
})

test('a move and a service keep each other away', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const address = await newUrl()
  const connection = await connectTo(address)
  await connection.send(`SELECT pg_advisory_lock(hashtextextended('move', 1))`, [])
  const started = await serve(newDirectory(), { DATABASE_URL: address })
  expect(started.stderr).toContain('"cuponera move" works on the database')
  const { count } = await connection.send(`SELECT 1 FROM pg_class WHERE relname = 'facts'`, [])
  expect(count).toBe(0)
  await connection.end()
  // A service that lost its lease, and has a session left.
  const session = await Connection.open({ connectionString: address }, 10_000, () => undefined)
  await session.send(`SET application_name = 'cuponera'`, [])
  expect((await move(dataDir, address)).stderr).toContain('uses the database')
  await session.end()
})

test('a move that cannot be leaves both sides as they were', async () => {
  const dataDir = copyDirectory(sound.dataDir)
  const address = await newUrl()
  const url = databases.server.url(await databases.create())
  const spoilt = copyDirectory(sound.dataDir)
  const wrong = await newUrl()
  await done(move(spoilt, wrong))
  const changing = await connectTo(wrong)
  await changing.send(
    `UPDATE vouchers SET phase = 'minted', ended_at = NULL WHERE phase = 'claimed'`,
    [],
  )
  await changing.end()
  const damaged = copyDirectory(sound.dataDir)
  await damage(damaged, 'UPDATE totals SET refreshed = 7')
  const older = copyDirectory(sound.dataDir)
  await damage(older, 'PRAGMA user_version = 30')
  const refused: [args: string[], line: string, code?: number][] = [
    [['--from', dataDir], 'move needs --from and --to', 2],
    [['--from', dataDir, '--to', newDirectory()], 'move needs --from and --to', 2],
    [['--from', newDirectory(), '--to', address], 'there is no database in'],
    [['--from', dataDir, '--to', url], 'is not empty'],
    [['--from', dataDir, '--to', databases.server.url('nowhere')], 'cannot use the database'],
    [['--from', damaged, '--to', address], 'does not pass the check: totals: refreshed is 7'],
    [['--from', older, '--to', address], 'start the service once'],
    [['--from', address, '--to', newDirectory()], 'none of Cuponera'],
    [['--from', url, '--to', dataDir], 'has data already'],
    [['--from', wrong, '--to', spoilt], 'does not pass the check: redemptions row 1'],
  ]
  for (const [args, line, code = 1] of refused) {
    const told = await command(['move', ...args], newDirectory())
    expect({ args, code: told.code }).toEqual({ args, code })
    expect(told.stderr).toContain(line)
  }
  // The database goes on, and nothing is left in the directory.
  expect(existsSync(join(spoilt, 'incoming'))).toBe(false)
  const going = await connectTo(wrong)
  const closed = await going.send(`SELECT 1 FROM facts WHERE name = 'moved'`, [])
  expect(closed.count).toBe(0)
  await going.end()
  const connection = await connectTo(address)
  const { count } = await connection.send(`SELECT 1 FROM pg_class WHERE relname = 'facts'`, [])
  expect(count).toBe(0)
  await connection.end()
  await done(move(dataDir, address))
  // The database is bound to keys that are not there.
  const elsewhere = join(newDirectory(), 'data')
  expect((await move(address, elsewhere, newDirectory())).stderr).toContain(
    'the keys of the database',
  )
  expect(existsSync(join(elsewhere, 'incoming'))).toBe(false)
})
