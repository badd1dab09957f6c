import type { Root, Roots } from './roots.ts'

/**
 * The port operations speak to. An engine promises:
 * - `transact` answers only when the operation's writes are on disk; a refusal thrown inside undoes
 *   that operation alone and is passed on; anything else that goes wrong rejects with its cause.
 * - Operations behave as if they ran one after the other, may be run again from the start, and await
 *   nothing but `tx`.
 * - `roots` name the rows that an operation decides on, known before it begins. An engine whose
 *   operations overlap locks them, in the order of roots.ts, before `first` and the operation run.
 * - `rows` is how many rows an operation writes, about: one that writes many lets the others pass.
 * - `first` runs before the operation and outside what a refusal of it undoes (the replay guard).
 * - `snapshot` sees every write answered before it began, and one consistent state throughout. It
 *   awaits nothing but `tx`, and writes nothing.
 * - `lease` gives the right to be the only node that does the work of that name, or null while another
 *   node has it. A node asks for a name that it already holds only after it gave it back. In the
 *   embedded engine there is one node, so a lease is always ours.
 */
export type Database<Tx> = {
  transact<T>(plan: Plan<Tx>, operation: (tx: Tx & AfterCommit & Locking) => Promise<T>): Promise<T>
  snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T>
}

/** What an engine is told of an operation before it runs. */
export type Plan<Tx> = {
  roots: Roots
  first?: First<Tx> | undefined
  rows?: number
}

/** A database as the process has it that opened it, and closes it in the end. */
export type OpenDatabase<Tx> = Database<Tx> &
  Leases & {
    /** Whether the process before this one closed the file in good order. */
    readonly cleanStart: boolean
    /** True while the machine's clock is behind the newest write: nothing may be written then. */
    readonly clockBehind: boolean
    /** A full check ended: its count of problems is what the next start is told. */
    checked(problems: number): void
    /** Finish what waits, and let go. */
    close(): Promise<void>
  }

/** The part of the port that background work needs, see `jobs.ts`. */
export type Leases = {
  lease(name: string): Promise<Lease | null>
}

/** Held until it is given back, or until the engine loses it: its node was silent for too long. */
export type Lease = {
  /** False once it was lost or given back: the work of its name belongs to another node. */
  held(): boolean
  release(): Promise<void>
}

/** A write that stays even when the operation behind it is refused; its own refusal stops both. */
export type First<Tx> = (tx: Tx & AfterCommit) => Promise<void>

export type AfterCommit = {
  /**
   * Do something once this operation is on disk, before it is answered: tell listeners, wake a worker.
   * It is dropped when the operation is refused, fails or is run again. What it throws reaches nobody
   * but the log.
   */
  afterCommit(effect: () => void): void
}

export type Locking = {
  /**
   * Lock roots that only a read of this operation could name. They come behind those that it has, in the
   * order of roots.ts. Another operation may have changed them between that read and this call: what is
   * decided on is read after it, again where it was read before.
   */
  lock(...roots: Root[]): Promise<void>
}
