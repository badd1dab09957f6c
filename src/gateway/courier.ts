import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { nextTurn } from '../base/next-turn.ts'
import type { Database } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import { giveUpOverdue, judge, retryDelay } from './outbox.ts'
import type { DueDelivery, OutboxStore, Outcome, Priority, Room, UnderWay } from './outbox-store.ts'
import type { Answered, RelayAnswer } from './relays-conversation.ts'

/** A relay as the target of deliveries. */
export type Destination = {
  /** A relay's address, or `embedded`. */
  relay: string
  /** False while nothing can be delivered. Waiting for it counts no attempt. */
  ready(): boolean
  /**
   * Send an event (JSON). Null when no answer came in time; `late` gets an answer that comes after that.
   * Never rejects.
   */
  deliver(text: string, late: (answer: Answered) => void): Promise<RelayAnswer>
  inFlightMax: number
}

type OutboxOptions = {
  database: Database<{ outbox: OutboxStore }>
  jobs: Jobs
  now: Clock
  /** Count deliveries that have ended. */
  ended: (state: 'delivered' | 'refused' | 'expired', count: number) => void
  failed: (cause: unknown) => void
}

/** Delivers the events that wait for one destination. No request waits for it. */
export type Courier = {
  /** A delivery is due. */
  wake(): void
  /** The relay is connected again: all its pending deliveries are due now. */
  makeDue(): void
  /** Stop. A delivery without an answer from here on counts as not tried. */
  stop(): Promise<void>
}

/** The deliveries under way to one relay, and the room for more. `freed` is called when a slot is free. */
function createSlots(
  inFlightMax: number,
  { jobs, now }: Pick<OutboxOptions, 'jobs' | 'now'>,
  freed: () => void,
) {
  const underWay = new Map<number, Promise<void>>()
  /** Deliveries sent in the last second. Only these hold an in-flight slot. */
  const held = new Set<DueDelivery>()
  let unanswered = 0
  /** Unix seconds of the last turn of a poison event. */
  let poisonAt = now()
  const hold = async (item: DueDelivery, carry: (item: DueDelivery) => Promise<void>) => {
    const leave = () => {
      held.delete(item)
      freed()
    }
    held.add(item)
    unanswered += item.text.length
    const cancel = jobs.after(limits.relayPlaceSeconds, leave)
    await carry(item)
    cancel()
    unanswered -= item.text.length
    underWay.delete(item.outboxId)
    leave()
  }
  return {
    /** By the row id of the event. */
    underWay: underWay as ReadonlyMap<number, Promise<void>>,
    idle: () => held.size === 0,
    room(): Room {
      const holding = [...held]
      // A poison event goes alone, because it may end the connection.
      const full = unanswered >= limits.relayUnansweredCharsMax || holding.some(of('poison'))
      const later = Math.ceil(inFlightMax * limits.relayLaterShare)
      return {
        places: full ? 0 : inFlightMax - held.size,
        later: later - holding.filter(of('later')).length,
        held: held.size > 0,
        poison: now() - poisonAt >= limits.poisonTurnSeconds,
      }
    },
    /** Start deliveries that fit into `room`; `carry` never rejects. */
    start(due: readonly DueDelivery[], room: Room, carry: (item: DueDelivery) => Promise<void>) {
      if (due.some(({ priority }) => priority === 'poison' || room.poison)) poisonAt = now()
      for (const item of due) underWay.set(item.outboxId, hold(item, carry))
    },
  }
}

/** Writes the outcomes of one turn of the event loop together: a commit for each would cost more than its delivery. */
function createOutcomeWriter({ database, now, ended }: OutboxOptions, relay: string) {
  let waiting: { outcomes: Outcome[]; written: Promise<void> } | null = null
  const unstored: Outcome[] = []
  const store = async (outcomes: readonly Outcome[]) => {
    const roots = outcomes.map(({ outboxId }) => ({ queued: outboxId }))
    await database.transact({ roots }, (tx) => tx.outbox.record(relay, outcomes, now()))
    for (const { state } of outcomes) if (state !== 'pending') ended(state, 1)
  }
  return {
    /** Resolves when the outcome is on disk. If it rejects, the outcome is kept for `writeAgain`. */
    write(outcome: Outcome): Promise<void> {
      if (waiting === null) {
        const outcomes: Outcome[] = []
        const written = nextTurn().then(async () => {
          waiting = null
          try {
            await store(outcomes)
          } catch (cause) {
            unstored.push(...outcomes)
            throw cause
          }
        })
        waiting = { outcomes, written }
      }
      waiting.outcomes.push(outcome)
      return waiting.written
    },
    /** Write what could not be stored, in steps. */
    async writeAgain(): Promise<void> {
      while (unstored.length > 0) {
        const step = unstored.slice(0, limits.sweepRowsMax)
        await store(step)
        unstored.splice(0, step.length)
      }
    },
    /** Resolves when nothing waits to be written. */
    written: async () => waiting?.written,
  }
}

/** The outcome of an attempt with this answer. `connected` is the state of the relay after it. */
function outcomeOf(
  item: DueDelivery,
  answer: RelayAnswer,
  { connected, now }: { connected: boolean; now: number },
): Outcome {
  const state = judge(answer)
  // Some relays hang up at an event that they do not accept, such as a large one.
  const poison = answer === null && !connected
  const seldom = poison && item.priority === 'poison' && item.attempts >= limits.poisonAttempts
  const age = seldom ? Number.POSITIVE_INFINITY : now - item.acceptedAt
  const delay = retryDelay(item.attempts, age, Math.random())
  const silence = poison ? 'the connection ended' : 'no answer'
  return {
    outboxId: item.outboxId,
    state,
    attempts: 1,
    nextAt: Math.min(now + delay, item.giveUpAt),
    error: state === 'delivered' ? null : (answer?.message ?? silence),
    poison,
  }
}

/** Expire overdue deliveries, in steps. One under way expires only after its attempt. */
async function expireOverdue(
  { database, now, ended }: OutboxOptions,
  relay: string,
  underWay: UnderWay,
): Promise<{ all: boolean; next: number }> {
  const nextGiveUp = async () =>
    (await database.snapshot((tx) => tx.outbox.nextGiveUp())) ?? Number.POSITIVE_INFINITY
  const next = await nextGiveUp()
  if (next > now()) return { all: true, next }
  const most = limits.sweepRowsMax
  const count = await database.transact({ roots: [] }, (tx) =>
    giveUpOverdue(tx, relay, { now: now(), underWay }),
  )
  if (count > 0) ended('expired', count)
  return { all: count < most, next: await nextGiveUp() }
}

function of(priority: Priority): (item: DueDelivery) => boolean {
  return (item) => item.priority === priority
}

/** Start the courier of one relay. */
export function startCourier(to: Destination, options: OutboxOptions): Courier {
  const { database, jobs, now, failed } = options
  const slots = createSlots(to.inFlightMax, options, () => job.wake())
  const outcomes = createOutcomeWriter(options, to.relay)
  let stopped = false
  let reconnected = false

  /** The outcome of one attempt, or null when our own stop cut it short. */
  const attempt = async (item: DueDelivery): Promise<Outcome | null> => {
    const answer = await to.deliver(item.text, (late) => accept(item.outboxId, late))
    if (answer === null && stopped) return null
    return outcomeOf(item, answer, { connected: to.ready(), now: now() })
  }

  /** Write an outcome. Never rejects. */
  const settle = async (found: Outcome | null | Promise<Outcome | null>) => {
    try {
      const outcome = await found
      if (outcome !== null) await outcomes.write(outcome)
    } catch (cause) {
      job.fail(cause)
    }
  }

  /** Take a late answer. A final one counts; any other changes nothing. */
  const accept = (outboxId: number, answer: Answered) => {
    const state = judge(answer)
    if (state === 'pending' || stopped) return
    const error = state === 'delivered' ? null : answer.message
    void settle({ outboxId, state, attempts: 0, nextAt: now(), error, poison: false })
  }

  /** One round. Resolves to the seconds until the next one. */
  const round = async (): Promise<number> => {
    // Without a stored outcome the same event would be sent again and again.
    await outcomes.writeAgain()
    const madeAll = await makeDue()
    const expired = await expireOverdue(options, to.relay, slots.underWay)
    const room = slots.room()
    if (room.places > 0 && to.ready()) {
      const due = await database.snapshot((tx) =>
        tx.outbox.due(to.relay, now(), room, slots.underWay),
      )
      if (stopped) return 0
      slots.start(due, room, (item) => settle(attempt(item)))
    }
    return madeAll && expired.all ? secondsUntilDue(expired.next) : 0
  }

  /** Make pending deliveries due after a reconnect, in steps. False while some are left. */
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

  const secondsUntilDue = async (nextGiveUpAt: number): Promise<number> => {
    // A delivery that frees its slot wakes the courier.
    const idle = slots.idle() && to.ready()
    const due = idle ? await database.snapshot((tx) => tx.outbox.nextDue(to.relay)) : null
    return Math.max(Math.min(due ?? nextGiveUpAt, nextGiveUpAt) - now(), 1)
  }

  const job = jobs.start({
    run: round,
    // At least now and then: due times are wall-clock times, and a clock may be set.
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
      // With the lease another node would send at once what is under way here.
      const last = async () => {
        await Promise.all(slots.underWay.values())
        await outcomes.written().catch(failed)
      }
      await job.stop(last)
    },
  }
}
