import { type Caller, createCaller } from './caller.ts'
import { createPauses } from './pause.ts'
import type { Pause } from './persist.ts'
import { createSession } from './session.ts'
import type { EventSigner } from './signer.ts'
import type { KeyStorage } from './storage.ts'
import type { TextStore } from './texts.ts'

export type ClientOptions = {
  /** Origin of the service, such as `https://cupones.example`. */
  url: string
  /**
   * Signs in for the operations that need it. One signature opens a session, which is renewed when it ends. Its token
   * stays in memory.
   */
  signer?: EventSigner
  /** Keeps Idempotency-Keys, by default in memory, and coupons. A till or a wallet keeps them on its device. */
  storage?: KeyStorage
  /** Timeout of one attempt; 20 000 by default. */
  timeoutMs?: number
  /** Seconds after which nothing is repeated any more; 120 by default. 0: one attempt. */
  patienceSeconds?: number
  /** The wait before a repetition: 1, 2, 4, 8, 15, then 30 seconds. */
  pause?: Pause
}

export type Client = Caller & {
  /** Origin of the service. */
  readonly url: string
  /** Null where keys are in memory only. */
  readonly storage: KeyStorage | null
}

/** A client of one service. `call` takes the operations of its OpenAPI document. */
export function createClient({ signer, storage, ...options }: ClientOptions): Client {
  const { pause = createPauses().pause, patienceSeconds = 120, timeoutMs } = options
  // A path belongs to the operation, and a bad address is better refused here than in each call.
  const { origin } = new URL(options.url)
  const credentials = signer ? openCredentials(origin, signer) : null
  const patience = patienceSeconds > 0 ? { seconds: patienceSeconds, pause } : null
  const wiring = { url: origin, credentials, storage: storage ?? new Map(), patience }
  const caller = createCaller({ ...wiring, ...(timeoutMs !== undefined && { timeoutMs }) })
  return { ...caller, url: origin, storage: storage ?? null }
}

const nowhere: TextStore = { read: () => null, write: () => false, remove: () => undefined }

function openCredentials(origin: string, signer: EventSigner) {
  return createSession({
    name: '',
    store: nowhere,
    origin,
    signer: { kind: 'local', pubkey: signer.pubkey, sign: (event) => signer.sign(event) },
    restore: async () => null,
    onIdentity: () => undefined,
    onAsk: () => undefined,
  })
}
