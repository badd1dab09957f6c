import { expect } from 'bun:test'
import { npubOf } from '../../../src/nostr/keys.ts'
import { signAnew } from '../../support/another-day.ts'
import { manager } from '../../support/cards.ts'
import { call, type Json, newSigner } from '../../support/client.ts'
import { damage } from '../../support/database.ts'
import { type Documented, sharedServer } from '../../support/documented.ts'
import {
  createInvoice,
  fund,
  newFundedCard,
  payEnv,
  payEvent,
  tap,
  tapStandard,
} from '../../support/payments.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const paying = 'POST /card/pay'
const paid = 'GET /card/pay/{k1}'
const invoicing = 'GET /card/pay'
const tokens = { PESO: 1 }
const { pubkey } = newSigner()
/** A key that nobody has. */
const zeros = '0'.repeat(64)

/** A caller of a service, and a card that can pay there. */
async function withCard({ newCaller }: Documented, at: TestServer) {
  const caller = await newCaller({ at })
  const card = await newFundedCard(at, { PESO: 10, BTC: 100_000 })
  const held = `card_id = (SELECT id FROM cards WHERE cid = x'${card.uid}')`
  return {
    ...{ ...caller, card },
    /** Change the taps of this card by hand. */
    changeTaps: (change: string) =>
      damage(at.dataDir, `UPDATE card_scans SET ${change} WHERE state <> 'used' AND ${held}`),
    /** A tap, and the request of a till that pays with it. */
    order: async (changes: Json = {}) => {
      const k1 = await tap(at, card)
      return { k1, body: payEvent({ k1, pubkey, tokens, ...changes }) }
    },
    /** A tap, and the request of a wallet that pays an invoice with it. */
    invoice: async (pr: string) => {
      const k1 = await tapStandard(at, card)
      return { path: `/card/pay?k1=${k1}&pr=${pr}` }
    },
  }
}

export function testPayments(service: Documented): void {
  const { scenario } = service
  const home = sharedServer(payEnv)

  scenario('a card pays once for a tap', async () => {
    const { ask, refused, order } = await withCard(service, home())
    const { k1, body } = await order()
    await ask(paying, { body })
    await ask(paid, { path: `/card/pay/${k1}` })
    await refused(paid, 'k1-unknown', { path: '/card/pay/x' })
    await refused(paid, 'payment-unknown', { path: `/card/pay/${(await order()).k1}` })
    await refused(paying, 'k1-used', { body: payEvent({ k1, pubkey, tokens }) })
  })

  scenario('a till sends the example, signed anew', async () => {
    const { send, order, invoice, card, server } = await withCard(service, home())
    await fund(server, card.holder, JSON.parse(service.exampleOf(paying).content).tokens)
    const { k1 } = await order()
    const content = { k1, npub: npubOf(pubkey) }
    const tags = { p: manager.pubkey }
    const body = (event: Json) => signAnew(event, newSigner(), { tags, content })
    await send(paying, { body })
    await send(paid, { path: { k1 } })
    const asked = new URLSearchParams((await invoice(createInvoice())).path.split('?')[1])
    await send(invoicing, { query: Object.fromEntries(asked) })
  })

  scenario('a payment that makes no sense', async () => {
    const { refused, order } = await withCard(service, home())
    await refused(paying, 'card-event-invalid', { body: {} })
    await refused(paying, 'k1-unknown', { body: payEvent({ k1: 'x', pubkey, tokens }) })
    await refused(paying, 'recipient-invalid', { body: (await order({ pubkey: 'x' })).body })
    await refused(paying, 'tokens-invalid', { body: (await order({ tokens: {} })).body })
    await refused(paying, 'token-unknown', { body: (await order({ tokens: { USD: 1 } })).body })
  })

  scenario('a payment that the ledger refuses', async () => {
    const { ask, refused, order, card } = await withCard(service, home())
    const poor = await order({ tokens: { PESO: 11 } })
    await refused(paying, 'funds-insufficient', { body: poor.body })
    expect(await ask(paid, { path: `/card/pay/${poor.k1}` })).toMatchObject({ state: 'refused' })
    const own = await order({ pubkey: card.holder.pubkey })
    await refused(paying, 'ledger-refused', { body: own.body })
  })

  scenario('an invoice is paid by a card', async () => {
    const { ask, refused, invoice } = await withCard(service, home())
    const pr = createInvoice()
    await ask(invoicing, await invoice(pr))
    await refused(invoicing, 'invoice-taken', await invoice(pr))
    await refused(invoicing, 'invoice-invalid', await invoice('x'))
    await refused(invoicing, 'invoice-amountless', await invoice(createInvoice({ amount: '' })))
    await refused(invoicing, 'invoice-expired', await invoice(createInvoice({ createdAt: 1 })))
    await refused(invoicing, 'amount-too-large', await invoice(createInvoice({ amount: '1m' })))
  })

  scenario('a payment that the holder does not want', async () => {
    const { refused, order, card, server } = await withCard(service, home())
    const ofCard = `FROM cards WHERE cid = x'${card.uid}'`
    const limit = `INSERT INTO card_limits (card_id, name, description, token, amount, delta_seconds)
      SELECT id, '', '', 'PESO', 0, 0 ${ofCard}`
    await damage(server.dataDir, limit)
    await refused(paying, 'limit-exceeded', { body: (await order()).body })
    await damage(
      server.dataDir,
      `INSERT INTO trusted_merchants SELECT holder, x'${zeros}' ${ofCard}`,
    )
    await refused(paying, 'recipient-not-trusted', { body: (await order()).body })
  })

  scenario('a payment whose tap is of another holder, in flight or over', async () => {
    const { refused, order, changeTaps } = await withCard(service, home())
    const [stale, late, other] = [await order(), await order(), await order()]
    await changeTaps(`holder = x'${zeros}'`)
    await refused(paying, 'holder-changed', { body: other.body })
    await changeTaps("state = 'in-flight'")
    await refused(paying, 'k1-in-flight', { body: late.body })
    await changeTaps("state = 'free', expires_at = 1")
    await refused(paying, 'k1-expired', { body: stale.body })
  })

  scenario('a payment that a ledger elsewhere never answers', async () => {
    const silent = { ...payEnv, LEDGER_PUBKEY: newSigner().pubkey, RELAYS: 'ws://127.0.0.1:9' }
    const at = await startServer({ env: silent })
    const { refused } = await service.newCaller({ at })
    const k1 = await tap(at, await newFundedCard(at, {}))
    const waiting = refused(paying, 'ledger-silent', { body: payEvent({ k1, pubkey, tokens }) })
    await until('reserved', async () => (await call(at.url, `/card/pay/${k1}`)).status === 200)
    await damage(at.dataDir, 'UPDATE card_payments SET expires_at = 1')
    await waiting
  })

  scenario('a till and a wallet whose payment is under way when the service stops', async () => {
    const silent = { ...payEnv, LEDGER_PUBKEY: newSigner().pubkey, RELAYS: 'ws://127.0.0.1:9' }
    const at = await startServer({ env: silent })
    const { ask } = await service.newCaller({ at })
    const [tapped, scanned] = [await newFundedCard(at, {}), await newFundedCard(at, {})]
    const k1s = [await tap(at, tapped), await tapStandard(at, scanned)]
    const [k1, standard] = k1s
    const waiting = Promise.all([
      ask(paying, { body: payEvent({ k1, pubkey, tokens }) }),
      ask(invoicing, { path: `/card/pay?k1=${standard}&pr=${createInvoice()}` }),
    ])
    for (const one of k1s) {
      await until('reserved', async () => (await call(at.url, `/card/pay/${one}`)).status === 200)
    }
    const stopped = at.stop()
    expect(await waiting).toEqual([{ status: 'PENDING' }, { status: 'PENDING' }])
    expect(await stopped).toBe(0)
  })
}
