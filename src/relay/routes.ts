import { limits } from '../base/limits.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { feature, route, textModel } from '../http/route.ts'

type RelayInformation = {
  version: string
  manager: string
  /** True if everyone may write at present. */
  open: () => boolean
}

/** Route of the relay's information document (NIP-11), at the URL of its WebSocket. */
export function relayRoutes({ version, manager, open }: RelayInformation) {
  const document = () => ({
    name: 'Cuponera',
    description: 'El relay de este comercio',
    pubkey: manager,
    supported_nips: [1, 9, 11, 40, 42, 45],
    software: 'cuponera',
    version,
    limitation: {
      max_message_length: limits.relayMessageBytesMax,
      max_subscriptions: limits.relaySubscriptionsMax,
      max_filters: limits.relayFiltersMax,
      max_limit: limits.relayLimitMax,
      default_limit: limits.relayLimitMax,
      max_event_tags: limits.relayTagsMax,
      max_subid_length: limits.relaySubscriptionIdCharsMax,
      created_at_upper_limit: limits.relayAheadSeconds,
      auth_required: false,
      restricted_writes: !open(),
    },
  })
  return new Elysia({ name: 'relay', ...feature({ tag: 'Service' }) }).get(
    '/relay',
    () => replyJson(200, document(), { 'Content-Type': 'application/nostr+json' }),
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
