import type { First } from '../db/database.ts'
import type { ProofStore } from './proof-store.ts'

/** Who authenticated. */
export type Caller = {
  /** Hex. */
  pubkey: string
  /** Unix seconds: when the session began, or one that begins with this signature would. */
  beganAt: number
  /** Unix seconds: when the session ends, or one that began with this signature would. */
  until: number
  /** Uses up the NIP-98 event; the first write of whatever the caller does. None for a session. */
  spend: First<{ proofs: ProofStore }> | undefined
}
