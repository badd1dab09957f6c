import { Type as t } from '@sinclair/typebox'
import { Refusal } from '../../base/refusal.ts'
import { createGuard } from '../../http/carry.ts'
import { Elysia } from '../../http/elysia.ts'
import { type Envelope, RefusalModel } from '../../http/envelope.ts'
import type { RateLimits } from '../../http/rate-limit.ts'
import { replyJson } from '../../http/reply.ts'
import { contextOf } from '../../http/request-context.ts'
import { feature, route } from '../../http/route.ts'
import { NostrEventModel } from '../../nostr/models.ts'
import { takenName } from './directory.ts'
import { NameModel, NamesModel, NewNonceModel, OpenNonceModel, RegisteredModel } from './models.ts'
import { requestNonce, requireOpenNonce } from './nonces.ts'
import { reasonOf } from './reasons.ts'
import { registerIdentity } from './register.ts'
import type { Identities } from './service.ts'

const IdentityRefusalModel = t.Object({
  status: t.Optional(t.Literal(false, { description: 'Of a nonce that cannot be used' })),
  success: t.Literal(false),
  reason: t.String({ description: 'One sentence: English where clients know it, else es-AR' }),
  code: RefusalModel.properties.code,
  field: RefusalModel.properties.field,
  retryAfter: RefusalModel.properties.retryAfter,
})

const identityEnvelope: Envelope = {
  name: 'identity',
  model: IdentityRefusalModel,
  bodyOf(refusal) {
    const { code, detail } = refusal
    // Clients that ask about a nonce look at `status` alone.
    const unusable = code === 'nonce-unknown' || code === 'nonce-burned' ? { status: false } : {}
    return { ...unusable, success: false, reason: reasonOf(refusal), code, ...detail }
  },
}

const shared = feature({
  tag: 'Identity',
  envelope: identityEnvelope,
  paths: ['/api/identity', '/api/nonce'],
  parameters: { nonce: { description: 'The nonce that an issuer gave out' } },
})

/** Nonces, and the registration of names with them. */
export function identityRoutes(identities: Identities, rateLimits: RateLimits) {
  const byNonce = createGuard(rateLimits)
  const createNonce = async ({ request }: { request: Request }) => {
    const charge = (issuer: string) => rateLimits.key(issuer, 1)
    const nonce = await requestNonce(identities, contextOf(request).object, charge)
    return replyJson(200, { success: true, nonce })
  }
  const nonceRoute = route({
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
      'disk-low',
    ],
  })

  return new Elysia({ name: 'identity', prefix: '/api', ...shared })
    .post('/nonce', createNonce, nonceRoute)
    .post('/nonce/create', createNonce, nonceRoute)
    .get(
      '/nonce/:nonce',
      async ({ request, params }) => {
        await byNonce(request, () => requireOpenNonce(identities, params.nonce))
        return replyJson(200, { status: true })
      },
      {
        ...route({
          summary: 'Whether a nonce can be used',
          access: 'public',
          guesses: ['nonce-unknown'],
          answers: { 200: OpenNonceModel },
          refusals: ['nonce-burned'],
        }),
      },
    )
    .post(
      '/identity',
      async ({ request }) => {
        const { object, origins } = contextOf(request)
        const hosts = [...origins, identities.base()].map((origin) => new URL(origin).host)
        const registered = await byNonce(request, () => registerIdentity(identities, object, hosts))
        return replyJson(200, { success: true, ...registered })
      },
      {
        ...route({
          summary: 'Register a name for a key; burns a nonce',
          access: 'public',
          guesses: ['identity-nonce-unknown'],
          body: NostrEventModel,
          answers: { 200: RegisteredModel },
          refusals: [
            'identity-event-invalid',
            'identity-event-stale',
            'identity-name-invalid',
            'identity-pubkey-invalid',
            'identity-lud16-invalid',
            'identity-not-authorized',
            'identity-nonce-missing',
            'identity-nonce-burned',
            'identity-reserved',
            'identity-name-taken',
            'identity-pubkey-taken',
            'disk-low',
          ],
        }),
      },
    )
    .get(
      '/identity',
      async ({ request, query }) => {
        if (!query.name) throw new Refusal('method-not-allowed')
        const asked = contextOf(request).origins[0] ?? null
        return replyJson(200, await takenName(identities, query.name, asked))
      },
      {
        query: NameModel,
        ...route({
          summary: 'Whose name it is; 404 while it is free',
          access: 'public',
          needs: ['name'],
          answers: { 200: NamesModel },
          refusals: ['identity-unknown', 'method-not-allowed'],
        }),
      },
    )
}
