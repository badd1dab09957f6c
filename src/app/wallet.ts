import type { Clock } from '../base/clock.ts'
import { createNonce } from '../coupons/nonce.ts'
import type { Database } from '../db/database.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { Signer, VerifyEvent } from '../nostr/event.ts'
import { createWalletCaller } from '../outbound/callback.ts'
import type { FetchPublic } from '../outbound/fetch-public.ts'
import { type IdentityCommand, operate } from '../wallet/identities/operator.ts'
import type { Identities } from '../wallet/identities/service.ts'
import type { Config } from './config.ts'
import { listedMerchants } from './management.ts'
import { orOverloaded } from './outbound.ts'
import type { Stores } from './stores.ts'

type WalletParts = {
  database: Database<Stores>
  now: Clock
  /** The manager key. */
  signer: Signer
  verify: VerifyEvent
  verifyHash: VerifyHash
  /** Addresses of the relays in use, for whoever reached us at `asked`. */
  relays: (asked: string | null) => string[]
  /** Where this service is reached. */
  base: () => string
  /** What a URL must be for us to go there. */
  usable: (url: URL) => boolean
  fetchPublic: FetchPublic
  requireDisk: () => void
}

type Wallet = {
  identities: Identities
  /** The operator's, for the control socket. */
  commands: Record<string, (asked: Record<string, unknown>) => Promise<unknown>>
}

/** Put together what the wallet's routes work with. */
export function createWallet(config: Config, parts: WalletParts): Wallet {
  const { signer, fetchPublic, ...shared } = parts
  const defaults = [signer.pubkey, ...listedMerchants(config)]
  const identities: Identities = {
    ...shared,
    newNonce: createNonce,
    newId: () => Bun.randomUUIDv7(),
    manager: signer.pubkey,
    issuers: config.identityIssuers ?? new Set(defaults),
    selfSignup: config.identitySelfSignup,
    reserved: config.identityReserved,
    federationId: federationOf(config),
    askWallet: orOverloaded(createWalletCaller(fetchPublic)),
  }
  const hosts = () => [...config.publicUrls, parts.base()].map((url) => new URL(url).host)
  return {
    identities,
    commands: {
      'POST /identity': (asked) =>
        operate({ ...identities, hosts: hosts() }, asked as IdentityCommand),
    },
  }
}

/** The name under which tills know the cards and addresses of this service. */
export function federationOf({ federationId, publicUrls: [url] }: Config): string {
  return federationId ?? (url ? new URL(url).hostname : 'localhost')
}
