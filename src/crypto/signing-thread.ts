import { limits } from '../base/limits.ts'
import type { Keypair } from './schnorr.ts'
import { SigningRing } from './signing-ring.ts'

/** Begins to sign a hash of 32 bytes. The function gives the signature (BIP-340), and makes it if nobody has. */
export type BeginHash = (hash: Uint8Array) => () => Uint8Array

/** The first message to the thread. */
export type SigningWork = { memory: SharedArrayBuffer; secret: Uint8Array; idleMs: number }

/** The thread is ready, with this public key; or it had nothing to do, and ends. */
export type SigningNews = { ready: Uint8Array } | { idle: true }

type Parts = {
  pair: Keypair
  secret: Uint8Array
  /** Called once, if the thread cannot work. Signatures are made here then. */
  failed(message: string): void
  spawn?: () => Worker
}

const spawnThread = () => new Worker(new URL('./signing-worker.ts', import.meta.url))

/**
 * A thread that signs for operations which share a commit, while this thread goes on with their writes. It starts when so
 * many of them want a signature at once that it pays, and ends when nobody has wanted one for a while.
 */
export function createSigningThread({ pair, secret, failed, spawn = spawnThread }: Parts) {
  let state: 'none' | 'starting' | 'ready' | 'ended' = 'none'
  let ring: SigningRing | null = null
  let thread: Worker | null = null
  /** Hashes that were begun one after the other, without a signature that was asked for. */
  let begun = 0

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
    const shared = new SigningRing()
    thread = worker
    worker.onmessage = ({ data }: MessageEvent<SigningNews>) => {
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
    const idleMs = limits.signingIdleSeconds * 1000
    worker.postMessage({ memory: shared.memory, secret, idleMs } satisfies SigningWork)
  }

  const tryToStart = () => {
    try {
      start()
    } catch (cause) {
      // The machine has no more threads for this user, or no memory.
      fail(cause instanceof Error ? cause.message : String(cause))
    }
  }

  const begin: BeginHash = (hash) => {
    begun++
    if (state === 'none' && begun >= limits.signingThreadFrom) tryToStart()
    const posted = ring
    const number = posted?.post(hash, begun % limits.signingWakeEvery === 0) ?? null
    return () => {
      begun = 0
      return posted === null || number === null
        ? pair.sign(hash)
        : posted.take(number, hash, pair.sign)
    }
  }
  return { begin, stop: () => end('ended') }
}
