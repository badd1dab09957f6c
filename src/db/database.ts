import type { Root, Roots } from './roots.ts'

/**
 * The port of operations to the database. An engine promises:
 * - `transact` resolves only when the writes of the operation are on disk. A refusal thrown inside undoes this
 *   operation alone and is passed on. Any other failure rejects with its cause.
 * - Operations behave as if they ran one after the other. An engine may run one again from the start, so an
 *   operation awaits nothing but `tx`.
 * - `roots` are the rows that an operation decides on, known before it begins. An engine whose
 *   operations overlap locks them, in the order of roots.ts, before `first` and the operation run.
 * - `rows` is the approximate number of rows that the operation writes. A large one lets the others pass.
 * - `first` runs before the operation. Its writes stay when the operation is refused, and when it refuses itself (the
 *   replay guard).
 * - `snapshot` sees one consistent state, with every write that was answered before it began. It
 *   awaits nothing but `tx` and writes nothing.
 * - `lease` gives a node the right to be the only one that does the work of a name. It is null while another
 *   node has the name. A node gives a name back before it asks for it again. The embedded engine has one node, so
 *   that a lease is always ours.
 */
export type Database<Tx> = {
  transact<T>(plan: Plan<Tx>, operation: (tx: Tx & AfterCommit & Locking) => Promise<T>): Promise<T>
  snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T>
}

/** The part of an operation that an engine needs before it runs it. */
export type Plan<Tx> = {
  roots: Roots
  first?: First<Tx> | undefined
  rows?: number
}

/** The database for the process that opens and closes it. */
export type OpenDatabase<Tx> = Database<Tx> &
  Leases & {
    /** True if the last process closed the file properly. */
    readonly cleanStart: boolean
    /** True while the clock is behind the newest write. Writes are refused then. */
    readonly clockBehind: boolean
    /** Work for the engine itself that one node does, from time to time. */
    readonly upkeep: readonly Upkeep[]
    /** Record the result of a full check for the next start. */
    checked(problems: number): void
    /** Finish the waiting operations and close. */
    close(): Promise<void>
  }

/** One kind of such work. A step resolves to true when more is left. */
export type Upkeep = { lease: string; step(): Promise<boolean> }

/** The part of the port that `jobs.ts` needs. */
export type Leases = {
  lease(name: string): Promise<Lease | null>
}

/** A lease ends when it is given back, or when its node was silent for too long. */
export type Lease = {
  /** False once it was lost or given back. The work belongs to another node then. */
  held(): boolean
  release(): Promise<void>
}

/** A write that stays when the operation behind it is refused. A refusal of its own stops both. */
export type First<Tx> = (tx: Tx & AfterCommit) => Promise<void>

export type AfterCommit = {
  /**
   * Call `effect` once when the operation is on disk, before it is answered: to tell listeners or wake a worker.
   * Effects are dropped if the operation is refused, fails or runs again. An error of an effect is
   * only logged.
   */
  afterCommit(effect: () => void): void
}

export type Locking = {
  /**
   * Lock roots that only a read of this operation could name. They stand behind the locked ones in the
   * order of roots.ts. Another operation may change such a row between that read and this call, so the
   * operation reads the row again before it decides.
   */
  lock(...roots: Root[]): Promise<void>
}
