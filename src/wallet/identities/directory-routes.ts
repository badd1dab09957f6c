import { keyPart, namePart } from '../../base/field-models.ts'
import { Refusal } from '../../base/refusal.ts'
import { Elysia } from '../../http/elysia.ts'
import { gatewayEnvelope } from '../../http/envelope.ts'
import { reply, replyJson } from '../../http/reply.ts'
import { contextOf } from '../../http/request-context.ts'
import { feature, route } from '../../http/route.ts'
import { nameOfKey, namesDocument } from './directory.ts'
import {
  InvoiceModel,
  NameModel,
  NamesModel,
  PayModel,
  PaymentModel,
  UsernameModel,
} from './models.ts'
import { forwardPayment, payRequest } from './pay-request.ts'
import type { Identities } from './service.ts'

const shared = feature({
  tag: 'Identity',
  envelope: gatewayEnvelope,
  paths: ['/.well-known', '/api/lud16', '/api/pubkey'],
  parameters: { key: keyPart, name: namePart },
})

type Asked = { request: Request; params: { name: string } }

/** Names of this service: their keys, and how to pay them. */
export function directoryRoutes(identities: Identities) {
  const pay = async ({ request, params }: Asked) => {
    const base = contextOf(request).origins[0] ?? identities.base()
    return replyJson(200, await payRequest(identities, params.name, base))
  }
  const payRoute = route({
    summary: 'How to pay a name or send it a voucher (LUD-16)',
    access: 'public',
    answers: { 200: PayModel },
    refusals: ['account-unknown'],
  })

  return new Elysia({ name: 'directory', ...shared })
    .get(
      '/.well-known/nostr.json',
      async ({ request, query }) => {
        const asked = contextOf(request).origins[0] ?? null
        return replyJson(200, await namesDocument(identities, query.name ?? '', asked))
      },
      {
        query: NameModel,
        ...route({
          summary: 'Whose name it is (NIP-05)',
          access: 'public',
          answers: { 200: NamesModel },
        }),
      },
    )
    .get('/.well-known/lnurlp/:name', pay, payRoute)
    .get('/api/lud16/:name', pay, payRoute)
    .get(
      '/api/lud16/:name/cb',
      async ({ request, params, query }) => {
        try {
          const { status, body } = await forwardPayment(identities, params.name, query)
          return reply(status, body)
        } catch (refused) {
          // A wallet that does not answer is no mistake of the payer.
          if (refused instanceof Refusal && refused.code === 'wallet-unreachable') {
            contextOf(request).harmless = true
          }
          throw refused
        }
      },
      {
        query: PaymentModel,
        ...route({
          needs: ['amount'],
          acts: true,
          summary: 'An invoice of the holder’s own wallet (LUD-06)',
          tag: 'Transfer',
          access: 'public',
          answers: { 200: InvoiceModel },
          refusals: [
            'account-unknown',
            'payments-not-taken',
            'amount-invalid',
            'field-invalid',
            'wallet-unreachable',
          ],
        }),
      },
    )
    .get(
      '/api/pubkey/:key',
      async ({ params }) => replyJson(200, await nameOfKey(identities, params.key)),
      {
        ...route({
          summary: 'The name of a key',
          access: 'public',
          answers: { 200: UsernameModel },
          refusals: ['account-unknown'],
        }),
      },
    )
}
