import type { Lease } from '../database.ts'
import type { Connection } from './connection.ts'

/**
 * The right to do a work alone, as a lock of a session of its own: the server frees it in the moment in which that
 * session ends.
 */
export class Leasing {
  readonly #connect: (onEnd: () => void) => Promise<Connection>
  #session: Promise<Connection> | null = null
  readonly #held = new Map<string, { held: boolean }>()

  constructor(connect: (onEnd: () => void) => Promise<Connection>) {
    this.#connect = connect
  }

  async lease(name: string): Promise<Lease | null> {
    if (this.#held.has(name)) return null
    const state = { held: false }
    this.#held.set(name, state)
    try {
      const connection = await this.#opened()
      const { rows } = await connection.send(
        'SELECT pg_try_advisory_lock(hashtextextended($1, 1)) AS taken',
        [name],
      )
      if (rows[0]?.taken !== true) {
        this.#held.delete(name)
        return null
      }
      state.held = connection.open
    } catch (cause) {
      this.#held.delete(name)
      throw cause
    }
    return {
      held: () => state.held,
      release: async () => {
        if (!state.held) return
        state.held = false
        this.#held.delete(name)
        const connection = await this.#opened()
        await connection.send('SELECT pg_advisory_unlock(hashtextextended($1, 1))', [name])
      },
    }
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => null)
    this.#lost()
    if (session?.open) await session.end()
  }

  #opened(): Promise<Connection> {
    this.#session ??= this.#connect(() => this.#lost()).catch((cause) => {
      this.#session = null
      throw cause
    })
    return this.#session
  }

  /** With its session every lease is over. */
  #lost(): void {
    this.#session = null
    for (const state of this.#held.values()) state.held = false
    this.#held.clear()
  }
}
