import { type CounterTable, counterTables, type Summable, type Sums } from './counters.ts'
import type { SqlValue } from './sql.ts'

/** Changes of one row that wait: the keys of the row, the sum of each number, and whether one of them begins the row. */
type Waiting = { keys: SqlValue[]; numbers: number[]; begins: boolean }

/** Runs a statement on the writing connection. */
type Run = (text: string, params: SqlValue[]) => void

/**
 * Work that the operations of one commit share. Their changes of a counter become one write, before the next statement
 * that reads the counter, and at the latest before the commit. Rows that are kept are read once, until a statement
 * writes to their tables.
 */
export class Batch {
  /** Grows with each statement that changed a row, and with each change that waits. */
  writes = 0
  /**
   * Changes that wait, by their statements and the keys of their row. All of a row are one sum: written one statement after
   * the other, a row could lack for a moment what a later one adds to it.
   */
  readonly #waiting = new Map<Sums, Map<string, Waiting>>()
  readonly #kept = new Map<object, Map<string, unknown>>()
  readonly #keptTables = new Set<string>()
  /** Steps of operations that have run (`BeforeCommit`), and the number of all steps of this commit. */
  #late: (() => void)[] = []
  #steps = 0
  /** A step has failed. Those behind it are lost, so that the transaction has to be undone, whoever has heard of it. */
  broken: { cause: unknown } | null = null
  /** True while steps are called. */
  isLate = false
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** Forget everything, because a commit begins or is undone. */
  clear(): void {
    this.#waiting.clear()
    this.#kept.clear()
    this.#late = []
    this.#steps = 0
    this.broken = null
    this.writes = 0
  }

  /** Grows with each write, and with each step that an operation leaves. */
  get traces(): number {
    return this.writes + this.#steps
  }

  /** Let a step wait for the end of the commit, or for a statement that has to see its writes. */
  putLate(step: () => void): void {
    this.#steps++
    this.#late.push(step)
  }

  /** Call the steps that wait, in their order. Their writes are not those of the operation that runs now. */
  runLate(): void {
    if (this.#late.length === 0) return
    const { writes } = this
    const steps = this.#late
    this.#late = []
    this.isLate = true
    try {
      for (const step of steps) step()
    } catch (cause) {
      this.broken = { cause }
      throw cause
    } finally {
      this.isLate = false
    }
    this.writes = writes
  }

  /** Let a change of a counter wait. `params` are those of the statement that makes it. */
  putOff(count: Summable, params: readonly SqlValue[]): void {
    this.writes++
    let rows = this.#waiting.get(count.sums)
    if (!rows) {
      rows = new Map()
      this.#waiting.set(count.sums, rows)
    }
    const keys = count.keysAt.map((at) => params[at] ?? null)
    const name = nameOf(keys)
    let row = rows.get(name)
    if (!row) {
      const { numbers } = counterTables[count.sums.table]
      row = { keys, numbers: numbers.map(() => 0), begins: false }
      rows.set(name, row)
    }
    row.begins ||= count.begins
    for (const { index, by, at } of count.by) {
      row.numbers[index] = (row.numbers[index] ?? 0) + (by ?? Number(params[at]))
    }
  }

  /** Write the changes that wait, or those of some tables. */
  write(tables?: readonly CounterTable[]): void {
    for (const [sums, rows] of this.#waiting) {
      if (tables && !tables.includes(sums.table)) continue
      this.#waiting.delete(sums)
      for (const row of rows.values()) this.#add(sums, row)
    }
  }

  #add({ insertOrAdd, update }: Sums, { keys, numbers, begins }: Waiting): void {
    // A row that shrinks is there, and SQLite would check the new row that an INSERT offers.
    const begun = begins && numbers.every((number) => number >= 0)
    try {
      this.#run(begun ? insertOrAdd : update, [...keys, ...numbers])
    } catch (cause) {
      // The operation that reads the counter is not the one that broke it: its refusal has to undo all of them.
      this.writes++
      throw cause
    }
  }

  /** The row that a query read before in this commit, else what `read` finds now. */
  keep<Row>(query: object, params: SqlValue[], read: () => Row | null): Row | null {
    let rows = this.#kept.get(query)
    if (!rows) {
      rows = new Map()
      this.#kept.set(query, rows)
    }
    const name = nameOf(params)
    const known = rows.get(name)
    if (known !== undefined) return known as Row
    const row = read()
    if (row !== null) rows.set(name, row)
    return row
  }

  /** Declare the tables of rows that are kept. */
  keeps(tables: readonly string[]): void {
    for (const table of tables) this.#keptTables.add(table)
  }

  /** A statement changed rows of these tables. */
  wrote(tables: readonly string[]): void {
    this.writes++
    if (tables.some((table) => this.#keptTables.has(table))) this.#kept.clear()
  }
}

function nameOf(values: readonly SqlValue[]): string {
  let name = ''
  for (const value of values) name += `${value instanceof Uint8Array ? value.toHex() : value}\n`
  return name
}
