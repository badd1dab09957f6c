import type { Signer } from '../../../src/nostr/event.ts'
import { newSigner } from '../../support/client.ts'
import { type FaultyRelay, startFaultyRelay, tell } from '../../support/faulty-relay.ts'
import { token } from './facts.ts'

/** The person behind a service: issuer of its token, writer of its cards, and the keys that the program made. */
export type Operator = {
  signer: Signer
  /** The manager key of the service, hex. */
  manager: string
  /** Hex. */
  cardKey: string
}

/** The surroundings of a service: its operator, its relay, and the settings that name both. */
export type Surroundings = {
  operator: Operator
  relay: FaultyRelay
  environment: Record<string, string>
}

export function openSurroundings(): Surroundings {
  const signer = newSigner()
  // It gives no event back: after a restore the ledger would settle the transactions from after the backup again.
  const relay = startFaultyRelay({
    req(socket, name) {
      tell(socket, 'EOSE', name)
      return true
    },
  })
  const { pubkey } = signer
  return {
    operator: { signer, manager: '', cardKey: '' },
    relay,
    environment: {
      ...{
        RATE_LIMIT: 'off',
        LOG_LEVEL: 'warn',
        RELAYS: `embedded,${relay.url}`,
        TOKENS: `${token}:2:${pubkey}`,
      },
      ...{ CARD_WRITERS: pubkey, IDENTITY_ISSUERS: pubkey },
    },
  }
}
