import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createStores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { createJobs, systemTime } from '../../src/db/jobs.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { type Courier, startCourier } from '../../src/gateway/courier.ts'
import { giveUpAt, judge, retireOthers, retryDelay } from '../../src/gateway/outbox.ts'
import { enqueue, overall } from '../../src/gateway/publish.ts'
import { reconnectDelay } from '../../src/gateway/relays.ts'
import type { Answered, RelayAnswer } from '../../src/gateway/relays-conversation.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { newSigner } from '../support/client.ts'
import { createEvent } from '../support/events.ts'
import { alone, createLeases } from '../support/jobs.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { until } from '../support/until.ts'

const start = 1_800_000_000
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(cleanUp)

describe('the meaning of a relay’s answer', () => {
  test.each<[RelayAnswer, string]>([
    [null, 'pending'],
    [{ accepted: true, message: '' }, 'delivered'],
    [{ accepted: true, message: 'duplicate: have it' }, 'delivered'],
    [{ accepted: false, message: 'duplicate: have it' }, 'delivered'],
    [{ accepted: false, message: 'blocked: you' }, 'refused'],
    [{ accepted: false, message: 'invalid: this' }, 'refused'],
    [{ accepted: false, message: 'pow: 20 bits' }, 'refused'],
    [{ accepted: false, message: 'restricted: members' }, 'refused'],
    [{ accepted: false, message: 'deleted: by its author' }, 'refused'],
    [{ accepted: false, message: 'rate-limited: slow down' }, 'pending'],
    [{ accepted: false, message: 'error: disk' }, 'pending'],
    [{ accepted: false, message: 'auth-required: who?' }, 'pending'],
    [{ accepted: false, message: 'it is blocked: no' }, 'pending'],
    [{ accepted: false, message: '' }, 'pending'],
  ])('%j: %s', (answer, state) => expect(judge(answer)).toBe(state as never))
})

describe('the next attempt', () => {
  test.each<[number, number, number, number]>([
    // attempts before, age, at least, at most
    [0, 0, 2, 4],
    [1, 5, 4, 8],
    [2, 15, 8, 16],
    [3, 30, 16, 32],
    [4, 60, 30, 60],
    [50, 3599, 30, 60],
    [4, 3600, 300, 600],
    [1000, 200_000, 300, 600],
  ])('after %i failures at the age of %i s comes in %i to %i s', (attempts, age, least, most) => {
    expect([retryDelay(attempts, age, 0), retryDelay(attempts, age, 1)]).toEqual([least, most])
  })

  test('to connect is at most a minute away, and at first 2 s', () => {
    expect([1, 2, 6, 7, 99].map((failures) => reconnectDelay(failures, 1))).toEqual([
      2, 4, 60, 60, 60,
    ])
    expect(reconnectDelay(99, 0)).toBe(30)
  })
})

describe('an event is given up', () => {
  const soon = [['expiration', String(start + 30)]]
  test.each<[string, NostrEvent, number]>([
    ['after 72 h', createEvent(), 72 * 3600],
    ['when it expires', createEvent({ tags: soon }), 30],
    ['after a minute when it is ephemeral', createEvent({ kind: 20_001 }), 60],
    ['when an ephemeral one expires', createEvent({ kind: 29_999, tags: soon }), 30],
    [
      'after 72 h when it expires later',
      createEvent({ tags: [['expiration', '9999999999']] }),
      259_200,
    ],
    [
      'after 72 h when its expiration cannot be read',
      createEvent({ tags: [['expiration', 'x']] }),
      259_200,
    ],
  ])('%s', (_, event, seconds) => expect(giveUpAt(event, start)).toBe(start + seconds))
})

test('the state over all relays is pending while one is', () => {
  const over = (...states: string[]) => overall(states.map((state) => ({ state }) as never))
  expect(over('delivered', 'pending', 'refused')).toBe('pending')
  expect(over('delivered', 'delivered')).toBe('delivered')
  expect(over('delivered', 'expired')).toBe('partial')
  expect(over('refused', 'expired')).toBe('failed')
})

describe('a courier', () => {
  test('delivers a waiting event once, and drops it', async () => {
    const box = open()
    const event = await box.put('a')
    const seen = box.carry('a', () => ({ accepted: true, message: '' }))
    await until('delivered', async () => (await box.state(event)) === 'a delivered 1')
    expect(seen).toEqual([event.id])
    expect(await box.load()).toEqual({ events: 0, bytes: 0 })
    expect(box.row(event)).toMatchObject({ event: null, done_at: start })
  })

  test('tries again after a failure, later each time, and says why', async () => {
    const box = open()
    const event = await box.put('a')
    const seen = box.carry('a', () => ({ accepted: false, message: 'error: disk' }))
    for (const [attempts, most] of [4, 8, 16, 32, 60, 60].entries()) {
      await until('tried', async () => (await box.state(event)) === `a pending ${attempts + 1}`)
      const wait = box.delivery(event, 'a').next_at - box.clock.now
      expect(wait).toBeGreaterThanOrEqual(most / 2)
      expect(wait).toBeLessThanOrEqual(most)
      box.clock.now += wait
      box.wake()
    }
    expect(box.delivery(event, 'a').last_error).toBe('error: disk')
    expect(seen.length).toBeGreaterThanOrEqual(6)
  })

  test('tries nothing while the relay is away, and all at once when it is back', async () => {
    const box = open()
    const events = [await box.put('a'), await box.put('a')]
    const relay = { ready: false, fail: true }
    const seen = box.carry(
      'a',
      () => (relay.fail ? null : { accepted: true, message: '' }),
      () => relay.ready,
    )
    await Bun.sleep(30)
    expect(seen).toEqual([])
    relay.ready = true
    box.wake()
    await until('failed', async () => (await box.state(events[1] as NostrEvent)) === 'a pending 1')
    relay.fail = false
    box.couriers[0]?.makeDue()
    for (const event of events) {
      await until('delivered', async () => (await box.state(event)) === 'a delivered 2')
    }
  })

  test('remembers that the relay is back while nothing can be written', async () => {
    const box = open()
    const event = await box.put('a')
    const relay = { fail: true }
    box.carry('a', () => ({ accepted: !relay.fail, message: 'error: not now' }))
    for (let attempts = 1; attempts <= 4; attempts++) {
      await until('tried', async () => (await box.state(event)) === `a pending ${attempts}`)
      if (attempts < 4) box.clock.now = box.delivery(event, 'a').next_at
      box.wake()
    }
    relay.fail = false
    box.broken = true
    box.couriers[0]?.makeDue()
    await until('it failed', () => box.failures.length > 0)
    box.broken = false
    box.clock.now += limits.courierPauseSeconds
    expect(box.delivery(event, 'a').next_at).toBeGreaterThan(box.clock.now)
    box.wake()
    await until('delivered', async () => (await box.state(event)) === 'a delivered 5')
  })

  test('gives up when the time of an event is over, also while the relay is away', async () => {
    const box = open()
    const event = await box.put('a', createEvent({ kind: 20_001 }))
    box.carry(
      'a',
      () => null,
      () => false,
    )
    box.clock.now += 59
    box.wake()
    await Bun.sleep(20)
    expect(await box.state(event)).toBe('a pending 0')
    box.clock.now += 1
    box.wake()
    await until('expired', async () => (await box.state(event)) === 'a expired 0')
    expect(await box.load()).toEqual({ events: 0, bytes: 0 })
  })

  test('counts an answer that came late, and no attempt for it', async () => {
    const box = open()
    const [taken, refused, again] = [await box.put('a'), await box.put('a'), await box.put('a')]
    box.carry('a', () => null)
    for (const event of [taken, refused, again]) {
      await until('tried', async () => (await box.state(event)) === 'a pending 1')
    }
    box.late(taken, { accepted: true, message: '' })
    box.late(refused, { accepted: false, message: 'blocked: no' })
    box.late(again, { accepted: false, message: 'error: disk' })
    await until('delivered', async () => (await box.state(taken)) === 'a delivered 1')
    await until('refused', async () => (await box.state(refused)) === 'a refused 1')
    expect(box.delivery(taken, 'a').last_error).toBeNull()
    expect(box.delivery(refused, 'a').last_error).toBe('blocked: no')
    expect(await box.state(again)).toBe('a pending 1')
    expect(await box.load()).toMatchObject({ events: 1 })
    expect(box.ended).toEqual(['delivered', 'refused'])
  })

  test('waits for answers in flight when the time of an event ends, and counts a late OK', async () => {
    const box = open()
    const [under, given] = [await box.put('a'), await box.put('a')]
    const answer = Promise.withResolvers<RelayAnswer>()
    box.carry('a', ({ id }) => (id === under.id ? answer.promise : null))
    await until('tried', async () => (await box.state(given)) === 'a pending 1')
    box.clock.now += limits.deliverySeconds
    box.wake()
    await until('given up', async () => (await box.state(given)) === 'a expired 1')
    expect(await box.state(under)).toBe('a pending 0')
    answer.resolve({ accepted: true, message: '' })
    await until('delivered', async () => (await box.state(under)) === 'a delivered 1')
    box.late(given, { accepted: false, message: 'blocked: no' })
    box.late(given, { accepted: true, message: '' })
    await until('delivered too', async () => (await box.state(given)) === 'a delivered 1')
    expect(await box.load()).toEqual({ events: 0, bytes: 0 })
  })

  test('that is slow holds up no other', async () => {
    const box = open()
    const event = await box.put('a', createEvent(), ['a', 'b'])
    const answer = Promise.withResolvers<RelayAnswer>()
    box.carry('a', () => answer.promise)
    box.carry('b', () => ({ accepted: true, message: '' }))
    await until('b has it', async () => (await box.state(event)) === 'a pending 0, b delivered 1')
    expect(await box.load()).toMatchObject({ events: 1 })
    answer.resolve({ accepted: false, message: 'blocked: no' })
    await until('a too', async () => (await box.state(event)) === 'a refused 1, b delivered 1')
    expect(await box.load()).toEqual({ events: 0, bytes: 0 })
  })

  test('tries one again in time while another gets no answer', async () => {
    const box = open()
    const [stuck, failing] = [await box.put('a'), await box.put('a')]
    const answer = Promise.withResolvers<RelayAnswer>()
    box.carry('a', ({ id }) =>
      id === stuck.id ? answer.promise : { accepted: false, message: 'error: disk' },
    )
    await until('failed', async () => (await box.state(failing)) === 'a pending 1')
    box.clock.now += 4
    await until('tried again', async () => (await box.state(failing)) === 'a pending 2')
    answer.resolve(null)
  })

  test('gives the others to a relay that closes the connection at one event, and that one seldom', async () => {
    const box = open()
    const poison = await box.put('a')
    const others = [await box.put('a'), await box.put('a'), await box.put('a')]
    const connection = { up: true, ended: Promise.withResolvers<RelayAnswer>() }
    const seen = box.carry(
      'a',
      ({ id }) => {
        if (id === poison.id) {
          connection.up = false
          connection.ended.resolve(null)
        }
        return connection.up ? { accepted: true, message: '' } : connection.ended.promise
      },
      () => connection.up,
    )
    const ends = async (count: number) => {
      await until('it ended', async () => (await box.state(poison)) === `a pending ${count}`)
      // The deliveries in flight with it are recorded with it.
      Object.assign(connection, { up: true, ended: Promise.withResolvers<RelayAnswer>() })
      box.clock.now = box.delivery(poison, 'a').next_at
      box.couriers[0]?.makeDue()
    }
    await ends(1)
    await ends(2)
    for (const event of others) {
      await until('delivered', async () => (await box.state(event)).startsWith('a delivered'))
    }
    await ends(3)
    await until('alone', async () => (await box.state(poison)) === 'a pending 4')
    expect(seen.slice(-2)).toEqual([poison.id, poison.id])
    expect(box.delivery(poison, 'a').last_error).toBe('the connection ended')
    expect(box.delivery(poison, 'a').next_at - box.clock.now).toBeGreaterThanOrEqual(300)
  })

  test('retries a poison event in its turn, even under load', async () => {
    const box = open()
    const poison = await box.put('a')
    const connection = { up: true }
    const unanswered = Promise.withResolvers<RelayAnswer>()
    const seen = box.carry(
      'a',
      ({ id }) => {
        if (id !== poison.id) return unanswered.promise
        connection.up = false
        return null
      },
      () => connection.up,
    )
    await until('it ended', async () => (await box.state(poison)) === 'a pending 1')
    const flow = setInterval(() => {
      void box.put('a', createEvent({ kind: 7 })).then(box.wake)
    }, 200)
    try {
      await until('others come', async () => {
        connection.up = true
        box.wake()
        return seen.length > 3
      })
      box.clock.now += limits.poisonTurnSeconds
      await until('it was tried', async () => (await box.state(poison)) === 'a pending 2')
    } finally {
      clearInterval(flow)
      unanswered.resolve(null)
    }
  })

  test('takes others in while events wait in vain for an answer, as far as memory allows', async () => {
    const box = open()
    const silent = createEvent({ content: 'x'.repeat(limits.relayUnansweredCharsMax / 2) })
    const unanswered = Promise.withResolvers<RelayAnswer>()
    for (let at = 0; at < 6; at++) await box.put('a', createEvent({ kind: 7 }))
    const good = await box.put('a')
    const seen = box.carry('a', ({ kind, content }) =>
      kind === 7 || content === silent.content
        ? unanswered.promise
        : { accepted: true, message: '' },
    )
    await until('delivered', async () => (await box.state(good)) === 'a delivered 1')
    expect(seen).toHaveLength(7)
    for (const signer of [newSigner(), newSigner()]) {
      await box.put('a', createEvent({ content: silent.content, signer }))
    }
    box.wake()
    await until('both are under way', () => seen.length === 9)
    await box.put('a')
    box.wake()
    await Bun.sleep(1500)
    expect(seen).toHaveLength(9)
    unanswered.resolve({ accepted: true, message: '' })
    await until('there is room', () => seen.length === 10)
  })

  test('has no more under way than allowed', async () => {
    const box = open()
    for (let at = 0; at < 10; at++) await box.put('a')
    let now = 0
    let most = 0
    const seen = box.carry('a', async () => {
      most = Math.max(most, ++now)
      await Bun.sleep(2)
      now--
      return { accepted: true, message: '' }
    })
    await until('all are there', () => seen.length === 10)
    await until('nothing waits', async () => (await box.load()).events === 0)
    expect(most).toBe(3)
    expect(new Set(seen).size).toBe(10)
  })

  test('does not repeat a delivery that it cannot record', async () => {
    const box = open()
    await box.put('a')
    const seen = box.carry('a', () => {
      box.broken = true
      return { accepted: true, message: '' }
    })
    await until('it failed', () => box.failures.length > 0)
    await Bun.sleep(50)
    expect(seen).toHaveLength(1)
    expect(box.failures).toHaveLength(1)
  })

  test.each([
    ['a full disk', new Error('full')],
    ['an outage', new Refusal('unavailable')],
  ])('sends nothing after %s before it has recorded what it sent', async (_, failure) => {
    const box = open()
    box.failure = failure
    const event = await box.put('a')
    const seen = box.carry('a', () => {
      box.broken ||= seen.length === 1
      return { accepted: true, message: '' }
    })
    await until('it failed', () => box.failures.length > 0)
    const other = await box.put('a')
    for (const most of [2, 3, 4]) {
      box.clock.now += limits.jobRetrySecondsMax
      box.wake()
      await until('it tried to record', () => box.rejected >= most)
    }
    expect(seen).toEqual([event.id])
    box.broken = false
    box.clock.now += limits.jobRetrySecondsMax
    box.wake()
    await until('delivered', async () => (await box.state(other)) === 'a delivered 1')
    expect(await box.state(event)).toBe('a delivered 1')
    expect(seen).toEqual([event.id, other.id])
    expect(box.ended).toEqual(['delivered', 'delivered'])
    expect(box.failures).toHaveLength(1)
  })
})

test('a courier that stops keeps its lease until its last deliveries have ended', async () => {
  const leases = createLeases()
  const box = open()
  const gate = Promise.withResolvers<RelayAnswer>()
  const seen = box.carry(
    'wss://one',
    () => gate.promise,
    () => true,
    leases,
  )
  const event = await box.put('wss://one')
  box.wake()
  await until('it is sent', () => seen.length === 1)
  const stopping = box.couriers[0]?.stop()
  const others = () => leases.lease('courier wss://one')
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(await others()).toBeNull()
  gate.resolve({ accepted: true, message: '' })
  await stopping
  expect(await others()).not.toBeNull()
  expect(await box.state(event)).toBe('wss://one delivered 1')
})

describe('the outbox', () => {
  test('takes an event once, and a relay it was not meant for before', async () => {
    const box = open()
    const event = await box.put('a')
    await box.put('a', event)
    expect(await box.load()).toMatchObject({ events: 1 })
    box.carry('a', () => ({ accepted: true, message: '' }))
    await until('delivered', async () => (await box.state(event)) === 'a delivered 1')
    await box.put('a', event, ['a', 'b'])
    expect(await box.state(event)).toBe('a delivered 1, b pending 0')
    expect(await box.load()).toMatchObject({ events: 1 })
  })

  test('gives up events for relays that are no longer in the settings', async () => {
    const box = open()
    const event = await box.put('a', createEvent(), ['a', 'b', 'c'])
    const step = () =>
      box.database.transact({ roots: 'none' }, (tx) => retireOthers(tx, ['b'], start))
    expect([await step(), await step(), await step()]).toEqual([true, true, false])
    expect(await box.state(event)).toBe('a expired 0, b pending 0, c expired 0')
    expect(await box.load()).toMatchObject({ events: 1 })
  })

  test('that is full refuses strangers and keeps room for our own', async () => {
    const box = open()
    const fill = (share: number) =>
      box.sql(`UPDATE outbox_load SET events = ${Math.ceil(limits.outboxEventsMax * share)}`)
    fill(limits.outboxOpenShare)
    await expect(box.put('a')).rejects.toMatchObject({
      code: 'outbox-full',
      detail: { retryAfter: 30 },
    })
    await box.put('a', createEvent(), ['a'], 'own')
    fill(1)
    await expect(box.put('a', createEvent(), ['a'], 'own')).rejects.toMatchObject({
      code: 'outbox-full',
    })
    box.sql(`UPDATE outbox_load SET events = 1, bytes = ${limits.outboxBytesMax}`)
    await expect(box.put('a')).rejects.toMatchObject({ code: 'outbox-full' })
  })

  test('that is full still knows an event it has', async () => {
    const box = open()
    const event = await box.put('a')
    box.sql(`UPDATE outbox_load SET events = ${limits.outboxEventsMax}`)
    await box.put('a', event)
    expect(await box.state(event)).toBe('a pending 0')
  })
})

/** An outbox in a file of its own, with a clock that stands still. */
function open() {
  const clock = { now: start }
  const failures: unknown[] = []
  const ended: string[] = []
  const listeners = new Map<string, (answer: Answered) => void>()
  const couriers: Courier[] = []
  const path = join(newDirectory(), 'outbox.db')
  const database = new SqliteEngine({
    path,
    schema: couponSchema,
    now: () => clock.now,
    stores: createStores,
  })
  closers.push(async () => {
    await Promise.all(couriers.map((courier) => courier.stop()))
    await database.close()
  })
  const row = (event: NostrEvent) =>
    query('SELECT * FROM outbox WHERE event_id = unhex(?)', event.id)
  const query = (text: string, ...values: string[]) => {
    using other = new Sqlite(path)
    return other.query<Record<string, unknown>, string[]>(text).get(...values) ?? {}
  }
  const box = {
    clock,
    /** Every write of couriers fails, as on a full disk. */
    broken: false,
    failure: new Error('full'),
    rejected: 0,
    couriers,
    database,
    failures,
    ended,
    /** An answer to what was given up. */
    late: (event: NostrEvent, answer: Answered) => listeners.get(event.id)?.(answer),
    row,
    sql: (text: string) => {
      using other = new Sqlite(path)
      other.run(text)
    },
    wake: () => {
      for (const courier of couriers) courier.wake()
    },
    load: () => database.snapshot((tx) => tx.outbox.load()),
    async put(
      relay: string,
      event = createEvent(),
      relays = [relay],
      priority: 'own' | 'others' | 'later' = 'others',
    ) {
      await database.transact({ roots: 'none' }, (tx) =>
        enqueue(tx.outbox, event, relays, { now: clock.now, priority }),
      )
      return event
    },
    delivery: (event: NostrEvent, relay: string) =>
      query(
        `SELECT d.* FROM deliveries d JOIN outbox o ON o.id = d.outbox_id
         WHERE o.event_id = unhex(?) AND relay = ?`,
        event.id,
        relay,
      ) as unknown as { next_at: number; last_error: string | null; attempts: number },
    async state(event: NostrEvent) {
      const found = await database.snapshot((tx) => tx.outbox.find(event.id))
      return (found ?? []).map((one) => `${one.relay} ${one.state} ${one.attempts}`).join(', ')
    },
    /** Start a courier; the ids it delivered, in order. */
    carry(
      relay: string,
      answer: (event: NostrEvent) => RelayAnswer | Promise<RelayAnswer>,
      ready = () => true,
      leases = alone,
    ) {
      const seen: string[] = []
      const deliver = async (text: string, late: (answer: Answered) => void) => {
        const event = JSON.parse(text) as NostrEvent
        seen.push(event.id)
        listeners.set(event.id, late)
        return answer(event)
      }
      couriers.push(
        startCourier(
          { relay, ready, deliver, inFlightMax: 3 },
          {
            database: {
              snapshot: (query) => database.snapshot(query),
              look: (query) => database.look(query),
              transact(plan, operation) {
                if (!box.broken) return database.transact(plan, operation)
                box.rejected++
                return Promise.reject(box.failure)
              },
            },
            jobs: createJobs(leases, { ...systemTime, seconds: () => clock.now }),
            now: () => clock.now,
            ended: (state) => ended.push(state),
            failed: (cause) => failures.push(cause),
          },
        ),
      )
      return seen
    },
  }
  return box
}
