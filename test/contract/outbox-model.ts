import { expect } from 'bun:test'
import type { Outcome, Priority } from '../../src/gateway/outbox-store.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { at, event, found } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

type State = 'pending' | 'delivered' | 'refused' | 'expired'
type ModelDelivery = { state: State; attempts: number; nextAt: number; priority: Priority }
type ModelEvent = { giveUpAt: number; done: boolean; deliveries: Map<string, ModelDelivery> }

const steps = 250
const relays = ['wss://a', 'wss://b', 'wss://c']
const none = new Map<number, unknown>()
const everything = { places: 10_000, later: 10_000, held: false, poison: false }

/** Random deliveries beside a Map: what is due, what became of each, and what the outbox carries. */
export function modelOutbox(it: It<CouponTx>): void {
  const seed = chooseSeed()
  it(`random deliveries agree with a plain map, SEED=${seed}`, async (stores) => {
    const random = new Random(seed)
    const events = new Map<number, ModelEvent>()
    const rowOf = new Map<number, number>()
    let now = at
    let next = 1

    const finish = (model: ModelEvent) => {
      model.done = [...model.deliveries.values()].every(({ state }) => state !== 'pending')
    }
    const waiting = (relay: string) =>
      [...events].flatMap(([number, { deliveries }]) => {
        const delivery = deliveries.get(relay)
        return delivery?.state === 'pending' ? [{ number, delivery }] : []
      })
    const add = async (tx: CouponTx) => {
      const number =
        events.size > 0 && random.chance(0.3) ? random.pick([...events.keys()]) : next++
      const wanted = relays.filter(() => random.chance(0.6))
      if (wanted.length === 0) wanted.push(random.pick(relays))
      const priority = random.pick(['own', 'others', 'others', 'later'] as const)
      const giveUpAt = now + 20 + random.below(100)
      await tx.outbox.add(event(number), wanted, { now, giveUpAt, priority })
      const model = events.get(number) ?? { giveUpAt, done: false, deliveries: new Map() }
      if (model.done) Object.assign(model, { giveUpAt, done: false })
      events.set(number, model)
      for (const relay of wanted) {
        if (model.deliveries.get(relay)?.state === 'pending') continue
        model.deliveries.set(relay, { state: 'pending', attempts: 0, nextAt: now, priority })
      }
    }
    const attempt = async (tx: CouponTx) => {
      const relay = random.pick(relays)
      const rows = await tx.outbox.due(relay, now, everything, none)
      for (const { outboxId, text } of rows) rowOf.set(outboxId, numberIn(text))
      const ready = waiting(relay).filter(({ delivery }) => delivery.nextAt <= now)
      const clean = ready.filter(({ delivery }) => delivery.priority !== 'poison')
      const wanted = clean.length > 0 ? clean : ready.slice(0, 1)
      expect(rows).toHaveLength(wanted.length)
      const outcomes = rows
        .filter(() => random.chance(0.7))
        .map((row): Outcome => {
          const state = random.pick([
            'delivered',
            'delivered',
            'refused',
            'pending',
            'pending',
          ] as const)
          const poison = state === 'pending' && random.chance(0.2)
          const { outboxId } = row
          return {
            outboxId,
            state,
            attempts: 1,
            nextAt: now + random.below(9),
            error: null,
            poison,
          }
        })
      await tx.outbox.record(relay, outcomes, now)
      for (const { outboxId, state, nextAt, poison } of outcomes) {
        const model = found(events.get(found(rowOf.get(outboxId))))
        const delivery = found(model.deliveries.get(relay))
        const { attempts, priority } = delivery
        const failed = priority === 'own' ? 'own' : 'later'
        Object.assign(delivery, { state, attempts: attempts + 1, nextAt })
        if (state !== 'delivered') delivery.priority = poison ? 'poison' : failed
        finish(model)
      }
    }
    const giveUp = async (tx: CouponTx) => {
      const relay = random.pick(relays)
      const ids = await tx.outbox.overdue(relay, now, 10_000, none)
      const late = waiting(relay).filter(({ number }) => found(events.get(number)).giveUpAt <= now)
      expect(ids).toHaveLength(late.length)
      expect(await tx.outbox.expire(relay, ids, now)).toBe(late.length)
      for (const { number, delivery } of late) {
        delivery.state = 'expired'
        finish(found(events.get(number)))
      }
    }
    const recall = async (tx: CouponTx) => {
      if (events.size === 0) return
      const [number, model] = random.pick([...events])
      await tx.outbox.recall(event(number).id, 'taken back', now)
      for (const delivery of model.deliveries.values()) {
        if (delivery.state === 'pending') delivery.state = 'expired'
      }
      finish(model)
    }
    const compare = () =>
      stores.read(async (tx) => {
        for (const [number, { deliveries }] of events) {
          const rows = found(await tx.outbox.find(event(number).id))
          const wanted = [...deliveries]
            .map(([relay, { state, attempts }]) => ({ relay, state, attempts }))
            .sort((a, b) => (a.relay < b.relay ? -1 : 1))
          expect(rows.map(({ lastError: _, ...rest }) => rest)).toEqual(wanted)
        }
        const open = [...events].filter(([, { done }]) => !done).map(([number]) => number)
        const bytes = open.reduce((sum, number) => sum + sizeOf(number), 0)
        expect(await tx.outbox.load()).toEqual({ events: open.length, bytes })
        for (const relay of relays) {
          const times = waiting(relay).map(({ delivery }) => delivery.nextAt)
          const soonest = times.length > 0 ? Math.min(...times) : null
          expect(await tx.outbox.nextDue(relay)).toBe(soonest)
        }
      })

    for (let step = 0; step < steps; step++) {
      now += random.below(5)
      await stores.write(async (tx) => {
        const roll = random.next()
        if (roll < 0.4) return add(tx)
        if (roll < 0.85) return attempt(tx)
        if (roll < 0.95) return giveUp(tx)
        return recall(tx)
      })
      if (step % 50 === 49) await compare()
    }
    await compare()
  })
}

function numberIn(text: string): number {
  return Number.parseInt(JSON.parse(text).id, 16)
}

function sizeOf(number: number): number {
  return Buffer.byteLength(JSON.stringify(event(number)))
}
