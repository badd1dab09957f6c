import { limits } from '../../base/limits.ts'
import { addressesOf, shownAddress } from './address.ts'
import { Connection, ConnectionLost } from './connection.ts'
import { type Look, type ServerFacts, settleSession } from './durability.ts'

/** The servers of a database: the one that takes writes, and standbys that may be promoted. */
export class Servers {
  readonly #addresses: readonly string[]
  readonly #onClock: (clock: number) => void
  readonly #onSilence: () => void
  /** The place of the address that was the primary the last time. */
  #primary = 0
  /** The newest history that we wrote to. A primary that was replaced and comes back has an older one. */
  #history: Pick<Look, 'system' | 'timeline'> | null = null
  #facts: ServerFacts | null = null
  /** Connections to the servers of the newest history. */
  readonly #connections = new Set<Connection>()
  /** Milliseconds of `performance.now`. */
  #awayUntil = 0

  /**
   * `onClock` is told the clock of the server (Unix seconds) with each connection; `onSilence` of a connection that is
   * given up, because the server owed it an answer for too long. The owner of the connection hears of its end later.
   */
  constructor(
    url: string,
    onClock: (clock: number) => void,
    onSilence: () => void = () => undefined,
  ) {
    this.#addresses = addressesOf(url)
    this.#onClock = onClock
    this.#onSilence = onSilence
  }

  /** True if there is no connection, and no server took one a moment ago. */
  get away(): boolean {
    return this.#connections.size === 0 && performance.now() < this.#awayUntil
  }

  /** The server of the newest connection. */
  get facts(): ServerFacts | null {
    return this.#facts
  }

  /** The number of promotions before the newest history. */
  get timeline(): number {
    return this.#history?.timeline ?? 0
  }

  /** Connect to the primary. `onEnd` is told when that connection ends. Rejects with the reason of every server. */
  async connect(
    onEnd: () => void = () => undefined,
    silenceSeconds: number = limits.databaseAnswerSeconds,
  ): Promise<Connection> {
    const problems: string[] = []
    const first = this.#primary
    for (let turn = 0; turn < this.#addresses.length; turn++) {
      const place = (first + turn) % this.#addresses.length
      const address = this.#addresses[place] ?? ''
      try {
        const connection = await this.#open(address, onEnd, silenceSeconds)
        this.#primary = place
        this.#awayUntil = 0
        return connection
      } catch (cause) {
        if (!(cause instanceof ConnectionLost)) throw cause
        problems.push(`${shownAddress(address)}: ${cause.message}`)
      }
    }
    this.#awayUntil = performance.now() + limits.databaseAwaySeconds * 1000
    throw new ConnectionLost(problems.join('; '))
  }

  async #open(address: string, onEnd: () => void, silenceSeconds: number): Promise<Connection> {
    let chosen = false
    const connection: Connection = await Connection.open(
      { connectionString: address },
      limits.databaseConnectSeconds * 1000,
      () => {
        if (!chosen) return
        this.#connections.delete(connection)
        if (connection.silent) this.#onSilence()
        onEnd()
      },
      silenceSeconds * 1000,
    )
    const timer = setTimeout(() => connection.destroy(), limits.databaseConnectSeconds * 1000)
    try {
      const look = await settleSession(connection)
      const problem = look.problem ?? this.#strangeness(look)
      if (problem !== null) throw new ConnectionLost(problem)
      if (!connection.open) throw new ConnectionLost('the connection has ended')
      if (look.timeline > this.timeline) this.#leave()
      this.#history = look
      this.#facts = look.facts
      this.#onClock(look.clock)
      chosen = true
      this.#connections.add(connection)
      return connection
    } catch (cause) {
      connection.destroy()
      throw cause instanceof Error ? new ConnectionLost(cause.message) : cause
    } finally {
      clearTimeout(timer)
    }
  }

  /** End the connections to a server that was replaced: it may answer on, and leases and news of it are worth nothing. */
  #leave(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  #strangeness({ writes, system, timeline }: Look): string | null {
    if (!writes) return 'the server takes no writes'
    if (this.#history === null) return null
    if (system !== this.#history.system) return 'the server is of another installation'
    return timeline < this.#history.timeline ? 'the server was replaced by a promoted one' : null
  }
}
