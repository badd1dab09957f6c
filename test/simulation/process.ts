import type { Stores } from '../../src/app/stores.ts'
import { createStores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import type { AfterCommit, Locking, OpenDatabase, Plan } from '../../src/db/database.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { ConnectionClosed, type Disk, type DiskWatch, type WatchedConnection } from './disk.ts'
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

type ProcessParts = {
  disk: Disk
  loop: Loop
  now: () => number
  /** Called at each commit. `told`: the process gets to know it; `behind`: its clock is too far behind for it. */
  committed: (commit: { told: boolean; behind: boolean }) => void
  fail: (cause: unknown) => void
}

/** A run of a service. It ends with a crash, at any statement, commit, message or timer. */
export class Process implements DiskWatch {
  alive = true
  /** Disk faults that have struck. */
  struck = 0
  /** The database is being closed: it takes no more operations. */
  closing = false
  /** The errors of these faults, each with its number. */
  readonly #strikes = new WeakMap<object, number>()
  /** The time of the newest write that it knows: the one on the disk at its start, or of a later commit. */
  newestWrite: number
  readonly #parts: ProcessParts
  readonly #connections: WatchedConnection[] = []
  readonly #ends: (() => void)[] = []
  #crashIn: number | null = null
  #fault: Fault | null = null
  /** Ends of operations in the transaction that runs. */
  #journal: { watched: Watched; outcome: Outcome }[] = []
  readonly #engine: OpenDatabase<Stores>

  constructor(parts: ProcessParts, crashIn: number | null) {
    this.#parts = parts
    this.#crashIn = crashIn
    this.newestWrite = Number(parts.disk.look('SELECT newest_write FROM state')[0]?.[0])
    try {
      this.#engine = new SqliteEngine({
        path: 'a disk in memory',
        schema: couponSchema,
        now: parts.now,
        stores: createStores,
        connect: () => parts.disk.connect(this).asEngine,
        // Its disk takes no time, however long this machine needs for it.
        time: { steadyMs: () => 0, processorWaitMs: () => 0, after: () => undefined },
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
    if (!this.fires()) throw new Crash()
  }

  /** A timer fires. False if the process has ended, or ends here. */
  fires(): boolean {
    if (!this.alive) return false
    this.#parts.loop.activity++
    if (this.#crashIn === null || this.#crashIn-- > 0) return true
    this.crash()
    return false
  }

  fate(kind: Fault['kind']): 'done' | 'failed' | 'done, but failed' {
    const fault = this.#fault
    if (fault?.kind !== kind || fault.after-- > 0) return 'done'
    this.#fault = null
    this.struck++
    return fault.kept ? 'done, but failed' : 'failed'
  }

  struckBy(error: Error): void {
    this.#strikes.set(error, this.struck)
  }

  /** True while its clock is so far behind the newest write that it must refuse to write. */
  get clockBehind(): boolean {
    return this.#parts.now() < this.newestWrite - limits.clockBackSeconds
  }

  /**
   * True for a failure that a fault of this world causes: the error of a disk fault later than `since` faults, a refusal
   * while the clock is behind, and the end of the database.
   */
  explains(cause: unknown, since = 0): boolean {
    if (cause instanceof Refusal) {
      if (cause.code === 'clock-behind') return this.clockBehind
      return cause.code === 'shutting-down' && this.closing
    }
    if (cause instanceof ConnectionClosed) return this.closing
    return cause instanceof Error && (this.#strikes.get(cause) ?? 0) > since
  }

  began(): void {
    this.#journal = []
  }

  committed(told: boolean): void {
    try {
      this.#parts.committed({ told, behind: this.clockBehind })
      if (told) this.newestWrite = Math.max(this.newestWrite, this.#parts.now())
      for (const { watched, outcome } of this.#journal.splice(0)) watched.committed(outcome)
    } catch (cause) {
      this.#parts.fail(cause)
    }
  }

  opened(connection: WatchedConnection): void {
    this.#connections.push(connection)
  }

  /** The database of the process. What it commits is told to `watched`. */
  watch(watched: Watched = { committed: () => undefined }): OpenDatabase<Stores> {
    const engine = this.#engine
    const transact = ({ first, ...plan }: Plan<Stores>, operation: Operation) => {
      const firstNoted: typeof first =
        first && ((tx) => this.#noting(watched, () => first(tx), false))
      return engine.transact({ ...plan, first: firstNoted }, (tx) =>
        this.#noting(watched, () => operation(tx), true),
      )
    }
    return new Proxy(engine, {
      get(target, name) {
        if (name === 'transact') return transact
        const part: unknown = Reflect.get(target, name, target)
        return typeof part === 'function' ? part.bind(target) : part
      },
    })
  }

  async #noting<T>(watched: Watched, work: () => Promise<T>, last: boolean): Promise<T> {
    const before = this.#journal.length
    try {
      const value = await work()
      if (last) this.#journal.push({ watched, outcome: { value } })
      return value
    } catch (refused) {
      // The notes of a refused operation are undone.
      this.#journal.splice(before, Number.POSITIVE_INFINITY, { watched, outcome: { refused } })
      throw refused
    }
  }

  /** Call in the order of the commits, if the transaction that runs is committed. */
  note(committed: () => void): void {
    this.#journal.push({ watched: { committed }, outcome: { value: null } })
  }
}

type Operation = (tx: Stores & AfterCommit & Locking) => Promise<unknown>
