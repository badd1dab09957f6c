/**
 * The port operations speak to. An engine promises:
 * - `transact` answers only when the operation's writes are on disk; a refusal thrown inside undoes
 *   that operation alone and is passed on; anything else that goes wrong rejects with its cause.
 * - Operations run one after the other, may be run again from the start, and await nothing but `tx`.
 * - `rows` is how many rows an operation writes, about: one that writes many lets the others pass.
 * - `first` runs before the operation and outside what a refusal of it undoes (the replay guard).
 * - `snapshot` sees every write answered before it began, and one consistent state throughout. It
 *   awaits nothing but `tx`, and writes nothing.
 * - `lease` gives the right to be the only node that does the work of that name, or null while another
 *   node has it. A node asks for a name that it already holds only after it gave it back. In the
 *   embedded engine there is one node, so a lease is always ours.
 */
export type Database<Tx> = {
  transact<T>(
    operation: (tx: Tx & AfterCommit) => Promise<T>,
    first?: First<Tx>,
    rows?: number,
  ): Promise<T>
  snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T>
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
