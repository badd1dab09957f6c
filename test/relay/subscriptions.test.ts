/** Subscriptions whose stored events were committed just before: with PostgreSQL they are told as new ones afterwards. */
import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { createSubscriptions } from '../../src/relay/subscriptions.ts'
import { createEvent } from '../support/events.ts'

const [stored, later] = [createEvent({ kind: 1 }), createEvent({ kind: 1 })]
const client = { connection: 1, address: '192.0.2.1', origins: [] }

function open(number = 1) {
  let now = 1000
  const sent: string[] = []
  const events = Array.from({ length: number }, (_, at) => {
    const event = at === 0 ? stored : { ...stored, id: at.toString(16).padStart(64, '0') }
    return { event, text: JSON.stringify(event) }
  })
  const subscriptions = createSubscriptions({
    events: {
      find: async () => ({ events, rowsRead: number, truncated: false }),
      count: () => Promise.reject(new Error('nobody counts')),
    },
    now: () => now,
    charge: () => undefined,
    send: (_, text) => {
      const [type, name, event] = JSON.parse(text)
      if (type === 'EVENT' && [stored.id, later.id].includes(event.id))
        sent.push(`${name} ${event.id}`)
    },
  })
  return { subscriptions, sent, pass: (seconds: number) => (now += seconds) }
}

test('a stored event that is told as new is not sent again, and a later one is sent', async () => {
  const { subscriptions, sent } = open()
  await subscriptions.open(client, 'a', [{ kinds: [1], tags: new Map() }])
  for (const event of [stored, later]) subscriptions.pass(event)
  expect(sent).toEqual([`a ${stored.id}`, `a ${later.id}`])
})

test('stored events are known for as long as news may be late', async () => {
  const { subscriptions, sent, pass } = open()
  await subscriptions.open(client, 'a', [{ kinds: [1], tags: new Map() }])
  pass(limits.newsSilenceSeconds - 1)
  subscriptions.pass(stored)
  expect(sent).toEqual([`a ${stored.id}`])
  pass(1)
  subscriptions.pass(stored)
  expect(sent).toEqual([`a ${stored.id}`, `a ${stored.id}`])
})

test('of too many stored events the oldest are forgotten', async () => {
  const { subscriptions, sent } = open(limits.relayLimitMax)
  const full = limits.relaySentKnownMax / limits.relayLimitMax
  for (let at = 0; at <= full; at++) {
    const other = { ...client, connection: at, address: `192.0.2.${at}` }
    await subscriptions.open(other, `a${at}`, [{ kinds: [1], tags: new Map() }])
  }
  sent.length = 0
  subscriptions.pass(stored)
  expect(sent).toEqual([`a0 ${stored.id}`])
})
