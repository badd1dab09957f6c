// Written by `npm run client-types` from the OpenAPI document.

import type { Asked } from './operations.ts'
import type { Benefit } from './vouchers.ts'

export type Batches = {
  /** Newest first */
  batches: {
    /** UUID */
    id: string
    /** For people, 1 to 80 characters */
    name: string
    /** Unix seconds */
    createdAt: number
    /** Minted, counted once along a chain of refreshes */
    issued: number
    /** Can still be redeemed */
    open: number
    /** Past `expiresAt` */
    expired: number
    /** Redeemed */
    claimed: number
    /** Made worthless by the merchant */
    voided: number
  }[]
  next: string | null
}

/** Counts of vouchers by state */
export type Figures = {
  /** Ever minted; a refresh is no mint */
  issued: number
  /** Can be redeemed */
  open: number
  /** Expired before they were redeemed or voided */
  expired: number
  /** Redeemed */
  claimed: number
  /** Made worthless by the merchant */
  voided: number
}

/** A voucher in the list of its merchant */
export type Issuance = {
  /** Names a voucher, cannot spend it */
  handle: string
  /** The handle again, for clients that void by `nonce`. Nothing can be spent with it */
  nonce: string
  /** State of the voucher */
  status: 'minted' | 'claimed' | 'refreshed' | 'voided'
  /** True if it is `minted` and past its expiry */
  expired: boolean
  /** Public key that minted it, hex */
  mintedBy: string
  /** The same key as npub */
  mintedByNpub: string
  /** Unix seconds */
  mintedAt: number
  claimedAt: number | null
  voidedAt: number | null
  refreshedAt: number | null
  /** Names a voucher, cannot spend it */
  chain: string
  /** The poster that it was taken from */
  poster?: string
  /** Its batch */
  batch?: string
  /** The recipient that the merchant named */
  label?: string
}

export type Issuances = {
  /** Newest first */
  mints: Issuance[]
  next: string | null
}

export type Redemptions = {
  /** Newest first */
  redemptions: {
    /** Names a voucher, cannot spend it */
    handle: string
    /** The handle again, for clients that void by `nonce`. Nothing can be spent with it */
    nonce: string
    /** Unix seconds */
    claimedAt: number
    /** The definition: UUID */
    couponId: string
    /** For people, 1 to 80 characters */
    name: string
    /** Worth of a voucher */
    benefit: Benefit
    order: unknown | null
    /** Id of that event, hex; null without one */
    orderId: string | null
    /** Paid with the order, in millisatoshi; null if not told */
    amountMsat: number | null
    /** Public key of the till that authenticated, hex; null without one */
    claimedBy: string | null
    /** The same key as npub */
    claimedByNpub: string | null
    claimedByLabel: string | null
    /** True, else absent: the key was no till of the caller then */
    unlisted?: boolean
    /** Absent if the till named none */
    purchase?: {
      /** Above zero; at most two decimals, none for SAT */
      amount: number
      /** ARS, USD or SAT */
      currency: 'ARS' | 'USD' | 'SAT'
    }
    /** The recipient that the merchant named */
    label?: string
  }[]
  next: string | null
}

export type Statistics = {
  /** First day, YYYY-MM-DD */
  from: string
  /** Last day, included, YYYY-MM-DD */
  to: string
  /** Hours east of UTC that the days were counted in */
  offset: number
  /** One entry for each definition */
  coupons: {
    /** The definition: UUID */
    couponId: string
    figures: Figures
    /** One entry for each day with a figure, oldest first */
    days: {
      /** YYYY-MM-DD */
      day: string
      /** Issued and not voided */
      minted: number
      /** Redeemed */
      claimed: number
    }[]
  }[]
  next: string | null
}

export type TillStatistics = {
  /** First day, YYYY-MM-DD */
  from: string
  /** Last day, included, YYYY-MM-DD */
  to: string
  /** Hours east of UTC that a day was counted in */
  offset: number
  /** One entry for each key that redeemed */
  tills: {
    /** Public key, hex */
    pubkey: string | null
    /** Public key as npub */
    npub: string | null
    label: string | null
    /** One entry for each day with a figure, oldest first */
    days: {
      /** YYYY-MM-DD */
      day: string
      /** Redeemed */
      claimed: number
    }[]
  }[]
  next: string | null
}

export type ListsOperations = {
  /** Redemptions of the caller’s coupons, newest first */
  'GET /api/coupons/redemptions': {
    input: { query?: { limit?: Asked; cursor?: Asked } }
    answer: Redemptions
  }
  /** Vouchers minted and redeemed, by coupon and day */
  'GET /api/coupons/stats': {
    input: { query?: { from?: Asked; to?: Asked; offset?: Asked; cursor?: Asked } }
    answer: Statistics
  }
  /** Vouchers redeemed, by till and day */
  'GET /api/coupons/stats/tills': {
    input: { query?: { from?: Asked; to?: Asked; offset?: Asked; cursor?: Asked } }
    answer: TillStatistics
  }
  /** Vouchers issued from a definition, newest first, or one chain of refreshes */
  'GET /api/coupons/{id}/mints': {
    input: {
      path: { id: string }
      query?: { limit?: Asked; cursor?: Asked; chain?: Asked; refreshed?: Asked }
    }
    answer: Issuances
  }
  /** Void every open voucher of a definition */
  'DELETE /api/coupons/{id}/mints': {
    input: { path: { id: string } }
    answer: {
      /** Made worthless by the merchant */
      voided: number
    }
  }
  /** Void one voucher, or with chain=1 where refreshes have brought it */
  'DELETE /api/coupons/{id}/mints/{handle}': {
    input: { path: { id: string; handle: string }; query?: { chain?: Asked } }
    answer: {
      /** The voucher after that */
      mint: Issuance
    }
  }
  /** Batches of a definition with their figures, newest first */
  'GET /api/coupons/{id}/batches': {
    input: { path: { id: string }; query?: { limit?: Asked; cursor?: Asked } }
    answer: Batches
  }
  /** Void every open voucher of a batch */
  'DELETE /api/coupons/{id}/batches/{batch}': {
    input: { path: { id: string; batch: string } }
    answer: {
      /** Made worthless by the merchant */
      voided: number
    }
  }
}
