import { limits } from '../../base/limits.ts'
import { type Connection, ConnectionLost, StatementFailed } from './connection.ts'
import { type Moment, msSince } from './elapsed.ts'
import type { StandbyWatch } from './standby-watch.ts'

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
  readonly #standby: Pick<StandbyWatch, 'verdict'>
  readonly #asking = new Set<Connection>()
  readonly #waiting: (() => void)[] = []
  #places: number = limits.databaseSettlementsMax
  #stopped = false
  #asked = 0

  constructor(connect: () => Promise<Connection>, standby: Pick<StandbyWatch, 'verdict'>) {
    this.#connect = connect
    this.#standby = standby
  }

  /** The number of commits that were asked for. */
  get asked(): number {
    return this.#asked
  }

  /**
   * True if the transaction stands. If it does not, nothing of it stands later, either. `began`: before its COMMIT was sent.
   * Rejects with CommitUnknown.
   */
  async stands(id: string, began: Moment): Promise<boolean> {
    this.#asked++
    const end = performance.now() + limits.databaseSettleSeconds * 1000
    if (!(await this.#enter(end))) throw new CommitUnknown(id)
    try {
      for (
        let pauseMs = 20;
        !this.#stopped;
        pauseMs = Math.min(pauseMs * 2, limits.databaseRetryMsMax)
      ) {
        const verdict = await this.#standby.verdict()
        // Nobody would answer, and each question would leave its session at the server, as the commit did.
        if (verdict === 'waiting') break
        try {
          if (verdict !== 'unreachable') return (await this.#ask(id)) || requireMark(id, began)
        } catch (cause) {
          if (!(cause instanceof ConnectionLost || cause instanceof StatementFailed)) throw cause
        }
        if (performance.now() > end) break
        await Bun.sleep(pauseMs)
      }
      throw new CommitUnknown(id)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#places++
    }
  }

  /** Give up all questions. */
  stop(): void {
    this.#stopped = true
    for (const connection of this.#asking) connection.destroy()
    for (const go of this.#waiting.splice(0)) go()
  }

  /** False if no place became free until `end` (milliseconds of `performance.now`), or if too many wait for one. */
  async #enter(end: number): Promise<boolean> {
    if (this.#places <= 0) {
      if (this.#waiting.length >= limits.databaseSettlementsWaitingMax) return false
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const go = () => resolve(true)
      const timer = setTimeout(
        () => {
          this.#waiting.splice(this.#waiting.indexOf(go), 1)
          resolve(false)
        },
        Math.max(0, end - performance.now()),
      )
      this.#waiting.push(go)
      const entered = await promise
      clearTimeout(timer)
      // The place of the one that left: nobody took it in between.
      return entered
    }
    this.#places--
    return true
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

/** False, unless the mark of the commit may be deleted by now: this machine may have been suspended behind its COMMIT. */
function requireMark(id: string, began: Moment): false {
  if (msSince(began) > (limits.commitsKeptSeconds / 2) * 1000) throw new CommitUnknown(id)
  return false
}
