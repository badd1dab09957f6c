import { Type as t } from '@sinclair/typebox'
import { optional, request, sentText, timestamp } from '../base/field-models.ts'
import { limits } from '../base/limits.ts'

const passphrase = sentText({
  minLength: limits.movePassphraseCharsMin,
  maxLength: limits.movePassphraseCharsMax,
  description: 'Made by the page, at least 80 bits',
})

export const MovedModel = t.Object({ movedAt: timestamp })

export const MoveFileModel = request({ passphrase })

export const ArrivalModel = request({
  code: optional(sentText({ maxLength: limits.setupCodeCharsMax, description: 'The setup code' })),
})

export const TicketModel = t.Object({
  ticket: t.String({ description: 'For the header `X-Move-Ticket` of the pieces' }),
})

export const PieceQueryModel = request({
  at: t.String({ pattern: '^\\d{1,12}$', description: 'Bytes that were sent before' }),
})

export const ReceivedModel = t.Object({ bytes: t.Integer({ description: 'Received so far' }) })

export const ArrivedModel = t.Object({ npub: t.String() })
