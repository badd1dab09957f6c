import { Type as t } from '@sinclair/typebox'
import { handlePart } from '../../base/field-models.ts'
import type { Authenticator } from '../../http/auth.ts'
import { Elysia } from '../../http/elysia.ts'
import { replyJson } from '../../http/reply.ts'
import { feature, route } from '../../http/route.ts'
import type { Caller } from '../../session/caller.ts'
import { forget, listInbox } from './inbox.ts'
import { InboxModel, PreferencesModel } from './models.ts'
import { readPreferences, writePreferences } from './preferences.ts'
import type { Transfers } from './service.ts'

const shared = feature({
  tag: 'Transfer',
  parameters: { id: handlePart('A received voucher: its handle') },
})

/** Vouchers that a holder has received, and the setting whether he takes any. */
export function inboxRoutes(transfers: Transfers, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'inbox', prefix: '/api/wallet', ...shared })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get('/vouchers', async ({ caller }) => replyJson(200, await listInbox(transfers, caller)), {
      ...route({
        summary: 'The vouchers that the caller has received',
        access: 'any',
        answers: { 200: InboxModel },
      }),
    })
    .delete(
      '/vouchers/:id',
      async ({ caller, params }) => replyJson(200, await forget(transfers, caller, params.id)),
      {
        ...route({
          summary: 'Forget a received voucher, spent or not',
          access: 'any',
          answers: { 200: t.Object({ removed: t.Literal(true) }) },
          refusals: ['held-unknown'],
        }),
      },
    )
    .get(
      '/settings',
      async ({ caller }) => replyJson(200, await readPreferences(transfers, caller)),
      {
        ...route({
          summary: "Whether the caller's account takes vouchers",
          access: 'any',
          answers: { 200: PreferencesModel },
          refusals: ['account-unknown'],
        }),
      },
    )
    .put(
      '/settings',
      async ({ caller, body }) => replyJson(200, await writePreferences(transfers, caller, body)),
      {
        body: PreferencesModel,
        ...route({
          summary: "Say whether the caller's account takes vouchers",
          access: 'any',
          answers: { 200: PreferencesModel },
          refusals: ['body-invalid', 'field-invalid', 'account-unknown'],
        }),
      },
    )
}
