import { limits } from '../base/limits.ts'
import type { Keypair, SchnorrEngine } from './schnorr.ts'
import { TaskRing } from './task-ring.ts'
import { checkOf, isRight, performWith } from './tasks.ts'

/** Begins to sign a hash of 32 bytes. The function gives the signature (BIP-340), and makes it if nobody has. */
export type BeginHash = (hash: Uint8Array) => () => Uint8Array

/** The check of a signature (BIP-340), which may be made in another thread until the end of this turn of the event loop. */
type VerifySoon = (
  signature: Uint8Array,
  hash: Uint8Array,
  pubkey: Uint8Array,
) => boolean | Promise<boolean>

/** The first message to the thread. */
export type CryptoWork = { memory: SharedArrayBuffer; secret: Uint8Array; idleMs: number }

/** The thread is ready, with this public key; or it had nothing to do, and ends. */
export type CryptoNews = { ready: Uint8Array } | { idle: true }

type Parts = {
  engine: Pick<SchnorrEngine, 'verify'>
  pair: Keypair
  secret: Uint8Array
  /** Called once, if the thread cannot work. Everything is done here then. */
  failed(message: string): void
  spawn?: () => Worker
}

const spawnThread = () => new Worker(new URL('./crypto-worker.ts', import.meta.url), { smol: true })

/**
 * A thread that signs and checks signatures while this thread goes on: with the writes of operations that share a commit, and
 * with other requests. It starts when so much is wanted at once that it pays, and ends when nobody has wanted anything for a while.
 */
export function createCryptoThread({ engine, pair, secret, failed, spawn = spawnThread }: Parts) {
  let state: 'none' | 'starting' | 'ready' | 'ended' = 'none'
  let ring: TaskRing | null = null
  let thread: Worker | null = null
  /** Tasks that were begun since a result was last asked for. */
  let begun = 0
  /** Checks of this turn of the event loop, and what ends it. */
  let checks = 0
  let turn: Promise<void> | null = null
  const perform = performWith(engine, pair)

  const end = (next: 'none' | 'ended') => {
    ring?.close()
    thread?.terminate()
    ring = thread = null
    state = next
  }
  const fail = (message: string) => {
    if (state === 'ended') return
    end('ended')
    failed(message)
  }
  const start = () => {
    state = 'starting'
    const worker = spawn()
    const shared = new TaskRing()
    thread = worker
    worker.onmessage = ({ data }: MessageEvent<CryptoNews>) => {
      if (thread !== worker) return
      if ('idle' in data) return end('none')
      if (data.ready.toHex() !== pair.pubkey.toHex()) return fail('it has another key')
      ring = shared
      state = 'ready'
    }
    worker.onerror = (event) => {
      event.preventDefault()
      if (thread === worker) fail(event.message)
    }
    worker.addEventListener('close', () => {
      if (thread === worker) fail('it ended')
    })
    const idleMs = limits.cryptoThreadIdleSeconds * 1000
    worker.postMessage({ memory: shared.memory, secret, idleMs } satisfies CryptoWork)
  }

  const startFrom = (wanted: number) => {
    if (state !== 'none' || wanted < limits.cryptoThreadFrom) return
    try {
      start()
    } catch (cause) {
      // The machine has no more threads for this user, or no memory.
      fail(cause instanceof Error ? cause.message : String(cause))
    }
  }

  /** The function gives the result of the task, once. */
  const begin = (task: Uint8Array): (() => Uint8Array) => {
    begun++
    const posted = ring
    const number = posted?.post(task, begun % limits.cryptoThreadWakeEvery === 0) ?? null
    return () => {
      begun = 0
      return posted === null || number === null ? perform(task) : posted.take(number, task, perform)
    }
  }

  const sign: BeginHash = (hash) => {
    const signature = begin(hash)
    startFrom(begun)
    return signature
  }

  const endOfTurn = () => {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        checks = 0
        turn = null
        resolve()
      })
    })
    return turn
  }

  const verify: VerifySoon = (signature, hash, pubkey) => {
    const ends = endOfTurn()
    startFrom(++checks)
    if (ring === null) return engine.verify(signature, hash, pubkey)
    const result = begin(checkOf(signature, hash, pubkey))
    return ends.then(() => isRight(result()))
  }
  return { begin: sign, verify, stop: () => end('ended') }
}
