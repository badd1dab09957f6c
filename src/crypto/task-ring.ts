/** Tasks that the ring holds at once, a power of two. A commit has a few hundred at most, and so have the checks of a turn. */
const slots = 1024
/** The longest task is a check: hash, public key, signature. */
const taskBytesMax = 128
const resultBytesMax = 64

/** Places of the control words: the number of the next task, whether the thread sleeps, whether it has to end. */
const next = 0
const asleep = 1
const closed = 2
const controlWords = 3

/** States of a slot. The side that moved it to `working` leaves that state, by storing the result. */
const waiting = 1
const working = 2
const done = 3
const takenBack = 4

const statesAt = 4 * controlWords
const lengthsAt = statesAt + 4 * slots
const tasksAt = lengthsAt + 4 * slots
const resultsAt = tasksAt + slots * taskBytesMax
const bytes = resultsAt + slots * resultBytesMax

/** Looks at a task that the thread has begun, before it is done once more: longer than a signature takes. */
const looksMax = 20_000

/** Does a task, in the thread that calls it: at most 128 bytes, and 64 of a result. Both sides do the same. */
export type Perform = (task: Uint8Array) => Uint8Array

/**
 * Tasks and their results, in memory that two threads share. One posts and takes, the other serves. A task that nobody
 * has begun is taken back, so that the poster never waits for a thread without a processor.
 */
export class TaskRing {
  readonly memory: SharedArrayBuffer
  readonly #control: Int32Array
  readonly #states: Int32Array
  readonly #lengths: Int32Array
  readonly #tasks: Uint8Array
  readonly #results: Uint8Array
  /** For the poster: the number of the next task, and of the task that each slot has. Numbers wrap at 32 bits. */
  #next = 0
  readonly #numbers = new Int32Array(slots).fill(-1)
  /** For the poster: later tasks are not waiting any more. */
  #tail = 0

  constructor(memory = new SharedArrayBuffer(bytes)) {
    this.memory = memory
    this.#control = new Int32Array(memory, 0, controlWords)
    this.#states = new Int32Array(memory, statesAt, slots)
    this.#lengths = new Int32Array(memory, lengthsAt, slots)
    this.#tasks = new Uint8Array(memory, tasksAt, slots * taskBytesMax)
    this.#results = new Uint8Array(memory, resultsAt, slots * resultBytesMax)
  }

  /**
   * Offer a task to the thread, and wake it with `wake`, which takes as long as a signature. Returns the number of the task,
   * null if it has to be done here: its slot is not free, or it is too long for one.
   */
  post(task: Uint8Array, wake: boolean): number | null {
    if (task.length > taskBytesMax) return null
    const number = this.#next
    const slot = number & (slots - 1)
    // The task of the lap before may be there. Whoever needs it does it alone.
    const state = Atomics.load(this.#states, slot)
    if (state === working || (state === waiting && !this.#move(slot, waiting, takenBack)))
      return null
    this.#tasks.set(task, slot * taskBytesMax)
    this.#lengths[slot] = task.length
    this.#numbers[slot] = number
    Atomics.store(this.#states, slot, waiting)
    this.#next = this.#tail = (number + 1) | 0
    Atomics.store(this.#control, next, this.#next)
    if (wake && Atomics.load(this.#control, asleep) === 1) Atomics.notify(this.#control, next)
    return number
  }

  /**
   * The result of a task that was posted under this number: what `perform` makes of it here, or that of the thread, as 64
   * bytes; behind a shorter result they hold anything.
   */
  take(number: number, task: Uint8Array, perform: Perform): Uint8Array {
    const slot = number & (slots - 1)
    if (this.#numbers[slot] !== number) return perform(task)
    for (let looks = 0; looks < looksMax; ) {
      const state = Atomics.load(this.#states, slot)
      if (state === done) {
        return this.#results.slice(slot * resultBytesMax, (slot + 1) * resultBytesMax)
      }
      if (state !== working && this.#move(slot, state, takenBack)) return perform(task)
      if (!this.#help(number, perform)) looks++
    }
    return perform(task)
  }

  /** Do the last waiting task behind `number`, while the thread is busy with that one. False if there is none. */
  #help(number: number, perform: Perform): boolean {
    while (((this.#tail - number) | 0) > 1) {
      this.#tail = (this.#tail - 1) | 0
      if (this.#doWaiting(this.#tail & (slots - 1), perform)) return true
    }
    return false
  }

  /** Do what is posted, in its order. Ends after `idleMs` without any of it, and at `close`. */
  serve(perform: Perform, idleMs: number): void {
    let number = Atomics.load(this.#control, next)
    while (Atomics.load(this.#control, closed) === 0) {
      const end = Atomics.load(this.#control, next)
      for (; number !== end; number = (number + 1) | 0) {
        this.#doWaiting(number & (slots - 1), perform)
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

  #doWaiting(slot: number, perform: Perform): boolean {
    if (!this.#move(slot, waiting, working)) return false
    // A copy, as no library has to know of shared memory.
    const from = slot * taskBytesMax
    const task = this.#tasks.slice(from, from + (this.#lengths[slot] ?? 0))
    this.#results.set(perform(task), slot * resultBytesMax)
    Atomics.store(this.#states, slot, done)
    return true
  }

  #move(slot: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#states, slot, from, to) === from
  }
}
