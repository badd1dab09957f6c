import { keyPart } from '../../base/field-models.ts'
import type { Authenticator } from '../../http/auth.ts'
import { Elysia } from '../../http/elysia.ts'
import { replyJson } from '../../http/reply.ts'
import { feature, route } from '../../http/route.ts'
import type { Caller } from '../../session/caller.ts'
import { type Books, balances } from './balances.ts'
import { BalancesModel } from './models.ts'

const shared = feature({ tag: 'Ledger', parameters: { key: keyPart } })

/** Accounts of the embedded ledger, for their owners. */
export function ledgerRoutes(books: Books, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'ledger', prefix: '/api/ledger', ...shared })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get(
      '/balances/:key',
      async ({ caller, params }) => replyJson(200, await balances(books, caller, params.key)),
      {
        ...route({
          summary: 'What a key has of each token, and its last movements',
          access: 'any',
          answers: { 200: BalancesModel },
          refusals: ['account-unknown', 'account-not-yours'],
        }),
      },
    )
}
