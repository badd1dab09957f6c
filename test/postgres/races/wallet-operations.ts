/** Operations of the wallet by name, each on rows that others change, too. */

import { refresh } from '../../../src/coupons/refresh.ts'
import { voidAll } from '../../../src/coupons/void.ts'
import type { NostrEvent } from '../../../src/nostr/event.ts'
import { activate } from '../../../src/wallet/cards/holders/activate.ts'
import { configure } from '../../../src/wallet/cards/holders/configure.ts'
import { requestConfig, requestData } from '../../../src/wallet/cards/holders/holdings.ts'
import { publishNotice } from '../../../src/wallet/cards/holders/notices.ts'
import { payExtended, payInvoice } from '../../../src/wallet/cards/payments/pay.ts'
import { releaseUnanswered, takeAnswer } from '../../../src/wallet/cards/payments/payments.ts'
import { initialise } from '../../../src/wallet/cards/tags/initialise.ts'
import { link } from '../../../src/wallet/cards/tags/link.ts'
import { operateCards } from '../../../src/wallet/cards/tags/operator.ts'
import { wipe } from '../../../src/wallet/cards/tags/wipe.ts'
import { scan } from '../../../src/wallet/cards/taps/scan.ts'
import { scanSweep } from '../../../src/wallet/cards/worker.ts'
import { requestNonce } from '../../../src/wallet/identities/nonces.ts'
import { operate } from '../../../src/wallet/identities/operator.ts'
import { registerIdentity } from '../../../src/wallet/identities/register.ts'
import { nonceSweep } from '../../../src/wallet/identities/worker.ts'
import { declareTokens } from '../../../src/wallet/ledger/declare.ts'
import { nameParticipants } from '../../../src/wallet/ledger/participants.ts'
import { publishOwed, settle } from '../../../src/wallet/ledger/settle.ts'
import { refusalSweep } from '../../../src/wallet/ledger/worker.ts'
import { forget } from '../../../src/wallet/transfers/inbox.ts'
import { writePreferences } from '../../../src/wallet/transfers/preferences.ts'
import { receive } from '../../../src/wallet/transfers/receive.ts'
import { requestSweep } from '../../../src/wallet/worker.ts'
import { cardEvent, delegationOf, manager } from '../../support/cards.ts'
import { createEvent } from '../../support/events.ts'
import { identityEvent } from '../../support/identities.ts'
import { createStart } from '../../support/ledger.ts'
import type { Operations } from './operations.ts'
import { elsewhere, type Wallet, type WalletWorld } from './wallet-world.ts'
import { callerOf, type createServices, type World } from './world.ts'

type Parts = {
  world: World
  wallet: Wallet
  known: WalletWorld
  plain: ReturnType<typeof createServices>
}

export function walletOperations({ world, wallet, known, plain }: Parts): Operations {
  const { identities, ledger, engine, cards, payments, paymentsElsewhere, transfers } = wallet
  const { ana, beto, caro, shop, nonces, card, unused, otc, orders, pending, tapped } = known
  const { invoiced, invoice } = known
  const { at, now } = plain
  const operator = { ...identities, hosts: [] }
  const parts = { createdAt: at }
  const start = (from: typeof ana, to: { pubkey: string }, amount: number, memo: string) =>
    createStart({
      ...{ ledger: manager.pubkey, from, to: to.pubkey, tokens: { ARS: amount }, memo },
      createdAt: at,
    })
  const settling = (event: NostrEvent) => () =>
    engine.transact({ roots: [{ event: event.id }] }, (tx) => settle(ledger, tx, event, now()))
  const registering = (name: string, nonce: string | undefined, holder: typeof ana) => {
    const event = identityEvent(manager, nonce ?? '', { name, pubkey: holder.pubkey }, parts)
    return () => registerIdentity(identities, event, [])
  }
  const asking = createEvent({
    ...{ kind: 1112, tags: [['t', 'create-nonce']], content: '', signer: manager, ...parts },
  })
  const proposing = createEvent({
    ...{ kind: 1112, content: '', signer: manager, ...parts },
    tags: [
      ['t', 'create-nonce'],
      ['nonce', 'x'.repeat(40)],
    ],
  })
  const receiving = (name: string) => () =>
    receive({ ...transfers, swapping: new Map() }, name, { ...world.sent, comment: null })
  const activating = (holder: typeof ana) => {
    const content = { otc, delegation: delegationOf(holder) }
    const event = cardEvent('card-activation-request', content, { signer: holder, ...parts })
    return () => activate(cards, event, '127.0.0.1')
  }
  const configuring = (content: object) => {
    const event = cardEvent('card-config-change', content, { signer: ana, kind: 1112, ...parts })
    return () =>
      engine.transact({ roots: [{ event: event.id }] }, (tx) => configure(cards, tx, event))
  }
  const answering = (type: 'ok' | 'error') => {
    const event = elsewhere.sign({
      kind: 1112,
      created_at: at,
      tags: [
        ['p', manager.pubkey],
        ['e', pending.startId ?? ''],
        ['t', `internal-transaction-${type}`],
      ],
      content: '{}',
    })
    return () =>
      engine.transact({ roots: [{ event: event.id }] }, (tx) =>
        takeAnswer(paymentsElsewhere, tx, event),
      )
  }
  const late = { ...paymentsElsewhere, cards: { ...paymentsElsewhere.cards, now: () => at + 3600 } }
  const linking = cardEvent('', { otc: 'codigo-elegido' }, { ...parts, tags: [] })
  // Encrypted content differs with each run.
  const broadcastBare: typeof plain.broadcast = (tx, { kind, tags }) =>
    plain.broadcast(tx, manager.sign({ kind, tags, created_at: at, content: '' }))
  const tap = { p: tapped.get('p'), c: tapped.get('c') }
  const base = 'http://localhost'
  const [ofLimits, ofDesigns] = ['card-config-request', 'card-data-request'].map((type) =>
    cardEvent(type, '', { signer: ana, ...parts }),
  )
  const writing = cardEvent('card-init-request', { cid: unused, ctr: 1 }, parts)
  const wiping = cardEvent('card-delete-request', { cid: card.uid }, parts)
  const sweeps = { scanSweep, nonceSweep, refusalSweep, requestSweep }
  return {
    'register a name': registering('caro', nonces[0], caro),
    'register with the same nonce': registering('otra', nonces[0], shop),
    'register the same name': registering('caro', nonces[1], shop),
    'register the same key': registering('otro', nonces[1], caro),
    'add an identity': () =>
      operate(operator, { do: 'add', name: 'caro', pubkey: caro.pubkey, lud16: null, force: true }),
    'remove an identity': () => operate(operator, { do: 'remove', name: 'beto' }),
    'give out a nonce': () => requestNonce(identities, asking, () => undefined),
    'give out a nonce that was proposed': () =>
      requestNonce(identities, proposing, () => undefined),
    'make a nonce': () => operate(operator, { do: 'nonce' }),
    'receive a voucher': receiving('beto'),
    'receive a voucher for another': receiving('ana'),
    'refresh a voucher that is sent': () =>
      refresh(plain.coupons, { nonce: world.sent.nonce, key: 'key-of-sender' }),
    'kill switch of what is sent': () => voidAll(plain.coupons, callerOf(world.owner), world.gift),
    'take no vouchers': () => writePreferences(transfers, callerOf(beto), { allowVouchers: false }),
    'throw a held voucher away': () => forget(transfers, callerOf(beto), 'A'.repeat(22)),
    'send most of a balance': settling(start(ana, beto, 80, 'uno')),
    'send the rest of a balance': settling(start(ana, caro, 70, 'dos')),
    'send it back': settling(start(beto, ana, 10, 'tres')),
    'issue more': settling(start({ ...ana, ...manager }, ana, 50, 'cuatro')),
    'publish what is owed': () =>
      engine.transact({ roots: ['instance'] }, (tx) => publishOwed(ledger, tx, at + 3600)),
    'declare a token anew': () =>
      declareTokens(engine, new Map([['ARS', { name: 'ARS', decimals: 3, issuer: caro.pubkey }]])),
    'declare another token': () =>
      declareTokens(engine, new Map([['PTS', { name: 'PTS', decimals: 0, issuer: caro.pubkey }]])),
    'name participants': () => nameParticipants(engine, [caro.pubkey]),
    'pay with a scan': () => payExtended(payments, orders[0]),
    'pay otherwise with the same scan': () => payExtended(payments, orders[1]),
    'pay with another scan': () => payExtended(payments, orders[2]),
    'pay an invoice': () => payInvoice(payments, { k1: invoiced[0], pr: invoice }),
    'pay the same invoice with another card': () =>
      payInvoice(payments, { k1: invoiced[1], pr: invoice }),
    'tap a card': () =>
      scan(cards, {
        ...{ ...tap, base },
        ...{ action: 'extendedScan', param: 'federationId=localhost' },
      }),
    'link a code': () => link(cards, linking, tap),
    'link a code as the operator': () =>
      operateCards(cards, { do: 'otc', card: unused, code: 'codigo-elegido' }),
    'block a card': () => operateCards(cards, { do: 'block', card: card.uid, blocked: true }),
    'wipe a card': () => operateCards(cards, { do: 'delete', cid: card.uid }),
    'wipe a new card': () => operateCards(cards, { do: 'delete', cid: unused }),
    'initialise a card anew': () =>
      operateCards(cards, { do: 'init', tag: { cid: unused, ctr: 0 } }),
    'activate a card': activating(ana),
    'activate it for another': activating(beto),
    'trust a merchant': configuring({ 'trusted-merchants': [{ pubkey: shop.pubkey }] }),
    'trust nobody': configuring({ 'trusted-merchants': [{ pubkey: caro.pubkey }] }),
    'tell a holder of the limits': () => requestConfig(cards, ofLimits),
    'tell a holder of the designs': () => requestData(cards, ofDesigns),
    'publish what wallets are owed': () =>
      engine.transact({ roots: [{ holder: ana.pubkey }] }, (tx) =>
        publishNotice(cards, tx, ana.pubkey, { now: at, broadcast: broadcastBare }),
      ),
    'initialise a card by event': () => initialise(cards, writing, true),
    'wipe a card by event': () => wipe(cards, wiping, true),
    'use up a request that came in clear': () => initialise(cards, writing, false),
    'ask for a pay request': () => scan(cards, { ...tap, base, action: 'payRequest', param: null }),
    'take an ok of a ledger': answering('ok'),
    'take an error of a ledger': answering('error'),
    'release a payment': () => releaseUnanswered(late),
    ...Object.fromEntries(
      Object.entries(sweeps).map(([name, { prune }]) => [
        name,
        () => engine.transact({ roots: ['instance'] }, (tx) => prune(tx, at + 3600)),
      ]),
    ),
  }
}
