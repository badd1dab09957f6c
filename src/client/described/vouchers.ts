// Written by `npm run client-types` from the OpenAPI document.

import type { Asked, Keyed, MayBeKeyed } from './operations.ts'

/** Worth of a voucher */
export type Benefit =
  | {
      /** Kind of benefit, one word */
      type: 'percent'
      /** Above 0, up to 100, two decimals */
      percent: number
      /** Products it is limited to; absent for all */
      productDs?: string[]
      /** The most it takes off */
      cap?: {
        /** Above zero; at most two decimals, none for SAT */
        amount: number
        /** ARS, USD or SAT */
        currency: 'ARS' | 'USD' | 'SAT'
      }
    }
  | {
      /** Kind of benefit, one word */
      type: 'fixed'
      /** Above zero; at most two decimals, none for SAT */
      amount: number
      /** ARS, USD or SAT */
      currency: 'ARS' | 'USD' | 'SAT'
      /** Products it is limited to; absent for all */
      productDs?: string[]
      /** The most it takes off */
      cap?: {
        /** Above zero; at most two decimals, none for SAT */
        amount: number
        /** ARS, USD or SAT */
        currency: 'ARS' | 'USD' | 'SAT'
      }
    }
  | {
      /** Kind of benefit, one word */
      type: 'multibuy'
      /** Taken */
      buyQty: number
      /** Paid */
      payQty: number
      /** Products it is limited to; absent for all */
      productDs?: string[]
      /** The most it takes off */
      cap?: {
        /** Above zero; at most two decimals, none for SAT */
        amount: number
        /** ARS, USD or SAT */
        currency: 'ARS' | 'USD' | 'SAT'
      }
    }
  | {
      /** Kind of benefit, one word */
      type: 'buyXgetY'
      /** A product reference (d), 1 to 128 characters */
      buyProductD: string
      /** A product reference (d), 1 to 128 characters */
      giftProductD: string
      /** The most it takes off */
      cap?: {
        /** Above zero; at most two decimals, none for SAT */
        amount: number
        /** ARS, USD or SAT */
        currency: 'ARS' | 'USD' | 'SAT'
      }
    }
  | {
      /** Kind of benefit, one word */
      type: 'freeItems'
      /** Products that are free, 1 to 50 */
      items: {
        /** A product reference (d), 1 to 128 characters */
        d: string
        /** Pieces, 1 to 100 */
        qty: number
      }[]
      /** The most it takes off */
      cap?: {
        /** Above zero; at most two decimals, none for SAT */
        amount: number
        /** ARS, USD or SAT */
        currency: 'ARS' | 'USD' | 'SAT'
      }
    }

export type Claim = {
  /** 22 characters */
  nonce: string
  owner?: string | null
  /** Kind 9734, signed, or its JSON text; dropped when it is not */
  zapRequest?: NostrEvent | string
  /** Integer, 0 or more; dropped when it is not */
  amountMsat?: number
  /** The purchase that the till named */
  purchase?: Money | null
}

export type ClaimAnswer = {
  /** State, one word */
  status: 'success' | 'claimed'
  /** Unix seconds */
  claimedAt: number
  /** True if the `zapRequest` was filed with the redemption, false if it was dropped. Present on a success that was sent one */
  zapRequestKept?: boolean
  /** The definition: UUID */
  couponId: string
  /** The definition */
  coupon: Benefit
  /** For people, 1 to 80 characters */
  name: string
  /** For people; empty if there is none */
  description: string
  /** The owner's */
  npub: string
  /** https address of a picture; null without one */
  image: string | null
  /** Bearer credential of a voucher */
  nonce: string
  expiresAt: number | null
  /** When and with which purchase it is redeemed; null for no rule */
  rules?: Rules
  /** sha256 of an uploaded picture, hex; null without one */
  picture?: Picture
  /** The signed event of the voucher */
  voucher: NostrEvent
}

export type Money = {
  /** Above zero; at most two decimals, none for SAT */
  amount: number
  /** ARS, USD or SAT */
  currency: 'ARS' | 'USD' | 'SAT'
}

export type Nonce = {
  /** 22 characters */
  nonce: string
}

/** A signed event (NIP-01) */
export type NostrEvent = {
  /** sha256 of the event, hex (NIP-01) */
  id: string
  /** Public key, hex */
  pubkey: string
  /** Unix seconds */
  created_at: number
  /** Kind of the event */
  kind: number
  /** Lists of text; the first one names the tag */
  tags: string[][]
  /** Text; often JSON */
  content: string
  /** Schnorr signature, hex */
  sig: string
}

/** The uploaded picture: sha256, hex. Absent without one */
export type Picture = string

export type Preview = {
  /** State, one word */
  status: 'minted' | 'claimed' | 'refreshed' | 'voided' | 'expired'
  /** The definition: UUID */
  couponId: string
  /** The definition */
  coupon: Benefit
  /** For people, 1 to 80 characters */
  name: string
  /** For people; empty if there is none */
  description: string
  /** The owner's */
  npub: string
  /** https address of a picture; null without one */
  image: string | null
  /** Bearer credential of a voucher */
  nonce: string
  expiresAt: number | null
  /** When and with which purchase it is redeemed; null for no rule */
  rules?: Rules
  /** sha256 of an uploaded picture, hex; null without one */
  picture?: Picture
  claimedAt: number | null
}

/** When and with which purchase it is redeemed. Absent without rules */
export type Rules = {
  /** Unix seconds */
  startsAt?: number
  /** Weekly windows in which it is redeemed */
  times?: {
    /** IANA name; days and hours are read in it */
    timeZone: string
    /** With `to` at or before `from` it ends on the next day, and belongs to the day on which it begins */
    windows: {
      /** Weekdays, 1 is Monday */
      days: number[]
      /** HH:MM */
      from: string
      /** HH:MM */
      to: string
    }[]
  }
  /** The least purchase */
  minimum?: {
    /** Above zero; at most two decimals, none for SAT */
    amount: number
    /** ARS, USD or SAT */
    currency: 'ARS' | 'USD' | 'SAT'
  }
  /** Text for people */
  conditions?: string
}

export type SetUp = {
  /** Public key, hex */
  pubkey: string
  /** Public key as npub */
  npub: string
}

export type VoucherResult = {
  /** The definition: UUID */
  couponId: string
  /** The definition */
  coupon: Benefit
  /** For people, 1 to 80 characters */
  name: string
  /** For people; empty if there is none */
  description: string
  /** The owner's */
  npub: string
  /** https address of a picture; null without one */
  image: string | null
  /** Bearer credential of a voucher */
  nonce: string
  expiresAt: number | null
  /** When and with which purchase it is redeemed; null for no rule */
  rules?: Rules
  /** sha256 of an uploaded picture, hex; null without one */
  picture?: Picture
  /** The signed event of the voucher */
  voucher: NostrEvent
}

export type VouchersOperations = {
  /** The key that signs vouchers here */
  'GET /api/coupons/manager': { input: object; answer: SetUp }
  /** Preview a voucher */
  'GET /api/coupons/claim': { input: { query: { nonce: Asked } }; answer: Preview }
  /** Redeem a voucher */
  'POST /api/coupons/claim': { input: { body: Claim } & MayBeKeyed; answer: ClaimAnswer }
  /** Preview a voucher, without its nonce in a URL */
  'POST /api/coupons/preview': { input: { body: Nonce }; answer: Preview }
  /** Swap a nonce for a new one: how a coupon changes hands */
  'POST /api/coupons/refresh': { input: { body: Nonce } & Keyed; answer: VoucherResult }
  /** Open a session of twelve hours */
  'POST /api/auth/session': {
    input: object
    answer: {
      /** For `Authorization: Bearer` */
      token: string
      /** Public key, hex */
      pubkey: string
      /** Unix seconds, 12 hours ahead */
      expiresAt: number
    }
  }
}
