import { limits } from '../base/limits.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route, textModel } from '../http/route.ts'
import {
  ArrivalModel,
  ArrivedModel,
  MoveFileModel,
  PieceQueryModel,
  ReceivedModel,
  TicketModel,
} from './models.ts'
import { requireSentHere } from './routes.ts'
import type { MoveIn } from './service.ts'

const ticketHeader = {
  'X-Move-Ticket': {
    description: 'The `ticket` that the arrival began with',
    required: true,
    pattern: '^[A-Za-z0-9_-]{1,64}$',
  },
} as const

/** The way of a service from another computer into this unused one. Its file comes in pieces, since it has any size. */
export function arrivalRoutes(move: MoveIn) {
  return new Elysia({ name: 'arrival', prefix: '/api/arrival', ...feature({ tag: 'Management' }) })
    .derive({ as: 'local' }, async ({ request }) => {
      requireSentHere(request)
      return { ticket: request.headers.get('x-move-ticket') }
    })
    .post(
      '/',
      async ({ request, body }) => {
        const { address } = contextOf(request)
        return replyJson(201, await move.open(body.code ?? null, address))
      },
      {
        body: ArrivalModel,
        ...route({
          summary: 'Begin to bring a service from another computer',
          access: 'public',
          answers: { 201: TicketModel },
          refusals: [
            'body-invalid',
            'field-invalid',
            'setup-code-wrong',
            'move-not-allowed',
            'move-in-clear',
            'move-not-empty',
          ],
        }),
      },
    )
    .put(
      '/pieces',
      async ({ request, ticket, query }) =>
        replyJson(200, move.take(ticket, Number(query.at), contextOf(request).body)),
      {
        query: PieceQueryModel,
        ...route({
          summary: 'Send the next piece of its file',
          access: 'public',
          sends: ticketHeader,
          body: textModel('application/octet-stream', `At most ${limits.movePieceBytesMax} bytes`),
          bodyBytesMax: limits.movePieceBytesMax,
          answers: { 200: ReceivedModel },
          refusals: ['field-invalid', 'move-not-allowed', 'move-in-clear', 'disk-low'],
        }),
      },
    )
    .post(
      '/finish',
      async ({ request, ticket, body }) => {
        contextOf(request).patient()
        return replyJson(202, await move.finish(ticket, body.passphrase))
      },
      {
        body: MoveFileModel,
        ...route({
          summary: 'Check the file, and go on as the service in it',
          access: 'public',
          sends: ticketHeader,
          answers: { 202: ArrivedModel },
          refusals: [
            'body-invalid',
            'field-invalid',
            'move-passphrase-wrong',
            'move-file-damaged',
            'move-not-allowed',
            'move-in-clear',
            'move-not-empty',
            'disk-low',
          ],
        }),
      },
    )
}
