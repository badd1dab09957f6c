import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { SetUpModel, SetupModel } from './models.ts'
import type { Merchants } from './service.ts'
import { setUp } from './setup.ts'

/** The way in for the first merchant. */
export function setupRoutes(merchants: Merchants, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'setup', prefix: '/api/setup', ...feature({ tag: 'Management' }) })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.signed(request) }))
    .post(
      '/',
      async ({ request, caller, body }) => {
        merchants.trySetup(contextOf(request).address)
        return replyJson(201, await setUp(merchants, caller, body.code))
      },
      {
        body: SetupModel,
        ...route({
          summary: 'Become the first merchant, with the setup code that the operator was shown',
          access: 'signed',
          answers: { 201: SetUpModel },
          refusals: ['setup-code-wrong'],
        }),
      },
    )
}
