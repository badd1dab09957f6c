import { limits } from '../base/limits.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route, textModel } from '../http/route.ts'

type RelayInformation = {
  version: string
  manager: string
  /** True if everyone may write at present. */
  open: () => boolean
  /** The address of this service, for a request that does not name it. */
  base: () => string
}

/** Route of the relay's information document (NIP-11), at the URL of its WebSocket. */
export function relayRoutes({ version, manager, open, base }: RelayInformation) {
  const document = (origin: string) => ({
    name: 'Cuponera',
    description: 'El relay de este comercio',
    pubkey: manager,
    supported_nips: [1, 9, 11, 40, 42, 45],
    // A URL by NIP-11: the page that describes the program.
    software: `${origin}/docs`,
    version,
    limitation: {
      max_message_length: limits.relayMessageBytesMax,
      max_content_length: limits.relayContentCharsMax,
      max_subscriptions: limits.relaySubscriptionsMax,
      max_filters: limits.relayFiltersMax,
      max_limit: limits.relayLimitMax,
      default_limit: limits.relayLimitMax,
      max_event_tags: limits.relayTagsMax,
      max_subid_length: limits.relaySubscriptionIdCharsMax,
      created_at_upper_limit: limits.relayAheadSeconds,
      auth_required: false,
      payment_required: false,
      restricted_writes: !open(),
    },
  })
  return new Elysia({ name: 'relay', ...feature({ tag: 'Service' }) }).get(
    '/relay',
    ({ request }) =>
      replyJson(200, document(contextOf(request).origins[0] ?? base()), {
        'Content-Type': 'application/nostr+json',
      }),
    {
      ...route({
        summary: 'The embedded relay: a WebSocket, and its NIP-11 document',
        access: 'public',
        upgrades: true,
        answers: { 200: textModel('application/nostr+json', 'The document of NIP-11') },
      }),
    },
  )
}
