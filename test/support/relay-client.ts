import type { NostrEvent } from '../../src/nostr/event.ts'
import type { Json } from './client.ts'
import { patienceSeconds } from './until.ts'

export type Message = [type: string, ...rest: Json[]]

/** A bare NIP-01 client: sends what it is told, keeps what comes. */
export type RelayClient = {
  messages: Message[]
  send(...message: unknown[]): void
  /** Text as it stands, or bytes. */
  sendRaw(data: string | Uint8Array<ArrayBuffer>): void
  /** Publish an event; accepted or not, and the message. */
  publish(event: NostrEvent): Promise<[accepted: boolean, message: string]>
  /** Ask until EOSE, then close; the ids in order. */
  idsOf(...filters: unknown[]): Promise<string[]>
  count(...filters: unknown[]): Promise<Json>
  /** Open a subscription; resolves at its EOSE. */
  subscribe(name: string, ...filters: unknown[]): Promise<void>
  /** Events that came for a subscription, in order. */
  eventsOf(name: string): NostrEvent[]
  /** Wait for a message, among those that are there already too. */
  wait(matches: (message: Message) => boolean): Promise<Message>
  /** The connection's end: its code. */
  closed: Promise<number>
  close(): void
}

const open = new Set<WebSocket>()

/** Close what tests left open. */
export function closeClients(): void {
  for (const socket of open) socket.close()
  open.clear()
}

let serial = 0

/** Connect to the relay of a server. */
export async function connectRelay(
  base: string,
  headers: Record<string, string> = {},
): Promise<RelayClient> {
  const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/relay`, { headers } as never)
  open.add(socket)
  const messages: Message[] = []
  const waiting = new Set<(message: Message) => void>()
  const closed = Promise.withResolvers<number>()
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    messages.push(message)
    for (const look of waiting) look(message)
  }
  socket.onclose = ({ code }) => closed.resolve(code)
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new Error('the relay does not answer'))
  })
  const wait: RelayClient['wait'] = (matches) => {
    const there = messages.find(matches)
    if (there) return Promise.resolve(there)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look)
        reject(new Error(`not among ${JSON.stringify(messages.slice(-5)).slice(0, 1000)}`))
      }, patienceSeconds * 1000)
      const look = (message: Message) => {
        if (!matches(message)) return
        clearTimeout(timer)
        waiting.delete(look)
        resolve(message)
      }
      waiting.add(look)
    })
  }
  const client: RelayClient = {
    messages,
    closed: closed.promise,
    wait,
    send: (...message) => socket.send(JSON.stringify(message)),
    sendRaw: (data) => socket.send(data),
    async publish(event) {
      const from = messages.length
      client.send('EVENT', event)
      const answers = ([type, id]: Message) => type === 'OK' && id === event.id
      const [, , accepted, message] = await wait(
        (one) => answers(one) && messages.indexOf(one, from) >= 0,
      )
      return [accepted, message]
    },
    async idsOf(...filters) {
      const name = `ask-${++serial}`
      client.send('REQ', name, ...filters)
      const [type, , reason] = await wait(
        ([type, about]) => about === name && (type === 'EOSE' || type === 'CLOSED'),
      )
      if (type === 'CLOSED') throw new Error(reason)
      client.send('CLOSE', name)
      return client.eventsOf(name).map(({ id }) => id)
    },
    async count(...filters) {
      const name = `count-${++serial}`
      client.send('COUNT', name, ...filters)
      return (await wait(([type, about]) => type === 'COUNT' && about === name))[2]
    },
    async subscribe(name, ...filters) {
      const before = messages.length
      client.send('REQ', name, ...filters)
      await wait((one) => one[0] === 'EOSE' && one[1] === name && messages.indexOf(one) >= before)
    },
    eventsOf: (name) =>
      messages.flatMap(([type, about, event]) =>
        type === 'EVENT' && about === name ? [event] : [],
      ),
    close: () => socket.close(),
  }
  return client
}
