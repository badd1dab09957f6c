import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Database, Locking } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { classOf, expirationOf } from '../nostr/kind-class.ts'
import type { DueDelivery, OutboxStore, Outcome, Priority, Room } from './outbox-store.ts'
import type { Answered, RelayAnswer } from './relays-conversation.ts'

/** Somewhere events are delivered to. */
export type Destination = {
  /** A relay's address, or `embedded`. */
  relay: string
  /** False while nothing can be delivered: waiting costs no attempt. */
  ready(): boolean
  /**
   * Give it an event, which is JSON. Null when no answer came in time; `late` is told of one that comes
   * afterwards. Never rejects.
   */
  deliver(text: string, late: (answer: Answered) => void): Promise<RelayAnswer>
  inFlightMax: number
}

type OutboxOptions = {
  database: Database<{ outbox: OutboxStore }>
  jobs: Jobs
  now: Clock
  /** Deliveries came to their end. */
  ended: (state: 'delivered' | 'refused' | 'expired', count: number) => void
  failed: (cause: unknown) => void
}

/** Delivers the events that wait for one destination. No request waits for it. */
export type Courier = {
  /** Something new is due. */
  wake(): void
  /** The destination came back: everything that waits for it is due now. */
  makeDue(): void
  /** What gets no answer from here on counts as not tried. */
  stop(): Promise<void>
}

/** `deleted:` is how relays, ours too, keep out what its author deleted (NIP-09). */
const finalPrefixes = ['blocked:', 'invalid:', 'pow:', 'restricted:', 'deleted:']

/** Unix seconds after which an event is no longer tried. */
export function giveUpAt(event: NostrEvent, now: number): number {
  const patience =
    classOf(event.kind) === 'ephemeral' ? limits.ephemeralSeconds : limits.deliverySeconds
  return Math.min(now + patience, expirationOf(event) ?? Number.MAX_SAFE_INTEGER)
}

/** What an answer means for a delivery. `duplicate:` is as good as OK. */
export function judge(answer: RelayAnswer): 'delivered' | 'refused' | 'pending' {
  if (!answer) return 'pending'
  if (answer.accepted || answer.message.startsWith('duplicate:')) return 'delivered'
  return finalPrefixes.some((prefix) => answer.message.startsWith(prefix)) ? 'refused' : 'pending'
}

/**
 * Seconds to the next attempt after `attempts` that failed before this one; `jitter` from 0 to 1. At
 * most 5 at first, then doubling to a minute, and 10 minutes once the event is an hour old.
 */
export function retryDelay(attempts: number, ageSeconds: number, jitter: number): number {
  const base = ageSeconds < 3600 ? Math.min(60, 4 * 2 ** Math.min(attempts, 10)) : 600
  return Math.ceil(base * (0.5 + jitter / 2))
}

/** Give up some of what waits for relays other than these; false when nothing does. */
export async function retireOthers(
  tx: { outbox: OutboxStore } & Locking,
  relays: readonly string[],
  now: number,
): Promise<boolean> {
  const left = await tx.outbox.left(relays, limits.sweepRowsMax)
  if (!left) return false
  await tx.lock(...left.ids.map((id) => ({ queued: id })))
  await tx.outbox.retire(left, now)
  return true
}

function of(priority: Priority): (item: DueDelivery) => boolean {
  return (item) => item.priority === priority
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Start delivering to one destination. */
export function startCourier(to: Destination, options: OutboxOptions): Courier {
  const { database, jobs, now, ended, failed } = options
  const inFlight = new Map<number, Promise<void>>()
  /** Deliveries sent in the last second. Only these hold an in-flight slot. */
  const held = new Set<DueDelivery>()
  let unanswered = 0
  /** When a poison event had its turn last. */
  let poisonAt = now()
  let stopped = false
  let reconnected = false
  /** An outcome could not be written down; the next round fails with its cause. */
  let unwritten: { cause: unknown } | null = null
  let waiting: { outcomes: Outcome[]; written: Promise<void> } | null = null

  /** Null: it was cut short by us. */
  const attempt = async (item: DueDelivery): Promise<Outcome | null> => {
    const { outboxId } = item
    const answer = await to.deliver(item.text, (late) => void accept(outboxId, late))
    if (answer === null && stopped) return null
    const state = judge(answer)
    // Some relays close at what they do not like, such as a large event.
    const poison = answer === null && !to.ready()
    const seldom = poison && item.priority === 'poison' && item.attempts >= limits.poisonAttempts
    const age = seldom ? Number.POSITIVE_INFINITY : now() - item.acceptedAt
    const delay = retryDelay(item.attempts, age, Math.random())
    const silence = poison ? 'the connection ended' : 'no answer'
    return {
      outboxId,
      state,
      attempts: 1,
      nextAt: Math.min(now() + delay, item.giveUpAt),
      error: state === 'delivered' ? null : (answer?.message ?? silence),
      poison,
    }
  }

  /** Results of one turn of the loop are written together: each alone costs more than delivering. */
  const write = (outcome: Outcome): Promise<void> => {
    if (waiting === null) {
      const outcomes: Outcome[] = []
      const written = nextTurn().then(() => {
        waiting = null
        const roots = outcomes.map(({ outboxId }) => ({ queued: outboxId }))
        return database.transact({ roots }, (tx) => tx.outbox.record(to.relay, outcomes, now()))
      })
      waiting = { outcomes, written }
    }
    waiting.outcomes.push(outcome)
    return waiting.written
  }

  const launch = async (item: DueDelivery) => {
    const leave = () => {
      held.delete(item)
      job.wake()
    }
    held.add(item)
    unanswered += item.text.length
    const timer = setTimeout(leave, limits.relayPlaceSeconds * 1000)
    try {
      const outcome = await attempt(item)
      if (outcome === null) return
      await write(outcome)
      if (outcome.state !== 'pending') ended(outcome.state as 'delivered' | 'refused', 1)
    } catch (cause) {
      pause(cause)
    } finally {
      clearTimeout(timer)
      unanswered -= item.text.length
      inFlight.delete(item.outboxId)
      leave()
    }
  }

  /** An answer that came after it was given up: what it says is final counts all the same. */
  const accept = async (outboxId: number, answer: Answered) => {
    const state = judge(answer)
    if (state === 'pending' || stopped) return
    const error = state === 'delivered' ? null : answer.message
    try {
      const nextAt = now()
      await write({ outboxId, state, attempts: 0, nextAt, error, poison: false })
      ended(state, 1)
    } catch (cause) {
      pause(cause)
    }
  }

  /** A delivery whose outcome cannot be written down would be sent again and again. */
  const pause = (cause: unknown) => {
    unwritten = { cause }
    job.wake()
  }
  const throwUnwritten = () => {
    const failure = unwritten
    unwritten = null
    if (failure) throw failure.cause
  }

  /** Seconds until the next round, at the latest. */
  const round = async (): Promise<number> => {
    throwUnwritten()
    const madeAll = await makeDue()
    const expired = await expire()
    const room = roomNow()
    if (room.places > 0 && to.ready()) {
      const due = await database.snapshot((tx) => tx.outbox.due(to.relay, now(), room, inFlight))
      if (stopped) return 0
      if (due.some(({ priority }) => priority === 'poison' || room.poison)) poisonAt = now()
      for (const item of due) inFlight.set(item.outboxId, launch(item))
    }
    return madeAll && expired.all ? secondsUntilDue(expired.next) : 0
  }

  /** False while some that wait for a destination that came back are still not due. */
  const makeDue = async (): Promise<boolean> => {
    if (!reconnected) return true
    const most = limits.sweepRowsMax
    reconnected = false
    try {
      const made = await database.transact({ roots: 'none' }, (tx) =>
        tx.outbox.makeDue(to.relay, now(), most),
      )
      reconnected ||= made === most
      return made < most
    } catch (cause) {
      reconnected = true
      throw cause
    }
  }

  const roomNow = (): Room => {
    const holding = [...held]
    // A poison event may end the connection: it goes alone.
    const full = unanswered >= limits.relayUnansweredCharsMax || holding.some(of('poison'))
    const later = Math.ceil(to.inFlightMax * limits.relayLaterShare)
    return {
      places: full ? 0 : to.inFlightMax - held.size,
      later: later - holding.filter(of('later')).length,
      held: held.size > 0,
      poison: now() - poisonAt >= limits.poisonTurnSeconds,
    }
  }

  const nextGiveUp = async () =>
    (await database.snapshot((tx) => tx.outbox.nextGiveUp())) ?? Number.POSITIVE_INFINITY

  /** Give up deliveries whose time is over, in steps. Those under way keep theirs until they end. */
  const expire = async (): Promise<{ all: boolean; next: number }> => {
    const next = await nextGiveUp()
    if (next > now()) return { all: true, next }
    const most = limits.sweepRowsMax
    const count = await database.transact({ roots: [] }, async (tx) => {
      const overdue = await tx.outbox.overdue(to.relay, now(), most, inFlight)
      await tx.lock(...overdue.map((id) => ({ queued: id })))
      return tx.outbox.expire(to.relay, overdue, now())
    })
    if (count > 0) ended('expired', count)
    return { all: count < most, next: await nextGiveUp() }
  }

  const secondsUntilDue = async (nextGiveUpAt: number): Promise<number> => {
    // A delivery that holds a slot wakes the courier when it leaves.
    const idle = held.size === 0 && to.ready()
    const due = idle ? await database.snapshot((tx) => tx.outbox.nextDue(to.relay)) : null
    return Math.max(Math.min(due ?? nextGiveUpAt, nextGiveUpAt) - now(), 1)
  }

  const job = jobs.start({
    run: round,
    // Never long: clocks are set, and a wake may have been missed.
    everySeconds: limits.courierNapSeconds,
    lease: `courier ${to.relay}`,
    failed,
  })
  job.wake()
  return {
    wake: job.wake,
    makeDue() {
      reconnected = true
      job.wake()
    },
    async stop() {
      stopped = true
      await job.stop()
      await Promise.all(inFlight.values())
      await waiting?.written.catch(failed)
    },
  }
}
