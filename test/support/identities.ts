import { expect } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { type Answer, call, type Json } from './client.ts'
import { createEvent } from './events.ts'

/** The key that a test server signs with when it is started with `managerEnv`. */
export const managerSecret = Buffer.alloc(32, 9)
export const managerEnv = { COUPON_MANAGER_NSEC: managerSecret.toString('hex') }

/** A nonce for one identity, made by an issuer. */
export async function newIdentityNonce(base: string, issuer: Signer): Promise<string> {
  const tags = [
    ['t', 'create-nonce'],
    ['unique', randomBytes(8).toString('hex')],
  ]
  const body = createEvent({ kind: 1112, tags, content: '', signer: issuer })
  return (await call(base, '/api/nonce', { body })).json.nonce
}

/** The answer of a wallet to LUD-16, with some fields changed. */
export function walletObject(fields: Json = {}) {
  return {
    tag: 'payRequest',
    callback: 'https://wallet.example/lnurlp/ana/callback?id=7',
    minSendable: 1000,
    maxSendable: 100_000_000,
    metadata: '[["text/plain","Ana"],["text/identifier","ana@wallet.example"]]',
    commentAllowed: 120,
    allowsNostr: true,
    nostrPubkey: 'ab'.repeat(32),
    ...fields,
  }
}

type Wanted = { name?: unknown; pubkey?: unknown; lud16?: unknown }

/** An event that asks for an identity. */
export function identityEvent(
  signer: Signer,
  nonce: string | null,
  wanted: Wanted,
  parts: Parameters<typeof createEvent>[0] = {},
): NostrEvent {
  const tags = [['t', 'create-identity'], ...(nonce === null ? [] : [['nonce', nonce]])]
  return createEvent({
    kind: 1112,
    tags,
    content: JSON.stringify(wanted),
    signer,
    ...parts,
  })
}

/** Check a refusal of the identity routes as a whole. */
export function expectIdentityRefusal(
  answer: Answer,
  status: number,
  code: string,
  reason: string,
): void {
  expect({ status: answer.status, ...answer.json }).toEqual({
    status,
    success: false,
    reason,
    code,
  })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('cache-control')).toBe('no-store')
}
