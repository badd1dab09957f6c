/** The contract of every store, to be run on an engine. */
import { describe, expect, test } from 'bun:test'
import { batches } from './batches.ts'
import { cards, holders } from './cards.ts'
import { counters } from './counters.ts'
import { announcements, answers, minters } from './coupons.ts'
import { definitions, images, statistics } from './definitions.ts'
import {
  type CouponTx,
  type Engine,
  itOnCoupons,
  itOnRelay,
  type RelayTx,
  type Statements,
  type Suite,
} from './harness.ts'
import { accounts, nonces, requests } from './identities.ts'
import { ledger } from './ledger.ts'
import { outbox } from './outbox.ts'
import { pairs } from './pairs.ts'
import { payments, scans } from './payments.ts'
import { cutoffs, facts, members, merchants, proofs, quotas, shops } from './people.ts'
import { pictures } from './pictures.ts'
import { posters } from './posters.ts'
import { events, queries } from './relay.ts'
import { couponTables, relayTables } from './rows.ts'
import { tills } from './tills.ts'
import { inbox, transfers } from './transfers.ts'
import { redemptions, voids, vouchers } from './vouchers.ts'

/** The contract of each store, by its file in src. */
export const couponSuites: Record<string, Suite<CouponTx>> = {
  'coupons/announcement-store.ts': announcements,
  'coupons/answer-store.ts': answers,
  'coupons/batch-store.ts': batches,
  'coupons/definition-store.ts': definitions,
  'coupons/image-store.ts': images,
  'coupons/minter-store.ts': minters,
  'coupons/redemption-store.ts': redemptions,
  'coupons/statistics-store.ts': statistics,
  'coupons/till-store.ts': tills,
  'coupons/void-store.ts': voids,
  'coupons/voucher-store.ts': vouchers,
  'db/fact-store.ts': facts,
  'gateway/outbox-store.ts': outbox,
  'merchants/merchant-store.ts': merchants,
  'merchants/quota-store.ts': quotas,
  'pictures/picture-store.ts': pictures,
  'posters/poster-store.ts': posters,
  'relay/member-store.ts': members,
  'session/cutoff-store.ts': cutoffs,
  'session/proof-store.ts': proofs,
  'shops/shop-store.ts': shops,
  'wallet/cards/card-store.ts': cards,
  'wallet/cards/holder-store.ts': holders,
  'wallet/cards/payments/payment-store.ts': payments,
  'wallet/cards/scan-store.ts': scans,
  'wallet/identities/account-store.ts': accounts,
  'wallet/ledger/store.ts': ledger,
  'wallet/identities/nonce-store.ts': nonces,
  'wallet/request-store.ts': requests,
  'wallet/transfers/inbox-store.ts': inbox,
  'wallet/transfers/transfer-store.ts': transfers,
}
export const relaySuites: Record<string, Suite<RelayTx>> = {
  'relay/query-store.ts': queries,
  'relay/store.ts': events,
}

/** Run every contract on an engine. */
export function describeStores(engine: Engine): void {
  describe(engine.name, () => {
    const seen: Statements = { prepared: new Set(), ran: new Set() }
    for (const [store, suite] of Object.entries(couponSuites)) {
      describe(store, () => suite(itOnCoupons(engine, seen)))
    }
    for (const [store, suite] of Object.entries(relaySuites)) {
      describe(store, () => suite(itOnRelay(engine, seen)))
    }
    describe('counters', () => counters(itOnCoupons(engine, seen)))
    describe('changes and the rows that follow', () => pairs(itOnCoupons(engine, seen)))
    describe('schema.sql', () => couponTables(itOnCoupons(engine, seen), engine))
    describe('db/relay-schema.sql', () => relayTables(itOnRelay(engine, seen)))
    test('every statement of the stores ran', () => {
      const idle = [...seen.prepared].filter((text) => !seen.ran.has(text))
      // Rows by time and by id are the only way to answer a filter: they are never counted to choose one.
      const only =
        /^SELECT count\(\*\) AS n FROM \(SELECT 1 FROM events WHERE (event_id = \?1 AND )?created_at/
      expect(idle.filter((text) => !only.test(text))).toEqual([])
    })
  })
}
