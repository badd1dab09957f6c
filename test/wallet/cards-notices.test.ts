/** The events (kind 31111) by which wallets learn of their cards, read with the functions of the LaWallet client. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  extendedMultiNip04Decrypt,
  getTagValue,
  LaWalletKinds,
  parseContent,
  parseMultiNip04Event,
} from '@lawallet/utils'
import { ConfigTypes } from '@lawallet/utils/types'
import * as nip04 from 'nostr-tools/nip04'
import { limits } from '../../src/base/limits.ts'
import {
  activateCard,
  cardEnv,
  cardEvent,
  type Holder,
  initCard,
  manager,
  newCard,
  newHolder,
} from '../support/cards.ts'
import { runCommand } from '../support/cli.ts'
import { call, type Json, newSigner } from '../support/client.ts'
import { databaseOf } from '../support/database.ts'
import { connectRelay } from '../support/relay-client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { ...cardEnv, RATE_LIMIT: 'off' } })
})
afterAll(cleanUp)

/** The subscription of a LaWallet wallet, as its library sends it. */
const filterOf = (holder: string, type: ConfigTypes) => ({
  kinds: [LaWalletKinds.PARAMETRIZED_REPLACEABLE],
  '#d': [`${holder}:${type}`],
  authors: [manager.pubkey],
  since: 0,
})

const eventsOf = async (holder: Holder, type: ConfigTypes): Promise<Json[]> =>
  (await call(server.url, '/nostr/fetch', { body: filterOf(holder.pubkey, type) })).json

/** The content as a wallet reads it, by both functions of the client; null before the first event. */
async function readBy(holder: Holder, type: ConfigTypes): Promise<Json> {
  const [event] = await eventsOf(holder, type)
  if (!event) return null
  expect(getTagValue(event.tags, 't')).toBe(type)
  const text = await extendedMultiNip04Decrypt(event, holder.pubkey, async (sender, message) =>
    nip04.decrypt(holder.secret, sender, message),
  )
  expect(await parseMultiNip04Event(event, holder.secret.toHex(), holder.pubkey)).toBe(text)
  return parseContent(text)
}
const { DATA, CONFIG } = ConfigTypes

const change = (content: object, holder: Holder) =>
  call(server.url, '/nostr/publish', {
    body: cardEvent('card-config-change', content, { kind: 1112, signer: holder }),
  })
const namesOf = async (holder: Holder) => {
  const cards = (await readBy(holder, CONFIG))?.cards ?? {}
  return Object.values(cards as Record<string, Json>).map(({ name }) => name)
}
const untilNamed = (holder: Holder, ...names: string[]) =>
  until(`the wallet reads ${names}`, async () => Bun.deepEquals(await namesOf(holder), names))

test('a wallet learns of its card after the activation, and of every change', async () => {
  const holder = newHolder()
  const { uuid } = await newCard(server, holder)
  await until('the wallet is told', async () => (await readBy(holder, CONFIG)) !== null)
  const design = { uuid: expect.any(String), name: 'Cuponera', description: '' }
  expect(await readBy(holder, DATA)).toEqual({ [uuid]: { design } })
  expect(await readBy(holder, CONFIG)).toEqual({
    'trusted-merchants': [],
    cards: { [uuid]: { name: 'Cuponera', description: '', status: 'ENABLED', limits: [] } },
  })
  const limit = { name: 'Por pago', description: 'x', token: 'PESO', amount: 70, delta: 0 }
  const merchant = { pubkey: newSigner().pubkey }
  const card = { name: 'La mía ☕', description: 'Café', status: 'DISABLED', limits: [limit] }
  await change({ 'trusted-merchants': [merchant], cards: { [uuid]: card } }, holder)
  await untilNamed(holder, 'La mía ☕')
  expect(await readBy(holder, CONFIG)).toEqual({
    'trusted-merchants': [merchant],
    cards: { [uuid]: card },
  })
  // A wallet sends back what it read, with one thing changed.
  const { cards, ...rest } = await readBy(holder, CONFIG)
  await change({ ...rest, cards: { [uuid]: { ...cards[uuid], name: 'Otra' } } }, holder)
  await untilNamed(holder, 'Otra')
})

test('the last of several changes in a second is what a wallet reads', async () => {
  const { holder, uuid } = await newCard(server)
  for (const name of ['uno', 'dos', 'tres', 'cuatro', 'cinco'])
    expect((await change({ cards: { [uuid]: { name } } }, holder)).status).toBe(202)
  await untilNamed(holder, 'cinco')
  expect(await eventsOf(holder, CONFIG)).toHaveLength(1)
})

test('nobody else reads it, and it names no card in the clear', async () => {
  const { holder, uuid, uid } = await newCard(server)
  await until('the wallet is told', async () => (await readBy(holder, DATA)) !== null)
  for (const type of [DATA, CONFIG]) {
    const [event] = await eventsOf(holder, type)
    expect(event.tags).toEqual([
      ['p', holder.pubkey],
      ['t', type],
      ['d', `${holder.pubkey}:${type}`],
    ])
    expect(Object.keys(JSON.parse(event.content).key)).toEqual([holder.pubkey])
    for (const secret of [uuid, uid, 'Cuponera']) expect(event.content).not.toContain(secret)
    const other = newHolder()
    await expect(parseMultiNip04Event(event, other.secret.toHex(), other.pubkey)).rejects.toThrow(
      'not in receivers',
    )
  }
})

test('a wallet that is connected hears of a card by itself', async () => {
  const holder = newHolder()
  const relay = await connectRelay(server.url)
  relay.send('REQ', 'cards', filterOf(holder.pubkey, CONFIG))
  await newCard(server, holder)
  const [, , event] = await relay.wait((message) => message[0] === 'EVENT')
  expect(getTagValue(event.tags, 'd')).toBe(`${holder.pubkey}:card-config`)
  relay.close()
})

test('a holder that loses a card is told too: to another holder, to the operator, or to a writer', async () => {
  const [first, second] = [newHolder(), newHolder()]
  const { uid } = await newCard(server, first)
  await untilNamed(first, 'Cuponera')
  expect((await runCommand(['cards', 'otc', uid, 'otro código largo'], server)).code).toBe(0)
  expect((await activateCard(server, second, 'otro código largo')).status).toBe(201)
  await untilNamed(first)
  await untilNamed(second, 'Cuponera')
  const statusOf = async () =>
    Object.values((await readBy(second, CONFIG)).cards as Json).map(({ status }: Json) => status)
  expect((await runCommand(['cards', 'disable', uid], server)).code).toBe(0)
  await until('it is blocked', async () => (await statusOf())[0] === 'DISABLED')
  const wipe = cardEvent('card-delete-request', { cid: uid })
  expect((await call(server.url, '/ntag424', { method: 'DELETE', body: wipe })).status).toBe(200)
  await untilNamed(second)
  expect(await readBy(second, DATA)).toEqual({})
})

test('a wallet learns of a new design that a writer gave its card', async () => {
  const { holder, uid, uuid } = await newCard(server)
  await untilNamed(holder, 'Cuponera')
  await initCard(server, uid, { design: { name: 'Feria 2027' } })
  const nameOf = async () => (await readBy(holder, DATA))[uuid].design.name
  await until('the wallet reads the design', async () => (await nameOf()) === 'Feria 2027')
})

test('an event that was owed at the end of the service is published at its next start', async () => {
  const owner = await startServer({ env: cardEnv })
  const holder = newHolder()
  const { otc } = await initCard(owner, '04aabbccddeeff')
  expect((await activateCard(owner, holder, otc)).status).toBe(201)
  await until('told', async () => {
    const rows = await databaseOf(owner.dataDir).all('SELECT told FROM card_notices WHERE told = 1')
    return rows.length === 1
  })
  await owner.stop()
  await databaseOf(owner.dataDir).all('UPDATE card_notices SET changes = 2')
  const again = await startServer({ env: cardEnv, dataDir: owner.dataDir })
  await until('told again', async () => {
    const rows = await databaseOf(again.dataDir).all('SELECT told FROM card_notices WHERE told = 2')
    return rows.length === 1
  })
})

test('a content that is too large for relays is not published', async () => {
  const holder = newHolder()
  const limit = { name: 'n', description: 'd'.repeat(500), token: 'PESO', amount: 1, delta: 0 }
  const rows = Array.from({ length: limits.cardLimitsMax }, () => limit)
  const cards: Json = {}
  for (let count = 0; count < 4; count++) {
    const { uuid } = await newCard(server, holder)
    cards[uuid] = { limits: rows }
  }
  await until('the wallet knows four', async () => (await namesOf(holder)).length === 4)
  await change({ cards }, holder)
  await until('it is told of its cards', async () => {
    const [row] = await databaseOf(server.dataDir).all<{ told: number }>(
      'SELECT told FROM card_notices WHERE holder = ? AND told = changes AND changes = 5',
      Uint8Array.fromHex(holder.pubkey),
    )
    return row !== undefined
  })
  const config = await readBy(holder, CONFIG)
  expect(Object.values(config.cards as Record<string, Json>)[0].limits).toEqual([])
})
