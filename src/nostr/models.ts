import { Type as t } from '@sinclair/typebox'

/** A signed Nostr event (NIP-01). */
export const NostrEventModel = t.Object({
  id: t.String(),
  pubkey: t.String(),
  created_at: t.Integer(),
  kind: t.Integer(),
  tags: t.Array(t.Array(t.String())),
  content: t.String(),
  sig: t.String(),
})
