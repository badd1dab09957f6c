import { SQLiteError, Database as Sqlite } from 'bun:sqlite'
import { limits } from '../base/limits.ts'
import { checkLedger } from './check-ledger.ts'
import { checkPictures } from './check-pictures.ts'
import {
  type Counts,
  countExpiries,
  countHours,
  countSlice,
  countTills,
  type Hours,
  rowRules,
  tables,
} from './check-rules.ts'
import { openForReading } from './inspect.ts'
import { couponSchema, tooOld, userVersion, versionOf } from './migrations.ts'

export type CheckReport = {
  /** Problems, a sentence each, at most `checkProblemsMax`. */
  problems: string[]
  /** The number of all problems, shown or not. */
  found: number
  rows: Record<(typeof tables)[number], number>
  seconds: number
}

/** Wait between two slices. `tookMs`: the time that the last slice took. */
type Pause = (tookMs: number) => Promise<void>

/** No wait, for a command that has the database to itself. */
export const noPause: Pause = async () => undefined

/**
 * Verify the whole file: pages, indexes, constraints, foreign keys, and then in one snapshot that counters
 * and vouchers agree. It only reads. Throws SQLiteError if the file cannot be read for an outside
 * reason (missing, no permission, I/O).
 */
export async function checkDatabase(path: string, pause: Pause): Promise<CheckReport> {
  const started = performance.now()
  const problems = createProblems()
  const rows = Object.fromEntries(tables.map((table) => [table, 0])) as CheckReport['rows']
  let sql: Sqlite | null = null
  try {
    sql = openForReading(path)
    if (checkSchema(sql, problems.add)) {
      // One snapshot each: a long snapshot keeps the WAL of a busy server from shrinking.
      checkPages(sql, problems.add)
      await pause(0)
      checkReferences(sql, problems.add)
      await pause(0)
      const opened = sql
      const ranges = (table: string, rows: number) => slices(opened, table, rows)
      await checkPictures(sql, { add: problems.add, pause, slices: ranges })
      sql.run('BEGIN')
      await checkInvariants(sql, { add: problems.add, rows, pause })
      sql.run('COMMIT')
    }
  } catch (cause) {
    if (!damaged(cause)) throw cause
    problems.add(`the file is damaged and cannot be read on: ${cause.message}`)
  } finally {
    sql?.close()
  }
  const seconds = Math.round(performance.now() - started) / 1000
  return { problems: problems.list, found: problems.found(), rows, seconds }
}

type Add = (problem: string) => void

function createProblems() {
  const list: string[] = []
  let found = 0
  return {
    list,
    found: () => found,
    add(problem: string) {
      found++
      if (list.length < limits.checkProblemsMax) list.push(problem)
    },
  }
}

function damaged(cause: unknown): cause is SQLiteError {
  return cause instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(cause.code ?? '')
}

/** Check version, tables and indexes. False if a table is missing. Without its index a voucher could be spent twice. */
function checkSchema(sql: Sqlite, add: Add): boolean {
  const version = userVersion(sql)
  const known = versionOf(couponSchema)
  if (version !== known) {
    const upgrade = version < known ? ': start the server once' : ''
    const unknown = `the database has schema ${version}, this program knows ${known}${upgrade}`
    const refused = tooOld(version, couponSchema) ?? unknown
    add(version === 0 ? 'this is not a database of Cuponera' : refused)
    return false
  }
  const names = (from: Sqlite) =>
    from
      .query<{ name: string }, []>(
        "SELECT type || ' ' || name AS name FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'",
      )
      .all()
      .map(({ name }) => name)
  const model = new Sqlite(':memory:')
  model.run(couponSchema.text)
  const expected = names(model)
  model.close()
  const present = new Set(names(sql))
  const missing = expected.filter((name) => !present.has(name))
  for (const name of missing) add(`the ${name} is missing`)
  return missing.every((name) => !name.startsWith('table '))
}

function checkPages(sql: Sqlite, add: Add): void {
  const found = sql
    .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${limits.checkProblemsMax})`)
    .all()
  for (const { integrity_check: line } of found) if (line !== 'ok') add(`integrity: ${line}`)
}

function checkReferences(sql: Sqlite, add: Add): void {
  const broken = sql.query<{ table: string; rowid: number | null; parent: string }, []>(
    'PRAGMA foreign_key_check',
  )
  for (const { table, rowid, parent } of broken.iterate()) {
    add(`${table} row ${rowid ?? '?'}: it points to a row of ${parent} that does not exist`)
  }
}

type Walk = { add: Add; rows: CheckReport['rows']; pause: Pause }

async function checkInvariants(sql: Sqlite, { add, rows, pause }: Walk): Promise<void> {
  const counted = new Map<number, Counts>()
  const hours = new Map<number, Hours>()
  const tills = new Map<string, Map<number, number>>()
  const count = countSlice(sql)
  const countByTill = countTills(sql)
  const expiring = new Map<string, number>()
  const countByExpiry = countExpiries(sql)
  const countByHour = countHours(sql)
  for (const table of tables) {
    const rules = rowRules[table].map(({ where, says }) => ({
      find: sql.query<{ id: number }, [number, number]>(
        `SELECT t.id ${where} AND t.id > ?1 AND t.id <= ?2 ORDER BY t.id`,
      ),
      says,
    }))
    for (const { after, upto, size } of slices(sql, table)) {
      const started = performance.now()
      rows[table] += size
      for (const { find, says } of rules) {
        for (const { id } of find.all(after, upto)) add(`${table} row ${id}: ${says}`)
      }
      if (table === 'vouchers') {
        count(counted, after, upto)
        countByHour(hours, after, upto)
        countByExpiry(expiring, after, upto)
      }
      if (table === 'redemptions') countByTill(tills, after, upto)
      await pause(performance.now() - started)
    }
  }
  checkTills(sql, tills, add)
  checkExpiries(sql, expiring, add)
  checkKills(sql, add)
  checkLoad(sql, add)
  await checkHours(sql, hours, { add, rows, pause })
  await checkLedger(sql, { add, pause, slices: (table) => slices(sql, table) })
  await checkCounters(sql, counted, { add, rows, pause })
}

/** Ranges of ids with so many rows each. Ids may have gaps. */
function* slices(sql: Sqlite, table: string, rows: number = limits.checkSliceRows) {
  const next = sql.query<{ upto: number | null; size: number }, [number, number]>(
    `SELECT max(id) AS upto, count(*) AS size
     FROM (SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ?)`,
  )
  let after = Number.MIN_SAFE_INTEGER
  for (;;) {
    const { upto, size } = next.get(after, rows) ?? { upto: null, size: 0 }
    // Above 2^53 the next id would equal this one, and the loop would never end.
    if (upto === null || upto <= after) return
    yield { after, upto, size }
    after = upto
  }
}

/** Check the counters of open vouchers that expire against the vouchers. */
function checkExpiries(sql: Sqlite, counted: Map<string, number>, add: Add): void {
  const says = sql.query<{ name: string; open: number }, []>(
    "SELECT definition_id || ' ' || expires_at AS name, open FROM expiries",
  )
  const differs = (name: string, open: number, real: number) => {
    const [id, expiresAt] = name.split(' ')
    if (open === real) return
    add(
      `definitions row ${id}: ${open} open vouchers expire at ${expiresAt}, but the vouchers are ${real}`,
    )
  }
  for (const { name, open } of says.iterate()) {
    differs(name, open, counted.get(name) ?? 0)
    counted.delete(name)
  }
  for (const [name, real] of counted) differs(name, 0, real)
}

/** Check the hourly counters of the tills against the redemptions. */
function checkTills(sql: Sqlite, counted: Map<string, Map<number, number>>, add: Add): void {
  const says = sql.query<{ till: string; hour: number; claimed: number }, []>(
    `SELECT lower(hex(t.owner)) || ' ' || lower(hex(t.pubkey)) AS till, h.hour, h.claimed
     FROM till_hours h JOIN tills t ON t.id = h.till_id`,
  )
  const differs = (till: string, hour: number, claimed: number, real: number) => {
    if (claimed === real) return
    add(`till ${till}: hour ${hour} says ${claimed} redeemed, but the redemptions are ${real}`)
  }
  for (const { till, hour, claimed } of says.iterate()) {
    const hours = counted.get(till)
    differs(till, hour, claimed, hours?.get(hour) ?? 0)
    hours?.delete(hour)
  }
  for (const [till, hours] of counted) {
    for (const [hour, real] of hours) differs(till, hour, 0, real)
  }
}

/** Check that no cut-off of the kill switch is above the newest voucher. */
function checkKills(sql: Sqlite, add: Add): void {
  const beyond = sql.query<{ definition_id: number }, []>(
    `SELECT definition_id FROM kills
     WHERE upto_voucher_id > (SELECT ifnull(max(id), 0) FROM vouchers)`,
  )
  for (const { definition_id: id } of beyond.iterate()) {
    add(`definitions row ${id}: its kill switch reaches beyond the newest voucher`)
  }
}

/** Check the rows that hold a count against the rows that they count. */
function checkLoad(sql: Sqlite, add: Add): void {
  type Count = Record<string, number>
  const kept = [
    {
      name: 'outbox load',
      says: 'SELECT events, bytes FROM outbox_load WHERE id = 1',
      counted:
        'SELECT count(*) AS events, ifnull(sum(bytes), 0) AS bytes FROM outbox WHERE done_at IS NULL',
    },
    {
      name: 'request load',
      says: 'SELECT rows FROM request_load WHERE id = 1',
      counted: 'SELECT count(*) AS rows FROM requests',
    },
  ]
  for (const { name, says, counted } of kept) {
    const row = sql.query<Count, []>(says).get()
    const real = sql.query<Count, []>(counted).get() ?? {}
    if (!row) add(`the row of the ${name} is missing`)
    for (const [column, count] of Object.entries(row ?? {})) {
      if (count === real[column]) continue
      add(`${name}: ${column} is ${count}, but there are ${real[column]}`)
    }
  }
}

/** Check the hourly counters of the charts against the vouchers. */
async function checkHours(
  sql: Sqlite,
  counted: Map<number, Hours>,
  { add, pause }: Walk,
): Promise<void> {
  const list = sql.query<{ id: number; uuid: string }, [number, number]>(
    'SELECT id, uuid FROM definitions WHERE id > ? AND id <= ?',
  )
  const says = sql.query<{ hour: number; minted: number; claimed: number }, [number]>(
    'SELECT hour, minted, claimed FROM hourly WHERE definition_id = ?',
  )
  for (const { after, upto } of slices(sql, 'definitions')) {
    const started = performance.now()
    for (const { id, uuid } of list.all(after, upto)) {
      const is = counted.get(id) ?? new Map()
      const differs = (hour: number, minted: number, claimed: number) => {
        const { minted: first = 0, claimed: redeemed = 0 } = is.get(hour) ?? {}
        is.delete(hour)
        if (minted === first && claimed === redeemed) return
        add(
          `coupon ${uuid}: hour ${hour} says ${minted} minted and ${claimed} redeemed, but the vouchers say ${first} and ${redeemed}`,
        )
      }
      for (const { hour, minted, claimed } of says.all(id)) differs(hour, minted, claimed)
      for (const hour of [...is.keys()]) differs(hour, 0, 0)
    }
    await pause(performance.now() - started)
  }
}

type Counters = { issued: number; claimed: number; voided: number }

/** Check that each definition has issued = open + claimed + voided, following refreshes, and that the totals are the sums. */
async function checkCounters(
  sql: Sqlite,
  counted: Map<number, Counts>,
  { add, pause }: Walk,
): Promise<void> {
  const sums = { issued: 0, claimed: 0, voided: 0, refreshed: 0 }
  const list = sql.query<Counters & { id: number; uuid: string }, [number, number]>(
    'SELECT id, uuid, issued, claimed, voided FROM definitions WHERE id > ? AND id <= ?',
  )
  const none: Counts = { roots: 0, ends: 0, claimed: 0, voided: 0, refreshed: 0 }
  for (const { after, upto } of slices(sql, 'definitions')) {
    const started = performance.now()
    for (const { id, uuid, issued, claimed, voided } of list.all(after, upto)) {
      const is = counted.get(id) ?? none
      const differs = (counter: string, says: number, words: string, count: number) => {
        if (says !== count) {
          add(`coupon ${uuid}: ${counter} is ${says}, but ${words} ${count}`)
        }
      }
      differs('issued', issued, 'the vouchers first minted are', is.roots)
      differs('issued', issued, 'the vouchers at the end of a chain are', is.ends)
      differs('claimed', claimed, 'the vouchers redeemed are', is.claimed)
      differs('voided', voided, 'the vouchers voided are', is.voided)
      sums.issued += issued
      sums.claimed += claimed
      sums.voided += voided
      sums.refreshed += is.refreshed
    }
    await pause(performance.now() - started)
  }
  const totals = sql
    .query<typeof sums, []>('SELECT issued, claimed, voided, refreshed FROM totals WHERE id = 1')
    .get()
  if (!totals) return add('the row of totals is missing')
  for (const name of ['issued', 'claimed', 'voided', 'refreshed'] as const) {
    if (totals[name] !== sums[name]) {
      add(`totals: ${name} is ${totals[name]}, but the sum is ${sums[name]}`)
    }
  }
}
