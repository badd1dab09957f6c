import { randomBytes } from 'node:crypto'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { shopCertificate } from './certificates.ts'
import { type Json, newSigner, percentBenefit } from './client.ts'
import { secondsNow } from './clock.ts'

/** A refresh that reached a foreign service. */
export type Asked = { nonce: string; key: string | null; body: Json }

/** How it answers one; `honest` is what it ought to say. */
export type Reply = (asked: Asked, honest: () => Json) => Response | Promise<Response>

export const answering =
  (
    change: (answer: Json, event: Json, content: Json) => void = () => undefined,
    by?: Signer,
  ): Reply =>
  (_, honest) => {
    const answer = structuredClone(honest())
    const content = JSON.parse(answer.voucher.content)
    change(answer, answer.voucher, content)
    if (by) {
      const { kind, created_at, tags } = answer.voucher
      answer.voucher = by.sign({ kind, created_at, tags, content: JSON.stringify(content) })
    }
    return Response.json(answer, { status: 201 })
  }

export const honestly = answering()

/** The second item of an event's first tag of that name, to be changed. */
export function tagOf(event: Json, name: string): string[] {
  return event.tags.find((tag: string[]) => tag[0] === name)
}

/** A coupon service of somebody else, on 127.0.0.1 over TLS, that does as it is told. */
export function startForeignService() {
  const signer = newSigner()
  const owner = newSigner().pubkey
  const asked: Asked[] = []
  const replies = new Map<string, Reply>()
  const answers = new Map<string, Json>()
  const previews = new Map<string, string>()

  const mint = (fields: Json = {}, nonce = randomBytes(16).toString('base64url')) => {
    const { expiresAt = null, ...more } = fields
    const content = {
      v: 1,
      nonce,
      owner,
      name: 'Té de otra parte',
      description: '',
      coupon: percentBenefit,
      phase: 'minted',
      ...(expiresAt && { expiresAt }),
      ...more,
    }
    const tags = [
      ['nonce', nonce],
      ['p', content.owner],
      ['coupon', 'c0ffee'],
      ['phase', 'minted'],
      ...(expiresAt ? [['expiration', String(expiresAt)]] : []),
    ]
    const created_at = secondsNow()
    const voucher: NostrEvent = signer.sign({
      kind: 20_402,
      created_at,
      tags,
      content: JSON.stringify(content),
    })
    return { nonce, voucher, fields }
  }
  const minted = new Map<string, Json>()

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: shopCertificate,
    idleTimeout: 60,
    async fetch(request) {
      const body = (await request.json()) as Json
      const { nonce } = body
      if (new URL(request.url).pathname.endsWith('/preview')) {
        return Response.json({ status: previews.get(nonce) ?? 'minted' })
      }
      const ask = { nonce, key: request.headers.get('idempotency-key'), body }
      asked.push(ask)
      // The same key, the same answer for ever.
      const honest = () => {
        const known = answers.get(nonce) ?? mint(minted.get(nonce))
        answers.set(nonce, known)
        return { nonce: known.nonce, voucher: known.voucher }
      }
      return (replies.get(nonce) ?? honestly)(ask, honest)
    },
  })
  return {
    url: `https://localhost:${server.port}`,
    manager: signer.pubkey,
    signer,
    owner,
    /** Every refresh that came, in order. */
    asked,
    /** The answer for a nonce; honest without an entry. */
    replies,
    previews,
    mint(fields: Json = {}) {
      const made = mint(fields)
      minted.set(made.nonce, fields)
      return made
    },
    stop: () => server.stop(true),
  }
}
