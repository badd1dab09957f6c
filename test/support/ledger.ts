import { randomBytes } from 'node:crypto'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { type Answer, call, type Json, newSigner } from './client.ts'
import { createEvent } from './events.ts'

/** A ledger of a test's own: who runs it, who issues its tokens, and the settings of its server. */
export function newLedger() {
  const secret = randomBytes(32)
  const issuer = newSigner()
  const env = {
    COUPON_MANAGER_NSEC: secret.toString('hex'),
    TOKENS: `ARS:2:${issuer.pubkey},PTS:0:${issuer.pubkey}`,
    RATE_LIMIT: 'off',
  }
  return { manager: newSigner(secret), issuer, env }
}

type StartParts = {
  /** The ledger's key. */
  ledger: string
  from: Signer
  to: string
  tokens: unknown
  memo?: string
  createdAt?: number
  tags?: string[][]
}

/** A start event. */
export function createStart({ ledger, from, to, tokens, memo, createdAt, tags }: StartParts) {
  return createEvent({
    kind: 1112,
    ...(createdAt !== undefined && { createdAt }),
    signer: from,
    tags: [['p', ledger], ['p', to], ['t', 'internal-transaction-start'], ...(tags ?? [])],
    content: JSON.stringify({ tokens, ...(memo !== undefined && { memo }) }),
  })
}

/** Hand an event to a server over HTTP. */
export function publish(base: string, event: NostrEvent): Promise<Answer> {
  return call(base, '/nostr/publish', { body: event })
}

/** The balances of a key by token, as its owner reads them. */
export async function balancesOf(base: string, owner: Signer): Promise<Record<string, Json>> {
  const { json } = await call(base, `/api/ledger/balances/${owner.pubkey}`, { signer: owner })
  return Object.fromEntries(json.balances.map(({ token, amount }: Json) => [token, amount]))
}
