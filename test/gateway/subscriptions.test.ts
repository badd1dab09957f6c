/** The subscription of the ledger at relays outside, over each connection. */
import { afterEach, expect, test } from 'bun:test'
import type { ServerWebSocket } from 'bun'
import { limits } from '../../src/base/limits.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { type Behaviour, startFaultyRelay, stopRelays, tell } from '../support/faulty-relay.ts'
import { balancesOf, createStart, newLedger } from '../support/ledger.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

afterEach(async () => {
  await cleanUp()
  await stopRelays()
})

type Feed = { socket: ServerWebSocket<undefined>; name: string; filters: unknown[] }

/** A relay that records the subscriptions of the ledger, and a service with a ledger. */
async function open(behaviour: Behaviour = {}) {
  const feeds: Feed[] = []
  const relay = startFaultyRelay({
    ...behaviour,
    req(socket, name, message) {
      const text = JSON.stringify(message)
      if (text.includes('internal-transaction-start')) {
        feeds.push({ socket, name, filters: message.slice(2) })
      }
      return behaviour.req?.(socket, name, message) ?? false
    },
  })
  const ledger = newLedger()
  const server = await startServer({ env: { ...ledger.env, RELAYS: relay.url } })
  await until('asked', () => feeds.length > 0)
  const shop = newSigner()
  const issue = (amount: number): NostrEvent =>
    createStart({
      ledger: ledger.manager.pubkey,
      from: ledger.issuer,
      to: shop.pubkey,
      tokens: { ARS: amount },
    })
  const has = async (amount: number) => (await balancesOf(server.url, shop)).ARS === amount
  return { relay, feeds, ledger, server, issue, has }
}

const last = <T>(list: readonly T[]): T => list.at(-1) as T

test('subscribes to the events of this ledger, from ten minutes ago on', async () => {
  const { feeds, ledger, issue, has } = await open()
  const { socket, name, filters } = last(feeds)
  expect(filters).toEqual([
    {
      kinds: [1112],
      since: expect.any(Number),
      limit: limits.fetchMax,
      '#p': [ledger.manager.pubkey],
      '#t': ['internal-transaction-start'],
    },
  ])
  const [{ since }] = filters as [{ since: number }]
  expect(secondsNow() - since).toBeWithin(600, 660)
  tell(socket, 'EVENT', name, issue(3))
  await until('settled', () => has(3))
})

test('drops forged events and events that it did not subscribe to', async () => {
  const { feeds, ledger, issue, has, relay } = await open()
  const { socket, name } = last(feeds)
  const good = issue(3)
  tell(socket, 'EVENT', name, { ...good, content: '{"tokens":{"ARS":9}}' })
  tell(socket, 'EVENT', name, { ...good, sig: '0'.repeat(128) })
  tell(socket, 'EVENT', name, { ...issue(9), kind: 1 })
  const other = createStart({ ...unasked(ledger) })
  tell(socket, 'EVENT', name, other)
  tell(socket, 'EVENT', 'another', issue(9))
  tell(socket, 'EVENT', name, 'x')
  tell(socket, 'EVENT', name, good)
  await until('settled', () => has(3))
  expect(relay.connections()).toBe(1)
  for (let at = 0; at < limits.relayWrongMax; at++) tell(socket, 'EVENT', name, other)
  await until('given up', () => relay.connections() === 2)
})

/** A start event for a ledger of somebody else. */
function unasked({ issuer }: ReturnType<typeof newLedger>) {
  return { ledger: newSigner().pubkey, from: issuer, to: newSigner().pubkey, tokens: { ARS: 1 } }
}

test('subscribes again over the next connection', async () => {
  const { feeds, issue, has, relay } = await open()
  relay.stored.push(issue(4))
  last(feeds).socket.close()
  await until('settled', () => has(4))
  expect(feeds).toHaveLength(2)
})

test('authenticates to a relay that asks before it serves', async () => {
  let known = false
  const { issue, has, feeds } = await open({
    open: (socket) => tell(socket, 'AUTH', 'who are you'),
    auth(socket, event) {
      known = true
      tell(socket, 'OK', event.id, true, '')
    },
    req(socket, name) {
      if (known) return false
      tell(socket, 'CLOSED', name, 'auth-required: members only')
      return true
    },
  })
  await until('asked again', () => known && feeds.length > 0)
  const { socket, name } = last(feeds)
  tell(socket, 'EVENT', name, issue(2))
  await until('settled', () => has(2))
})
