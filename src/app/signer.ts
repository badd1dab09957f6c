import { availableParallelism } from 'node:os'
import type { Log } from '../base/log.ts'
import type { SchnorrEngine } from '../crypto/schnorr.ts'
import { createSigner, signerOf } from '../crypto/sign-event.ts'
import { createSigningThread } from '../crypto/signing-thread.ts'
import type { Signer } from '../nostr/event.ts'

type ManagerSigner = { signer: Signer; stop: () => void }

/**
 * The signer of the manager key. A thread helps the fast engine where operations share commits, and where there is a
 * processor for it.
 */
export function openManagerSigner(
  schnorr: SchnorrEngine,
  secret: Uint8Array,
  { log, sharedCommits }: { log: Log; sharedCommits: boolean },
): ManagerSigner {
  if (!sharedCommits || schnorr.name !== 'libsecp256k1' || availableParallelism() < 2) {
    return { signer: createSigner(schnorr, secret), stop: () => undefined }
  }
  const pair = schnorr.keypair(secret)
  const { begin, stop } = createSigningThread({
    ...{ pair, secret },
    failed: (message) => log.warn('signing.thread-failed', { message }),
  })
  return { signer: signerOf(pair, begin), stop }
}
