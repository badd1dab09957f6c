/** The thread of crypto-thread.ts. */
import type { CryptoNews, CryptoWork } from './crypto-thread.ts'
import { openSchnorr } from './schnorr.ts'
import { TaskRing } from './task-ring.ts'
import { performWith } from './tasks.ts'

declare const self: Worker

const tell = (news: CryptoNews) => postMessage(news)

self.onmessage = ({ data: { memory, secret, idleMs } }: MessageEvent<CryptoWork>) => {
  const engine = openSchnorr()
  const pair = engine.keypair(secret)
  tell({ ready: pair.pubkey })
  new TaskRing(memory).serve(performWith(engine, pair), idleMs)
  tell({ idle: true })
}
