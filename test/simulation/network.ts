import { httpStatusOf, Refusal, sentenceOf } from '../../src/base/refusal.ts'
import { type FetchPublic, OutboundError } from '../../src/outbound/fetch-public.ts'
import type { Random } from '../fuzz/random.ts'
import type { Loop } from './loop.ts'
import type { Process } from './process.ts'

/** A request as it arrives at another service. */
export type Arrived = { path: string; json: Record<string, unknown>; key: string }

/** A host of the network. Null when no service runs there. */
export type Host = { answer(arrived: Arrived): Promise<unknown> | null; alive(): () => boolean }

/**
 * The network between services. Requests and answers are lost, doubled or late, as the seed wants; both ends may crash
 * meanwhile. A sender cannot tell a lost request from a lost answer.
 */
export class Network {
  readonly #hosts = new Map<string, Host>()
  readonly #loop: Loop
  readonly #random: Random
  /** Nothing is lost, doubled or late any more. */
  healed = false

  constructor(loop: Loop, random: Random) {
    this.#loop = loop
    this.#random = random
  }

  join(name: string, host: Host): void {
    this.#hosts.set(name, host)
  }

  /** The way out of a process. */
  from(process: Process): FetchPublic {
    return async (url, { deadlineMs, json, idempotencyKey }) => {
      process.touch()
      const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
      const chance = (probability: number) => !this.healed && this.#random.chance(probability)
      if (chance(0.08)) throw new OutboundError('connect', false)
      const deadline = this.#loop.after(deadlineMs / 1000, () =>
        reject(new OutboundError('timeout', true)),
      )
      const arrived = {
        path: url.pathname,
        json: (json ?? {}) as Arrived['json'],
        key: idempotencyKey ?? '',
      }
      const times = chance(0.1) ? 0 : chance(0.1) ? 2 : 1
      for (let time = 0; time < times; time++) {
        this.#loop.after(this.#delay(chance), () =>
          this.#arrive(url.host, arrived, chance, resolve, reject),
        )
      }
      const { status, text } = await promise.finally(deadline)
      process.touch()
      return { status, headers: {}, body: new TextEncoder().encode(text) }
    }
  }

  #delay(chance: (probability: number) => boolean): number {
    return chance(0.1) ? 5 + this.#random.below(20) : this.#random.below(4) / 10
  }

  #arrive(
    name: string,
    arrived: Arrived,
    chance: (probability: number) => boolean,
    resolve: (answer: { status: number; text: string }) => void,
    reject: (cause: unknown) => void,
  ): void {
    this.#loop.activity++
    const host = this.#hosts.get(name)
    const answering = host?.answer(arrived) ?? null
    if (!host || answering === null) {
      reject(new OutboundError('connect', false))
      return
    }
    const alive = host.alive()
    const send = (status: number, text: string) => {
      if (!alive()) return reject(new OutboundError('protocol', true))
      if (chance(0.1)) return
      this.#loop.after(this.#delay(chance), () => resolve({ status, text }))
    }
    answering.then(
      (answer) => send(200, typeof answer === 'string' ? answer : JSON.stringify(answer)),
      (cause: unknown) => {
        if (!(cause instanceof Refusal)) return send(503, '{"error":"","code":"unavailable"}')
        const { code } = cause
        send(httpStatusOf(cause), JSON.stringify({ error: sentenceOf(cause), code }))
      },
    )
  }
}
