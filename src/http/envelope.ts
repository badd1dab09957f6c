import { Refusal, type RefusalCode } from '../base/refusal.ts'
import { replyGatewayRefusal, replyIdentityRefusal, replyRefusal } from './reply.ts'

/** Whose clients read a refusal: that decides what it looks like. */
export type Envelope = 'coupons' | 'gateway' | 'identity'

/** Paths, and all below them, of the wallet gateway; the rest are the coupon service's. */
const prefixes: readonly (readonly [path: string, envelope: Envelope])[] = [
  ['/nostr', 'gateway'],
  ['/api/lud16', 'gateway'],
  ['/api/pubkey', 'gateway'],
  ['/.well-known', 'gateway'],
  ['/card', 'gateway'],
  ['/ntag424', 'gateway'],
  ['/api/identity', 'identity'],
  ['/api/nonce', 'identity'],
  ['/api/transfer', 'gateway'],
]

/** The envelope of a path or of the pattern of a route. */
export function envelopeOf(path: string): Envelope {
  const found = prefixes.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))
  return found?.[1] ?? 'coupons'
}

/** A refusal as the clients of a path expect it; `schemes`: the Authorization schemes of its route. */
export function replyEnveloped(refusal: Refusal, path: string, schemes: string | null): Response {
  switch (envelopeOf(path)) {
    case 'gateway':
      return replyGatewayRefusal(refusal)
    case 'identity':
      return replyIdentityRefusal(refusal)
    case 'coupons':
      return replyRefusal(refusal, schemes)
  }
}

/** What is put before the name of an example of the document. */
export function exampleName(code: RefusalCode, envelope: Envelope): string {
  return envelope === 'coupons' ? code : `${envelope}.${code}`
}

/** Each way a refusal goes out, for the document. */
export function examplesOf(code: RefusalCode): readonly (readonly [string, Response])[] {
  const refusal = new Refusal(code)
  return [
    [exampleName(code, 'coupons'), replyRefusal(refusal, null)],
    [exampleName(code, 'gateway'), replyGatewayRefusal(refusal)],
    [exampleName(code, 'identity'), replyIdentityRefusal(refusal)],
  ]
}
