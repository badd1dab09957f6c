import { expect } from 'bun:test'
import { npubOf } from '../../../src/nostr/keys.ts'
import { type Json, newSigner } from '../../support/client.ts'
import { databaseOf } from '../../support/database.ts'
import type { Caller, Documented } from '../../support/documented.ts'
import { createEvent } from '../../support/events.ts'
import { startFaultyRelay, stopRelays, tell } from '../../support/faulty-relay.ts'
import { newLedger } from '../../support/ledger.ts'
import { startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const publishing = 'POST /nostr/publish'
const fetching = 'POST /nostr/fetch'

const noteOf = ({ signer }: Caller, parts: Json = {}) =>
  createEvent({ signer, content: '', ...parts })

export function testGateway({ scenario, newCaller, printed }: Documented): void {
  scenario('an event is published, and asked for', async () => {
    const caller = await newCaller()
    const { ask, refused } = caller
    const event = noteOf(caller)
    await ask(publishing, { body: event })
    const state = 'GET /nostr/publish/{id}'
    await ask(state, { path: `/nostr/publish/${event.id}` })
    await refused(state, 'event-unknown', { path: '/nostr/publish/x' })
    await ask(fetching, { body: { ids: [event.id] } })
    await refused(fetching, 'not-json-filter', { body: '[]' })
    await refused(fetching, 'filter-invalid', { body: { limit: -1 } })
  })

  scenario('an event that is none, or for no relay', async () => {
    const caller = await newCaller()
    const { refused } = caller
    const event = noteOf(caller)
    await refused(publishing, 'not-json-event', { body: 'x' })
    await refused(publishing, 'not-acceptable', { body: event, headers: { Accept: 'text/html' } })
    await refused(publishing, 'event-invalid', { body: { ...event, content: 'x' } })
    const delegated = noteOf(caller, { tags: [['delegation']] })
    await refused(publishing, 'delegation-invalid', { body: delegated })
    await refused(publishing, 'event-not-publishable', { body: noteOf(caller, { kind: 20_402 }) })
    await refused(publishing, 'too-large', { body: 'x'.repeat(300_000) })
  })

  scenario('the balances of a key', async () => {
    const { ask, refused, signer } = await newCaller()
    const balances = 'GET /api/ledger/balances/{key}'
    const ofKey = (key: string) => ({ path: `/api/ledger/balances/${key}` })
    await ask(balances, ofKey(signer.pubkey))
    await refused(balances, 'account-unknown', ofKey('x'))
    await refused(balances, 'account-not-yours', ofKey(newSigner().pubkey))
  })

  scenario('a transaction of the examples, and what became of it', async () => {
    const { manager, issuer, env } = newLedger()
    const at = await startServer({ env })
    const { ask, send, signer } = await newCaller({ at })
    const [start, filter] = printed.answers.flatMap(({ place, route, value }) =>
      route === null && place.startsWith('ledger.md') ? [value] : [],
    )
    expect(filter).toMatchObject({ authors: [start.tags[0][1]], '#e': [start.id] })
    const names = [['p', manager.pubkey], ['p', signer.pubkey], start.tags.at(-1)]
    const { kind, content } = start
    const event = createEvent({ kind, content, tags: names, signer: issuer })
    await ask(publishing, { body: event })
    const body = { ...filter, authors: [manager.pubkey], '#e': [event.id] }
    const tags = [
      ['p', issuer.pubkey],
      ['p', signer.pubkey],
      ['e', event.id],
    ]
    const ok = ['t', 'internal-transaction-ok']
    let found: Json
    await until('the answer is on the relay', async () => {
      found = await ask(fetching, { body })
      return found.length > 0
    })
    expect(found).toMatchObject([{ content, tags: [...tags, ok] }])
    await send('GET /api/ledger/balances/{key}', { path: { key: npubOf(signer.pubkey) } })
  })

  scenario('a gateway whose relays are away', async () => {
    const at = await startServer({ env: { RELAYS: 'ws://127.0.0.1:9' } })
    const { refused } = await newCaller({ at })
    await refused(fetching, 'relays-silent', { body: {} })
    const load = [{ keys: [1], by: { events: 1_000_000_000 } }]
    await databaseOf(at.dataDir).count('outbox_load', load)
    await refused(publishing, 'outbox-full', { body: createEvent() })
  })

  scenario('a gateway whose relay is unwilling', async () => {
    const rude = startFaultyRelay({
      req(socket, name) {
        tell(socket, 'CLOSED', name, 'blocked: you')
        return true
      },
    })
    const at = await startServer({ env: { RELAYS: rude.url } })
    await until('connected', () => rude.open() === 1)
    const { refused } = await newCaller({ at })
    await refused(fetching, 'relays-refused', { body: {} })
    await stopRelays()
  })

  scenario('a gateway that is not for strangers', async () => {
    const origin = 'https://cupones.example'
    const at = await startServer({ env: { PUBLIC_URL: origin } })
    const { refused } = await newCaller({ at, origin })
    await refused(publishing, 'not-allowed', { body: createEvent() })
  })
}
