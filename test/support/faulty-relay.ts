import type { ServerWebSocket } from 'bun'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { parseFilter } from '../../src/nostr/filter.ts'
import { matches } from './matches.ts'

type Socket = ServerWebSocket<undefined>
type Message = unknown[]

/** The reactions of a relay to messages; a missing one is the correct reaction. */
export type Behaviour = {
  /** A connection is asked for: false leaves it without an answer for ever. */
  upgrade?: () => boolean
  open?: (socket: Socket) => void
  /** True: the event was handled here. */
  event?: (socket: Socket, event: NostrEvent) => boolean
  req?: (socket: Socket, name: string, message: Message) => boolean
  auth?: (socket: Socket, event: NostrEvent) => void
}

export type FaultyRelay = ReturnType<typeof startFaultyRelay>

const running = new Set<{ stop(): Promise<void> }>()

/** A relay for tests: correct, except where `behaviour` says otherwise. */
export function startFaultyRelay(behaviour: Behaviour = {}, port = 0) {
  /** Every message as it came. */
  const received: Message[] = []
  const stored: NostrEvent[] = []
  const open = new Set<Socket>()
  let connections = 0
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    async fetch(request, bun) {
      if (behaviour.upgrade?.() === false) await new Promise(() => undefined)
      return bun.upgrade(request) ? undefined : new Response('a relay')
    },
    websocket: {
      maxPayloadLength: 64 * 1024 * 1024,
      open(socket: Socket) {
        connections++
        open.add(socket)
        behaviour.open?.(socket)
      },
      close: (socket: Socket) => void open.delete(socket),
      message(socket: Socket, data) {
        const message = JSON.parse(String(data)) as Message
        received.push(message)
        const [type, first] = message
        if (type === 'AUTH') return behaviour.auth?.(socket, first as NostrEvent)
        if (type === 'EVENT') {
          const event = first as NostrEvent
          if (behaviour.event?.(socket, event)) return
          const known = stored.some(({ id }) => id === event.id)
          if (!known) stored.push(event)
          tell(socket, 'OK', event.id, true, known ? 'duplicate: have it' : '')
        }
        if (type === 'REQ') {
          const name = String(first)
          if (behaviour.req?.(socket, name, message)) return
          const filters = message.slice(2).flatMap((value) => parseFilter(value) ?? [])
          for (const event of stored) {
            if (filters.some((filter) => matches(filter, event))) tell(socket, 'EVENT', name, event)
          }
          tell(socket, 'EOSE', name)
        }
      },
    },
  })
  const relay = {
    url: `ws://127.0.0.1:${server.port}`,
    port: server.port as number,
    received,
    stored,
    connections: () => connections,
    open: () => open.size,
    /** How often an event was sent to it. */
    times: (id: string) =>
      received.filter(([type, event]) => type === 'EVENT' && (event as NostrEvent).id === id)
        .length,
    stop: () => server.stop(true),
  }
  running.add(relay)
  return relay
}

/** Send a message to a client. */
export function tell(socket: Socket, ...message: unknown[]): void {
  socket.send(JSON.stringify(message))
}

/** End every relay of this file: for `afterEach`. */
export async function stopRelays(): Promise<void> {
  await Promise.all([...running].map((relay) => relay.stop()))
  running.clear()
}
