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

/** What an operation on cards can read and write. */
export type CardStores = {
  cards: CardStore
  holders: HolderStore
  scans: ScanStore
  requests: RequestStore
  accounts: AccountStore
  facts: FactStore
}

/** Everything the operations on cards need; put together by `app/cards.ts`. */
export type Cards = {
  database: Database<CardStores>
  now: Clock
  verify: VerifyEvent
  verifyHash: VerifyHash
  /** The manager key: answers requests, and is what holders delegate to. */
  signer: Signer
  nip44: Nip44
  /** 32 bytes; seals delegations, and stands between codes and whoever has the file. */
  storeKey: Uint8Array
  keys: KeyDerivation
  /** What names the key that those follow from: the first card binds the database to it. */
  keyFingerprint: string
  /** Keys that may initialise and wipe cards. */
  writers: ReadonlySet<string>
  defaultLimits: readonly CardLimit[]
  /** Who pays invoices for cards; null: nobody. */
  gatewayPubkey: string | null
  federationId: string
  /** Where this service is reached, when a request does not say. */
  base: () => string
  funds: Funds
  /** What a wallet that wants to pay this key is told (LUD-06); null when it takes no payments. */
  payRequest: (pubkey: string, base: string) => Promise<object | null>
  newId: () => string
  /** A fresh credential of a scan: an sUUID. */
  newK1: () => string
  /** Limits how often wrong codes are tried. */
  codeTries: CodeTries
  /** Somebody, an npub or the operator, was given the keys of a card. */
  keysRead: (reading: { cid: string; reader: string; why: string }) => void
}

/** What the operator's commands need of it, with a server or without. */
export type CardAdmin = Pick<
  Cards,
  'database' | 'now' | 'storeKey' | 'keys' | 'keyFingerprint' | 'newId' | 'keysRead'
>

/** What the ledger knows of a holder's means. */
export type Funds = {
  /** The tokens there are. */
  tokens(): readonly string[]
  /** What a key has; null where a ledger elsewhere knows. Runs in the transaction that asks. */
  // A method: the ledger's stores are of the same transaction, but none of this folder's.
  balance(tx: CardStores, pubkey: string, token: string): Promise<bigint | null>
  /** What a holder's payments with a card have spent or reserved since then, Unix seconds. */
  spent(
    tx: CardStores,
    card: { cardId: number; holder: string; token: string; since: number },
  ): Promise<bigint>
}
