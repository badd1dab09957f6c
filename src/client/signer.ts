import type { NostrEvent } from './described/vouchers.ts'
import type { KeyTrouble } from './key-text.ts'

export type SignerKind = 'extension' | 'remote' | 'local'

export type EventTemplate = Pick<NostrEvent, 'kind' | 'created_at' | 'tags' | 'content'>

/** A key that can sign. */
export type EventSigner = {
  /** Public key, hex. */
  pubkey: string
  /** Throws SignerError. */
  sign(event: EventTemplate): Promise<NostrEvent>
}

/** Where the key is, differs by kind. */
export type PageSigner = EventSigner & { kind: SignerKind; close?(): void }

/** Thrown when a signer gives no signature. */
export class SignerError extends Error {
  readonly code:
    | 'no-extension'
    | 'declined'
    | 'timeout'
    | 'no-relay'
    | 'bunker-invalid'
    | 'pin-wrong'
    | 'pin-wait'
    | 'pin-not-stored'
    | 'pin-short'
    | KeyTrouble
    | 'copy-wrong'
    | 'key-changed'
    | 'key-kept'
    | 'key-unreadable'
    | 'cancelled'
    | 'other-key'

  /** Seconds until the next try; 0 when it may be now. */
  readonly waitSeconds: number
  /** As in ApiError. */
  afterLost = false

  constructor(code: SignerError['code'], waitSeconds = 0, options?: ErrorOptions) {
    super(code, options)
    this.code = code
    this.waitSeconds = waitSeconds
  }

  /** True where the service may have executed an earlier attempt of the request that this signature was for. */
  get mayHaveSucceeded(): boolean {
    return this.afterLost
  }
}

/** Whether the device has a stored text that is no key, which only the person may remove. */
export function isUnreadable(failure: unknown): boolean {
  return failure instanceof SignerError && failure.code === 'key-unreadable'
}
