import { limits } from '../../base/limits.ts'
import type { Lease } from '../database.ts'
import type { SqlValue } from '../sql.ts'
import { type Connection, ConnectionLost, type Result } from './connection.ts'
import { readClock } from './durability.ts'
import { type Moment, msSince, thisMoment } from './elapsed.ts'

/** A name that this node asked for, with the parts of the node that have it. */
type State = { held: boolean; holders: number; given: Promise<boolean> }

type Session = {
  connection: Connection
  /** The time of the last question that was answered. */
  answeredAt: Moment
  beat: ReturnType<typeof setInterval>
}

/**
 * The right to do a work alone, as a lock of a session of its own. The server frees it when that session ends, and
 * when its node was silent for longer than the node itself believes in it.
 */
export class Leasing {
  readonly #connect: (onEnd: () => void) => Promise<Connection>
  readonly #onClock: (clock: number) => void
  readonly #prefix: string
  #opening: Promise<Session> | null = null
  #session: Session | null = null
  readonly #states = new Map<string, State>()
  #closed = false

  /**
   * `onClock` is told the clock of the server again and again while the session is open. `prefix` stands before the
   * names of locks, for engines that share a database and not their work.
   */
  constructor(
    connect: (onEnd: () => void) => Promise<Connection>,
    onClock: (clock: number) => void,
    prefix: string,
  ) {
    this.#prefix = prefix
    this.#connect = connect
    this.#onClock = onClock
  }

  async lease(name: string): Promise<Lease | null> {
    if (this.#closed) return null
    const state = this.#states.get(name) ?? this.#ask(name)
    state.holders++
    if (!(await state.given) || !state.held) return null
    let held = true
    return {
      held: () => held && state.held && this.#heard(),
      release: async () => {
        if (held && --state.holders === 0) await this.#release(name, state)
        held = false
      },
    }
  }

  /** True while this node has the name. */
  holds(name: string): boolean {
    return this.#states.get(name)?.held === true && this.#heard()
  }

  /** Run a statement on the session. Its commit waits for no disk. */
  async send(text: string, params: readonly SqlValue[]): Promise<Result> {
    if (this.#closed) throw new ConnectionLost('the node stops')
    const { connection } = await this.#opened()
    return connection.send(text, params)
  }

  async close(): Promise<void> {
    this.#closed = true
    const session = await this.#opening?.catch(() => null)
    this.#lost()
    await session?.connection.end()
  }

  #ask(name: string): State {
    const state: State = { held: false, holders: 0, given: Promise.resolve(false) }
    this.#states.set(name, state)
    state.given = this.#take(name, state).finally(() => {
      if (!state.held && this.#states.get(name) === state) this.#states.delete(name)
    })
    return state
  }

  async #take(name: string, state: State): Promise<boolean> {
    const { connection } = await this.#opened()
    const { rows } = await connection.send(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 1)) AS taken',
      [this.#prefix + name],
    )
    // With its session the lock may have ended meanwhile.
    state.held = rows[0]?.taken === true && connection.open && this.#states.get(name) === state
    return state.held
  }

  async #release(name: string, state: State): Promise<void> {
    if (!state.held) return
    state.held = false
    const connection = this.#session?.connection
    try {
      await connection?.send('SELECT pg_advisory_unlock(hashtextextended($1, 1))', [
        this.#prefix + name,
      ])
    } catch (cause) {
      // With its session the lock is free.
      if (!(cause instanceof ConnectionLost)) throw cause
    } finally {
      if (this.#states.get(name) === state) this.#states.delete(name)
    }
  }

  #heard(): boolean {
    const { answeredAt } = this.#session ?? {}
    return answeredAt !== undefined && msSince(answeredAt) < limits.leaseSilenceSeconds * 1000
  }

  #opened(): Promise<Session> {
    this.#opening ??= this.#open().catch((cause) => {
      this.#opening = null
      throw cause
    })
    return this.#opening
  }

  async #open(): Promise<Session> {
    const askedAt = thisMoment()
    const connection = await this.#connect(() => this.#lost())
    const session: Session = {
      connection,
      answeredAt: askedAt,
      beat: setInterval(() => void this.#question(session), limits.leaseBeatSeconds * 1000),
    }
    session.beat.unref()
    // A standby that is away stops commits. Leases go on meanwhile, and so does what is only told of a node.
    // The kernel answers for a node that hangs, so the server ends a session without beats.
    const idleMs = limits.leaseIdleSeconds * 1000
    for (const setting of ['synchronous_commit = off', `idle_session_timeout = ${idleMs}`]) {
      connection.send(`SET ${setting}`, []).catch(() => undefined)
    }
    this.#session = session
    await this.#question(session)
    if (connection.open) return session
    this.#lost()
    throw new ConnectionLost('the connection has ended')
  }

  async #question(session: Session): Promise<void> {
    const askedAt = thisMoment()
    try {
      const clock = await readClock(session.connection)
      session.answeredAt = askedAt
      this.#onClock(clock)
    } catch {
      // The end of the connection has told it.
      session.connection.destroy()
    }
  }

  /** With its session every lease is over. */
  #lost(): void {
    if (this.#session) clearInterval(this.#session.beat)
    this.#session = null
    this.#opening = null
    for (const state of this.#states.values()) state.held = false
    this.#states.clear()
  }
}
