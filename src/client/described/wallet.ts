// Written by `npm run client-types` from the OpenAPI document.

import type { Asked } from './operations.ts'
import type { Benefit, NostrEvent } from './vouchers.ts'

export type Arrival = {
  /** Always `voucher` */
  action: 'voucher'
  /** Of the voucher; known to its sender */
  nonce: string
  /** The signed event of the voucher */
  voucher: NostrEvent
  comment?: string | null
}

export type Balances = {
  /** Public key, hex */
  pubkey: string
  /** Public key as npub */
  npub: string
  /** One entry for each token */
  balances: {
    /** Name of the token */
    token: string
    /** One token is 10^decimals */
    decimals: number
    /** npub */
    issuer: string
    /** In the smallest unit; a string beyond 2^53 − 1 */
    amount: number | string
  }[]
  /** The last ones, newest first */
  movements: {
    /** Of the event that started it */
    id: string
    /** Name of the token */
    token: string
    /** In the smallest unit; a string beyond 2^53 − 1 */
    amount: number | string
    /** npub */
    counterparty: string
    /** Note of the transaction; null without one */
    memo: string | null
    /** Unix seconds */
    at: number
  }[]
}

/** Any other key is `#` and one letter: values of that tag */
export type Filter = {
  /** Ids of events, hex */
  ids?: string[]
  /** Public keys, hex */
  authors?: string[]
  /** Kinds of events */
  kinds?: number[]
  /** From this time on */
  since?: number
  /** Up to this time */
  until?: number
  /** Entries of a page, 1 to 500; 100 if absent */
  limit?: number
  /** Words (NIP-50) */
  search?: string
  [other: string]: unknown
}

export type Inbox = {
  /** Newest first */
  vouchers: {
    /** The handle of its nonce */
    id: string
    /** State, one word */
    status: 'minted' | 'claimed' | 'refreshed' | 'voided' | 'expired' | 'unknown'
    /** When it arrived */
    receivedAt: number
    /** For the holder, up to 200 characters; null without one */
    comment: string | null
    /** The definition: UUID */
    couponId: string
    /** The definition */
    coupon: Benefit
    /** For people, 1 to 80 characters */
    name: string
    /** For people; empty if there is none */
    description: string
    /** https address of a picture; null without one */
    image: string | null
    /** The merchant's */
    npub: string
    service: {
      /** The key that signed the voucher */
      npub: string
      url: string | null
    } | null
    /** From that second on it is expired; null for never */
    expiresAt: number | null
    /** As in the voucher; another service may state others */
    rules?: unknown
    /** The voucher, encrypted to the holder (NIP-44) */
    sealed: {
      /** A key made for this voucher alone */
      pubkey: string
      /** NIP-44 from that key to the holder */
      payload: string
    }
  }[]
}

/** Says what the wallet answers, as it stands */
export type Invoice = Record<string, unknown>

export type Names = {
  /** At most one name, in lower case */
  names: Record<string, string>
  /** By public key */
  relays: Record<string, string[]>
}

export type NewNonce = {
  /** True when it was done */
  success: true
  /** Lets somebody register one identity */
  nonce: string
}

export type OpenNonce = {
  /** True: it can still be used */
  status: true
}

export type Preferences = {
  /** The name takes vouchers, too */
  allowVouchers: boolean
}

export type Publication = {
  /** Id of the event, hex */
  id: string
  /** State, one word */
  status: 'pending' | 'delivered' | 'partial' | 'failed'
  /** One entry for each relay */
  relays: {
    /** Address of the relay */
    url: string
    /** State, one word */
    status: 'pending' | 'delivered' | 'refused' | 'expired'
    /** Tries so far */
    attempts: number
    /** The last failure; null if there was none */
    lastError: string | null
  }[]
}

export type Reception =
  | {
      /** State, one word */
      status: 'ACCEPTED'
    }
  | {
      /** State, one word */
      status: 'ERROR'
      /** One sentence for people, es-AR */
      reason: string
      /** Stable word for programs, from the catalogue of errors */
      code: string
    }

export type Registered = {
  /** True when it was done */
  success: true
  /** UUID */
  id: string
  /** Public key, hex */
  pubkey: string
}

export type Sending = {
  /** State, one word */
  status: 'SENT' | 'NOT_SENT' | 'MOVED' | 'UNKNOWN'
  /** One sentence for people */
  reason?: string
  /** Stable word for programs, from the catalogue of errors */
  code?: string
}

export type Signup = {
  /** Anybody may register a name */
  enabled: true
  /** The price */
  milisatoshis: 0
}

export type SignupEvent = {
  /** A name costs nothing */
  requirePayment: false
  /** For POST /api/nonce */
  data: {
    buyEvent: NostrEvent
  }
}

export type Transfer = {
  /** 22 characters for vouchers of this service */
  nonce: string
  /** The signed event of the voucher */
  voucher?: NostrEvent | null
  /** A lightning address (LUD-16) */
  to: string
  comment?: string | null
}

export type Username = {
  /** State, one word */
  status: 'OK'
  /** Name of the holder here */
  username: string
  /** Name of this service for wallets and cards */
  federationId: string
}

export type WalletOperations = {
  /** Publish a signed event: on disk, and delivered from there */
  'POST /nostr/publish': { input: { body: NostrEvent }; answer: null }
  /** Says what became of a published event */
  'GET /nostr/publish/{id}': { input: { path: { id: string } }; answer: Publication }
  /** Events that match a filter, newest first */
  'POST /nostr/fetch': { input: { body: Filter }; answer: NostrEvent[] }
  /** A nonce that lets somebody register one identity */
  'POST /api/nonce': { input: { body: NostrEvent }; answer: NewNonce }
  /** A nonce that lets somebody register one identity */
  'POST /api/nonce/create': { input: { body: NostrEvent }; answer: NewNonce }
  /** Whether a nonce can be used */
  'GET /api/nonce/{nonce}': { input: { path: { nonce: string } }; answer: OpenNonce }
  /** Register a name for a key; burns a nonce */
  'POST /api/identity': { input: { body: NostrEvent }; answer: Registered }
  /** Says whose name it is; 404 while it is free */
  'GET /api/identity': { input: { query: { name: Asked } }; answer: Names }
  /** Whether anybody may register a name */
  'GET /api/signup': { input: object; answer: Signup }
  /** An event that makes one nonce, for anybody */
  'GET /api/signup/request': { input: object; answer: SignupEvent }
  /** Says what a key has of each token, and its last movements */
  'GET /api/ledger/balances/{key}': { input: { path: { key: string } }; answer: Balances }
  /** Says whose name it is (NIP-05) */
  'GET /.well-known/nostr.json': { input: { query?: { name?: Asked } }; answer: Names }
  /** How to pay a name or send it a voucher (LUD-16) */
  'GET /.well-known/lnurlp/{name}': {
    input: { path: { name: string } }
    answer: {
      /** Kind of the answer, of LNURL or LaWallet */
      tag: 'payRequest'
      /** On this service */
      callback: string
      /** Millisatoshi */
      minSendable: number
      /** Millisatoshi; 1 when the holder has no wallet */
      maxSendable: number
      /** JSON */
      metadata: string
      /** The name takes vouchers, too */
      allowVouchers: boolean
      /** Public key of the holder, hex */
      accountPubKey: string
      /** Name of this service for wallets and cards */
      federationId: string
    }
  }
  /** How to pay a name or send it a voucher (LUD-16) */
  'GET /api/lud16/{name}': {
    input: { path: { name: string } }
    answer: {
      /** Kind of the answer, of LNURL or LaWallet */
      tag: 'payRequest'
      /** On this service */
      callback: string
      /** Millisatoshi */
      minSendable: number
      /** Millisatoshi; 1 when the holder has no wallet */
      maxSendable: number
      /** JSON */
      metadata: string
      /** The name takes vouchers, too */
      allowVouchers: boolean
      /** Public key of the holder, hex */
      accountPubKey: string
      /** Name of this service for wallets and cards */
      federationId: string
    }
  }
  /** An invoice of the holder’s own wallet (LUD-06) */
  'GET /api/lud16/{name}/cb': {
    input: { path: { name: string }; query: { amount: Asked; comment?: Asked; nostr?: Asked } }
    answer: Invoice
  }
  /** Take a voucher for a name */
  'POST /api/lud16/{name}/cb': {
    input: { path: { name: string }; body: Arrival }
    answer: Reception & {
      code?:
        | 'voucher-invalid'
        | 'service-unknown'
        | 'voucher-unknown'
        | 'voucher-claimed'
        | 'voucher-refreshed'
        | 'voucher-cancelled'
        | 'voucher-expired'
        | 'vouchers-not-taken'
        | 'transfer-busy'
        | 'inbox-full'
        | 'inbox-merchant-full'
        | 'service-silent'
        | 'transfer-pending'
    }
  }
  /** The name of a key */
  'GET /api/pubkey/{key}': { input: { path: { key: string } }; answer: Username }
  /** Hand a voucher to a lightning address */
  'POST /api/transfer': {
    input: { body: Transfer }
    answer: Sending & {
      code?:
        | 'rate-limited'
        | 'voucher-unknown'
        | 'address-unknown'
        | 'voucher-claimed'
        | 'voucher-refreshed'
        | 'voucher-cancelled'
        | 'voucher-expired'
        | 'vouchers-not-taken'
        | 'transfer-busy'
        | 'inbox-full'
        | 'inbox-merchant-full'
        | 'service-silent'
        | 'transfer-pending'
        | 'address-silent'
        | 'transfer-unclear'
        | 'overloaded'
    }
  }
  /** The vouchers that the caller has received */
  'GET /api/wallet/vouchers': { input: object; answer: Inbox }
  /** Forget a received voucher, spent or not */
  'DELETE /api/wallet/vouchers/{id}': {
    input: { path: { id: string } }
    answer: {
      /** True: it is gone */
      removed: true
    }
  }
  /** Whether the caller's account takes vouchers */
  'GET /api/wallet/settings': { input: object; answer: Preferences }
  /** Say whether the caller's account takes vouchers */
  'PUT /api/wallet/settings': { input: { body: Preferences }; answer: Preferences }
}
