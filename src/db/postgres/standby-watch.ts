import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { createJobs, type Job } from '../jobs.ts'
import { type Connection, ConnectionLost, StatementFailed } from './connection.ts'

/**
 * The last look at the server: commits are answered; or they wait for a standby that is away; or nobody knows, since
 * the server did not answer, or since the login may not look. Only `waiting` and `unreachable` refuse writes.
 */
export type Verdict = 'free' | 'waiting' | 'unreachable' | 'forbidden'

type WatchParts = {
  /** Connect to the server. It gives the connection up after so many seconds of silence. */
  connect: (silenceSeconds: number) => Promise<Connection>
  /**
   * Told a verdict once, until commits are answered again; then `free`, after others that were told. `refusal` is that of
   * operations that wait.
   */
  judged: (verdict: Verdict, refusal: Refusal | null) => void
}

/**
 * Sessions of our role that wait for a standby. Those of a moment ago may be commits that the standby is about to
 * confirm.
 */
const waitingSessions = `SELECT count(*) AS waiting FROM pg_stat_activity
  WHERE wait_event = 'SyncRep' AND datname = current_database() AND usename = session_user
    AND query_start < clock_timestamp() - make_interval(secs => $1)`

/** True if sessions of our role have waited for a standby for longer than a commit takes. */
export async function sessionsWait(connection: Connection): Promise<boolean> {
  const { rows } = await connection.send(waitingSessions, [limits.standbyWaitSeconds])
  return Number(rows[0]?.waiting) > 0
}

/** True of the failure of a role that may not read the sessions. */
export function mayNotLook(cause: unknown): boolean {
  return cause instanceof StatementFailed && cause.code === '42501'
}

/**
 * Keeps a node from filling the server with sessions while a synchronous standby is away. A commit that is given up
 * leaves its session there, which waits on and must not be ended: the server would count its commit as done. So after a
 * silent connection the sessions are looked at, and while some of them wait nothing is written.
 */
export class StandbyWatch {
  readonly #parts: WatchParts
  readonly #looking: Job
  #verdict: Verdict = 'free'
  /** The first look since commits were answered; null while they are. */
  #first: PromiseWithResolvers<void> | null = null
  #connection: Connection | null = null
  /** Verdicts that were told since commits were answered. */
  readonly #told = new Set<Verdict>()
  #closed = false

  constructor(parts: WatchParts) {
    this.#parts = parts
    // The job reports nothing: a look that fails has a verdict of its own.
    this.#looking = createJobs({ lease: async () => null }).start({
      run: () => this.#look(),
      failed: () => undefined,
    })
  }

  /** True while commits are answered, as far as anybody knows. */
  get free(): boolean {
    return this.#first === null
  }

  /** The last verdict. It may be out of date while nobody has a suspicion. */
  get last(): Verdict {
    return this.#verdict
  }

  /** A connection was given up, since the server owed it an answer for too long. */
  suspect(): void {
    if (this.#first !== null || this.#closed) return
    this.#first = Promise.withResolvers()
    this.#looking.wake()
  }

  /** A standby has confirmed a commit: look again now. */
  wake(): void {
    if (!this.free) this.#looking.wake()
  }

  /** The last look; after a suspicion the first one is waited for. */
  async verdict(): Promise<Verdict> {
    await this.#first?.promise
    return this.#verdict
  }

  /** Refuse `unavailable` unless commits are answered. `words`: the sentence while they wait for a standby. */
  async require(words = waitingWords): Promise<void> {
    const refusal = refusalOf(await this.verdict(), words)
    if (refusal !== null) throw refusal
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#connection?.destroy()
    const stopped = this.#looking.stop()
    this.#first?.resolve()
    await stopped
  }

  /** Look once. Resolves to the seconds until the next look; undefined: none is needed. */
  async #look(): Promise<number | undefined> {
    let verdict: Verdict = 'unreachable'
    try {
      verdict = await this.#ask()
    } catch (cause) {
      this.#connection?.destroy()
      if (!(cause instanceof ConnectionLost || cause instanceof StatementFailed)) throw cause
      // Nothing would ever end the refusal of writes.
      if (mayNotLook(cause)) verdict = 'forbidden'
    } finally {
      this.#settle(verdict)
    }
    if (this.free) return undefined
    // A promotion ends what nobody answers, and callers wait for it.
    return verdict === 'waiting' ? limits.standbyLookSeconds : limits.databaseDownMs / 1000
  }

  async #ask(): Promise<Verdict> {
    const connection = await this.#renewed()
    return (await sessionsWait(connection)) ? 'waiting' : 'free'
  }

  /**
   * A new connection for each look: a balancer may lead it to a promoted server, while the old one still answers. The
   * last one is for a server without room for another.
   */
  async #renewed(): Promise<Connection> {
    const last = this.#connection
    try {
      const connection = await this.#parts.connect(limits.databasePingSeconds)
      last?.destroy()
      this.#connection = connection
      if (this.#closed) connection.destroy()
      // A login that acts as another role is not told what its own sessions wait for.
      await connection.send('SET ROLE NONE', [])
      return connection
    } catch (cause) {
      if (!(cause instanceof ConnectionLost && last?.open)) throw cause
      return last
    }
  }

  #settle(verdict: Verdict): void {
    this.#verdict = verdict
    const first = this.#first
    const refusal = refusalOf(verdict)
    if (refusal === null) {
      this.#first = null
      this.#connection?.destroy()
    }
    this.#tell(verdict, refusal)
    first?.resolve()
  }

  #tell(verdict: Verdict, refusal: Refusal | null): void {
    const news = verdict === 'free' ? this.#told.size > 0 : !this.#told.has(verdict)
    if (verdict === 'free') this.#told.clear()
    else this.#told.add(verdict)
    if (news) this.#parts.judged(verdict, refusal)
  }
}

/** The sentence of `unavailable` here. */
const waitingWords =
  'Ahora no se puede guardar nada: la base de datos espera a su copia. Probá de nuevo en unos segundos.'

function refusalOf(verdict: Verdict, words = waitingWords): Refusal | null {
  if (verdict === 'waiting') return new Refusal('unavailable', { retryAfter: 5 }, words)
  return verdict === 'unreachable' ? new Refusal('unavailable', { retryAfter: 2 }) : null
}
