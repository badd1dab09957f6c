import type { NostrEvent } from '../../src/nostr/event.ts'
import { call } from './client.ts'
import { createEvent } from './events.ts'
import type { TestServer } from './server.ts'
import { until } from './until.ts'

/** Publish one more event and wait until its relays have it: whatever was due before has left by then. */
export async function deliverOneMore({ url }: TestServer): Promise<NostrEvent> {
  const event = createEvent()
  const { status } = await call(url, '/nostr/publish', { body: event })
  if (status !== 202) throw new Error(`the event was not accepted: ${status}`)
  const delivered = async () =>
    (await call(url, `/nostr/publish/${event.id}`)).json.status === 'delivered'
  await until('one more event is delivered', delivered)
  return event
}
