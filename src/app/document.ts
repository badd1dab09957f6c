import type { AnyElysia } from 'elysia'
import { version } from '../../package.json'
import * as models from '../coupons/models.ts'
import * as gatewayModels from '../gateway/models.ts'
import { documentRoutes } from '../http/document-routes.ts'
import * as merchantModels from '../merchants/models.ts'
import { createDocsPage } from '../ui/docs-page.ts'
import * as holderModels from '../wallet/cards/holders/models.ts'
import * as cardModels from '../wallet/cards/models.ts'
import * as payModels from '../wallet/cards/payments/models.ts'
import * as tapModels from '../wallet/cards/taps/models.ts'
import * as walletModels from '../wallet/identities/models.ts'
import * as ledgerModels from '../wallet/ledger/models.ts'
import * as transferModels from '../wallet/transfers/models.ts'

const allModels = {
  ...{ ...models, ...merchantModels, ...gatewayModels, ...walletModels },
  ...{ ...ledgerModels, ...transferModels, ...payModels },
  ...{ ...cardModels, ...holderModels, ...tapModels },
}

/** The document that describes `routes`, with the models of every feature under their names. */
export function describeRoutes(routes: readonly AnyElysia[]) {
  return documentRoutes(routes, allModels, version, createDocsPage)
}
