import type { AnyElysia } from 'elysia'
import errors from '../../docs/api/errors.md' with { type: 'text' }
import { version } from '../../package.json'
import * as listModels from '../coupons/list-models.ts'
import * as models from '../coupons/models.ts'
import * as gatewayModels from '../gateway/models.ts'
import { documentRoutes } from '../http/document-routes.ts'
import { readCatalogue, readReference } from '../http/reference.ts'
import * as merchantModels from '../merchants/models.ts'
import * as moveModels from '../move/models.ts'
import * as nostrModels from '../nostr/models.ts'
import * as posterModels from '../posters/models.ts'
import * as shopModels from '../shops/models.ts'
import * as holderModels from '../wallet/cards/holders/models.ts'
import * as cardModels from '../wallet/cards/models.ts'
import * as payModels from '../wallet/cards/payments/models.ts'
import * as tapModels from '../wallet/cards/taps/models.ts'
import * as walletModels from '../wallet/identities/models.ts'
import * as ledgerModels from '../wallet/ledger/models.ts'
import * as transferModels from '../wallet/transfers/models.ts'
import { glossary } from './glossary.ts'
import { routePages } from './route-pages.ts'

const allModels = {
  ...{
    ...nostrModels,
    ...models,
    ...listModels,
    ...merchantModels,
    ...shopModels,
    ...gatewayModels,
  },
  ...{ ...moveModels, ...walletModels, ...posterModels },
  ...{ ...ledgerModels, ...transferModels, ...payModels },
  ...{ ...cardModels, ...holderModels, ...tapModels },
}

/** The sections of the document, in its order: the tags that routes name. */
const sections = {
  Vouchers: 'For whoever holds a nonce: the nonce is the credential.',
  Session: 'One signature in exchange for a token.',
  Management: 'For merchants and the minters they list.',
  Posters: 'One public code from which each visitor takes a voucher.',
  Cards: 'NTAG 424 DNA cards: writing, activating, tapping them.',
  Ledger: 'The shop’s own tokens: what each key has.',
  Gateway: 'Nostr over HTTP, for clients that keep no connection.',
  Identity: 'Names of this service for keys, and what others ask about them.',
  Transfer: 'Vouchers and payments on their way to a name, and what a holder has received.',
  Service: 'State of the process and this document.',
}

/** Names that routes give their Authorization schemes. */
const securitySchemes = {
  nostr: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      '`Nostr <base64 of a signed kind 27235 event>` (NIP-98) with the tags `u`, `method`, optionally `payload`, and a random `nonce`. Within 60 seconds, once.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token of `POST /api/auth/session`, good for 12 hours.',
  },
}

/** The document that describes `routes`, with the models of every feature under their names. */
export function describeRoutes(routes: readonly AnyElysia[]) {
  const createParts = () => {
    const pages = readReference(routePages)
    const reference = (name: string) => pages.get(name)
    return {
      ...{ version, sections, securitySchemes, reference },
      models: allModels,
      words: glossary,
      catalogue: readCatalogue(errors),
    }
  }
  // Few ask for these, and a start does not wait for them.
  return documentRoutes(routes, {
    createParts,
    translate: async (document) => (await import('./spanish/translate.ts')).inSpanish(document),
    createTextPage: async (document, language) =>
      (await import('../ui/docs-text-page.tsx')).createDocsTextPage(document, language),
  })
}
