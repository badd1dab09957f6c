import { afterEach, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import type { Database } from '../../src/db/database.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { createConsumer } from '../../src/wallet/consumer.ts'
import { createEvent } from '../support/events.ts'
import { aloneJobs } from '../support/jobs.ts'
import { until } from '../support/until.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** A consumer whose transactions wait for `open`, and what it did. */
function start(consume: (event: NostrEvent) => void = () => undefined) {
  const taken: string[] = []
  const failures: unknown[] = []
  let asked = 0
  const gate = Promise.withResolvers<void>()
  const database = {
    async transact(_plan: unknown, operation: (tx: null) => Promise<unknown>) {
      await gate.promise
      return operation(null)
    },
  } as unknown as Database<null>
  const consumer = createConsumer<null>({
    database,
    jobs: aloneJobs,
    filters: () => [],
    admitted: async ({ content }) => content !== 'no',
    async consume(_, event) {
      consume(event)
      taken.push(event.id)
    },
    failed: (cause) => failures.push(cause),
    pauseSeconds: 0.05,
  })
  consumer.askWith(() => {
    asked++
  })
  stops.push(() => {
    gate.resolve()
    return consumer.stop()
  })
  return { ...consumer.subscription, taken, failures, asked: () => asked, open: gate.resolve }
}

const events = (count: number) => Array.from({ length: count }, () => createEvent())

test('handles each event once and in order, from any relay', async () => {
  const { event, wanted, taken, open } = start()
  const list = events(300)
  for (const one of [...list, ...list]) event(one)
  expect(list.some(({ id }) => wanted(id))).toBe(false)
  open()
  await until('taken', () => taken.length === 300)
  expect(taken).toEqual(list.map(({ id }) => id))
})

test('ignores events that are not admitted', async () => {
  const { event, taken, open } = start()
  const good = createEvent()
  event(createEvent({ content: 'no' }))
  event(good)
  open()
  await until('taken', () => taken.length > 0)
  expect(taken).toEqual([good.id])
})

test('drops events when it is full, and asks for them again', async () => {
  const { event, wanted, taken, asked, open } = start()
  // The first ones are being written already.
  const list = events(limits.transactionsWaitingMax + limits.batchMax + 5)
  for (const one of list) event(one)
  const late = list.filter(({ id }) => wanted(id))
  expect(late.length).toBeGreaterThan(0)
  open()
  await until('asked again', () => asked() === 1)
  for (const one of late) event(one)
  await until('taken', () => taken.length === list.length)
})

test('asks again for events that it could not write', async () => {
  let broken = true
  const { event, wanted, taken, failures, asked, open } = start(() => {
    if (broken) throw new Error('the disk is full')
  })
  const one = createEvent()
  event(one)
  open()
  await until('failed', () => failures.length === 1)
  expect(wanted(one.id)).toBe(true)
  broken = false
  await until('asked again', () => asked() === 1)
  event(one)
  await until('taken', () => taken.length === 1)
})
