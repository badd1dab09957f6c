import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Database, News } from '../db/database.ts'
import type { Topic } from '../db/news.ts'
import { type NostrEvent, parseEvent, type VerifyEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'
import { classOf } from '../nostr/kind-class.ts'
import { kinds } from '../nostr/kinds.ts'
import { findAuthError } from './authentication.ts'
import { type ClientMessage, parseClientMessage } from './client-message.ts'
import { type Peer, type Verdict, weightOf } from './messages.ts'
import type { RelayPolicy } from './policy.ts'
import { createReaders } from './readers.ts'
import type { EventStore, Stored } from './store.ts'
import { createSubscriptions } from './subscriptions.ts'
import { findValidationError } from './validation-error.ts'

type RelayOptions = {
  database: Database<{ events: EventStore }> & News
  /** Reads of committed events, on another connection. */
  events: Pick<EventStore, 'find' | 'count' | 'superseded'>
  verify: VerifyEvent
  policy: RelayPolicy
  now: Clock
  /** While true, events of clients are not stored. Ephemeral ones are still sent to subscribers. */
  diskLow: () => boolean
  send: (connections: readonly number[], text: string) => void
  /** Close a connection that this side has dropped. */
  drop: (connection: number, reason: string) => void
  /** Events of other nodes may be lost, and every connection was forgotten: clients have to ask again. */
  missed: () => void
  /** Report that a message of this weight is handled. */
  handled: (connection: number, weight: number) => void
  log: (cause: unknown) => void
}

type Client = Peer & {
  connection: number
  challenge: string
  challenged: boolean
  authenticated: Set<string>
  /** Messages that wait, in order, until the client has read enough. */
  inbox: string[]
  /** True while its inbox is handled. */
  working: boolean
}

/** An event for the subscribers of every node: it was stored, or is ephemeral. */
const eventPassed: Topic<NostrEvent> = { name: 'event.passed' }

export type Relay = ReturnType<typeof createRelay>

/** Create the protocol of the embedded relay (NIP-01, NIP-09, NIP-40, NIP-42, NIP-45), without its transport. */
export function createRelay(options: RelayOptions) {
  const { database, events, verify, policy, now, handled } = options
  const clients = new Map<number, Client>()

  const forget = (connection: number) => {
    const client = clients.get(connection)
    if (client) subscriptions.closeAll(client)
    clients.delete(connection)
  }
  const readers = createReaders({
    send: options.send,
    hasRoomAgain: (connection) => void work(clients.get(connection)),
  })
  const subscriptions = createSubscriptions({
    events,
    now,
    charge: policy.charge,
    send: readers.send,
  })
  database.listen(eventPassed, {
    told: subscriptions.pass,
    missed() {
      for (const connection of [...clients.keys()]) close(connection)
      options.missed()
    },
  })
  const reply = ({ connection }: Client, ...message: unknown[]) =>
    readers.send([connection], JSON.stringify(message))

  /** Check an event, store it and send it to subscribers. The verdict is given after the event is on disk. */
  const accept = async (event: NostrEvent): Promise<Verdict> => {
    const wrong = findValidationError(event, now())
    if (wrong !== null) return { accepted: false, message: wrong }
    if (classOf(event.kind) === 'ephemeral') {
      await database.tell(eventPassed, event)
      return verdicts.stored
    }
    const store = () =>
      database.transact({ roots: [{ author: event.pubkey }] }, async (tx) => {
        const outcome = await tx.events.insert(event)
        if (outcome === 'stored') {
          if (event.kind === kinds.deletion) await tx.events.delete(event)
          tx.tell(eventPassed, event)
        }
        return outcome
      })
    return verdicts[await subscriptions.whileStored(event.id, store)]
  }

  const onEvent = async (client: Client, value: unknown, chars: number) => {
    const event = parseEvent(value)
    if (!event) return reply(client, 'OK', idIn(value), false, 'invalid: not a Nostr event')
    const refuse = (message: string) => reply(client, 'OK', event.id, false, message)
    if (!policy.maySend(client.address, chars)) return refuse('rate-limited: slow down')
    const wrong = findValidationError(event, now()) ?? untimely(event, now())
    if (wrong !== null) return refuse(wrong)
    if (options.diskLow() && classOf(event.kind) !== 'ephemeral') {
      return refuse('error: the disk has little room, try again later')
    }
    // The signature costs most, so the cheap checks come first. Quotas of keys come after it.
    if (!verify(event)) return refuse('invalid: id or signature is wrong')
    switch (await policy.mayWrite(event, chars, client)) {
      case 'later':
        return refuse('rate-limited: slow down')
      case 'no':
        return refuse('restricted: this relay takes events of its own shop only')
      case 'auth':
        challenge(client)
        return refuse('auth-required: this relay takes events of its own shop only')
      case 'yes':
    }
    try {
      const verdict = await accept(event)
      if (verdict !== verdicts.stored) policy.giveBack(event, chars)
      reply(client, 'OK', event.id, verdict.accepted, verdict.message)
    } catch (cause) {
      options.log(cause)
      refuse('error: the event could not be stored, try again')
    }
  }

  /**
   * Send the NIP-42 challenge: at the opening where writes are restricted, since some clients authenticate at no other
   * moment, else with the first refusal. Some clients do not work while a challenge is unanswered.
   */
  const challenge = (client: Client) => {
    if (client.challenged) return
    client.challenged = true
    reply(client, 'AUTH', client.challenge)
  }

  const onAuth = (client: Client, value: unknown) => {
    const event = parseEvent(value)
    if (!event) return reply(client, 'OK', idIn(value), false, 'invalid: not a Nostr event')
    const refuse = (message: string) => reply(client, 'OK', event.id, false, message)
    if (!policy.maySend(client.address, 1)) return refuse('rate-limited: slow down')
    const wrong = findAuthError(event, client, now())
    if (wrong !== null) return refuse(wrong)
    if (!verify(event)) return refuse('invalid: id or signature is wrong')
    if (client.authenticated.size >= limits.relayKeysMax) return refuse('restricted: too many keys')
    client.authenticated.add(event.pubkey)
    reply(client, 'OK', event.id, true, '')
  }

  const onMessage = (client: Client, message: ClientMessage, chars: number) => {
    switch (message.type) {
      case 'EVENT':
        return onEvent(client, message.event, chars)
      case 'REQ':
        return subscriptions.open(client, message.name, message.filters)
      case 'COUNT':
        return subscriptions.count(client, message.name, message.filters)
      case 'CLOSE':
        return subscriptions.close(client, message.name)
      case 'AUTH':
        return onAuth(client, message.event)
      case 'refused':
        subscriptions.close(client, message.name)
        return reply(client, 'CLOSED', message.name, message.reason)
      case 'unknown':
        return reply(client, 'NOTICE', message.reason)
    }
  }

  /** Handle the inbox of a client in order, as long as it reads the answers. */
  const work = async (client: Client | undefined) => {
    if (!client || client.working) return
    client.working = true
    while (client.inbox.length > 0) {
      if (!clients.has(client.connection) || !readers.hasRoom(client.connection)) break
      const text = client.inbox.shift() ?? ''
      const message = parseClientMessage(text)
      const handling = handle(client, text, message)
      // A REQ is answered before the next message. Events are not awaited, so that they share a commit.
      if (message.type === 'REQ' || message.type === 'COUNT') await handling
    }
    client.working = false
  }

  const handle = async (client: Client, text: string, message: ClientMessage) => {
    try {
      const free = message.type === 'EVENT' || message.type === 'AUTH' || message.type === 'CLOSE'
      if (free || client.inside || policy.mayAsk(client.address)) {
        await onMessage(client, message, text.length)
      } else if ('name' in message) {
        subscriptions.close(client, message.name)
        reply(client, 'CLOSED', message.name, 'rate-limited: slow down')
      } else {
        close(client.connection)
        options.drop(client.connection, 'too many messages that are not understood')
      }
    } catch (cause) {
      options.log(cause)
    } finally {
      handled(client.connection, weightOf(text))
    }
  }

  const close = (connection: number): void => {
    readers.close(connection)
    forget(connection)
  }

  return {
    open(connection: number, peer: Peer): void {
      const client: Client = {
        ...peer,
        connection,
        challenge: randomBytes(16).toString('hex'),
        challenged: false,
        authenticated: new Set(),
        inbox: [],
        working: false,
      }
      clients.set(connection, client)
      readers.open(connection)
      if (!client.inside && !policy.open()) challenge(client)
    },

    close,

    /** Handle one message of a client. Never throws. */
    message(connection: number, text: string): void {
      const client = clients.get(connection)
      client?.inbox.push(text)
      void work(client)
    },

    flushed: readers.flushed,
    accept,

    superseded: events.superseded,

    /**
     * Find the events of one filter, newest first. `asker` is the client address of an HTTP request, which has the
     * same quota as over a WebSocket. Null for the service itself.
     */
    async query(filter: Filter, asker: string | null): Promise<NostrEvent[] | 'rate-limited'> {
      if (asker !== null && !policy.mayAsk(asker)) return 'rate-limited'
      const { events, rowsRead } = await subscriptions.select([filter])
      if (asker !== null) policy.charge(asker, rowsRead)
      return events.map(({ event }) => event)
    },
  }
}

const verdicts: Record<Stored, Verdict> = {
  stored: { accepted: true, message: '' },
  duplicate: { accepted: true, message: 'duplicate: already have this event' },
  older: { accepted: false, message: 'duplicate: a newer version is stored' },
  deleted: { accepted: false, message: 'blocked: deleted by its author' },
}

/** The refusal of an event from the future, or null. Clients only: such events would stay first in every list. */
function untimely(event: NostrEvent, now: number): string | null {
  const ahead = event.created_at - now
  return ahead > limits.relayAheadSeconds ? 'invalid: created_at is too far ahead' : null
}

/** The id for the OK of an unreadable event, or ''. */
function idIn(value: unknown): string {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : ''
  return typeof id === 'string' && /^[0-9a-f]{64}$/.test(id) ? id : ''
}
