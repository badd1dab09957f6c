import type { NostrEvent } from '../nostr/event.ts'

export type SignerKind = 'extension' | 'remote' | 'local'

export type EventTemplate = Pick<NostrEvent, 'kind' | 'created_at' | 'tags' | 'content'>

/** Signs for one key from within a page. */
export type PageSigner = {
  kind: SignerKind
  pubkey: string
  /** Throws SignerError. */
  sign(event: EventTemplate): Promise<NostrEvent>
  close?(): void
}

/** The reason why nothing was signed. */
export class SignerError extends Error {
  readonly code:
    | 'no-extension'
    | 'declined'
    | 'timeout'
    | 'no-relay'
    | 'bunker-invalid'
    | 'pin-wrong'
    | 'pin-short'
    | 'key-invalid'
    | 'cancelled'
    | 'other-key'

  constructor(code: SignerError['code']) {
    super(code)
    this.code = code
  }
}
