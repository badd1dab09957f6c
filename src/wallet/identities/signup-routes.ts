import { Elysia } from '../../http/elysia.ts'
import { replyJson } from '../../http/reply.ts'
import { contextOf } from '../../http/request-context.ts'
import { feature, route } from '../../http/route.ts'
import { SignupEventModel, SignupModel } from './models.ts'
import type { Identities } from './service.ts'
import { createSignupEvent, requireSignup } from './signup.ts'

/** Open sign-up in the form of LaWallet's lightning-domain. */
export function signupRoutes(identities: Identities) {
  return new Elysia({ name: 'signup', prefix: '/api', ...feature({ tag: 'Identity' }) })
    .get(
      '/signup',
      () => {
        requireSignup(identities)
        return replyJson(200, { enabled: true, milisatoshis: 0 })
      },
      {
        ...route({
          summary: 'Whether anybody may register a name',
          access: 'public',
          answers: { 200: SignupModel },
          refusals: ['not-found'],
        }),
      },
    )
    .get(
      '/signup/request',
      ({ request }) => {
        const buyEvent = createSignupEvent(identities, contextOf(request).address)
        return replyJson(200, { requirePayment: false, data: { buyEvent } })
      },
      {
        ...route({
          summary: 'An event that makes one nonce, for anybody',
          access: 'public',
          answers: { 200: SignupEventModel },
          refusals: ['not-found'],
        }),
      },
    )
}
