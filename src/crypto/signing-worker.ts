/** The thread of signing-thread.ts. */
import { openSchnorr } from './schnorr.ts'
import { SigningRing } from './signing-ring.ts'
import type { SigningNews, SigningWork } from './signing-thread.ts'

declare const self: Worker

const tell = (news: SigningNews) => postMessage(news)

self.onmessage = ({ data: { memory, secret, idleMs } }: MessageEvent<SigningWork>) => {
  const pair = openSchnorr().keypair(secret)
  tell({ ready: pair.pubkey })
  new SigningRing(memory).serve(pair.sign, idleMs)
  tell({ idle: true })
}
