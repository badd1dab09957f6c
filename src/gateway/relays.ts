import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { NostrEvent, Signer, VerifyEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'
import {
  type Answered,
  type Conversation,
  createConversation,
  type QueryAnswer,
  type QueryOptions,
  type RelayAnswer,
  type Subscription,
} from './relays-conversation.ts'
import type { NameCheck } from './relays-names.ts'

/** A relay outside, over one connection that is kept open. */
export type RelayLink = {
  url: string
  /** Unix seconds; null while it is not connected. */
  connectedAt(): number | null
  /** The reason for the lack of a connection, or for the end of the last one; null before any error. */
  lastError(): string | null
  /** Null when no answer came in time; `late` gets an answer that comes after that. Never rejects. */
  publish(event: NostrEvent, late?: (answer: Answered) => void): Promise<RelayAnswer>
  /** Never rejects; `silent` while there is no connection. */
  query(filters: readonly Filter[], options: QueryOptions): Promise<QueryAnswer>
  /** Subscribe on this connection and every later one. The returned function asks anew at once. */
  subscribe(subscription: Subscription): () => void
  close(): void
}

type LinkOptions = {
  url: string
  signer: Signer
  verify: VerifyEvent
  names: NameCheck
  now: Clock
  /** A monotonic clock in milliseconds. */
  steady: () => number
  /** Called after each connect. */
  connected: () => void
  /** Called once when the relay cannot be reached any more, not for each retry. */
  lost: (why: string) => void
}

/** Keep one connection to a relay. Reconnects have backoff and jitter, and never end. */
export function openRelayLink(options: LinkOptions): RelayLink {
  const { url, now, steady } = options
  let conversation: Conversation | null = null
  let since: number | null = null
  let lastError: string | null = null
  let failures = 0
  let missed = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let hangUp = (): void => undefined
  const subscriptions: { subscription: Subscription; again: () => void }[] = []
  let closed = false

  const begin = (kept: (typeof subscriptions)[number]) => {
    const talk = conversation
    if (!talk) return
    const later = () =>
      setTimeout(() => {
        if (talk === conversation) kept.again()
      }, limits.relayResubscribeSeconds * 1000).unref()
    kept.again = talk.subscribe(kept.subscription, later)
  }

  const connect = async () => {
    const dialable = await options.names(new URL(url).hostname)
    if (closed) return
    if (!dialable) return retry('the name server does not answer')
    dial()
  }

  const retry = (why: string) => {
    lastError = why
    if (!missed) options.lost(why)
    missed = true
    failures++
    timer = setTimeout(() => void connect(), reconnectDelay(failures, Math.random()) * 1000)
  }

  const dial = () => {
    // No compression: a few bytes from the relay could become any amount of memory.
    const socket = new RelaySocket(url, { perMessageDeflate: false })
    let heard = true
    let openedMs = 0
    let over = false
    let ping: ReturnType<typeof setInterval> | undefined
    const drop = (why: string) => {
      if (over) return
      over = true
      clearTimeout(deadline)
      clearInterval(ping)
      socket.terminate()
      const talk = conversation
      conversation = null
      for (const kept of subscriptions) kept.again = () => undefined
      since = null
      talk?.end()
      if (closed) return
      if (openedMs > 0 && steady() - openedMs > limits.relayStableSeconds * 1000) failures = 0
      retry(why)
    }
    hangUp = () => drop('closed by us')
    const deadline = setTimeout(
      () => drop('no connection in time'),
      limits.relayConnectSeconds * 1000,
    )
    socket.addEventListener('open', () => {
      if (over) return
      clearTimeout(deadline)
      openedMs = steady()
      missed = false
      since = now()
      ping = setInterval(() => {
        if (!heard) return drop('it has gone silent')
        heard = false
        socket.ping()
      }, limits.relayPingSeconds * 1000)
      const { signer, verify } = options
      const send = (text: string) => void socket.send(text)
      conversation = createConversation({ url, signer, verify, now, send, abandon: drop })
      for (const kept of subscriptions) begin(kept)
      options.connected()
    })
    socket.addEventListener('message', ({ data }) => {
      heard = true
      if (!over) conversation?.receive(data)
    })
    socket.addEventListener('pong', () => {
      heard = true
    })
    socket.addEventListener('error', () => drop('no connection'))
    socket.addEventListener('close', ({ code }) =>
      drop(`the relay closed the connection (${code})`),
    )
  }

  void connect()

  return {
    url,
    connectedAt: () => since,
    lastError: () => lastError,

    async publish(event, late = () => undefined) {
      if (!conversation) return null
      return conversation.publish(event, late)
    },

    async query(filters, asked) {
      if (!conversation) return { events: [], ended: 'silent' }
      return conversation.query(filters, asked)
    },

    subscribe(subscription) {
      const kept = { subscription, again: (): void => undefined }
      subscriptions.push(kept)
      begin(kept)
      return () => kept.again()
    },

    close() {
      closed = true
      clearTimeout(timer)
      hangUp()
    },
  }
}

/** Bun's own client, which has more than the DOM types declare. */
const RelaySocket = WebSocket as unknown as new (
  url: string,
  options: Bun.WebSocketOptions,
) => Bun.WebSocket

/** Seconds until a reconnect: doubling up to a minute. Jitter (0 to 1) spreads clients of a relay that is back. */
export function reconnectDelay(failures: number, jitter: number): number {
  return Math.min(60, 2 ** Math.min(failures, 6)) * (0.5 + jitter / 2)
}
