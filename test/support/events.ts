import { randomBytes } from 'node:crypto'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { newSigner } from './client.ts'
import { secondsNow } from './clock.ts'

type Parts = {
  kind?: number
  createdAt?: number
  tags?: string[][]
  content?: string
  signer?: Signer
}

/** A signed event; what is left out is a fresh key's note of now. */
export function createEvent({
  kind = 1,
  createdAt,
  tags = [],
  content,
  signer,
}: Parts = {}): NostrEvent {
  return (signer ?? newSigner()).sign({
    kind,
    created_at: createdAt ?? secondsNow(),
    tags,
    content: content ?? randomBytes(6).toString('hex'),
  })
}
