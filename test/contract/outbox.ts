import { expect } from 'bun:test'
import type { DueDelivery, Outcome, Priority, Room } from '../../src/gateway/outbox-store.ts'
import { at, event, found } from './fixtures.ts'
import type { CouponTx, It, Stores } from './harness.ts'
import { modelOutbox } from './outbox-model.ts'

const relay = 'wss://a'
const roomy: Room = { places: 9, later: 9, held: false, poison: false }
const nothing = new Map<number, unknown>()

function add(
  stores: Stores<CouponTx>,
  number: number,
  { relays = [relay], priority = 'others' as Priority, now = at, giveUpAt = at + 100 } = {},
): Promise<void> {
  return stores.write((tx) => tx.outbox.add(event(number), relays, { now, giveUpAt, priority }))
}

function due(stores: Stores<CouponTx>, room: Partial<Room> = {}, now = at, underWay = nothing) {
  return stores.read((tx) => tx.outbox.due(relay, now, { ...roomy, ...room }, underWay))
}

function numbersOf(deliveries: readonly DueDelivery[]): number[] {
  return deliveries.map(({ text }) => Number.parseInt(JSON.parse(text).id, 16))
}

function record(stores: Stores<CouponTx>, row: DueDelivery, parts: Partial<Outcome>, now = at) {
  const { outboxId } = row
  const outcome = {
    outboxId,
    state: 'pending',
    attempts: 1,
    nextAt: now,
    error: null,
    poison: false,
  }
  return stores.write((tx) => tx.outbox.record(relay, [{ ...outcome, ...parts } as Outcome], now))
}

function stateOf(stores: Stores<CouponTx>, number: number) {
  return stores.read(async (tx) => {
    const deliveries = await tx.outbox.find(event(number).id)
    return deliveries?.map(({ relay, state, attempts }) => `${relay} ${state} ${attempts}`)
  })
}

function load(stores: Stores<CouponTx>) {
  return stores.read((tx) => tx.outbox.load())
}

function sizeOf(number: number): number {
  return Buffer.byteLength(JSON.stringify(event(number)))
}

export function outbox(it: It<CouponTx>): void {
  it('an event is delivered as it was signed', async (stores) => {
    await add(stores, 1, { priority: 'own', giveUpAt: at + 60 })
    const [delivery] = await due(stores)
    expect(delivery).toEqual({
      outboxId: found(delivery).outboxId,
      text: JSON.stringify(event(1)),
      attempts: 0,
      acceptedAt: at,
      giveUpAt: at + 60,
      priority: 'own',
    })
    expect(await load(stores)).toEqual({ events: 1, bytes: sizeOf(1) })
    expect(await stores.read((tx) => tx.outbox.find(event(2).id))).toBeNull()
    expect(await stores.read((tx) => tx.outbox.due('wss://b', at, roomy, nothing))).toEqual([])
  })

  it('of simultaneous writers of one event one stores it, and it counts once', async (stores) => {
    const entry = { now: at, giveUpAt: at + 9, priority: 'others' as const }
    const insert = () => stores.write((tx) => tx.outbox.insert(event(1), [relay], entry))
    const taken = await Promise.all([insert(), insert(), insert()])
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await load(stores)).toEqual({ events: 1, bytes: sizeOf(1) })
    expect(await stateOf(stores, 1)).toEqual(['wss://a pending 0'])
  })

  it('a waiting event goes on waiting when it is stored again, and is also due at a new relay', async (stores) => {
    await add(stores, 1)
    await record(stores, found((await due(stores))[0]), { nextAt: at + 50, error: 'error: ñ' })
    await add(stores, 1, { relays: [relay, 'wss://b'], now: at + 5 })
    expect(await stateOf(stores, 1)).toEqual(['wss://a pending 1', 'wss://b pending 0'])
    expect(await due(stores, {}, at + 49)).toEqual([])
    expect(await load(stores)).toMatchObject({ events: 1 })
  })

  it('an event that ended at a relay is due there again, and its bytes count again', async (stores) => {
    await add(stores, 1)
    await record(stores, found((await due(stores))[0]), { state: 'refused', error: 'blocked: no' })
    expect(await load(stores)).toEqual({ events: 0, bytes: 0 })
    expect(await due(stores)).toEqual([])
    await add(stores, 1, { now: at + 5, giveUpAt: at + 99 })
    expect(await due(stores, {}, at + 5)).toMatchObject([
      { text: JSON.stringify(event(1)), attempts: 0, acceptedAt: at + 5, giveUpAt: at + 99 },
    ])
    expect(await load(stores)).toEqual({ events: 1, bytes: sizeOf(1) })
  })

  it('a relay misses an event that it neither has nor is due to get', async (stores) => {
    const relays = [relay, 'wss://b', 'wss://c']
    const missing = (number: number) =>
      stores.read((tx) => tx.outbox.missing(event(number).id, relays))
    expect(await missing(1)).toEqual(relays)
    await add(stores, 1, { relays: relays.slice(0, 2) })
    expect(await missing(1)).toEqual(['wss://c'])
    await record(stores, found((await due(stores))[0]), { state: 'refused' })
    expect(await missing(1)).toEqual([relay, 'wss://c'])
  })

  it('due events come by priority, the longest due first, up to the room', async (stores) => {
    await add(stores, 1, { priority: 'later' })
    await add(stores, 2, { now: at - 1, priority: 'later' })
    await add(stores, 3)
    await add(stores, 4, { now: at - 1 })
    await add(stores, 5, { priority: 'own' })
    await add(stores, 6, { now: at + 1, priority: 'own' })
    const given = async (room: Partial<Room>) => numbersOf(await due(stores, room))
    expect(await given({})).toEqual([5, 4, 3, 2, 1])
    expect(await given({ later: 1 })).toEqual([5, 4, 3, 2])
    expect(await given({ later: -1 })).toEqual([5, 4, 3])
    expect([await given({ places: 2 }), await given({ places: 0 })]).toEqual([[5, 4], []])
    expect(await given({ places: -1 })).toEqual([])
  })

  it('an event in flight is not due again', async (stores) => {
    for (const number of [1, 2, 3]) await add(stores, number)
    const [first, second] = await due(stores)
    const underWay = new Map([first, second].map((row) => [found(row).outboxId, null]))
    expect(numbersOf(await due(stores, { places: 2 }, at, underWay))).toEqual([3])
  })

  it('a failed event is due later with each attempt, behind those that did not fail', async (stores) => {
    await add(stores, 1)
    await record(stores, found((await due(stores))[0]), { nextAt: at + 4, error: 'error: disk' })
    await add(stores, 2, { now: at + 4 })
    expect(numbersOf(await due(stores, {}, at + 3))).toEqual([])
    const rows = await due(stores, {}, at + 4)
    expect(numbersOf(rows)).toEqual([2, 1])
    expect(rows.map(({ attempts, priority }) => [attempts, priority])).toEqual([
      [0, 'others'],
      [1, 'later'],
    ])
  })

  it('an answer that came late counts no attempt and moves no priority', async (stores) => {
    await add(stores, 1)
    await record(stores, found((await due(stores))[0]), { attempts: 0, error: 'error: disk' })
    expect(await due(stores)).toMatchObject([{ attempts: 0, priority: 'others' }])
  })

  it('an own event keeps its priority when it fails', async (stores) => {
    await add(stores, 1, { priority: 'own' })
    await record(stores, found((await due(stores))[0]), {})
    expect(await due(stores)).toMatchObject([{ attempts: 1, priority: 'own' }])
  })

  it('a poison event is sent alone: when nothing else is due, or at its turn', async (stores) => {
    await add(stores, 1)
    await record(stores, found((await due(stores))[0]), { poison: true })
    await add(stores, 2)
    const given = async (room: Partial<Room>, underWay = nothing) =>
      numbersOf(await due(stores, room, at, underWay))
    expect(await given({})).toEqual([2])
    expect([await given({ poison: true }), await given({ poison: true, held: true })]).toEqual([
      [1],
      [],
    ])
    const second = new Map([[found((await due(stores))[0]).outboxId, null]])
    expect([await given({}, second), await given({ held: true }, second)]).toEqual([[1], []])
  })

  it('a delivered event is dropped once no relay waits for it', async (stores) => {
    await add(stores, 1, { relays: [relay, 'wss://b'] })
    const row = found((await due(stores))[0])
    await record(stores, row, { state: 'delivered' })
    expect(await load(stores)).toEqual({ events: 1, bytes: sizeOf(1) })
    await stores.write((tx) => tx.outbox.recall(event(1).id, 'taken back', at))
    expect(await stateOf(stores, 1)).toEqual(['wss://a delivered 1', 'wss://b expired 0'])
    expect(await load(stores)).toEqual({ events: 0, bytes: 0 })
  })

  it('of simultaneous writers that end one delivery one counts', async (stores) => {
    await add(stores, 1)
    const row = found((await due(stores))[0])
    await Promise.all([
      record(stores, row, { state: 'delivered' }),
      record(stores, row, { state: 'delivered' }),
      record(stores, row, { state: 'refused' }),
    ])
    expect(await load(stores)).toEqual({ events: 0, bytes: 0 })
    const [delivery] = found(await stores.read((tx) => tx.outbox.find(event(1).id)))
    expect(delivery?.attempts).toBe(1)
  })

  it('a late OK counts after the event was given up, and a late refusal does not', async (stores) => {
    await add(stores, 1, { giveUpAt: at })
    await add(stores, 2, { giveUpAt: at })
    const rows = await due(stores)
    await stores.write((tx) =>
      tx.outbox.expire(
        relay,
        rows.map(({ outboxId }) => outboxId),
        at,
      ),
    )
    await record(stores, found(rows[0]), { state: 'delivered', attempts: 0 })
    await record(stores, found(rows[1]), { state: 'refused', attempts: 0, error: 'blocked: no' })
    expect(await stateOf(stores, 1)).toEqual(['wss://a delivered 0'])
    expect(await stateOf(stores, 2)).toEqual(['wss://a expired 0'])
    // Its attempt may have been under way when it was given up.
    await record(stores, found(rows[1]), { state: 'delivered' })
    expect(await stateOf(stores, 2)).toEqual(['wss://a delivered 1'])
  })

  it('an event that a relay refused stays refused', async (stores) => {
    await add(stores, 1)
    const row = found((await due(stores))[0])
    await record(stores, row, { state: 'refused' })
    await record(stores, row, { state: 'delivered', attempts: 0 })
    await stores.write((tx) => tx.outbox.expire(relay, [row.outboxId], at + 1000))
    expect(await stateOf(stores, 1)).toEqual(['wss://a refused 1'])
  })

  it('several outcomes are recorded at once, each with its own values', async (stores) => {
    for (const number of [1, 2, 3]) await add(stores, number)
    const rows = await due(stores)
    const outcome = { attempts: 1, nextAt: at + 9, error: 'x'.repeat(10_000), poison: false }
    await stores.write((tx) =>
      tx.outbox.record(
        relay,
        (['delivered', 'refused', 'pending'] as const).map((state, index) => ({
          ...outcome,
          state,
          outboxId: found(rows[index]).outboxId,
        })),
        at,
      ),
    )
    const states = [await stateOf(stores, 1), await stateOf(stores, 2), await stateOf(stores, 3)]
    expect(states.flat()).toEqual(['wss://a delivered 1', 'wss://a refused 1', 'wss://a pending 1'])
    expect(await load(stores)).toEqual({ events: 1, bytes: sizeOf(3) })
    const [refused] = found(await stores.read((tx) => tx.outbox.find(event(2).id)))
    // As long as we keep it, whatever a relay says.
    expect(found(refused?.lastError).length).toBeLessThan(1000)
  })

  it('no outcome, nothing overdue and no relay change nothing', async (stores) => {
    await add(stores, 1)
    await stores.write(async (tx) => {
      await tx.outbox.record(relay, [], at)
      expect(await tx.outbox.expire(relay, [], at + 1000)).toBe(0)
      await tx.outbox.retire({ relay, ids: [] }, at)
    })
    expect(await stateOf(stores, 1)).toEqual(['wss://a pending 0'])
    expect(await stores.read((tx) => tx.outbox.missing(event(1).id, []))).toEqual([])
  })

  it('the next due time and the next expiry are known, or that there is none', async (stores) => {
    const next = () =>
      stores.read(async (tx) => [await tx.outbox.nextDue(relay), await tx.outbox.nextGiveUp()])
    expect(await next()).toEqual([null, null])
    await add(stores, 1, { now: at + 7, giveUpAt: at + 50 })
    await add(stores, 2, { now: at + 3, giveUpAt: at + 90, priority: 'later' })
    await add(stores, 3, { now: at + 1, giveUpAt: at + 20, relays: ['wss://b'] })
    expect(await next()).toEqual([at + 3, at + 20])
    await stores.write((tx) => tx.outbox.recall(event(3).id, 'x', at))
    expect(await next()).toEqual([at + 3, at + 50])
  })

  it('events that wait for a relay are made due, except poison, a bounded number at a time', async (stores) => {
    for (const [number, priority] of (['own', 'others', 'later', 'poison'] as const).entries()) {
      await add(stores, number, { priority, now: at + 50 })
    }
    await add(stores, 9, { relays: ['wss://b'], now: at + 50 })
    await add(stores, 8, { now: at + 50 })
    await stores.write((tx) => tx.outbox.recall(event(8).id, 'x', at))
    const makeDue = (rowsMax: number) => stores.write((tx) => tx.outbox.makeDue(relay, at, rowsMax))
    expect([await makeDue(2), await makeDue(2), await makeDue(2)]).toEqual([2, 1, 0])
    expect(numbersOf(await due(stores))).toEqual([0, 1, 2])
    expect(await stores.read((tx) => tx.outbox.nextDue('wss://b'))).toBe(at + 50)
  })

  it('events that waited too long for a relay are given up, except those in flight', async (stores) => {
    for (const number of [1, 2, 3]) await add(stores, number, { giveUpAt: at + number })
    await add(stores, 4, { giveUpAt: at + 1, relays: ['wss://b'] })
    const [first] = await due(stores)
    const underWay = new Map([[found(first).outboxId, null]])
    const overdue = (now: number, rowsMax: number) =>
      stores.read((tx) => tx.outbox.overdue(relay, now, rowsMax, underWay))
    const ids = await overdue(at + 3, 9)
    expect(ids).toHaveLength(2)
    expect([await overdue(at + 1, 9), await overdue(at + 3, 1)]).toEqual([[], ids.slice(0, 1)])
    // One is overdue at that second, the other not yet.
    expect(await stores.write((tx) => tx.outbox.expire(relay, ids, at + 2))).toBe(1)
    expect(await stateOf(stores, 2)).toEqual(['wss://a expired 0'])
    expect(await stateOf(stores, 3)).toEqual(['wss://a pending 0'])
    expect(await load(stores)).toMatchObject({ events: 3 })
  })

  it('an event that its author withdrew is not delivered, and a missing one is ignored', async (stores) => {
    await add(stores, 1, { relays: [relay, 'wss://b'] })
    const recall = (number: number) =>
      stores.write((tx) => tx.outbox.recall(event(number).id, 'taken back', at))
    await recall(9)
    await recall(1)
    const states = await stores.read((tx) => tx.outbox.find(event(1).id))
    expect(states?.map(({ state, lastError }) => `${state} ${lastError}`)).toEqual([
      'expired taken back',
      'expired taken back',
    ])
    expect(await load(stores)).toEqual({ events: 0, bytes: 0 })
  })

  it('events that wait for removed relays are retired in parts', async (stores) => {
    await add(stores, 1, { relays: [relay, 'wss://b', 'wss://c'] })
    await add(stores, 2, { relays: ['wss://b'] })
    const step = async () => {
      const left = await stores.read((tx) => tx.outbox.left([relay], 1))
      if (left) await stores.write((tx) => tx.outbox.retire(left, at))
      return left !== null
    }
    expect([await step(), await step(), await step(), await step()]).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(await stateOf(stores, 1)).toEqual([
      'wss://a pending 0',
      'wss://b expired 0',
      'wss://c expired 0',
    ])
    expect(await load(stores)).toEqual({ events: 1, bytes: sizeOf(1) })
  })

  it('finished events from before a time are deleted, a bounded number at a time, and no waiting one', async (stores) => {
    for (const number of [1, 2, 3, 4]) await add(stores, number)
    for (const [index, row] of (await due(stores)).slice(0, 3).entries()) {
      await record(stores, row, { state: 'delivered' }, at + index)
    }
    const prune = (rowsMax: number, before: number) =>
      stores.write((tx) => tx.outbox.prune(rowsMax, before))
    expect([await prune(9, at), await prune(1, at + 2)]).toEqual([0, 1])
    expect([await stateOf(stores, 1), await stateOf(stores, 2)]).toEqual([
      undefined,
      ['wss://a delivered 1'],
    ])
    expect(await prune(9, at + 2)).toBe(1)
    expect(await stateOf(stores, 3)).toEqual(['wss://a delivered 1'])
    expect(await stateOf(stores, 4)).toEqual(['wss://a pending 0'])
  })

  it('the number of waiting events is known for each relay with any', async (stores) => {
    await add(stores, 1, { relays: ['wss://c', relay] })
    await add(stores, 2, { relays: ['wss://c'] })
    await add(stores, 3, { relays: ['wss://b'] })
    await stores.write((tx) => tx.outbox.recall(event(3).id, 'x', at))
    await add(stores, 4)
    await record(stores, found((await due(stores)).at(-1)), { state: 'delivered' })
    expect([...(await stores.read((tx) => tx.outbox.waiting()))]).toEqual([
      [relay, 1],
      ['wss://c', 2],
    ])
  })

  it('an id that is no sha256 is refused, and an undone transaction leaves nothing', async (stores) => {
    const entry = { now: at, giveUpAt: at + 9, priority: 'others' as const }
    await stores.refuses((tx) => tx.outbox.insert({ ...event(1), id: 'ab' }, [relay], entry))
    await add(stores, 1)
    const [row] = await due(stores)
    await stores.undone(async (tx) => {
      await tx.outbox.add(event(2), [relay], entry)
      const { outboxId } = found(row)
      const outcome = { attempts: 1, nextAt: at, error: null, poison: false }
      await tx.outbox.record(relay, [{ ...outcome, outboxId, state: 'delivered' }], at)
      await tx.outbox.prune(9, at + 1)
    })
  })

  modelOutbox(it)
}
