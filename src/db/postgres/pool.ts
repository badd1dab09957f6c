import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { ConnectionLost } from './connection.ts'
import type { Servers } from './servers.ts'
import { Session, StalledOperation } from './session.ts'
import type { StandbyWatch } from './standby-watch.ts'
import type { Transaction } from './statements.ts'

/**
 * Reads keep a few connections for themselves, so that they are answered while writes wait for a standby. Operations
 * that write many rows have few, so that small ones do not wait for all of them.
 */
type Lane = 'read' | 'light' | 'heavy'
const lanes = ['read', 'light', 'heavy'] as const

type Waiting = { go: () => void; refuse: (cause: unknown) => void }

type PoolOptions<Tx> = {
  /** The most connections at once. */
  most: number
  servers: Pick<Servers, 'connectToRead' | 'timeline'>
  standby: Pick<StandbyWatch, 'free' | 'require'>
  stores: (transaction: Transaction) => Tx
  /** The version of the schema that the stores are made for. */
  schema: number
}

/** Connections that operations may use, of `most` in all. The others are kept for reads. */
export function writingConnections(most: number): number {
  return most > 1 ? most - Math.ceil(most / 8) : most
}

/** The connections of one node. A broken one is closed, and the next operation opens another. */
export class Pool<Tx> {
  readonly #options: PoolOptions<Tx>
  readonly #idle: { session: Session<Tx>; timeline: number }[] = []
  readonly #busy = new Set<Session<Tx>>()
  readonly #waiting: Record<Lane, Waiting[]> = { read: [], light: [], heavy: [] }
  readonly #taken: Record<Lane, number> = { read: 0, light: 0, heavy: 0 }
  /** The lane that is looked at first when a connection becomes free: each has its turn. */
  #turn = 0
  readonly #watch: ReturnType<typeof setInterval>
  /** The reason why no server took a connection a moment ago. */
  #down: { until: number; cause: unknown } = { until: 0, cause: null }
  #closed = false

  constructor(options: PoolOptions<Tx>) {
    this.#options = options
    this.#watch = setInterval(() => this.#endStalled(), 500)
    this.#watch.unref()
  }

  /** Connections that operations and reads use at this moment. */
  get used(): number {
    return this.#busy.size
  }

  async use<T>(lane: Lane, run: (session: Session<Tx>) => Promise<T>): Promise<T> {
    await this.#requireStandby(lane)
    await this.#enter(lane)
    let session: Session<Tx> | null = null
    const { servers } = this.#options
    try {
      // Again: those that waited for their turn may have waited behind commits that were given up.
      await this.#requireStandby(lane)
      session = await this.#session()
      return await run(session)
    } finally {
      if (session) {
        session.free()
        this.#busy.delete(session)
        if (session.connection.open && !this.#closed) {
          this.#idle.push({ session, timeline: servers.timeline })
        }
      }
      this.#taken[lane]--
      this.#admit()
    }
  }

  /** End every connection; operations that still use one fail. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#watch)
    for (const lane of lanes) {
      for (const { refuse } of this.#waiting[lane].splice(0)) refuse(closing())
    }
    for (const session of this.#busy) session.stop(new ConnectionLost('the node stops'))
    await Promise.all(this.#idle.splice(0).map(({ session }) => session.connection.end()))
  }

  /** Refuse operations that waited for a connection to write with. */
  refuseWrites(cause: unknown): void {
    for (const lane of ['light', 'heavy'] as const) {
      for (const { refuse } of this.#waiting[lane].splice(0)) refuse(cause)
    }
  }

  /** A write must not begin while commits wait for a standby: its session would stay at the server. */
  async #requireStandby(lane: Lane): Promise<void> {
    const { standby } = this.#options
    if (lane !== 'read' && !standby.free) await standby.require()
  }

  #hasRoom(lane: Lane): boolean {
    const { most } = this.#options
    const { read, light, heavy } = this.#taken
    if (read + light + heavy >= most) return false
    if (lane === 'read') return true
    if (light + heavy >= writingConnections(most)) return false
    return lane === 'light' || heavy < Math.max(1, most / 4)
  }

  async #enter(lane: Lane): Promise<void> {
    if (this.#closed) throw closing()
    if (this.#waiting[lane].length === 0 && this.#hasRoom(lane)) {
      this.#taken[lane]++
      return
    }
    const waiting = this.#waiting[lane]
    const most = lane === 'heavy' ? limits.heavyQueueMax : limits.queueMax
    if (waiting.length >= most) throw overloaded()
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(one), 1)
        reject(overloaded())
      }, limits.databaseQueueSeconds * 1000)
      const one = {
        go: () => {
          clearTimeout(timer)
          resolve()
        },
        refuse: (cause: unknown) => {
          clearTimeout(timer)
          reject(cause)
        },
      }
      waiting.push(one)
    })
  }

  /** Let in those who wait, one lane after the other. */
  #admit(): void {
    for (let passed = 0; passed < lanes.length; ) {
      const lane = lanes[this.#turn++ % lanes.length] as Lane
      const next = this.#hasRoom(lane) ? this.#waiting[lane].shift() : undefined
      if (next === undefined) {
        passed++
        continue
      }
      passed = 0
      this.#taken[lane]++
      next.go()
    }
  }

  async #session(): Promise<Session<Tx>> {
    for (let known = this.#idle.pop(); known; known = this.#idle.pop()) {
      const { session, timeline } = known
      this.#busy.add(session)
      if (timeline === this.#options.servers.timeline && (await this.#lives(session))) {
        return session
      }
      this.#busy.delete(session)
      session.connection.destroy()
    }
    // Of all that wait only some ask a server that is down.
    if (performance.now() < this.#down.until) throw this.#down.cause
    try {
      let session: Session<Tx> | null = null
      const connection = await this.#options.servers.connectToRead(() => {
        session?.stop(new ConnectionLost('the connection has ended'))
        if (session?.connection.silent) this.#distrust()
      })
      session = new Session(connection, this.#options)
      if (this.#closed) connection.destroy()
      this.#busy.add(session)
      return session
    } catch (cause) {
      this.#down = { until: performance.now() + limits.databaseDownMs, cause }
      throw cause
    }
  }

  /** False of a connection that ended. One that was idle for long is asked. */
  async #lives({ connection, idleMs }: Session<Tx>): Promise<boolean> {
    if (idleMs < limits.databaseIdleSeconds * 1000) return connection.open
    return connection.answers(limits.databasePingSeconds * 1000)
  }

  /** Where one connection is silent, idle ones are, too: each would cost its operation the same wait. */
  #distrust(): void {
    for (const { session } of this.#idle.splice(0)) session.connection.destroy()
  }

  #endStalled(): void {
    for (const session of this.#busy) {
      if (!session.stalled) continue
      session.stop(new StalledOperation('an operation awaited more than its transaction'))
    }
  }
}

function overloaded(): Refusal {
  return new Refusal('overloaded', { retryAfter: 2 })
}

export function closing(): Refusal {
  return new Refusal('shutting-down', { retryAfter: 5 })
}
