import type { Topic } from '../db/news.ts'

/** The end of all sessions of a key that began at that time or before. */
export type Cutoff = {
  /** Hex. `everyKey` for the sessions of all keys. */
  pubkey: string
  /** Unix seconds. It lies ahead of the moment of its end by as much as clocks may be apart. */
  endedAt: number
}

/** A cut-off is on disk. From then on the sessions are refused. */
export const sessionsEnded: Topic<Cutoff> = { name: 'sessions.ended' }

/** The cut-offs in memory, where every request looks them up. */
export type Cutoffs = {
  /** The cut-off of a key, in Unix seconds. Minus infinity if there is none. */
  endedAt(pubkey: string): number
  /** False for one that is known, or older than the known one: nodes tell theirs in no order. */
  set(cutoff: Cutoff): boolean
}

/** Stands for all keys. Nobody has it, because the curve has no point there. */
export const everyKey = '0'.repeat(64)

export function createCutoffs(known: readonly Cutoff[] = []): Cutoffs {
  const byKey = new Map(known.map(({ pubkey, endedAt }) => [pubkey, endedAt]))
  const at = (pubkey: string) => byKey.get(pubkey) ?? Number.NEGATIVE_INFINITY
  return {
    endedAt: (pubkey) => Math.max(at(pubkey), at(everyKey)),
    set({ pubkey, endedAt }) {
      const later = endedAt > at(pubkey)
      if (later) byKey.set(pubkey, endedAt)
      return later
    },
  }
}
