/**
 * The port operations speak to. An engine promises:
 * - `transact` answers only when the operation's writes are on disk; a refusal thrown inside undoes
 *   that operation alone and is passed on; anything else that goes wrong rejects with its cause.
 * - Operations run one after the other, may be run again from the start, and await nothing but `tx`.
 * - `rows` is how many rows an operation writes, about: one that writes many lets the others pass.
 * - `first` runs before the operation and outside what a refusal of it undoes (the replay guard).
 * - `read` sees every write answered before it began, statement by statement; `snapshot` sees one
 *   consistent state throughout. Both await nothing but `tx`, and write nothing.
 */
export type Database<Tx> = {
  transact<T>(operation: (tx: Tx) => Promise<T>, first?: First<Tx>, rows?: number): Promise<T>
  read<T>(query: (tx: Tx) => Promise<T>): Promise<T>
  snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T>
}

/** A write that stays even when the operation behind it is refused; its own refusal stops both. */
export type First<Tx> = (tx: Tx) => Promise<void>
