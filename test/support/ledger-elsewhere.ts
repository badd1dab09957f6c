import type { ServerWebSocket } from 'bun'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { type Filter, parseFilter } from '../../src/nostr/filter.ts'
import { newSigner } from './client.ts'
import { createEvent } from './events.ts'
import { startFaultyRelay, tell } from './faulty-relay.ts'
import { matches } from './matches.ts'

type Asked = { socket: ServerWebSocket<undefined>; name: string; filters: Filter[] }

/** A ledger for tests, behind its own relay: it answers a start event when the test tells it to. */
export function startLedgerElsewhere(port = 0, signer: Signer = newSigner()) {
  const asked: Asked[] = []
  /** The reaction to a start event as soon as it comes; null: none. */
  let reaction: ((start: NostrEvent) => void) | null = null
  const starts: NostrEvent[] = []
  const relay = startFaultyRelay(
    {
      req(socket, name, message) {
        const filters = message.slice(2).flatMap((value) => parseFilter(value) ?? [])
        asked.push({ socket, name, filters })
        return false
      },
      event(_, event) {
        const start = event.tags.some(([, value]) => value === 'internal-transaction-start')
        if (start && !starts.some(({ id }) => id === event.id)) {
          starts.push(event)
          const react = reaction
          if (react) setTimeout(() => react(event), 1)
        }
        return false
      },
    },
    port,
  )

  /** Publish an event: kept, and sent to whoever asked for it. */
  const send = (event: NostrEvent) => {
    relay.stored.push(event)
    for (const { socket, name, filters } of asked) {
      if (filters.some((filter) => matches(filter, event))) tell(socket, 'EVENT', name, event)
    }
  }

  const answer = (start: NostrEvent, type: string, content: string, by = signer) => {
    const parties = start.tags.filter(([name]) => name === 'delegation' || name === 'p')
    const event = createEvent({
      kind: 1112,
      signer: by,
      tags: [...parties.map(([, key = '']) => ['p', key]), ['e', start.id], ['t', type]],
      content,
    })
    send(event)
    return event
  }

  return {
    relay,
    signer,
    pubkey: signer.pubkey,
    starts,
    ok: (start: NostrEvent, by = signer) =>
      answer(start, 'internal-transaction-ok', start.content, by),
    error: (start: NostrEvent, ...messages: string[]) =>
      answer(start, 'internal-transaction-error', JSON.stringify({ messages })),
    /** Do so with every start event from now on. */
    always(react: ((start: NostrEvent) => void) | null) {
      reaction = react
    },
    send,
  }
}
