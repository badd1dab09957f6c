import { createAnnouncementStore } from '../coupons/announcement-store.ts'
import { createAnswerStore } from '../coupons/answer-store.ts'
import { createBatchStore } from '../coupons/batch-store.ts'
import { createDefinitionStore } from '../coupons/definition-store.ts'
import { createImageStore } from '../coupons/image-store.ts'
import { createMinterStore } from '../coupons/minter-store.ts'
import { createStatisticsStore } from '../coupons/statistics-store.ts'
import { createTillStore } from '../coupons/till-store.ts'
import { createVoucherStore } from '../coupons/voucher-store.ts'
import { createFactStore } from '../db/fact-store.ts'
import type { Sql } from '../db/sql.ts'
import { createOutboxStore } from '../gateway/outbox-store.ts'
import { createMerchantStore } from '../merchants/merchant-store.ts'
import { createQuotaStore } from '../merchants/quota-store.ts'
import { createPictureStore } from '../pictures/picture-store.ts'
import { createPosterStore } from '../posters/poster-store.ts'
import { createMemberStore } from '../relay/member-store.ts'
import { createCutoffStore } from '../session/cutoff-store.ts'
import { createProofStore } from '../session/proof-store.ts'
import { createShopStore } from '../shops/shop-store.ts'
import { createCardStore } from '../wallet/cards/card-store.ts'
import { createHolderStore } from '../wallet/cards/holder-store.ts'
import { createPaymentStore } from '../wallet/cards/payments/payment-store.ts'
import { createScanStore } from '../wallet/cards/scan-store.ts'
import { createAccountStore } from '../wallet/identities/account-store.ts'
import { createNonceStore } from '../wallet/identities/nonce-store.ts'
import { createLedgerStore } from '../wallet/ledger/store.ts'
import { createRequestStore } from '../wallet/request-store.ts'
import { createInboxStore } from '../wallet/transfers/inbox-store.ts'
import { createTransferStore } from '../wallet/transfers/transfer-store.ts'

export type Stores = ReturnType<typeof createStores>

/** Create all stores on one connection, for a transaction or a snapshot. */
export function createStores(sql: Sql) {
  return {
    facts: createFactStore(sql),
    definitions: createDefinitionStore(sql),
    vouchers: createVoucherStore(sql),
    batches: createBatchStore(sql),
    images: createImageStore(sql),
    pictures: createPictureStore(sql),
    posters: createPosterStore(sql),
    statistics: createStatisticsStore(sql),
    tills: createTillStore(sql),
    minters: createMinterStore(sql),
    merchants: createMerchantStore(sql),
    quotas: createQuotaStore(sql),
    shops: createShopStore(sql),
    announcements: createAnnouncementStore(sql),
    answers: createAnswerStore(sql),
    proofs: createProofStore(sql),
    cutoffs: createCutoffStore(sql),
    outbox: createOutboxStore(sql),
    members: createMemberStore(sql),
    accounts: createAccountStore(sql),
    nonces: createNonceStore(sql),
    requests: createRequestStore(sql),
    transfers: createTransferStore(sql),
    inbox: createInboxStore(sql),
    cards: createCardStore(sql),
    holders: createHolderStore(sql),
    scans: createScanStore(sql),
    payments: createPaymentStore(sql),
    ledger: createLedgerStore(sql),
  }
}
