import { call } from '../../support/client.ts'
import { connectRelay, type RelayClient } from '../../support/relay-client.ts'
import type { Client, Lane } from './client.ts'

/** A read that showed a step of another client: from its answer on, the step must last. `count`: steps up to that one. */
export type Sight = { id: string; lane: Lane; count: number }

/** Somebody who looks at vouchers while they are spent, and at all events of the relay. */
export class Watcher {
  readonly #base: string
  readonly #clients: readonly Client[]
  readonly #relay: RelayClient
  readonly #looks: { id: string; lane: Lane; nonce: string }[] = []
  readonly #running: Promise<void>
  #stopped = false

  private constructor(base: string, clients: readonly Client[], relay: RelayClient) {
    this.#base = base
    this.#clients = clients
    this.#relay = relay
    this.#running = this.#run()
  }

  static async start(base: string, clients: readonly Client[]): Promise<Watcher> {
    const relay = await connectRelay(base)
    await relay.subscribe('all', { kinds: [1, 5, 30_000] })
    return new Watcher(base, clients, relay)
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      // The clients of this process go on between two looks.
      await Promise.all([Bun.sleep(1), ...this.#clients.map((client) => this.#look(client))])
    }
  }

  async #look({ spending: nonce, lane }: Client): Promise<void> {
    if (nonce === null) return
    const id = crypto.randomUUID()
    const headers = { 'X-Step': id }
    const asked = call(this.#base, '/api/coupons/preview', { body: { nonce }, headers })
    // The service may have ended.
    const { json } = await asked.catch(() => ({ json: { status: 'minted' } }))
    if (json.status !== 'minted') this.#looks.push({ id, lane, nonce })
  }

  /** The sights are known when the steps are, of which another process may answer some. */
  async stop(): Promise<() => Sight[]> {
    this.#stopped = true
    await this.#running
    this.#relay.close()
    const spent = (kind: string) => kind === 'claim' || kind === 'refresh'
    const sightOf = ({ id, lane, nonce }: { id: string; lane: Lane; nonce: string }) => {
      const at = lane.steps.findIndex(({ kind, about }) => spent(kind) && about === nonce)
      return { id, lane, count: at + 1 }
    }
    return () => this.#looks.map(sightOf)
  }
}
