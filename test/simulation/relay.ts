import type { RelayAccess } from '../../src/gateway/access.ts'
import type { Answered, Subscription } from '../../src/gateway/relays-conversation.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { createMatcher, type Filter } from '../../src/nostr/filter.ts'
import type { Random } from '../fuzz/random.ts'
import type { Loop } from './loop.ts'
import type { Process } from './process.ts'

/** Seconds that a service waits for the answer of a relay. */
const patienceSeconds = 10

/**
 * A relay outside. It keeps every event that arrives, and tells those who subscribed. Events and answers are lost,
 * doubled or late, connections end, and it goes down.
 */
export class Relay {
  readonly url: string
  readonly events = new Map<string, NostrEvent>()
  #up = true
  healed = false
  readonly #loop: Loop
  readonly #random: Random
  readonly #links = new Set<Link>()

  constructor(url: string, loop: Loop, random: Random) {
    this.url = url
    this.#loop = loop
    this.#random = random
  }

  /** Go down, or come up again. */
  turn(up: boolean): void {
    this.#up = up
    for (const link of this.#links) up ? link.connect() : link.drop()
  }

  /** Take an event from anybody. */
  take(event: NostrEvent): void {
    const fresh = !this.events.has(event.id)
    this.events.set(event.id, event)
    for (const link of fresh ? this.#links : []) this.#tell(link, event)
    // Some relays tell an event twice.
    if (fresh && this.#chance(0.1)) for (const link of this.#links) this.#tell(link, event)
  }

  #tell(link: Link, event: NostrEvent): void {
    if (this.#chance(0.1)) return
    this.#later(() => link.hear(event))
  }

  #chance(probability: number): boolean {
    return !this.healed && this.#random.chance(probability)
  }

  #later(call: () => void): void {
    this.#loop.after(
      this.#chance(0.1) ? 3 + this.#random.below(20) : this.#random.below(4) / 10,
      call,
    )
  }

  /** The access of a process. */
  access(process: Process, now: () => number): RelayAccess {
    const link = new Link(process, this)
    this.#links.add(link)
    process.onEnd(() => this.#links.delete(link))
    if (this.#up) this.#later(() => link.connect())
    let since: number | null = null
    link.onConnected(() => {
      since = now()
    })
    const deliver = (text: string, late: (answer: Answered) => void) => {
      process.touch()
      return this.#deliver(link, JSON.parse(text) as NostrEvent, late)
    }
    return {
      ...{ relay: this.url, inFlightMax: 8, deliver },
      ready: () => link.connected,
      connectedAt: () => (link.connected ? since : null),
      connectionError: () => null,
      query: async (filters) => (link.connected ? this.find(filters) : null),
      subscribe: (subscription) => link.subscribe(subscription),
      onConnected: (listener) => link.onConnected(listener),
      close: () => link.drop(),
    }
  }

  find(filters: readonly Filter[]): NostrEvent[] {
    const matchers = filters.map((filter) => createMatcher(filter))
    return [...this.events.values()].filter((event) => matchers.some((match) => match(event)))
  }

  #deliver(
    link: Link,
    event: NostrEvent,
    late: (answer: Answered) => void,
  ): Promise<Answered | null> {
    const { promise, resolve } = Promise.withResolvers<Answered | null>()
    if (!link.connected) return Promise.resolve(null)
    let over = false
    const giveUp = this.#loop.after(patienceSeconds, () => {
      over = true
      resolve(null)
    })
    const answer = (answered: Answered) => {
      if (!link.process.alive || this.#chance(0.1)) return
      giveUp()
      if (over) late(answered)
      else resolve(answered)
      over = true
    }
    if (this.#chance(0.05)) {
      // Some relays hang up at an event.
      giveUp()
      link.drop()
      this.#later(() => this.#up && link.connect())
      resolve(null)
    } else if (!this.#chance(0.1)) {
      this.#later(() => {
        if (!this.#up) return
        const known = this.events.has(event.id)
        const busy = this.#chance(0.1)
        if (!busy) this.take(event)
        const message = busy ? 'error: busy' : known ? 'duplicate: known' : ''
        this.#later(() => answer({ accepted: !busy && !known, message }))
      })
    }
    return promise
  }
}

/** The connection of a process to a relay. */
class Link {
  connected = false
  readonly process: Process
  readonly #relay: Relay
  readonly #listeners: (() => void)[] = []
  readonly #subscriptions: Subscription[] = []

  constructor(process: Process, relay: Relay) {
    this.process = process
    this.#relay = relay
  }

  connect(): void {
    if (this.connected || !this.process.alive) return
    this.connected = true
    for (const subscription of this.#subscriptions) this.#ask(subscription)
    for (const listener of this.#listeners) listener()
  }

  drop(): void {
    this.connected = false
  }

  onConnected(listener: () => void): void {
    this.#listeners.push(listener)
  }

  subscribe(subscription: Subscription): () => void {
    this.#subscriptions.push(subscription)
    const ask = () => this.#ask(subscription)
    ask()
    return ask
  }

  #ask({ filters, wanted, event: take }: Subscription): void {
    if (!this.connected) return
    for (const event of this.#relay.find(filters())) if (wanted(event.id)) take(event)
  }

  hear(event: NostrEvent): void {
    if (!this.connected || !this.process.alive) return
    for (const { filters, wanted, event: take } of this.#subscriptions) {
      if (filters().some((filter) => createMatcher(filter)(event)) && wanted(event.id)) take(event)
    }
  }
}
