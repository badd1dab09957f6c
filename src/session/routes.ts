import { Type as t } from '@sinclair/typebox'
import type { Authenticator } from '../http/auth.ts'
import { documented, feature } from '../http/document.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import type { Sessions } from './session.ts'

const SessionModel = t.Object({
  token: t.String({ description: 'For `Authorization: Bearer`' }),
  pubkey: t.String({ pattern: '^[0-9a-f]{64}$' }),
  expiresAt: t.Integer({ description: 'Unix seconds, 12 hours ahead' }),
})

/** Trade one NIP-98 signature for a session. The body is bounded and never parsed. */
export function sessionRoutes(sessions: Sessions, auth: Authenticator) {
  return new Elysia({ name: 'session', prefix: '/api/auth', ...feature({ tag: 'Session' }) })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.signed(request) }))
    .post('/session', async ({ caller }) => replyJson(200, await sessions.create(caller.pubkey)), {
      ...documented({
        summary: 'Open a session of twelve hours',
        access: 'signed',
        answers: { 200: SessionModel },
      }),
    })
}
