/** Hashes that the ring holds at once, a power of two. A commit has a few hundred at most. */
const slots = 1024
const hashBytes = 32
const signatureBytes = 64

/** Places of the control words: the number of the next hash, whether the thread sleeps, whether it has to end. */
const next = 0
const asleep = 1
const closed = 2
const controlWords = 3

/** States of a slot. The side that moved it to `signing` leaves that state, by storing the signature. */
const waiting = 1
const signing = 2
const signed = 3
const takenBack = 4

const statesAt = 4 * controlWords
const hashesAt = statesAt + 4 * slots
const signaturesAt = hashesAt + slots * hashBytes
const bytes = signaturesAt + slots * signatureBytes

/** Looks at a hash that the thread is signing, before it is signed once more: longer than a signature takes. */
const looksMax = 20_000

/** Signs 32 bytes (BIP-340), in the thread that calls it. */
type SignHash = (hash: Uint8Array) => Uint8Array

/**
 * Hashes and their signatures, in memory that two threads share. One posts and takes, the other serves. A hash that nobody
 * has begun to sign is taken back, so that the poster never waits for a thread without a processor.
 */
export class SigningRing {
  readonly memory: SharedArrayBuffer
  readonly #control: Int32Array
  readonly #states: Int32Array
  readonly #hashes: Uint8Array
  readonly #signatures: Uint8Array
  /** For the poster: the number of the next hash, and of the hash that each slot has. Numbers wrap at 32 bits. */
  #next = 0
  readonly #numbers = new Int32Array(slots).fill(-1)
  /** For the poster: later hashes are not waiting any more. */
  #tail = 0

  constructor(memory = new SharedArrayBuffer(bytes)) {
    this.memory = memory
    this.#control = new Int32Array(memory, 0, controlWords)
    this.#states = new Int32Array(memory, statesAt, slots)
    this.#hashes = new Uint8Array(memory, hashesAt, slots * hashBytes)
    this.#signatures = new Uint8Array(memory, signaturesAt, slots * signatureBytes)
  }

  /**
   * Offer a hash to the thread, and wake it with `wake`, which takes as long as a signature. Returns the number of the hash,
   * null if its slot is not free.
   */
  post(hash: Uint8Array, wake: boolean): number | null {
    const number = this.#next
    const slot = number & (slots - 1)
    // The hash of the lap before may be there. Whoever needs it signs it alone.
    const state = Atomics.load(this.#states, slot)
    if (state === signing || (state === waiting && !this.#move(slot, waiting, takenBack)))
      return null
    this.#hashes.set(hash, slot * hashBytes)
    this.#numbers[slot] = number
    Atomics.store(this.#states, slot, waiting)
    this.#next = this.#tail = (number + 1) | 0
    Atomics.store(this.#control, next, this.#next)
    if (wake && Atomics.load(this.#control, asleep) === 1) Atomics.notify(this.#control, next)
    return number
  }

  /** The signature of a hash that was posted under this number: that of the thread, or one by `sign`. */
  take(number: number, hash: Uint8Array, sign: SignHash): Uint8Array {
    const slot = number & (slots - 1)
    if (this.#numbers[slot] !== number) return sign(hash)
    for (let looks = 0; looks < looksMax; ) {
      const state = Atomics.load(this.#states, slot)
      if (state === signed) {
        return this.#signatures.slice(slot * signatureBytes, (slot + 1) * signatureBytes)
      }
      if (state !== signing && this.#move(slot, state, takenBack)) return sign(hash)
      if (!this.#help(number, sign)) looks++
    }
    return sign(hash)
  }

  /** Sign the last waiting hash behind `number`, while the thread is busy with that one. False if there is none. */
  #help(number: number, sign: SignHash): boolean {
    while (((this.#tail - number) | 0) > 1) {
      this.#tail = (this.#tail - 1) | 0
      if (this.#signWaiting(this.#tail & (slots - 1), sign)) return true
    }
    return false
  }

  /** Sign what is posted, in its order. Ends after `idleMs` without any of it, and at `close`. */
  serve(sign: SignHash, idleMs: number): void {
    let number = Atomics.load(this.#control, next)
    while (Atomics.load(this.#control, closed) === 0) {
      const end = Atomics.load(this.#control, next)
      for (; number !== end; number = (number + 1) | 0) {
        this.#signWaiting(number & (slots - 1), sign)
      }
      Atomics.store(this.#control, asleep, 1)
      // The poster looks at `asleep` behind its post, and this wait at the post: one of them sees the other.
      const woken = Atomics.wait(this.#control, next, end, idleMs)
      Atomics.store(this.#control, asleep, 0)
      if (woken === 'timed-out') return
    }
  }

  /** Have the thread end. */
  close(): void {
    Atomics.store(this.#control, closed, 1)
    Atomics.add(this.#control, next, 1)
    Atomics.notify(this.#control, next)
  }

  #signWaiting(slot: number, sign: SignHash): boolean {
    if (!this.#move(slot, waiting, signing)) return false
    // A copy, as no library has to know of shared memory.
    const hash = this.#hashes.slice(slot * hashBytes, (slot + 1) * hashBytes)
    this.#signatures.set(sign(hash), slot * signatureBytes)
    Atomics.store(this.#states, slot, signed)
    return true
  }

  #move(slot: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#states, slot, from, to) === from
  }
}
