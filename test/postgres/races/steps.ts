/** Operations that are stopped between two of their statements: a wrapper of every connection of this process. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Connection, type Result } from '../../../src/db/postgres/connection.ts'
import { nothing, onlyLocks } from './lock-statements.ts'

/** The statements of one operation, and its other steps. */
export type Steps = {
  /** Resolves when the statements before the stop were answered, and the operation wants to send another. */
  stopped: Promise<void>
  goOn(): void
}

type Run = () => Promise<Result>

class Operation implements Steps {
  readonly #after: number
  readonly #locked: boolean
  readonly #stop = Promise.withResolvers<void>()
  #sent = 0
  #under = 0
  #free = false
  readonly #held: (() => void)[] = []

  constructor(after: number, locked: boolean) {
    this.#after = after
    this.#locked = locked
  }

  get stopped(): Promise<void> {
    return this.#stop.promise
  }

  goOn(): void {
    this.#free = true
    // In their order: nothing is sent between them.
    for (const send of this.#held.splice(0)) send()
  }

  take(text: string, run: Run): Promise<Result> {
    if (!this.#locked && onlyLocks(text)) return Promise.resolve(nothing)
    // The end of a refused operation: nobody waits for it, and its connection may serve another one.
    return text === 'ROLLBACK' ? run() : this.step(run)
  }

  async step<T>(run: () => Promise<T>): Promise<T> {
    if (this.#free) return run()
    if (this.#sent < this.#after) {
      this.#sent++
      this.#under++
      try {
        return await run()
      } finally {
        this.#under--
        this.#settle()
      }
    }
    return new Promise((resolve, reject) => {
      this.#held.push(() => run().then(resolve, reject))
      this.#settle()
    })
  }

  #settle(): void {
    if (this.#held.length > 0 && this.#under === 0) this.#stop.resolve()
  }
}

const running = new AsyncLocalStorage<Operation>()
for (const way of ['send', 'sendWithin'] as const) {
  const send = Connection.prototype[way]
  Connection.prototype[way] = function (this: Connection, text, params) {
    const operation = running.getStore()
    const run = () => send.call(this, text, params)
    return operation ? operation.take(text, run) : run()
  }
}

/** Run an operation that stops after so many statements, or runs without its locks. */
export function inSteps<T>(
  operation: () => Promise<T>,
  { after = Number.POSITIVE_INFINITY, locked = true },
): { steps: Steps; done: Promise<T> } {
  const steps = new Operation(after, locked)
  return { steps, done: running.run(steps, operation) }
}

/** Work of an operation between two transactions, such as a request to another service: a step like a statement. */
export function asStep<T>(run: () => Promise<T>): Promise<T> {
  const operation = running.getStore()
  return operation ? operation.step(run) : run()
}
