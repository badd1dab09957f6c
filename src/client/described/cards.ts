// Written by `npm run client-types` from the OpenAPI document.

import type { RefusalCode } from './codes.ts'
import type { Asked } from './operations.ts'
import type { NostrEvent } from './vouchers.ts'

export type CardConfig = {
  /** The only keys that the holder’s cards pay; empty for all */
  'trusted-merchants': {
    /** Public key, hex */
    pubkey: string
  }[]
  /** Settings of each card, by its id */
  cards: Record<
    string,
    {
      /** For people, 1 to 80 characters */
      name: string
      /** For people; empty if there is none */
      description: string
      /** State, one word */
      status: 'ENABLED' | 'DISABLED'
      /** Sums that the card may spend */
      limits: {
        /** For people, 1 to 80 characters */
        name: string
        /** For people; empty if there is none */
        description: string
        /** Name of the token */
        token: string
        /** In the smallest unit; text above 2^53 − 1 */
        amount: number | string
        /** Seconds; 0: in one payment */
        delta: number
      }[]
    }
  >
}

export type CardData = Record<
  string,
  {
    /** The look of the card */
    design: {
      /** UUID */
      uuid: string
      /** For people, 1 to 80 characters */
      name: string
      /** For people; empty if there is none */
      description: string
    }
  }
>

export type CardPayment = {
  /** State, one word */
  status: 'OK' | 'PENDING' | 'ERROR'
  /** `unknown`: no answer for 20 seconds; `released`: none at all */
  state: 'settled' | 'pending' | 'unknown' | 'refused' | 'released'
  /** es-AR */
  reason?: string
  /** Stable word for programs, from the catalogue of errors */
  code?: RefusalCode
  /** The answer came after the reservation was let go */
  late: boolean
  /** npub */
  recipient: string
  /** Amount of each token, in its smallest unit */
  tokens: Record<string, number | string>
  /** Id of the start event */
  start: string | null
  /** When it was made */
  createdAt: number
  /** When it came to its end; null while it waits */
  endedAt: number | null
}

export type Paid = {
  /** The ledger has settled */
  status: 'OK'
}

export type Pending = {
  /** No answer yet: ask GET /card/pay/{k1} */
  status: 'PENDING'
}

export type Scan =
  | {
      /** Kind of the answer, of LNURL or LaWallet */
      tag: 'withdrawRequest'
      /** The address of the next request */
      callback: string
      /** Pays once, within 180 seconds */
      k1: string
      /** Name of the card, for people */
      defaultDescription: string
      /** Millisatoshi */
      minWithdrawable: number
      /** In the smallest unit; text above 2^53 − 1 */
      maxWithdrawable: number | string
    }
  | {
      /** Kind of the answer, of LNURL or LaWallet */
      tag: 'laWallet:withdrawRequest'
      /** The address of the next request */
      callback: string
      /** Pays once, within 180 seconds */
      k1: string
      /** Name of the card, for people */
      defaultDescription: string
      /** Amount of each token, in its smallest unit */
      tokens: Record<
        string,
        {
          /** Millisatoshi */
          minWithdrawable: number
          /** In the smallest unit; text above 2^53 − 1 */
          maxWithdrawable: number | string
        }
      >
    }
  | {
      /** Kind of the answer, of LNURL or LaWallet */
      tag: 'laWallet:identityQuery'
      /** Public key of the holder, hex */
      accountPubKey: string
    }
  | {
      /** Kind of the answer, of LNURL or LaWallet */
      tag: 'laWallet:info'
      /** How far the card has come */
      info: {
        /** Steps that the card has taken */
        status: {
          /** Keys were written to the tag */
          initialized: boolean
          /** A one-time code belongs to the card */
          associated: boolean
          /** A holder has activated the card */
          activated: boolean
          /** A permission of the holder is in force */
          hasDelegation: boolean
          /** The holder has a name here */
          hasIdentity: boolean
        }
        /** The tag */
        ntag424: {
          /** Says what is known */
          ok: {
            /** UID of the tag, hex */
            cid: string
            /** Counter of the last tap */
            ctr: number
            /** Counter of this tap */
            ctrNew: number
            /** Never told: always null */
            otc: null
            /** The look of the card */
            design: {
              /** UUID */
              uuid: string
              /** For people, 1 to 80 characters */
              name: string
            }
          }
        }
        /** The card as its holder sees it; null before it is activated */
        card: {
          /** Says what is known */
          ok: {
            /** UUID */
            uuid: string
            /** For people, 1 to 80 characters */
            name: string
            /** For people; empty if there is none */
            description: string
            /** False while the card is turned off */
            enabled: boolean
          }
        } | null
        /** The holder and his permissions; null before the card is activated */
        holder: {
          /** Says what is known */
          ok: {
            /** Public key, hex */
            pubKey: string
            /** Permissions that the holder gave to this service (NIP-26) */
            delegations: {
              /** Kind of the event */
              kind: number
              /** Time as in HTTP */
              since: string
              /** Time as in HTTP */
              until: string
              /** In force now */
              isCurrent: boolean
            }[]
          }
        } | null
        /** The name of the holder; null without one */
        identity: {
          /** Says what is known */
          ok: {
            /** For people, 1 to 80 characters */
            name: string
          }
        } | null
      }
    }
  | {
      /** Kind of the answer, of LNURL or LaWallet */
      tag: 'payRequest'
    }

export type CardsOperations = {
  /** The keys to write to a tag; again, the same */
  'POST /ntag424': { input: { body: NostrEvent }; answer: NostrEvent }
  /** Give the card that was tapped a code of your own */
  'PATCH /ntag424': { input: { query: { p: Asked; c: Asked }; body: NostrEvent }; answer: null }
  /** End a card; the keys to wipe its tag with */
  'DELETE /ntag424': { input: { body: NostrEvent }; answer: NostrEvent }
  /** Become the holder of a card, with its code and a delegation */
  'POST /card': { input: { body: NostrEvent }; answer: NostrEvent }
  /** How the cards of a holder look */
  'POST /card/data/request': { input: { body: NostrEvent }; answer: CardData }
  /** Says what a holder decided about his cards */
  'POST /card/config/request': { input: { body: NostrEvent }; answer: CardConfig }
  /** Says what a tap is good for (LUD-03) */
  'GET /card/scan': { input: { query: { p: Asked; c: Asked } }; answer: Scan }
  /** Pay a merchant from the card that was tapped */
  'POST /card/pay': { input: { body: NostrEvent }; answer: Paid | Pending }
  /** Pay an invoice from the card that was tapped (LUD-03) */
  'GET /card/pay': { input: { query: { k1: Asked; pr: Asked } }; answer: Paid | Pending }
  /** Says what came of a payment */
  'GET /card/pay/{k1}': {
    input: { path: { k1: string } }
    answer: CardPayment & {
      code?:
        | 'card-unknown'
        | 'card-inactive'
        | 'card-disabled'
        | 'delegation-over'
        | 'token-unknown'
        | 'holder-changed'
        | 'recipient-not-trusted'
        | 'invoice-expired'
        | 'invoice-taken'
        | 'amount-too-large'
        | 'limit-exceeded'
        | 'funds-insufficient'
        | 'ledger-refused'
        | 'ledger-silent'
    }
  }
}
