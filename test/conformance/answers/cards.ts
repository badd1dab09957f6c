import { randomBytes } from 'node:crypto'
import type { Signer } from '../../../src/nostr/event.ts'
import { signAnew } from '../../support/another-day.ts'
import {
  activateCard,
  asking,
  cardEnv,
  cardEvent,
  delegationOf,
  type Holder,
  manager,
  newCard,
  newHolder,
  newUid,
  scanPath,
  tapQuery,
} from '../../support/cards.ts'
import { type Json, newKey, newSigner } from '../../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../../support/clock.ts'
import { damage, databaseOf } from '../../support/database.ts'
import { type Documented, sharedServer } from '../../support/documented.ts'
import { fund } from '../../support/payments.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const initialising = 'POST /ntag424'
const linking = 'PATCH /ntag424'
const wiping = 'DELETE /ntag424'
const activating = 'POST /card'
const scanning = 'GET /card/scan'

const request = (content: object, parts = {}) => ({
  body: cardEvent('card-init-request', content, parts),
})
const removal = (cid: string) => ({ body: cardEvent('card-delete-request', { cid }) })
const activation = (holder: Holder, otc: string, delegation: object = delegationOf(holder)) => ({
  body: cardEvent('card-activation-request', { otc, delegation }, { signer: holder }),
})

/** A caller of a service that writes cards. */
async function withCards({ newCaller }: Documented, at: TestServer) {
  const caller = await newCaller({ at })
  return {
    ...caller,
    /** Take a tag in: its one-time code. */
    initialise: async (cid: string): Promise<string> =>
      JSON.parse((await caller.ask(initialising, request({ cid }))).content).otc,
  }
}

/** Tags and their holders. */
export function testCards(service: Documented): void {
  const { scenario } = service
  const home = sharedServer({ ...cardEnv, RATE_LIMIT: 'off' })

  scenario('a tag is taken in', async () => {
    const { refused, initialise } = await withCards(service, home())
    const cid = newUid()
    await initialise(cid)
    const forwarded = { headers: { 'X-Forwarded-For': '203.0.113.9' } }
    await refused(initialising, 'encryption-needed', { ...request({ cid }), ...forwarded })
    await refused(initialising, 'card-event-invalid', { body: {} })
    await refused(initialising, 'card-event-stale', request({ cid }, { createdAt: 5 }))
    await refused(initialising, 'card-content-invalid', request({ cid: 5 }))
    await refused(initialising, 'card-writer-only', request({ cid }, { signer: newSigner() }))
    await refused(initialising, 'card-counter-unknown', request({ cid: newUid(), version: 2 }))
  })

  scenario('a writer, a holder and a till send the examples, signed anew', async () => {
    const FEDERATION_ID = 'cupones.example'
    const DEFAULT_LIMITS = 'Por día;;PESO;500000;86400'
    const at = await startServer({
      env: { ...cardEnv, FEDERATION_ID, DEFAULT_LIMITS, RATE_LIMIT: 'off' },
    })
    const { ask, send } = await service.newCaller({ at })
    const sign = (by: Signer, content: Json = {}) => ({
      body: (event: Json) => signAnew(event, by, { tags: { p: manager.pubkey }, content }),
    })
    const [cid, other] = [newUid(), newUid()]
    const tapOf = (uid: string, counter: number) =>
      Object.fromEntries(new URLSearchParams(tapQuery(uid, counter)))
    await send(initialising, sign(manager, { cid: other }))
    await send(linking, { ...sign(manager), query: tapOf(other, 1) })
    await send(wiping, sign(manager, { cid: other }))

    await send(initialising, sign(manager, { cid }))
    // The keys of the tag, and its code, come in the clear here.
    const { otc } = JSON.parse((await ask(initialising, request({ cid }))).content)
    const holder = newHolder()
    const { content } = await send(
      activating,
      sign(holder, { otc, delegation: delegationOf(holder) }),
    )
    const { uuid } = JSON.parse(content)
    await send('POST /card/data/request', sign(holder))
    await fund(at, holder, { BTC: 250_000, PESO: 600_000 })
    await send(scanning, { query: tapOf(cid, 1) })
    await send(scanning, { query: tapOf(cid, 2), nth: 1 })
    const headers = {
      'X-LaWallet-Action': 'info',
      'X-LaWallet-Param': `federationId=${FEDERATION_ID}`,
    }
    await ask(scanning, { path: scanPath(cid, 12), headers })
    const change = {
      'trusted-merchants': [{ pubkey: newSigner().pubkey }],
      cards: { [uuid]: { description: 'La de todos los días' } },
    }
    const parts = { kind: 1112, signer: holder }
    await ask('POST /nostr/publish', { body: cardEvent('card-config-change', change, parts) })
    await send('POST /card/config/request', sign(holder))
  })

  scenario('a tag is linked to a code', async () => {
    const { ask, refused, initialise } = await withCards(service, home())
    const [cid, other] = [newUid(), newUid()]
    await initialise(cid)
    await initialise(other)
    const at = (counter: number, uid = cid) => ({ path: `/ntag424?${tapQuery(uid, counter)}` })
    const flyer = newKey()
    await ask(linking, { ...at(1), ...request({ otc: flyer }) })
    await refused(linking, 'tap-used', { ...at(1), ...request({ otc: flyer }) })
    await refused(linking, 'card-linked', { ...at(2), ...request({ otc: 'otro código más' }) })
    await refused(linking, 'otc-linked', { ...at(1, other), ...request({ otc: flyer }) })
  })

  scenario('a card is activated', async () => {
    const { ask, refused, initialise, server } = await withCards(service, home())
    const holder = newHolder()
    const otc = await initialise(newUid())
    await refused(activating, 'otc-unknown', activation(holder, 'ninguno'))
    await refused(activating, 'card-delegation-invalid', activation(holder, otc, {}))
    await ask(activating, activation(holder, otc))
    await databaseOf(server.dataDir).runEach(
      `INSERT INTO cards (uuid, cid, key_version, counter, design_uuid, design_name, name, holder, delegation, created_at, activated_at)
       SELECT ?, ?, 1, 0, design_uuid, '', '', holder, delegation, 1, 1
       FROM cards WHERE holder = ? AND name <> ''`,
      Array.from({ length: 100 }, () => [
        ...[crypto.randomUUID(), randomBytes(7), Buffer.from(holder.pubkey, 'hex')],
      ]),
    )
    const more = await initialise(newUid())
    await refused(activating, 'cards-full', activation(holder, more))
  })

  scenario('a card that is linked waits for its own code', async () => {
    const { ask, refused, initialise } = await withCards(service, home())
    const holder = newHolder()
    const cid = newUid()
    const otc = await initialise(cid)
    const path = `/ntag424?${tapQuery(cid, 1)}`
    const flyer = newKey()
    await ask(linking, { path, ...request({ otc: flyer }) })
    await refused(activating, 'otc-unknown', activation(holder, otc))
    await ask(activating, activation(holder, flyer))
  })

  scenario('a card that nobody has activated is tapped', async () => {
    const { ask, refused, initialise } = await withCards(service, home())
    const cid = newUid()
    await initialise(cid)
    await refused(scanning, 'card-inactive', { path: scanPath(cid, 1) })
    await ask(scanning, { path: scanPath(cid, 2), ...asking('info') })
  })

  scenario('a card is tapped', async () => {
    const { ask, refused, server } = await withCards(service, home())
    const { uid } = await newCard(server)
    let counter = 0
    const tap = (options = {}) => ({ path: scanPath(uid, ++counter), ...options })
    await ask(scanning, tap())
    for (const action of ['extendedScan', 'identityQuery', 'info']) {
      await ask(scanning, tap(asking(action)))
    }
    await refused(scanning, 'pay-request-unknown', tap(asking('payRequest')))
    await refused(scanning, 'action-unknown', tap(asking('fly')))
    await refused(scanning, 'tap-invalid')
    await refused(scanning, 'card-unknown', { path: scanPath(newUid(), 1) })
    await refused(scanning, 'token-unknown', tap(asking('extendedScan', ',tokens=NADA')))
  })

  scenario('a card that is disabled, or whose counter is not known, is tapped', async () => {
    const { refused, server } = await withCards(service, home())
    const { uid } = await newCard(server)
    await damage(server.dataDir, `UPDATE cards SET enabled = 0 WHERE cid = x'${uid}'`)
    await refused(scanning, 'card-disabled', { path: scanPath(uid, 1) })
    const lost = `UPDATE cards SET enabled = 1, counter_known = 0 WHERE cid = x'${uid}'`
    await damage(server.dataDir, lost)
    await refused(scanning, 'card-unconfirmed', { path: scanPath(uid, 2) })
    await refused(initialising, 'card-counter-low', request({ cid: uid, ctr: 1 }))
  })

  scenario('a card whose delegation is over is tapped', async () => {
    const { refused, initialise, server } = await withCards(service, home())
    const holder = newHolder()
    const uid = newUid()
    const otc = await initialise(uid)
    const now = secondsNow()
    const window = `kind=1112&created_at>${now - 9}&created_at<${now + briefSeconds}`
    await activateCard(server, holder, otc, delegationOf(holder, window))
    await untilSecond(now + briefSeconds)
    await refused(scanning, 'delegation-over', { path: scanPath(uid, 1) })
  })

  scenario('a card is tapped where no gateway pays', async () => {
    const { GATEWAY_PUBKEY: _, ...closed } = cardEnv
    const at = await startServer({ env: closed })
    const { refused } = await service.newCaller({ at })
    const { uid } = await newCard(at)
    await refused(scanning, 'no-gateway', { path: scanPath(uid, 1) })
  })

  for (const subject of ['data', 'config']) {
    scenario(`the ${subject} of a card, asked for by its holder`, async () => {
      const { ask, refused, server } = await withCards(service, home())
      const { holder } = await newCard(server)
      const route = `POST /card/${subject}/request`
      const body = cardEvent(`card-${subject}-request`, {}, { signer: holder })
      await ask(route, { body })
      await refused(route, 'event-repeated', { body })
    })
  }

  for (const route of ['POST /card/reset/request', 'POST /card/reset/claim', 'PATCH /card']) {
    scenario(`${route} is told as missing`, async () => {
      const { refused } = await service.newCaller()
      await refused(route, 'not-supported', { body: {} })
    })
  }

  scenario('a card is wiped, as often as its keys can change', async () => {
    const { ask, refused, initialise } = await withCards(service, home())
    const cid = newUid()
    await initialise(cid)
    await ask(wiping, removal(cid))
    await refused(wiping, 'card-unknown', removal(newUid()))
    await ask(initialising, request({ cid, version: 255, ctr: 0 }))
    await ask(wiping, removal(cid))
    await refused(initialising, 'card-versions-over', request({ cid }))
  })
}
