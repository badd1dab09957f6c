/** kill -9 in the middle of many payments: none is lost or made twice, and an OK stays true. */
import { afterEach, expect, test } from 'bun:test'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { type Json, newSigner } from '../support/client.ts'
import { databaseOf } from '../support/database.ts'
import { stopRelays } from '../support/faulty-relay.ts'
import { balancesOf } from '../support/ledger.ts'
import { startLedgerElsewhere } from '../support/ledger-elsewhere.ts'
import {
  newFundedCard,
  outcomeOf,
  type PaidCard,
  pay,
  payEnv,
  payEvent,
  tap,
} from '../support/payments.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

afterEach(async () => {
  await cleanUp()
  await stopRelays()
})

const shop = newSigner()
const seed = chooseSeed()
const rounds = 3
const perRound = 24

/** Events of tills that wait to be paid with. */
async function requests(server: TestServer, card: PaidCard): Promise<NostrEvent[]> {
  const events: NostrEvent[] = []
  for (let at = 0; at < perRound; at++) {
    const content = { k1: await tap(server, card), npub: npubOf(shop.pubkey), tokens: { PESO: 1 } }
    events.push(payEvent(content))
  }
  return events
}

/** Pay all at once and kill the server when so many were answered; the answers before the kill. */
async function payAndKill(server: TestServer, events: NostrEvent[], answersMax: number) {
  const said = new Map<string, Json>()
  const sent = events.map(async (event) => {
    const answer = await pay(server, event).catch(() => null)
    if (answer) said.set(event.id, answer.json)
    if (said.size >= answersMax) void server.kill()
  })
  if (answersMax === 0) setTimeout(() => void server.kill(), 3)
  await Promise.all(sent)
  await server.kill()
  return said
}

test(`with the embedded ledger, SEED=${seed}`, async () => {
  const random = new Random(seed)
  let server = await startServer({ env: payEnv })
  const card = await newFundedCard(server, { PESO: rounds * perRound })
  const { dataDir } = server
  for (let round = 1; round <= rounds; round++) {
    const events = await requests(server, card)
    const said = await payAndKill(server, events, random.below(perRound))
    server = await startServer({ dataDir, env: payEnv })
    // A payment that was OK has been made, and a repeated request pays once, whatever its first answer was.
    for (const event of events) {
      const { k1 } = JSON.parse(event.content)
      if (said.get(event.id)?.status === 'OK') {
        expect(await outcomeOf(server, k1)).toMatchObject({ status: 'OK', state: 'settled' })
      }
      expect((await pay(server, event)).json).toEqual({ status: 'OK' })
    }
    expect(await balancesOf(server.url, shop)).toEqual({ PESO: perRound * round })
    expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: perRound * (rounds - round) })
  }
  await server.stop()
  expect(await databaseOf(dataDir).problems()).toEqual([])
})

test(`with a ledger elsewhere that accepts and refuses, SEED=${seed}`, async () => {
  const random = new Random(seed)
  const ledger = startLedgerElsewhere()
  const verdicts = new Map<string, 'OK' | 'ERROR'>()
  ledger.always((start) => {
    const verdict = random.chance(0.6) ? 'OK' : 'ERROR'
    verdicts.set(start.id, verdict)
    if (verdict === 'OK') ledger.ok(start)
    else ledger.error(start, 'no')
  })
  const env = { ...payEnv, LEDGER_PUBKEY: ledger.pubkey, RELAYS: ledger.relay.url }
  let server = await startServer({ env })
  const card = await newFundedCard(server, {})
  const { dataDir } = server
  for (let round = 0; round < rounds; round++) {
    const events = await requests(server, card)
    const said = await payAndKill(server, events, random.below(perRound))
    server = await startServer({ dataDir, env })
    await Promise.all(
      events.map(async (event) => {
        const { status } = (await pay(server, event)).json
        const { start } = await outcomeOf(server, JSON.parse(event.content).k1)
        expect(verdicts.get(start)).toBe(status)
        const before = said.get(event.id)
        if (before) expect(before.status).toBe(status)
      }),
    )
  }
  // The ledger saw one transaction for each payment, however often it was requested.
  expect(ledger.starts).toHaveLength(rounds * perRound)
  await server.stop()
  expect(await databaseOf(dataDir).problems()).toEqual([])
})
