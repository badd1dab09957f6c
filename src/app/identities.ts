import type { Clock } from '../base/clock.ts'
import { createNonce } from '../coupons/nonce.ts'
import type { Database } from '../db/database.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { Signer, VerifyEvent } from '../nostr/event.ts'
import { createWalletCaller } from '../outbound/callback.ts'
import type { FetchPublic } from '../outbound/fetch-public.ts'
import { type IdentityCommand, operate } from '../wallet/identities/operator.ts'
import type { Identities } from '../wallet/identities/service.ts'
import { createSignupLimit } from '../wallet/identities/signup-limit.ts'
import type { Config } from './config.ts'
import { listedMerchants } from './management.ts'
import { orOverloaded } from './outbound.ts'
import type { Stores } from './stores.ts'

type IdentityParts = {
  database: Database<Stores>
  now: Clock
  /** The manager key. */
  signer: Signer
  verify: VerifyEvent
  verifyHash: VerifyHash
  /** Addresses of the relays in use, for a request to the origin `asked`. */
  relays: (asked: string | null) => string[]
  /** The address of this service. */
  base: () => string
  /** True for a URL that outgoing requests may use. */
  usable: (url: URL) => boolean
  fetchPublic: FetchPublic
  requireDisk: () => void
  /** Seconds of a monotonic clock. */
  steady: () => number
}

type RunningIdentities = {
  identities: Identities
  /** The operator's commands, for the control socket. */
  commands: Record<string, (asked: Record<string, unknown>) => Promise<unknown>>
}

/** Put the dependencies of identities together. */
export function createIdentities(config: Config, parts: IdentityParts): RunningIdentities {
  const { signer, fetchPublic, steady, ...shared } = parts
  const defaults = [signer.pubkey, ...listedMerchants(config)]
  const identities: Identities = {
    ...shared,
    newNonce: createNonce,
    newId: () => Bun.randomUUIDv7(),
    manager: signer.pubkey,
    issuers: config.identityIssuers ?? new Set(defaults),
    selfSignup: config.identitySelfSignup,
    countSignup: config.rateLimit ? createSignupLimit(steady) : () => undefined,
    signer,
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
