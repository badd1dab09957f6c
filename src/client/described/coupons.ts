// Written by `npm run client-types` from the OpenAPI document.

import type { MayBeKeyed } from './operations.ts'
import type { Benefit, NostrEvent, Picture, Rules, VoucherResult } from './vouchers.ts'

export type Announcement = {
  /** The signed event */
  event: NostrEvent
  /** Parts of the announcement that others may not follow; absent without any */
  warnings?: {
    /** Stable word for programs, from the catalogue of errors */
    code:
      | 'other-d'
      | 'other-version'
      | 'no-manager'
      | 'other-manager'
      | 'no-mintUrl'
      | 'other-mintUrl'
      | 'no-claimUrl'
      | 'other-claimUrl'
      | 'no-refreshUrl'
      | 'other-refreshUrl'
    /** One sentence for people, es-AR */
    message: string
  }[]
}

export type Authorizations = {
  /** One entry for each owner who listed the caller as a minter */
  authorizations: {
    /** The merchant's */
    npub: string
    label: string | null
    /** False: the caller redeems only */
    mint: boolean
  }[]
}

export type Changes = {
  /** 1 to 80 characters */
  name?: string
  /** Worth of a voucher */
  benefit?: Benefit
  /** True takes the definition out of circulation, false brings it back */
  archived?: boolean
  description?: string | null
  image?: string | null
  maxUses?: number | null
  expiresAt?: number | null
  picture?: string | null
  /** When and with which purchase it is redeemed; null for no rule */
  rules?: Rules | null
}

/** A coupon as its merchant authored it */
export type Definition = {
  /** UUID */
  id: string
  /** For people, 1 to 80 characters */
  name: string
  /** For people; empty if there is none */
  description: string
  /** https address of a picture; null without one */
  image: string | null
  /** Worth of a voucher */
  benefit: Benefit
  /** Most vouchers that may be minted; null for no bound */
  maxUses: number | null
  /** Issued and not voided */
  minted: number
  /** Vouchers redeemed */
  claimed: number
  expiresAt: number | null
  archivedAt: number | null
  /** Unix seconds */
  createdAt: number
  /** Unix seconds */
  updatedAt: number
  /** When and with which purchase it is redeemed; null for no rule */
  rules?: Rules
  /** sha256 of an uploaded picture, hex; null without one */
  picture?: Picture
}

export type Mint = {
  /** The definition: UUID */
  couponId: string
  /** Vouchers to mint at once, 1 to 500 */
  count?: number
  batch?: {
    /** UUID */
    id?: string
    /** For people, 1 to 80 characters */
    name?: string
  } | null
  labels?: (string | null)[] | null
}

export type MintAnswer =
  | VoucherResult
  | {
      /** In the order of `labels` */
      vouchers: VoucherResult[]
      /** The batch that the vouchers belong to */
      batch?: {
        /** UUID */
        id: string
        /** For people, 1 to 80 characters */
        name: string
      }
    }

export type Mintable = {
  /** One entry for each definition */
  coupons: {
    /** UUID */
    id: string
    /** For people, 1 to 80 characters */
    name: string
    /** For people; empty if there is none */
    description: string
    /** https address of a picture; null without one */
    image: string | null
    /** The definition */
    coupon: Benefit
    /** Public key as npub */
    npub: string
    /** Vouchers that may still be minted; null for no bound */
    remaining: number | null
    expiresAt: number | null
    /** When and with which purchase it is redeemed; null for no rule */
    rules?: Rules
    /** sha256 of an uploaded picture, hex; null without one */
    picture?: Picture
  }[]
}

/** A key that may issue or redeem the coupons of a merchant */
export type Minter = {
  /** Public key, hex */
  pubkey: string
  /** Public key as npub */
  npub: string
  /** Note for the owner; null without one */
  label: string | null
  /** Unix seconds */
  createdAt: number
  /** Present on a key that redeems only */
  mint?: false
}

export type NewAnnouncement = {
  /** The signed event */
  event: NostrEvent
}

export type NewDefinition = {
  /** 1 to 80 characters */
  name: string
  /** Worth of a voucher */
  benefit: Benefit
  description?: string | null
  image?: string | null
  maxUses?: number | null
  expiresAt?: number | null
  picture?: string | null
  /** When and with which purchase it is redeemed; null for no rule */
  rules?: Rules | null
}

export type NewMinter = {
  /** npub, nprofile, hex, `nostr:` forms or a NIP-05 identifier */
  pubkey: string
  label?: string | null
  /** False: it redeems only */
  mint?: boolean
}

export type Overview = {
  /** One entry for each definition */
  coupons: Definition[]
  /** Newest first */
  minters: Minter[]
  /** The announcement as the merchant signed it; null if there is none */
  discovery: NostrEvent | null
}

export type CouponsOperations = {
  /** Definitions, minters and announcement of the caller */
  'GET /api/coupons': { input: object; answer: Overview }
  /** Create a definition */
  'POST /api/coupons': {
    input: { body: NewDefinition } & MayBeKeyed
    answer: {
      /** The definition */
      coupon: Definition
    }
  }
  /** Definitions that the caller may mint now */
  'GET /api/coupons/mintable': { input: object; answer: Mintable }
  /** Issue vouchers from a definition */
  'POST /api/coupons/mint': { input: { body: Mint } & MayBeKeyed; answer: MintAnswer }
  /** Edit a definition; minted vouchers do not change */
  'PATCH /api/coupons/{id}': {
    input: { path: { id: string }; body: Changes }
    answer: {
      /** The definition */
      coupon: Definition
    }
  }
  /** Delete a definition that was never minted, archive any other */
  'DELETE /api/coupons/{id}': {
    input: { path: { id: string } }
    answer: {
      /** True: it is gone */
      deleted: boolean
      /** True takes the definition out of circulation, false brings it back */
      archived: boolean
    }
  }
  /** Merchants that list the caller as a till */
  'GET /api/coupons/authorizations': { input: object; answer: Authorizations }
  /** Keys that may mint the caller’s coupons */
  'GET /api/coupons/minters': {
    input: object
    answer: {
      /** Newest first */
      minters: Minter[]
    }
  }
  /** Let a key mint the caller’s coupons */
  'POST /api/coupons/minters': {
    input: { body: NewMinter }
    answer: {
      minter: Minter
    }
  }
  /** Take the permission to mint back */
  'DELETE /api/coupons/minters/{key}': {
    input: { path: { key: string } }
    answer: {
      /** True: it is gone */
      removed: true
    }
  }
  /** Store and broadcast the caller’s announcement */
  'PUT /api/coupons/discovery': { input: { body: NewAnnouncement }; answer: Announcement }
  /** Withdraw the announcement */
  'DELETE /api/coupons/discovery': {
    input: object
    answer: {
      /** True: it is gone */
      removed: true
    }
  }
}
