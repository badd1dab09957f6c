import { availableParallelism } from 'node:os'
import type { Log } from '../base/log.ts'
import { createCryptoThread } from '../crypto/crypto-thread.ts'
import type { SchnorrEngine } from '../crypto/schnorr.ts'
import { createSigner, createVerifier, signerOf } from '../crypto/sign-event.ts'
import type { Signer, VerifyEvent, VerifyEventSoon } from '../nostr/event.ts'

type Signatures = {
  /** The manager key. */
  signer: Signer
  verify: VerifyEvent
  verifySoon: VerifyEventSoon
  stop: () => void
}

/**
 * The signer of the manager key, and the checks of events. A thread helps the fast engine where there is a processor for it
 * and operations share commits.
 */
export function openSignatures(
  schnorr: SchnorrEngine,
  secret: Uint8Array,
  { log, sharedCommits }: { log: Log; sharedCommits: boolean },
): Signatures {
  const verify = createVerifier(schnorr)
  if (!sharedCommits || schnorr.name !== 'libsecp256k1' || availableParallelism() < 2) {
    const signer = createSigner(schnorr, secret)
    return { signer, verify, verifySoon: verify, stop: () => undefined }
  }
  const pair = schnorr.keypair(secret)
  const thread = createCryptoThread({
    ...{ engine: schnorr, pair, secret },
    failed: (message) => log.warn('crypto.thread-failed', { message }),
  })
  return {
    signer: signerOf(pair, thread.begin),
    verify,
    verifySoon: createVerifier(thread),
    stop: thread.stop,
  }
}
