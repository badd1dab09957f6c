import { Type as t } from '@sinclair/typebox'
import { sentText } from '../../../base/field-models.ts'
import { refusalCodes } from '../../../base/refusal.ts'

const pay = {
  OK: t.Literal('OK', { description: 'The ledger has settled' }),
  PENDING: t.Literal('PENDING', { description: 'No answer yet: ask GET /card/pay/{k1}' }),
}

export const PaidModel = t.Object({ status: pay.OK })
export const PendingModel = t.Object({ status: pay.PENDING })

/** The second step of LUD-03. */
export const PayModel = t.Object({
  k1: t.Optional(sentText({ description: 'From the scan' })),
  pr: t.Optional(sentText({ description: 'A Lightning invoice (BOLT 11)' })),
})

export const CardPaymentModel = t.Object({
  status: t.Union([pay.OK, pay.PENDING, t.Literal('ERROR')]),
  state: t.Union(
    ['settled', 'pending', 'unknown', 'refused', 'released'].map((state) => t.Literal(state)),
    { description: '`unknown`: no answer for 20 seconds; `released`: none at all' },
  ),
  reason: t.Optional(t.String({ description: 'es-AR' })),
  code: t.Optional(t.Union(refusalCodes.map((code) => t.Literal(code)))),
  late: t.Boolean({ description: 'The answer came after the reservation was let go' }),
  recipient: t.String({ description: 'npub' }),
  tokens: t.Record(t.String(), t.Union([t.Integer(), t.String()])),
  start: t.Union([t.String(), t.Null()], { description: 'Id of the start event' }),
  createdAt: t.Integer(),
  endedAt: t.Union([t.Integer(), t.Null()]),
})
