import { Elysia } from 'elysia'
import { NostrEventModel } from '../coupons/models.ts'
import { parseObject } from '../http/body.ts'
import { documented } from '../http/document.ts'
import { factsOf } from '../http/facts.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { replyJson } from '../http/reply.ts'
import { NewNonceModel } from './models.ts'
import { requestNonce } from './nonces.ts'
import type { Identities } from './service.ts'

/** Nonces and the names that they are traded for. */
export function identityRoutes(identities: Identities, rateLimits: RateLimits) {
  const createNonce = async ({ request }: { request: Request }) => {
    const pay = (issuer: string) => rateLimits.key(issuer, 1)
    const nonce = await requestNonce(identities, parseObject(factsOf(request).body), pay)
    return replyJson(200, { success: true, nonce })
  }
  const nonceDocument = documented({
    summary: 'A nonce that lets somebody register one identity',
    access: 'public',
    body: NostrEventModel,
    answers: { 200: NewNonceModel },
    refusals: [
      'identity-event-invalid',
      'identity-event-stale',
      'identity-nonce-invalid',
      'identity-not-authorized',
      'event-repeated',
      'identity-nonce-taken',
      'identity-nonces-full',
    ],
  })

  return new Elysia({ name: 'identity', prefix: '/api' })
    .post('/nonce', createNonce, nonceDocument)
    .post('/nonce/create', createNonce, nonceDocument)
}
