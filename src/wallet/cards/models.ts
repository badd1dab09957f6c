import { Type as t } from '@sinclair/typebox'

const uuid = t.String({ format: 'uuid' })
const pubkey = t.String({ pattern: '^[0-9a-f]{64}$' })
const amount = t.Union([t.Integer(), t.String()], {
  description: 'In the smallest unit; text above 2^53 − 1',
})
const bounds = { minWithdrawable: t.Integer(), maxWithdrawable: amount }
const k1 = t.String({ description: 'Pays once, within 180 seconds' })

const LimitModel = t.Object({
  name: t.String(),
  description: t.String(),
  token: t.String(),
  amount,
  delta: t.Integer({ description: 'Seconds; 0: in one payment' }),
})

/** What a tag puts into its address. */
export const TapModel = t.Object({
  p: t.Optional(t.String({ description: '32 hex digits', error: 'text expected' })),
  c: t.Optional(t.String({ description: '16 hex digits', error: 'text expected' })),
})

const nullable = <T extends ReturnType<typeof t.Object>>(schema: T) => t.Union([schema, t.Null()])

/** By the action that was asked for. */
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

export const CardDataModel = t.Record(
  t.String(),
  t.Object({ design: t.Object({ uuid, name: t.String(), description: t.String() }) }),
)

export const CardConfigModel = t.Object({
  'trusted-merchants': t.Array(t.Object({ pubkey })),
  cards: t.Record(
    t.String(),
    t.Object({
      name: t.String(),
      description: t.String(),
      status: t.Union([t.Literal('ENABLED'), t.Literal('DISABLED')]),
      limits: t.Array(LimitModel),
    }),
  ),
})
