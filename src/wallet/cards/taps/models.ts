import { Type as t } from '@sinclair/typebox'
import { nullable, pubkey } from '../../../base/field-models.ts'
import { amount, uuid } from '../field-models.ts'

const bounds = { minWithdrawable: t.Integer(), maxWithdrawable: amount }
const k1 = t.String({ description: 'Pays once, within 180 seconds' })

/** The answer to a tap; one form for each action. */
export const ScanModel = t.Union([
  t.Object({
    tag: t.Literal('withdrawRequest'),
    callback: t.String(),
    k1,
    defaultDescription: t.String(),
    ...bounds,
  }),
  t.Object({
    tag: t.Literal('laWallet:withdrawRequest'),
    callback: t.String(),
    k1,
    defaultDescription: t.String(),
    tokens: t.Record(t.String(), t.Object(bounds)),
  }),
  t.Object({ tag: t.Literal('laWallet:identityQuery'), accountPubKey: pubkey }),
  t.Object({
    tag: t.Literal('laWallet:info'),
    info: t.Object({
      status: t.Object({
        initialized: t.Boolean(),
        associated: t.Boolean(),
        activated: t.Boolean(),
        hasDelegation: t.Boolean(),
        hasIdentity: t.Boolean(),
      }),
      ntag424: t.Object({
        ok: t.Object({
          cid: t.String(),
          ctr: t.Integer(),
          ctrNew: t.Integer(),
          otc: t.Null(),
          design: t.Object({ uuid, name: t.String() }),
        }),
      }),
      card: nullable(
        t.Object({
          ok: t.Object({
            uuid,
            name: t.String(),
            description: t.String(),
            enabled: t.Boolean(),
          }),
        }),
      ),
      holder: nullable(
        t.Object({
          ok: t.Object({
            pubKey: pubkey,
            delegations: t.Array(
              t.Object({
                kind: t.Integer(),
                since: t.String(),
                until: t.String(),
                isCurrent: t.Boolean(),
              }),
            ),
          }),
        }),
      ),
      identity: nullable(t.Object({ ok: t.Object({ name: t.String() }) })),
    }),
  }),
  t.Object(
    { tag: t.Literal('payRequest') },
    { additionalProperties: true, description: 'LUD-06 data of the holder' },
  ),
])
