// Written by `npm run client-types` from the OpenAPI document.

import type { Asked, Keyed, MayBeKeyed } from './operations.ts'
import type { Benefit, Picture, Rules, SetUp, VoucherResult } from './vouchers.ts'

export type Arrived = {
  /** Public key as npub */
  npub: string
}

/** A key that was let in to manage */
export type Merchant = {
  /** Public key, hex */
  pubkey: string
  /** Public key as npub */
  npub: string
  /** Note for the owner; null without one */
  label: string | null
  /** Adds and removes others */
  owner: boolean
  /** Unix seconds */
  createdAt: number
}

export type MoveFile = {
  /** Made by the page, at least 80 bits */
  passphrase: string
}

export type Moved = {
  /** Unix seconds */
  movedAt: number
}

export type NewMerchant = {
  /** npub, nprofile, hex, `nostr:` forms */
  pubkey: string
  label?: string | null
}

export type NewPoster = {
  /** The definition: UUID */
  couponId: string
  label?: string | null
  perPerson?: number | null
  perDay?: number | null
  total?: number | null
  startsAt?: number | null
  endsAt?: number | null
  timeZone?: string | null
}

export type Poster = {
  /** UUID */
  id: string
  /** The definition: UUID */
  couponId: string
  /** Note for the owner; null without one */
  label: string | null
  /** Vouchers for one key */
  perPerson: number
  perDay: number | null
  /** Most in all; null for no bound */
  total: number | null
  /** IANA name */
  timeZone: string
  startsAt: number | null
  endsAt: number | null
  /** True: it gives nothing for now */
  paused: boolean
  /** Vouchers taken in all */
  taken: number
  /** Vouchers taken today */
  takenToday: number
  /** Unix seconds */
  createdAt: number
  /** Unix seconds */
  updatedAt: number
}

export type PosterChanges = {
  label?: string | null
  perPerson?: number | null
  perDay?: number | null
  total?: number | null
  startsAt?: number | null
  endsAt?: number | null
  /** True: it gives nothing for now */
  paused?: boolean
}

export type PosterState =
  | 'open'
  | 'paused'
  | 'not-started'
  | 'ended'
  | 'exhausted'
  | 'today-exhausted'

export type PublicShop = {
  /** Public key as npub */
  npub: string
  /** For people, 1 to 80 characters */
  name: string | null
  color: ('green' | 'teal' | 'blue' | 'violet' | 'pink' | 'red' | 'brown' | 'graphite') | null
  picture: string | null
}

export type Received = {
  /** Received so far */
  bytes: number
}

export type Setup = {
  /** In any case; dashes and spaces do not matter */
  code: string
}

export type Shop = {
  /** For people, 1 to 80 characters */
  name: string | null
  color: ('green' | 'teal' | 'blue' | 'violet' | 'pink' | 'red' | 'brown' | 'graphite') | null
  picture: string | null
  /** Only tills of the owner and its minters redeem */
  onlyAuthorizedTills: boolean
}

export type ShopChanges = {
  name?: string | null
  color?: string | null
  picture?: string | null
  /** True: only tills of the merchant redeem */
  onlyAuthorizedTills?: boolean
}

export type ShownPoster = {
  /** The poster as visitors see it */
  poster: {
    /** UUID */
    id: string
    /** State, one word */
    state: PosterState
    startsAt: number | null
    endsAt: number | null
  }
  /** For people, 1 to 80 characters */
  name: string
  /** For people; empty if there is none */
  description: string
  /** https address of a picture; null without one */
  image: string | null
  /** The definition */
  coupon: Benefit
  /** The owner's */
  npub: string
  expiresAt: number | null
  /** When and with which purchase it is redeemed; null for no rule */
  rules?: Rules
  /** sha256 of an uploaded picture, hex; null without one */
  picture?: Picture
}

export type Ticket = {
  /** For the header `X-Move-Ticket` of the pieces */
  ticket: string
}

export type ShopOperations = {
  /** Become the first merchant, with the setup code that the operator was shown */
  'POST /api/setup': { input: { body: Setup }; answer: SetUp }
  /** Merchants that were let in, newest first */
  'GET /api/merchants': {
    input: object
    answer: {
      /** Newest first */
      merchants: Merchant[]
    }
  }
  /** Let a key manage coupons of its own */
  'POST /api/merchants': {
    input: { body: NewMerchant }
    answer: {
      merchant: Merchant
    }
  }
  /** Let a key manage no longer; its vouchers stay good */
  'DELETE /api/merchants/{key}': {
    input: { path: { key: string } }
    answer: {
      /** True: it is gone */
      removed: true
    }
  }
  /** Close the service here, to go on at another computer */
  'POST /api/move': { input: object; answer: Moved }
  /** Open the service again, since the move did not take place */
  'DELETE /api/move': { input: object; answer: Record<string, unknown> }
  /** Begin to bring a service from another computer */
  'POST /api/arrival': {
    input: {
      body: {
        code?: string | null
      }
    }
    answer: Ticket
  }
  /** Send the next piece of its file */
  'PUT /api/arrival/pieces': {
    input: { query: { at: Asked }; body: Blob; headers: { 'X-Move-Ticket': string } }
    answer: Received
  }
  /** Check the file, and go on as the service in it */
  'POST /api/arrival/finish': {
    input: { body: MoveFile; headers: { 'X-Move-Ticket': string } }
    answer: Arrived
  }
  /** Name, colour and logo of a shop; null where unset */
  'GET /api/shops/{key}': { input: { path: { key: string } }; answer: PublicShop }
  /** Settings of the caller’s shop; null where unset */
  'GET /api/shop': { input: object; answer: Shop }
  /** Change settings of the caller’s shop */
  'PATCH /api/shop': { input: { body: ShopChanges }; answer: Shop }
  /** Upload a picture for a coupon or the shop; its metadata is removed */
  'POST /api/pictures': {
    input: { body: Blob }
    answer: {
      /** sha256 of an uploaded picture, hex; null without one */
      picture: {
        /** sha256 of the stored bytes, hex */
        hash: string
        /** Under the https PUBLIC_URL. Without one, the path at this service */
        url: string
        /** Kind of benefit, one word */
        type: 'image/jpeg' | 'image/png' | 'image/webp'
        /** Length without metadata */
        bytes: number
      }
    }
  }
  /** Posters of the caller, with what was taken from each */
  'GET /api/posters': {
    input: object
    answer: {
      /** Newest first */
      posters: Poster[]
    }
  }
  /** Create a poster: an address where anybody takes a voucher of a definition */
  'POST /api/posters': {
    input: { body: NewPoster } & MayBeKeyed
    answer: {
      /** The poster as visitors see it */
      poster: Poster
    }
  }
  /** Change the limits of a poster, pause it or go on */
  'PATCH /api/posters/{id}': {
    input: { path: { id: string }; body: PosterChanges }
    answer: {
      /** The poster as visitors see it */
      poster: Poster
    }
  }
  /** Delete a poster; vouchers taken from it stay */
  'DELETE /api/posters/{id}': {
    input: { path: { id: string } }
    answer: {
      /** True: it is gone */
      deleted: true
    }
  }
  /** A poster, as its page shows it */
  'GET /api/posters/{id}': { input: { path: { id: string } }; answer: ShownPoster }
  /** Take a voucher from a poster, with any key */
  'POST /api/posters/{id}/take': { input: { path: { id: string } } & Keyed; answer: VoucherResult }
  /** The process answers */
  'GET /livez': {
    input: object
    answer: {
      /** State, one word */
      status: 'ok'
    }
  }
  /** The service can read and write */
  'GET /readyz': {
    input: object
    answer: {
      /** State, one word */
      status: 'ok'
      /** Absent when there is nothing to tell */
      warnings?: 'disk-low'[]
    }
  }
}
