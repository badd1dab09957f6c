import type { First } from '../db/database.ts'
import type { ProofStore } from './proof-store.ts'

/** A caller that authenticated. */
export type Caller = {
  /** Hex. */
  pubkey: string
  /** The begin of the session, or of one opened with this signature. Unix seconds. */
  beganAt: number
  /** The end of the session, or of one opened with this signature. Unix seconds. */
  until: number
  /** Uses up the NIP-98 event as the first write of the operation. Undefined for a session. */
  spend: First<{ proofs: ProofStore }> | undefined
}
