import { type Signal, signal } from '@preact/signals'
import type { NostrEvent } from '../../nostr/event.ts'

export type SignerKind = 'extension' | 'remote' | 'local'

export type EventTemplate = Pick<NostrEvent, 'kind' | 'created_at' | 'tags' | 'content'>

/** Whatever can sign for one key from within a page. */
export type PageSigner = {
  kind: SignerKind
  pubkey: string
  /** Throws SignerError. */
  sign(event: EventTemplate): Promise<NostrEvent>
  close?(): void
}

/** Why nothing got signed; the code has a sentence in `signerWords`. */
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

/** What a remote signer is waited for. `url`: a page where it wants the person to agree. */
export type Waiting = {
  for: 'scan' | 'connect' | 'key' | 'signature'
  until: number
  url?: string
} | null

/** Shown while it is not null. */
export const waiting: Signal<Waiting> = signal<Waiting>(null)
