import type { Stores } from '../../src/app/stores.ts'
import { createStores } from '../../src/app/stores.ts'
import type { Database, OpenDatabase } from '../../src/db/database.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import type { Disk, DiskWatch, WatchedConnection } from './disk.ts'
import type { Loop } from './loop.ts'

/** The process ended here: everything that is not on the disk is lost. */
export class Crash extends Error {}

/** The end of a part of an operation: its value, or the reason why it was undone. */
export type Outcome = { value: unknown } | { refused: unknown }

/** A transaction of an operation. It counts from its commit on. */
export type Watched = {
  /** Called in the order of the commits. Throws when the outcome is not the one that must be. */
  committed(outcome: Outcome): void
}

/** A disk fault that waits for the n-th writing statement or commit from now. */
export type Fault = { kind: 'statement' | 'commit'; after: number; kept: boolean }

type ProcessParts = { disk: Disk; loop: Loop; now: () => number; fail: (cause: unknown) => void }

/** A run of a service. It ends with a crash, at any statement, commit, message or timer. */
export class Process implements DiskWatch {
  alive = true
  /** Disk faults that have struck. */
  struck = 0
  readonly #parts: ProcessParts
  readonly #connections: WatchedConnection[] = []
  readonly #ends: (() => void)[] = []
  #crashIn: number | null = null
  #fault: Fault | null = null
  /** Ends of operations in the transaction that runs. */
  #journal: { watched: Watched; outcome: Outcome }[] = []
  readonly database: OpenDatabase<Stores>

  constructor(parts: ProcessParts, crashIn: number | null) {
    this.#parts = parts
    this.#crashIn = crashIn
    try {
      this.database = new SqliteEngine({
        path: 'a disk in memory',
        schema: couponSchema,
        now: parts.now,
        stores: createStores,
        connect: () => parts.disk.connect(this).asEngine,
      })
    } catch (cause) {
      this.crash()
      throw cause
    }
  }

  /** Crash at the n-th call of a port from now. */
  crashAfter(calls: number): void {
    this.#crashIn = calls
  }

  strikeAfter(fault: Fault): void {
    this.#fault = fault
  }

  /** No crash and no fault from now on. */
  calm(): void {
    this.#crashIn = this.#fault = null
  }

  /** Call when the process ends. */
  onEnd(call: () => void): void {
    this.#ends.push(call)
  }

  crash(): void {
    if (!this.alive) return
    this.alive = false
    for (const connection of this.#connections) connection.close()
    for (const call of this.#ends) call()
  }

  /** A port of the process is called: it may crash here. */
  touch(): void {
    this.#parts.loop.activity++
    if (!this.alive) throw new Crash()
    if (this.#crashIn === null || this.#crashIn-- > 0) return
    this.crash()
    throw new Crash()
  }

  fate(kind: Fault['kind']): 'done' | 'failed' | 'done, but failed' {
    const fault = this.#fault
    if (fault?.kind !== kind || fault.after-- > 0) return 'done'
    this.#fault = null
    this.struck++
    return fault.kept ? 'done, but failed' : 'failed'
  }

  began(): void {
    this.#journal = []
  }

  committed(): void {
    try {
      for (const { watched, outcome } of this.#journal.splice(0)) watched.committed(outcome)
    } catch (cause) {
      this.#parts.fail(cause)
    }
  }

  opened(connection: WatchedConnection): void {
    this.#connections.push(connection)
  }

  /** The database for one operation, whose transactions are told to `watched` once they are on disk. */
  watch(watched: Watched): Database<Stores> {
    const { database } = this
    const noting = async <T>(work: () => Promise<T>, last: boolean): Promise<T> => {
      try {
        const value = await work()
        if (last) this.#journal.push({ watched, outcome: { value } })
        return value
      } catch (refused) {
        this.#journal.push({ watched, outcome: { refused } })
        throw refused
      }
    }
    return {
      snapshot: (query) => database.snapshot(query),
      transact: ({ first, ...plan }, operation) =>
        database.transact(
          { ...plan, first: first && ((tx) => noting(() => first(tx), false)) },
          (tx) => noting(() => operation(tx), true),
        ),
    }
  }
}
