/** A subscription that is opened while an event is stored: a server shows it a moment before it answers the commit. */
import { expect, test } from 'bun:test'
import { createSubscriptions } from '../../src/relay/subscriptions.ts'
import { createEvent } from '../support/events.ts'

const event = createEvent({ kind: 1 })
const client = { connection: 1, address: '192.0.2.1', origins: [] }

function create() {
  const sent: string[] = []
  const subscriptions = createSubscriptions({
    events: {
      find: async () => ({
        events: [{ event, text: JSON.stringify(event) }],
        rowsRead: 1,
        truncated: false,
      }),
      count: () => Promise.reject(new Error('nobody counts')),
    },
    now: () => 1000,
    charge: () => undefined,
    send: (_, text) => void sent.push(JSON.parse(text)[0]),
  })
  const open = () => subscriptions.open(client, 'a', [{ kinds: [1], tags: new Map() }])
  return { subscriptions, open, sent }
}

test('an event that is shown before it is told is sent once, and again only if it is told again', async () => {
  const { subscriptions, open, sent } = create()
  await subscriptions.whileStored(event.id, async () => {
    await open()
    subscriptions.pass(event)
  })
  expect(sent).toEqual(['EVENT', 'EOSE'])
  subscriptions.pass(event)
  expect(sent).toEqual(['EVENT', 'EOSE', 'EVENT'])
})

test('an event whose storing has ended is sent as often as it is told', async () => {
  const { subscriptions, open, sent } = create()
  const failed = subscriptions.whileStored(event.id, () => Promise.reject(new Error('no room')))
  await expect(failed).rejects.toThrow('no room')
  await open()
  subscriptions.pass(event)
  expect(sent).toEqual(['EVENT', 'EOSE', 'EVENT'])
})
