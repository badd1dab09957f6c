import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from './caller.ts'
import { SessionModel } from './models.ts'
import type { Sessions } from './session.ts'

/** Trade one NIP-98 signature for a session. The body is bounded and never parsed. */
export function sessionRoutes(sessions: Sessions, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'session', prefix: '/api/auth', ...feature({ tag: 'Session' }) })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.signed(request) }))
    .post('/session', async ({ caller }) => replyJson(200, await sessions.create(caller.pubkey)), {
      ...route({
        summary: 'Open a session of twelve hours',
        access: 'signed',
        answers: { 200: SessionModel },
      }),
    })
}
