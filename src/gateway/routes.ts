import { Type as t } from '@sinclair/typebox'
import { hashPart } from '../base/field-models.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { Elysia } from '../http/elysia.ts'
import { gatewayEnvelope } from '../http/envelope.ts'
import { reply, replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route } from '../http/route.ts'
import { NostrEventModel } from '../nostr/models.ts'
import { encodeNevent } from '../nostr/nevent.ts'
import { fetchEvents } from './fetch.ts'
import { FilterModel, PublicationModel } from './models.ts'
import { publication, publish } from './publish.ts'
import type { Gateway } from './service.ts'

const jsonTypes = ['application/json', 'application/nostr+json']
const acceptable = [...jsonTypes, 'application/*', '*/*']

const shared = feature({
  tag: 'Gateway',
  envelope: gatewayEnvelope,
  paths: ['/nostr'],
  parameters: { id: { ...hashPart, description: 'An event: its id in hex' } },
})

/** Nostr over HTTP for clients that keep no connection: publish, its outcome, fetch. */
export function gatewayRoutes(gateway: Gateway) {
  return new Elysia({ name: 'gateway', prefix: '/nostr', ...shared })
    .post(
      '/publish',
      async ({ request }) => {
        const { object, excessive } = contextOf(request)
        const something = excessive || Object.keys(object ?? {}).length > 0
        if (!something || !namesJson(request)) throw new Refusal('not-json-event')
        if (!accepts(request)) throw new Refusal('not-acceptable')
        const { address: from, body, origins } = contextOf(request)
        const sender = { address: from, bytes: body.byteLength, asked: origins[0] ?? null }
        const { event, urls } = await publish(gateway, object, sender)
        const location = { Location: `nostr:${encodeNevent(event, urls)}`, 'Content-Length': '0' }
        return reply(202, '', location)
      },
      {
        ...route({
          summary: 'Publish a signed event: on disk, and delivered from there',
          access: 'public',
          bodyBytesMax: limits.publishBytesMax,
          body: NostrEventModel,
          answers: { 202: t.Null() },
          headers: { Location: '`nostr:` and the nevent (NIP-19) of the event' },
          refusals: [
            'not-json-event',
            'not-acceptable',
            'event-invalid',
            'delegation-invalid',
            'event-not-publishable',
            'not-allowed',
            'outbox-full',
            'disk-low',
          ],
        }),
      },
    )
    .get(
      '/publish/:id',
      async ({ request, params }) => {
        const asked = contextOf(request).origins[0] ?? null
        return replyJson(200, await publication(gateway, params.id, asked))
      },
      {
        ...route({
          summary: 'What became of a published event',
          access: 'public',
          answers: { 200: PublicationModel },
          refusals: ['event-unknown'],
        }),
      },
    )
    .post(
      '/fetch',
      async ({ request }) => {
        const { object, excessive, address } = contextOf(request)
        if (!object && !excessive) throw new Refusal('not-json-filter')
        const asker = { address, gone: request.signal }
        const { events, answered, silent } = await fetchEvents(gateway, object, asker)
        const heard = { 'X-Nostr-Relays': `answered=${answered} silent=${silent}` }
        return replyJson(200, events, silent > 0 ? heard : undefined)
      },
      {
        ...route({
          summary: 'Events that match a filter, newest first',
          access: 'public',
          bodyBytesMax: limits.publishBytesMax,
          body: FilterModel,
          answers: { 200: t.Array(NostrEventModel) },
          headers: { 'X-Nostr-Relays': 'Only when a relay was silent: `answered=1 silent=1`' },
          refusals: ['not-json-filter', 'filter-invalid', 'relays-silent', 'relays-refused'],
        }),
      },
    )
}

function namesJson(request: Request): boolean {
  return jsonTypes.includes(mediaType(request.headers.get('content-type') ?? ''))
}

/** True when the client accepts JSON. A weight of zero means no (RFC 9110). */
function accepts(request: Request): boolean {
  const accept = (request.headers.get('accept') ?? '').trim()
  const admitted = (item: string) =>
    acceptable.includes(mediaType(item)) && !/;\s*q=0(\.0{0,3})?\s*(;|$)/i.test(item)
  return accept === '' || accept.split(',').some(admitted)
}

function mediaType(text: string): string {
  return (text.split(';')[0] ?? '').trim().toLowerCase()
}
