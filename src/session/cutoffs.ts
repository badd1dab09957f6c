/** Sessions of a key that began then, or before, are over. */
export type Cutoff = {
  /** Hex; `everyKey` for the sessions of all. */
  pubkey: string
  /** Unix seconds. */
  endedAt: number
}

/** The cut-offs in memory, where every request looks them up. */
export type Cutoffs = {
  /** Up to when the sessions of a key are over; before all time when none was ended. */
  endedAt(pubkey: string): number
  set(cutoff: Cutoff): void
}

/** Stands for all keys, and is the key of nobody: the curve has no point there. */
export const everyKey = '0'.repeat(64)

export function createCutoffs(known: readonly Cutoff[]): Cutoffs {
  const byKey = new Map(known.map(({ pubkey, endedAt }) => [pubkey, endedAt]))
  const at = (pubkey: string) => byKey.get(pubkey) ?? Number.NEGATIVE_INFINITY
  return {
    endedAt: (pubkey) => Math.max(at(pubkey), at(everyKey)),
    set({ pubkey, endedAt }) {
      byKey.set(pubkey, endedAt)
    },
  }
}
