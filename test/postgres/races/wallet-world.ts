/** The wallet of the small service: identities, a ledger, and a card with payments. */
import { hash } from 'node:crypto'
import { suuidOf } from '../../../src/crypto/bytes.ts'
import { createNip44 } from '../../../src/crypto/nip44.ts'
import { openSchnorr } from '../../../src/crypto/schnorr.ts'
import { createHashVerifier } from '../../../src/crypto/sign-event.ts'
import { systemTime } from '../../../src/db/jobs.ts'
import { noCodeTries } from '../../../src/wallet/cards/code-tries.ts'
import { activate } from '../../../src/wallet/cards/holders/activate.ts'
import { createFunds } from '../../../src/wallet/cards/payments/funds.ts'
import { payExtended } from '../../../src/wallet/cards/payments/pay.ts'
import type { Payments } from '../../../src/wallet/cards/payments/payments.ts'
import { createWaiting } from '../../../src/wallet/cards/payments/waiting.ts'
import type { Cards } from '../../../src/wallet/cards/service.ts'
import { createKeyDerivation } from '../../../src/wallet/cards/tag.ts'
import { operateCards } from '../../../src/wallet/cards/tags/operator.ts'
import { scan } from '../../../src/wallet/cards/taps/scan.ts'
import { operate } from '../../../src/wallet/identities/operator.ts'
import type { Identities } from '../../../src/wallet/identities/service.ts'
import { declareTokens } from '../../../src/wallet/ledger/declare.ts'
import { issue } from '../../../src/wallet/ledger/issue.ts'
import type { Ledger } from '../../../src/wallet/ledger/settle.ts'
import type { Transfers } from '../../../src/wallet/transfers/service.ts'
import {
  cardEvent,
  delegationOf,
  manager,
  managerSecret,
  masterKey,
  newHolder,
  newUid,
  tapQuery,
} from '../../support/cards.ts'
import { verifyEvent } from '../../support/client.ts'
import { createInvoice, payEvent } from '../../support/payments.ts'
import type { WorldDatabase } from './database.ts'
import type { createServices } from './world.ts'

type Services = ReturnType<typeof createServices>

const verifyHash = createHashVerifier(openSchnorr())
const issuer = manager.pubkey
const tokens = new Map([
  ['ARS', { name: 'ARS', decimals: 2, issuer }],
  ['BTC', { name: 'BTC', decimals: 0, issuer }],
])
/** A ledger that is not the service's own. */
export const elsewhere = newHolder()

/** The parts of the wallet, as `src/app` puts them together. */
export function createWallet(engine: WorldDatabase['engine'], services: Services) {
  const { now, coupons, broadcast } = services
  const shared = { database: engine, now, verify: verifyEvent, verifyHash }
  const newId = () => Bun.randomUUIDv7()
  const identities: Identities = {
    ...{ ...shared, newId, manager: manager.pubkey, issuers: new Set([manager.pubkey]) },
    ...{ requireDisk: () => undefined, newNonce: coupons.newNonce, selfSignup: true },
    ...{ countSignup: () => undefined, signer: manager },
    ...{ reserved: new Set(), relays: () => [], federationId: 'localhost' },
    ...{ base: () => 'http://localhost', askWallet: async () => null, usable: () => true },
  }
  const ledger: Ledger = { signer: manager, verifyHash, tokens, broadcast }
  const cardsOf = (own: Ledger | null): Cards => ({
    ...{ ...shared, newId, signer: manager, storeKey: coupons.storeKey, keyFingerprint: 'ab' },
    nip44: createNip44(Uint8Array.fromHex(managerSecret)),
    keys: createKeyDerivation(Uint8Array.fromHex(masterKey)),
    writers: new Set([manager.pubkey]),
    defaultLimits: [{ name: 'Día', description: '', token: 'ARS', amount: 100n, delta: 86_400 }],
    ...{
      gatewayPubkey: elsewhere.pubkey,
      federationId: 'localhost',
      base: () => 'http://localhost',
    },
    funds: createFunds(tokens, own),
    payRequest: async () => null,
    newK1: () => suuidOf(crypto.randomUUID()),
    codeTries: noCodeTries,
    keysRead: () => undefined,
  })
  const paymentsOf = (own: Ledger | null): Payments => ({
    ...{ cards: cardsOf(own), database: engine, ledger: own, broadcast },
    ledgerPubkey: own ? manager.pubkey : elsewhere.pubkey,
    ...{ waiting: createWaiting(systemTime.after), steady: () => 0, report: () => undefined },
  })
  const transfers = {
    ...{ ...shared, couponService: coupons, newKey: coupons.newNonce, services: new Map() },
    ...{ arriving: () => undefined, requireDisk: () => undefined, swapping: new Map() },
  } as unknown as Transfers
  return {
    ...{ identities, ledger, transfers, newId, engine, now },
    cards: cardsOf(ledger),
    payments: paymentsOf(ledger),
    paymentsElsewhere: paymentsOf(null),
  }
}

export type Wallet = ReturnType<typeof createWallet>

/** The first rows of the wallet. Every event is signed here: an operation that runs again has the same one. */
export async function fillWallet(wallet: Wallet, at: number) {
  const { identities, cards, engine, payments, paymentsElsewhere } = wallet
  const [ana, beto, caro, shop] = [newHolder(), newHolder(), newHolder(), newHolder()]
  const operator = { ...identities, hosts: [] }
  for (const [name, { pubkey }] of Object.entries({ ana, beto })) {
    await operate(operator, { do: 'add', name, pubkey, lud16: null, force: true })
  }
  const nonces: string[] = []
  for (const _ of [1, 2]) {
    const made = await operate(operator, { do: 'nonce' })
    nonces.push('nonce' in made ? made.nonce : '')
  }
  await declareTokens(engine, tokens)
  const fund = (to: string, token: string, amount: string) =>
    issue({ ...wallet, database: engine }, { token, to, amount, memo: null })
  await fund(ana.pubkey, 'ARS', '1.00')
  await fund(beto.pubkey, 'ARS', '0.10')
  for (const { pubkey } of [ana, beto]) await fund(pubkey, 'BTC', '5000')

  const newCard = async (holder: typeof ana) => {
    const uid = newUid()
    const { otc } = (await operateCards(cards, { do: 'init', tag: { cid: uid } })) as {
      otc: string
    }
    const event = cardEvent(
      'card-activation-request',
      { otc, delegation: delegationOf(holder) },
      { signer: holder, createdAt: at },
    )
    await activate(cards, event, '127.0.0.1')
    return { uid, otc }
  }
  const card = await newCard(ana)
  const otherCard = await newCard(beto)
  const unused = newUid()
  const { otc } = (await operateCards(cards, { do: 'init', tag: { cid: unused } })) as {
    otc: string
  }
  const tap = async (counter: number, { uid } = card, action: string | null = 'extendedScan') => {
    const query = new URLSearchParams(tapQuery(uid, counter))
    const asked = { action, param: 'federationId=localhost' }
    const from = { p: query.get('p'), c: query.get('c'), base: 'http://localhost' }
    return (await scan(cards, { ...from, ...asked })) as { k1: string }
  }
  const [one, two, three] = [await tap(1), await tap(2), await tap(3)].map(({ k1 }) => k1)
  const order = (k1 = '', amount = 60) =>
    payEvent({ k1, npub: shop.pubkey, tokens: { ARS: amount } }, { createdAt: at })
  // A payment that waits for a ledger elsewhere.
  const pending = await payExtended(paymentsElsewhere, order(three, 10))
  await payExtended(payments, order(one, 1000))
  return {
    ...{ ana, beto, caro, shop, nonces, card, unused, otc },
    scans: [one ?? '', two ?? ''],
    orders: [order(one), order(one, 50), order(two)],
    pending,
    /** Scans of two cards, and an invoice for either of them. */
    invoiced: [await tap(4, card, null), await tap(1, otherCard, null)].map(({ k1 }) => k1),
    invoice: createInvoice({ amount: '10n', createdAt: at }),
    tapped: new URLSearchParams(tapQuery(card.uid, 9)),
    hashes: [one, two, three].map((k1 = '') => hash('sha256', k1)),
  }
}

export type WalletWorld = Awaited<ReturnType<typeof fillWallet>>
