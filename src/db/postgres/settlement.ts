import { limits } from '../../base/limits.ts'
import { type Connection, ConnectionLost, StatementFailed } from './connection.ts'

/** The fate of a commit is unknown, and nobody answered the question for it in time. */
export class CommitUnknown extends Error {
  readonly id: string

  constructor(id: string) {
    super(`nobody knows whether the commit ${id} stands`)
    this.id = id
  }
}

/** Finds out what became of commits whose answers got lost. */
export class Settlement {
  readonly #connect: () => Promise<Connection>
  readonly #asking = new Set<Connection>()
  readonly #waiting: (() => void)[] = []
  #places: number = limits.databaseSettlementsMax
  #stopped = false
  #asked = 0

  constructor(connect: () => Promise<Connection>) {
    this.#connect = connect
  }

  /** The number of commits that were asked for. */
  get asked(): number {
    return this.#asked
  }

  /** True if the transaction stands. Then nothing of a lost one stands later, either. Rejects with CommitUnknown. */
  async stands(id: string): Promise<boolean> {
    this.#asked++
    const end = performance.now() + limits.databaseSettleSeconds * 1000
    await this.#enter()
    try {
      for (let pauseMs = 20; !this.#stopped; pauseMs = Math.min(pauseMs * 2, 1000)) {
        try {
          return await this.#ask(id)
        } catch (cause) {
          if (!(cause instanceof ConnectionLost || cause instanceof StatementFailed)) throw cause
        }
        if (performance.now() > end) break
        await Bun.sleep(pauseMs)
      }
      throw new CommitUnknown(id)
    } finally {
      this.#places++
      this.#waiting.shift()?.()
    }
  }

  /** Give up all questions. */
  stop(): void {
    this.#stopped = true
    for (const connection of this.#asking) connection.destroy()
    for (const go of this.#waiting.splice(0)) go()
  }

  async #enter(): Promise<void> {
    if (this.#places <= 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#places--
  }

  /** The fence waits for the transaction while the server still has it open, and stops it from standing later. */
  async #ask(id: string): Promise<boolean> {
    const connection = await this.#connect()
    this.#asking.add(connection)
    try {
      connection.takeWarning()
      // A write in either case: its commit reaches the standby behind the one that is asked for.
      const { rows } = await connection.send(
        `INSERT INTO commits (id, outcome) VALUES ($1, 'fence')
         ON CONFLICT (id) DO UPDATE SET at = now() RETURNING outcome`,
        [id],
      )
      if (connection.takeWarning()) throw new ConnectionLost('the fence did not reach the standby')
      return rows[0]?.outcome === 'work'
    } finally {
      this.#asking.delete(connection)
      connection.destroy()
    }
  }
}
