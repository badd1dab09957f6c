import { Type as t } from '@sinclair/typebox'
import { Refusal } from '../base/refusal.ts'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route, textModel } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { MovedModel, MoveFileModel } from './models.ts'
import type { MoveOut } from './service.ts'

/** The way of a service out of this computer. */
export function moveRoutes(move: MoveOut, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'move', prefix: '/api/move', ...feature({ tag: 'Management' }) })
    .derive({ as: 'local' }, async ({ request }) => {
      const caller = await auth.signed(request)
      requireSentHere(request)
      return { caller }
    })
    .post('/', async ({ caller }) => replyJson(202, await move.begin(caller)), {
      ...route({
        summary: 'Close the service here, to go on at another computer',
        access: 'signed',
        answers: { 202: MovedModel },
        refusals: ['move-not-allowed', 'move-in-clear', 'move-not-begun', 'disk-low'],
      }),
    })
    .delete(
      '/',
      async ({ caller }) => {
        await move.back(caller)
        return replyJson(202, {})
      },
      {
        ...route({
          summary: 'Open the service again, since the move did not take place',
          access: 'signed',
          answers: { 202: t.Object({}) },
          refusals: ['move-not-allowed', 'move-in-clear', 'move-not-begun'],
        }),
      },
    )
    .post(
      '/file',
      async ({ caller, body, request }) => {
        // The copy of a large database may not be made yet.
        contextOf(request).patient()
        const { stream, createdAt } = await move.file(caller, body.passphrase)
        return new Response(stream, {
          headers: {
            'Content-Type': 'application/octet-stream',
            'Content-Disposition': `attachment; filename="${fileName(createdAt)}"`,
            'Cache-Control': 'no-store',
            'X-Content-Type-Options': 'nosniff',
            'Access-Control-Allow-Origin': '*',
          },
        })
      },
      {
        body: MoveFileModel,
        ...route({
          summary: 'All keys and data of a service that was closed for a move, encrypted',
          access: 'signed',
          answers: { 200: textModel('application/octet-stream', 'An age file') },
          refusals: [
            'body-invalid',
            'field-invalid',
            'move-not-allowed',
            'move-in-clear',
            'move-not-begun',
            'disk-low',
          ],
        }),
      },
    )
}

/**
 * Refuse a request that others on the way could read, and one of a page of another site. The file of a move has all
 * keys, and on a new service the page of a stranger could let in a service of its own.
 */
export function requireSentHere(request: Request): void {
  const context = contextOf(request)
  if (!context.secure) throw new Refusal('move-in-clear')
  const origin = request.headers.get('origin')
  if (origin !== null && !context.origins.includes(origin)) throw new Refusal('move-not-allowed')
}

function fileName(createdAt: number): string {
  return `mudanza-cuponera-${new Date(createdAt * 1000).toISOString().slice(0, 10)}.cuponera`
}
