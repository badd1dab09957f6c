import type { Clock } from '../base/clock.ts'
import { parseJsonArray } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { parseForeignText } from '../base/words.ts'
import { type NostrEvent, parseEvent, type Signer, type VerifyEvent } from '../nostr/event.ts'
import { createMatcher, type Filter, filterView } from '../nostr/filter.ts'
import { kinds } from '../nostr/kinds.ts'

/** The answer of a relay to an event: its `OK`, or null without one in time. */
export type RelayAnswer = Answered | null

/** An `OK`, in time or not. */
export type Answered = { accepted: boolean; message: string }

/**
 * Bounds of a query: a number of events and of their bytes, but one event in any case. A query of the
 * service itself is `ours`: a slot is reserved for it. There is one at a time.
 */
export type QueryOptions = {
  signal: AbortSignal
  most: number
  bytesMax: number
  ours?: true
}

/** A lasting subscription: every event that matches, stored or new, again after each reconnect. */
export type Subscription = {
  /** Called each time that the subscription begins. */
  filters: () => readonly Filter[]
  /** False for a known event, from any relay. It is not verified again. */
  wanted: (eventId: string) => boolean
  /** Take a verified event that matches the filters. */
  event: (event: NostrEvent) => void
}

/** Verified events that match. `refused` is the message of a relay that refused the query. */
export type QueryAnswer = { events: NostrEvent[]; ended: 'eose' | 'silent' | { refused: string } }

type ConversationParts = {
  url: string
  signer: Signer
  verify: VerifyEvent
  now: Clock
  send: (text: string) => void
  /** End the connection: the relay breaks the protocol or a bound. */
  abandon: (why: string) => void
}

type Publishing = {
  text: string
  settle: (answer: RelayAnswer) => void
  /** The relay's message, when it asked for authentication first. */
  refusal: string | null
  retried: boolean
}

type Asking = {
  text: string
  end: (ended: QueryAnswer['ended']) => void
  event: (event: NostrEvent | null, bytes: number) => void
  notice: string | null
  refusal: string | null
  retried: boolean
}

export type Conversation = ReturnType<typeof createConversation>

/**
 * The client's side of NIP-01 and NIP-42 over one connection. Ours and not nostr-tools' class: that one
 * ends the process when a relay refuses an AUTH (a rejection nobody handles), and writes what a relay
 * sends to the console. Nothing a relay sends is believed unchecked, kept without bound, or thrown.
 */
export function createConversation(parts: ConversationParts) {
  const { url, signer, verify, now, send, abandon } = parts
  const publishing = new Map<string, Publishing>()
  const asking = new Map<string, Asking>()
  /** Queries that wait for a slot of the relay. */
  const queued = new Set<() => void>()
  /** Queries that we ended before the relay did, and the number of events that may still arrive. */
  const left = new Map<string, number>()
  /** Listeners for late answers, by event id. */
  const overdue = new Map<string, (answer: Answered) => void>()
  let serial = 0
  let challenges = 0
  /** The AUTH event that waits for its OK. */
  let proof: string | null = null
  let identity: 'unknown' | 'accepted' | 'refused' = 'unknown'
  let strays = { count: 0, since: now() }
  let wrong = 0

  /** True when the relay asks for authentication. The message is then sent again after it. */
  const postpone = (item: Publishing | Asking, message: string): boolean => {
    if (!message.startsWith('auth-required:') || item.retried || identity === 'refused')
      return false
    item.refusal = message
    if (identity === 'accepted') repeat(item)
    return true
  }

  const repeat = (item: Publishing | Asking) => {
    item.retried = true
    item.refusal = null
    send(item.text)
  }

  const onChallenge = (challenge: unknown) => {
    if (typeof challenge !== 'string' || challenge.length > limits.relayChallengeCharsMax) {
      return onStray()
    }
    if (++challenges > limits.relayChallengesMax) return abandon('it asks who we are too often')
    const tags = [
      ['relay', url],
      ['challenge', challenge],
    ]
    const event = signer.sign({ kind: kinds.clientAuth, created_at: now(), tags, content: '' })
    proof = event.id
    identity = 'unknown'
    send(JSON.stringify(['AUTH', event]))
  }

  const onProof = (accepted: boolean) => {
    proof = null
    identity = accepted ? 'accepted' : 'refused'
    for (const item of [...publishing.values(), ...asking.values()]) {
      if (item.refusal === null) continue
      if (accepted) repeat(item)
      else if ('settle' in item) item.settle({ accepted: false, message: item.refusal })
      else item.end({ refused: item.refusal })
    }
  }

  const onOk = (id: unknown, accepted: unknown, said: unknown) => {
    if (proof !== null && id === proof) return onProof(accepted === true)
    const message = plain(said)
    const item = publishing.get(String(id))
    if (!item) {
      const late = overdue.get(String(id))
      if (!overdue.delete(String(id))) return onStray()
      return late?.({ accepted: accepted === true, message })
    }
    if (accepted === true) item.settle({ accepted: true, message })
    else if (!postpone(item, message)) item.settle({ accepted: false, message })
  }

  const onEvent = (name: unknown, value: unknown, bytes: number) => {
    const item = asking.get(String(name))
    if (item) return item.event(parseEvent(value), bytes)
    const coming = left.get(String(name)) ?? 0
    if (coming > 0) left.set(String(name), coming - 1)
    else onStray()
  }

  const leave = (name: string, events: number) => {
    const [oldest] = left.keys()
    if (oldest !== undefined && left.size >= limits.relayLeftMax) left.delete(oldest)
    left.set(name, events)
  }

  const onWrong = () => {
    if (++wrong > limits.relayWrongMax)
      abandon('it sends events that are not valid or not asked for')
  }

  const onStray = () => {
    if (now() - strays.since >= limits.relayStraySeconds) strays = { count: 0, since: now() }
    if (++strays.count > limits.relayStrayMax) abandon('it sends what nobody asked for')
  }

  const onClosed = (name: unknown, said: unknown) => {
    const item = asking.get(String(name))
    if (!item) return onStray()
    const message = plain(said)
    if (!postpone(item, message)) item.end({ refused: message })
  }

  const full = () => asking.size >= limits.relayQueriesMax

  const begin = (name: string, item: Asking) => {
    asking.set(name, item)
    send(item.text)
  }

  return {
    /** Take one message of the relay. Never throws. */
    receive(data: unknown) {
      // Bun's client collects up to 128 MiB before it hands a message over, and has no lower setting.
      if (typeof data !== 'string' || data.length > limits.relayMessageBytesMax * 2) {
        return abandon('it sends a message that is too long, or no text')
      }
      const message = parseJsonArray(data, limits.relayMessageBytesMax * 2)
      switch (message?.[0]) {
        case 'OK':
          return onOk(message[1], message[2], message[3])
        case 'EVENT':
          return onEvent(message[1], message[2], data.length)
        case 'EOSE':
          if (left.delete(String(message[1]))) return
          return asking.get(String(message[1]))?.end('eose') ?? onStray()
        case 'CLOSED':
          return onClosed(message[1], message[2])
        case 'AUTH':
          return onChallenge(message[1])
        case 'NOTICE':
          for (const item of asking.values()) item.notice = plain(message[1])
          return onStray()
        default:
          return onStray()
      }
    },

    /**
     * Send an event. Null when no answer came in time; `late` gets an answer that comes after that on this
     * connection. Never rejects.
     */
    publish(event: NostrEvent, late: (answer: Answered) => void): Promise<RelayAnswer> {
      overdue.delete(event.id)
      return new Promise((resolve) => {
        const settle = (answer: RelayAnswer) => {
          clearTimeout(timer)
          publishing.delete(event.id)
          resolve(answer)
        }
        const item: Publishing = {
          text: `["EVENT",${JSON.stringify(event)}]`,
          settle,
          refusal: null,
          retried: false,
        }
        const giveUp = () => {
          const [oldest] = overdue.keys()
          if (oldest !== undefined && overdue.size >= limits.relayLateMax) overdue.delete(oldest)
          overdue.set(event.id, late)
          settle(item.refusal === null ? null : { accepted: false, message: item.refusal })
        }
        const timer = setTimeout(giveUp, limits.relayAnswerSeconds * 1000)
        publishing.set(event.id, item)
        send(item.text)
      })
    },

    /** Query until EOSE, the bounds, or `signal`; the subscription is closed in any case. Never rejects. */
    query(filters: readonly Filter[], options: QueryOptions): Promise<QueryAnswer> {
      const { signal, most } = options
      let room = options.bytesMax
      const name = `q${++serial}`
      const events = new Map<string, NostrEvent>()
      const matchers = filters.map(createMatcher)
      return new Promise((resolve) => {
        const start = () => begin(name, item)
        const close = () => send(JSON.stringify(['CLOSE', name]))
        const end = (ended: QueryAnswer['ended']) => {
          signal.removeEventListener('abort', late)
          queued.delete(start)
          if (asking.delete(name)) {
            if (typeof ended !== 'object') close()
            const [next] = queued
            if (next && !full() && queued.delete(next)) next()
          }
          resolve({ events: [...events.values()], ended })
        }
        /** End the query before the relay does. Events that still arrive are no mistake of the relay. */
        const cut = (ended: QueryAnswer['ended']) => {
          if (asking.has(name)) {
            leave(name, most)
            // A notice does not end a query: the relay may still answer.
            if (typeof ended === 'object') close()
          }
          end(ended)
        }
        const late = () => {
          if (item.refusal !== null) return end({ refused: item.refusal })
          cut(item.notice === null ? 'silent' : { refused: item.notice })
        }
        const item: Asking = {
          text: JSON.stringify(['REQ', name, ...filters.map(filterView)]),
          end,
          event(event, bytes) {
            if (!event || !matchers.some((matches) => matches(event)) || !verify(event))
              return onWrong()
            if (events.has(event.id)) return onStray()
            // Events beyond the bounds are cut, but never the first one.
            if (bytes > room && events.size > 0) return cut('eose')
            room -= bytes
            events.set(event.id, event)
            if (events.size >= most) cut('eose')
          },
          notice: null,
          refusal: null,
          retried: false,
        }
        if (signal.aborted) return resolve({ events: [], ended: 'silent' })
        signal.addEventListener('abort', late)
        if (options.ours || !full()) start()
        else queued.add(start)
      })
    },

    /** Subscribe. `ended` is called when the relay closes it. The returned function begins it anew. */
    subscribe({ filters, wanted, event: take }: Subscription, ended: () => void): () => void {
      const name = `s${++serial}`
      const begin = () => {
        const asked = filters()
        const matchers = asked.map(createMatcher)
        const item: Asking = {
          text: JSON.stringify(['REQ', name, ...asked.map(filterView)]),
          end(how) {
            // Stored events have arrived; new ones follow.
            if (how === 'eose') return
            asking.delete(name)
            if (how !== 'silent') ended()
          },
          event(event) {
            if (event && !wanted(event.id)) return
            if (!event || !matchers.some((matches) => matches(event)) || !verify(event))
              return onWrong()
            take(event)
          },
          notice: null,
          refusal: null,
          retried: false,
        }
        asking.set(name, item)
        send(item.text)
      }
      begin()
      return begin
    },

    /** The connection has ended: everything that waits gets no answer. */
    end(): void {
      queued.clear()
      overdue.clear()
      for (const { settle } of [...publishing.values()]) settle(null)
      for (const { end } of [...asking.values()]) end('silent')
    },
  }
}

function plain(value: unknown): string {
  return parseForeignText(value, limits.relayErrorCharsMax) ?? ''
}
