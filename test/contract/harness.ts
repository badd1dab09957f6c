/** The frame of the store contracts: an engine to plug in, and a fresh database of it for each test. */
import { expect, test } from 'bun:test'
import { createStores } from '../../src/app/stores.ts'
import { Refusal } from '../../src/base/refusal.ts'
import type { AfterCommit, OpenDatabase } from '../../src/db/database.ts'
import { couponSchema, relaySchema, type Schema } from '../../src/db/migrations.ts'
import type { Roots } from '../../src/db/roots.ts'
import type { ChangeThenInsert, Sql, SqlQuery, SqlValue } from '../../src/db/sql.ts'
import { createEventStore } from '../../src/relay/store.ts'

/** The two databases of the program: of the coupons and everything around them, and of the relay. */
export type Kind = 'coupons' | 'relay'

/** An engine that the contracts are run on. */
export type Engine = {
  name: string
  /** True where each read comes after closing and opening again: nothing is known but what was kept. */
  reopens: boolean
  /** The address of a database that is empty, with the schema of its kind. */
  create(kind: Kind): Promise<string>
  open<Tx>(kind: Kind, address: string, stores: (sql: Sql) => Tx): OpenDatabase<Tx>
  /** Tables and columns of a schema that this engine replaces by tables of its own. */
  tables?: { replaced: readonly string[]; own: readonly string[] }
  /** True of the error of a row that the schema refuses: a check, a key that is taken, a missing reference. */
  refusedRow(cause: unknown): boolean
}

export type CouponTx = ReturnType<typeof createStores> & { sql: Sql }
export type RelayTx = { events: ReturnType<typeof createEventStore>; sql: Sql }

/** Stores of one database, through the port. */
export type Stores<Tx> = {
  /** `roots`: where a guarded statement alone does not decide between operations that overlap. */
  write<T>(operation: (tx: Tx & AfterCommit) => Promise<T>, roots?: Roots): Promise<T>
  read<T>(query: (tx: Tx) => Promise<T>): Promise<T>
  /** The schema refuses a row of this operation, and nothing of the operation stays. */
  refuses(operation: (tx: Tx) => Promise<unknown>): Promise<void>
  /** The operation is run to its end and then refused: nothing of it stays. */
  undone(operation: (tx: Tx) => Promise<unknown>): Promise<void>
}

/** Declares a test of a contract; its claim begins with the subject. */
export type It<Tx> = (claim: string, run: (stores: Stores<Tx>) => Promise<void>) => void
export type Suite<Tx> = (it: It<Tx>) => void

/** Texts that the stores prepared on an engine, and those of them that ran. */
export type Statements = { prepared: Set<string>; ran: Set<string> }

export function itOnCoupons(engine: Engine, seen: Statements): It<CouponTx> {
  return itOn(engine, 'coupons', (sql) => ({ ...createStores(watched(sql, seen)), sql }))
}

export function itOnRelay(engine: Engine, seen: Statements): It<RelayTx> {
  return itOn(engine, 'relay', (sql) => ({ events: createEventStore(watched(sql, seen)), sql }))
}

function itOn<Tx extends { sql: Sql }>(
  engine: Engine,
  kind: Kind,
  stores: (sql: Sql) => Tx,
): It<Tx> {
  return (claim, run) =>
    test(claim, async () => {
      const opened = await openStores(engine, kind, stores)
      try {
        await run(opened.stores)
      } finally {
        await opened.close()
      }
    })
}

async function openStores<Tx extends { sql: Sql }>(
  engine: Engine,
  kind: Kind,
  stores: (sql: Sql) => Tx,
) {
  const address = await engine.create(kind)
  let database = engine.open(kind, address, stores)
  let reopening: Promise<void> | null = null
  let written = false

  const reading = new Set<Promise<unknown>>()
  const reopen = async () => {
    written = false
    await Promise.allSettled(reading)
    await database.close()
    database = engine.open(kind, address, stores)
  }
  const write: Stores<Tx>['write'] = async (operation, roots = 'none') => {
    await reopening
    written = true
    return database.transact({ roots }, operation)
  }
  const read: Stores<Tx>['read'] = async (query) => {
    if (engine.reopens && written) reopening = reopen()
    await reopening
    const result = database.snapshot(query)
    reading.add(result)
    return result.finally(() => reading.delete(result))
  }
  const tables = tablesOf(engine, kind)
  const unchanged = async (operation: (tx: Tx) => Promise<unknown>): Promise<unknown> => {
    const before = await read(({ sql }) => contentOf(sql, tables))
    const cause = await write(operation).then(
      () => null,
      (reason: unknown) => reason,
    )
    expect(await read(({ sql }) => contentOf(sql, tables))).toEqual(before)
    return cause
  }
  const opened: Stores<Tx> = {
    write,
    read,
    async refuses(operation) {
      const cause = await unchanged(operation)
      expect({ cause, refusedRow: engine.refusedRow(cause) }).toEqual({ cause, refusedRow: true })
    },
    async undone(operation) {
      const refusal = new Refusal('coupon-exhausted')
      const cause = await unchanged(async (tx) => {
        const before = await contentOf(tx.sql, tables)
        await operation(tx)
        // An operation that wrote nothing would prove nothing.
        expect(await contentOf(tx.sql, tables)).not.toEqual(before)
        throw refusal
      })
      expect(cause).toBe(refusal)
    },
  }
  return { stores: opened, close: () => database.close() }
}

export const schemas: Record<Kind, Schema> = { coupons: couponSchema, relay: relaySchema }

/** The tables of an engine, but for what it writes down about itself. */
function tablesOf({ tables }: Engine, kind: Kind): string[] {
  const named = [...schemas[kind].text.matchAll(/^CREATE TABLE (\w+)/gm)].map(
    ([, table = '']) => table,
  )
  const left = ['state', ...(tables?.replaced ?? [])]
  return [...named.filter((table) => !left.includes(table)), ...(tables?.own ?? [])]
}

async function contentOf(sql: Sql, tables: readonly string[]): Promise<Record<string, string[]>> {
  const content: Record<string, string[]> = {}
  for (const table of tables) {
    const rows = await sql.query<object, []>(`SELECT * FROM ${table}`).all()
    if (rows.length > 0) content[table] = rows.map(textOf).sort((a, b) => (a < b ? -1 : 1))
  }
  return content
}

function textOf(row: object): string {
  return JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? value.toHex() : value))
}

/** The statement port, with a list of what runs on it. */
function watched(sql: Sql, { prepared, ran }: Statements): Sql {
  const know = (text: string) => {
    const known = text.replace(/\s+/g, ' ').trim()
    prepared.add(known)
    return known
  }
  const watch = <Row, Params extends SqlValue[]>(text: string, query: SqlQuery<Row, Params>) => {
    const known = know(text)
    return {
      get: (...params: Params) => ran.add(known) && query.get(...params),
      all: (...params: Params) => ran.add(known) && query.all(...params),
      changes: (...params: Params) => ran.add(known) && query.changes(...params),
      expectOne: (...params: Params) => ran.add(known) && query.expectOne(...params),
      run: (...params: Params) => void (ran.add(known) && query.run(...params)),
    }
  }
  return {
    integersIn: (parameter) => sql.integersIn(parameter),
    longTexts: sql.longTexts,
    counters: sql.counters,
    query: <Row, Params extends SqlValue[]>(text: string) =>
      watch(text, sql.query<Row, Params>(text)),
    kept: <Row, Params extends SqlValue[]>(text: string, tables: readonly string[]) =>
      watch(text, sql.kept<Row, Params>(text, tables)),
    changeThenInsert<Params extends SqlValue[]>(pair: ChangeThenInsert) {
      const known = know(pair.update)
      const both = sql.changeThenInsert<Params>(pair)
      return { expectOne: (...params: Params) => ran.add(known) && both.expectOne(...params) }
    },
  }
}
