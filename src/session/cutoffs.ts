/** The end of all sessions of a key that began at that time or before. */
export type Cutoff = {
  /** Hex. `everyKey` for the sessions of all keys. */
  pubkey: string
  /** Unix seconds. */
  endedAt: number
}

/** The cut-offs in memory, where every request looks them up. */
export type Cutoffs = {
  /** The cut-off of a key, in Unix seconds. Minus infinity if there is none. */
  endedAt(pubkey: string): number
  set(cutoff: Cutoff): void
}

/** Stands for all keys. Nobody has it, because the curve has no point there. */
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
