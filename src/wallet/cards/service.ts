import type { Clock } from '../../base/clock.ts'
import type { Nip44 } from '../../crypto/nip44.ts'
import type { Database } from '../../db/database.ts'
import type { FactStore } from '../../db/fact-store.ts'
import type { VerifyHash } from '../../nostr/delegation.ts'
import type { Signer, VerifyEvent } from '../../nostr/event.ts'
import type { AccountStore } from '../identities/account-store.ts'
import type { RequestStore } from '../request-store.ts'
import type { CardStore } from './card-store.ts'
import type { CodeTries } from './code-tries.ts'
import type { CardLimit, HolderStore } from './holder-store.ts'
import type { ScanStore } from './scan-store.ts'
import type { KeyDerivation } from './tag.ts'

/** Stores of an operation on cards. */
export type CardStores = {
  cards: CardStore
  holders: HolderStore
  scans: ScanStore
  requests: RequestStore
  accounts: AccountStore
  facts: FactStore
}

/** Dependencies of the operations on cards; put together by `app/cards.ts`. */
export type Cards = {
  database: Database<CardStores>
  now: Clock
  verify: VerifyEvent
  verifyHash: VerifyHash
  /** The manager key: it signs answers, and holders delegate to it. */
  signer: Signer
  nip44: Nip44
  /** 32 bytes; seals delegations and hashes codes, so that the file alone gives away neither. */
  storeKey: Uint8Array
  keys: KeyDerivation
  /** Fingerprint of the key that the cards' keys follow from. The first card binds the database to it. */
  keyFingerprint: string
  /** Keys that may initialise and wipe cards. */
  writers: ReadonlySet<string>
  defaultLimits: readonly CardLimit[]
  /** Key of the lightning gateway that pays invoices for cards; null: none. */
  gatewayPubkey: string | null
  federationId: string
  /** The address of this service, for a request that does not name it. */
  base: () => string
  funds: Funds
  /** The LUD-06 answer for payments to this key; null when it takes none. */
  payRequest: (pubkey: string, base: string) => Promise<object | null>
  newId: () => string
  /** A fresh credential of a scan: an sUUID. */
  newK1: () => string
  /** Limits guesses at codes. */
  codeTries: CodeTries
  /** The keys of a card were given to a reader: an npub, or the operator. */
  keysRead: (reading: { cid: string; reader: string; why: string }) => void
}

/** Dependencies that tags and the operator's commands need, with a server or without one. */
export type CardAdmin = Pick<
  Cards,
  'database' | 'now' | 'storeKey' | 'keys' | 'keyFingerprint' | 'newId' | 'keysRead'
>

/** A holder's funds, as the ledger knows them. */
export type Funds = {
  /** The tokens there are. */
  tokens(): readonly string[]
  /** Balance of a key; null where the ledger is elsewhere. Runs in the transaction that asks. */
  // A method, so that its implementation may use the ledger's stores of the same transaction.
  balance(tx: CardStores, pubkey: string, token: string): Promise<bigint | null>
  /** Amount that a holder's payments with a card have spent or reserved since then, Unix seconds. */
  spent(
    tx: CardStores,
    card: { cardId: number; holder: string; token: string; since: number },
  ): Promise<bigint>
}
