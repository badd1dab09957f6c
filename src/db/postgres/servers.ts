import { limits } from '../../base/limits.ts'
import { addressesOf, shownAddress } from './address.ts'
import type { Confirmation } from './confirmation.ts'
import { Connection, ConnectionLost } from './connection.ts'
import { type Connected, type Look, type ServerFacts, settleSession } from './durability.ts'

type ServersParts = {
  /** Told the clock of the server (Unix seconds) with each connection. */
  onClock: (clock: number) => void
  /**
   * Told of a connection that is given up, because the server owed it an answer for too long. The owner of the
   * connection hears of its end later.
   */
  onSilence: () => void
  confirmation: Pick<Confirmation, 'require'>
}

/** The servers of a database: the one that takes writes, and standbys that may be promoted. */
export class Servers {
  readonly #addresses: readonly string[]
  readonly #parts: Partial<ServersParts>
  /** The place of the address that was the primary the last time. */
  #primary = 0
  /** The newest history that we wrote to. A primary that was replaced and comes back has an older one. */
  #history: Pick<Look, 'system' | 'timeline' | 'start'> | null = null
  #facts: ServerFacts | null = null
  /** Connections to the servers of the newest history. */
  readonly #connections = new Set<Connection>()
  /** Milliseconds of `performance.now`. */
  #awayUntil = 0

  constructor(url: string, parts: Partial<ServersParts> = {}) {
    this.#addresses = addressesOf(url)
    this.#parts = parts
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

  /** The start of the server of the newest connection. Empty before the first one. */
  get start(): string {
    return this.#history?.start ?? ''
  }

  /** Connect to the primary. `onEnd` is told when that connection ends. Rejects with the reason of every server. */
  async connect(
    onEnd: () => void = () => undefined,
    silenceSeconds: number = limits.databaseAnswerSeconds,
  ): Promise<Connection> {
    return (await this.#connect(onEnd, silenceSeconds)).connection
  }

  /**
   * The same for answers: everything that the connection shows is where the commits of this service are. Refuses
   * `unavailable` while a standby is away that may not have some of it.
   */
  async connectToRead(
    onEnd: () => void = () => undefined,
    silenceSeconds: number = limits.databaseAnswerSeconds,
  ): Promise<Connection> {
    const { connection, look } = await this.#connect(onEnd, silenceSeconds)
    try {
      await this.#parts.confirmation?.require(look, () =>
        this.#connect(() => undefined, limits.confirmationSeconds),
      )
      return connection
    } catch (cause) {
      connection.destroy()
      throw cause
    }
  }

  /** End every connection. */
  end(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  async #connect(onEnd: () => void, silenceSeconds: number): Promise<Connected> {
    const problems: string[] = []
    const first = this.#primary
    for (let turn = 0; turn < this.#addresses.length; turn++) {
      const place = (first + turn) % this.#addresses.length
      const address = this.#addresses[place] ?? ''
      try {
        const connected = await this.#open(address, onEnd, silenceSeconds)
        this.#primary = place
        this.#awayUntil = 0
        return connected
      } catch (cause) {
        if (!(cause instanceof ConnectionLost)) throw cause
        problems.push(`${shownAddress(address)}: ${cause.message}`)
      }
    }
    this.#awayUntil = performance.now() + limits.databaseAwaySeconds * 1000
    throw new ConnectionLost(problems.join('; '))
  }

  async #open(address: string, onEnd: () => void, silenceSeconds: number): Promise<Connected> {
    let chosen = false
    const connection: Connection = await Connection.open(
      { connectionString: address },
      limits.databaseConnectSeconds * 1000,
      () => {
        if (!chosen) return
        this.#connections.delete(connection)
        if (connection.silent) this.#parts.onSilence?.()
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
      // A server that was replaced may answer on, and leases and news of it are worth nothing.
      if (look.timeline > this.timeline) this.end()
      this.#history = look
      this.#facts = look.facts
      this.#parts.onClock?.(look.clock)
      chosen = true
      this.#connections.add(connection)
      return { connection, look }
    } catch (cause) {
      connection.destroy()
      throw cause instanceof Error ? new ConnectionLost(cause.message) : cause
    } finally {
      clearTimeout(timer)
    }
  }

  #strangeness({ writes, system, timeline }: Look): string | null {
    if (!writes) return 'the server takes no writes'
    if (this.#history === null) return null
    if (system !== this.#history.system) return 'the server is of another installation'
    return timeline < this.#history.timeline ? 'the server was replaced by a promoted one' : null
  }
}
