import { limits } from '../../base/limits.ts'
import { ConnectionLost } from './connection.ts'
import type { Connected, Look } from './durability.ts'
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
  readonly #standby: Pick<StandbyWatch, 'require' | 'suspect' | 'wake'>
  /** The start of a server that showed nothing uncertain. */
  #confirmed: string | null = null
  /** The commit that a start waits for. */
  #asked: { start: string; end: Promise<void> } | null = null

  constructor(standby: Pick<StandbyWatch, 'require' | 'suspect' | 'wake'>) {
    this.#standby = standby
  }

  /**
   * Resolves when everything that a server shows is certain. Refuses `unavailable` while its standby is known to be away.
   * `connect` opens another connection to it, for a commit that waits for longer than those who read.
   */
  async require({ start, facts }: Look, connect: () => Promise<Connected>): Promise<void> {
    // Nobody waits for a standby: the disk of the server is what was asked for.
    if (facts.standbys === '') this.#confirmed = start
    let confirmed = this.#confirmed === start
    while (!confirmed) {
      await this.#standby.require(uncertainWords)
      const asked = this.#ask(start, connect).then(() => true)
      const late = Bun.sleep(limits.standbyWaitSeconds * 1000).then(() => false)
      confirmed = await Promise.race([asked, late])
      if (!confirmed) this.#standby.suspect()
    }
  }

  /** Commit, once for all who want it at the same time. */
  #ask(start: string, connect: () => Promise<Connected>): Promise<void> {
    if (this.#asked?.start === start) return this.#asked.end
    const asked = { start, end: this.#commit(start, connect) }
    this.#asked = asked
    const forget = () => {
      if (this.#asked === asked) this.#asked = null
    }
    asked.end.then(forget, forget)
    return asked.end
  }

  async #commit(start: string, connect: () => Promise<Connected>): Promise<void> {
    const { connection, look } = await connect()
    try {
      if (look.start !== start) throw new ConnectionLost('the server started again meanwhile')
      connection.takeWarning()
      await connection.send(`INSERT INTO commits (id, outcome) VALUES ($1, 'fence')`, [
        Bun.randomUUIDv7(),
      ])
      if (connection.takeWarning()) throw new ConnectionLost('the commit did not reach the standby')
      this.#confirmed = start
      this.#standby.wake()
    } finally {
      connection.destroy()
    }
  }
}
