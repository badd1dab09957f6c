import { type Connection, ConnectionLost } from './connection.ts'
import type { Look } from './durability.ts'
import type { StandbyWatch } from './standby-watch.ts'

/** The sentence of `unavailable` here. */
const uncertainWords =
  'Ahora no se puede responder con certeza: la base de datos espera a su copia. Probá de nuevo en unos segundos.'

/**
 * A running server shows a commit when its standby has it. One that starts again shows all that are on its disk, also
 * those that waited, and they are lost if the standby is promoted. So after each start of the server nothing is read
 * until the standby has confirmed a commit of this node: it has everything before that one, then.
 */
export class Confirmation {
  readonly #standby: Pick<StandbyWatch, 'require'>
  /** The start of a server that showed nothing uncertain. */
  #confirmed: string | null = null
  #asking: Promise<void> | null = null

  constructor(standby: Pick<StandbyWatch, 'require'>) {
    this.#standby = standby
  }

  /** Resolves when everything that a connection shows is certain. Refuses `unavailable` while the standby is known to be away. */
  async require(connection: Connection, { start, facts }: Look): Promise<void> {
    // Nobody waits for a standby: the disk of the server is what was asked for.
    if (facts.standbys === '') this.#confirmed = start
    while (this.#confirmed !== start) {
      await this.#standby.require(uncertainWords)
      this.#asking ??= this.#ask(connection, start).finally(() => {
        this.#asking = null
      })
      await this.#asking
    }
  }

  async #ask(connection: Connection, start: string): Promise<void> {
    connection.takeWarning()
    await connection.send(`INSERT INTO commits (id, outcome) VALUES ($1, 'fence')`, [
      Bun.randomUUIDv7(),
    ])
    if (connection.takeWarning()) throw new ConnectionLost('the commit did not reach the standby')
    this.#confirmed = start
  }
}
