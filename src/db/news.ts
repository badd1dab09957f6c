/**
 * News: a commit is told to every node. `tx.tell` is `afterCommit` for all of them; those that share a process are
 * called before the answer, those of other nodes within moments. News are at most once: a node that was away is told
 * that it missed some.
 */

/** A kind of news, with the type of its body: JSON, in which bytes may stand. */
export type Topic<Body> = {
  readonly name: string
  /** Never set. It carries the type. */
  readonly body?: Body
}

export type NewsListener<Body> = {
  told(body: Body): void
  /** News of other nodes may be lost: read anew. */
  missed(): void
}

/** The listeners of one process. */
export class Listeners {
  readonly #byTopic = new Map<string, NewsListener<never>[]>()

  listen<Body>({ name }: Topic<Body>, listener: NewsListener<Body>): void {
    this.#byTopic.set(name, [...(this.#byTopic.get(name) ?? []), listener])
  }

  tell<Body>({ name }: Topic<Body>, body: Body): void {
    for (const { told } of this.#byTopic.get(name) ?? []) told(body as never)
  }

  missed(): void {
    for (const listeners of this.#byTopic.values()) for (const { missed } of listeners) missed()
  }
}
