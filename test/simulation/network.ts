import { httpStatusOf, Refusal, sentenceOf } from '../../src/base/refusal.ts'
import { type FetchPublic, OutboundError } from '../../src/outbound/fetch-public.ts'
import type { Random } from '../fuzz/random.ts'
import type { Loop } from './loop.ts'
import type { Process } from './process.ts'

/** A request as it arrives at another service. */
export type Arrived = { path: string; json: Record<string, unknown>; key: string }

/** A request under way, whose copies share one end: `refused` where nobody was there for the first of them. */
type Request = {
  host: string
  arrived: Arrived
  met: 'nobody yet' | 'host' | 'refused'
  chance: (probability: number) => boolean
  resolve: (answer: { status: number; text: string }) => void
  reject: (cause: unknown) => void
}

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
      const request: Request = {
        host: url.host,
        arrived,
        met: 'nobody yet',
        chance,
        resolve,
        reject,
      }
      const times = chance(0.1) ? 0 : chance(0.1) ? 2 : 1
      for (let time = 0; time < times; time++) {
        this.#loop.after(this.#delay(chance), () => this.#arrive(request))
      }
      const { status, text } = await promise.finally(deadline)
      process.touch()
      return { status, headers: {}, body: new TextEncoder().encode(text) }
    }
  }

  #delay(chance: (probability: number) => boolean): number {
    return chance(0.1) ? 5 + this.#random.below(20) : this.#random.below(4) / 10
  }

  /** A connection that was refused has brought no copy of its request, and one that was made is not refused. */
  #arrive(request: Request): void {
    const { arrived, met, chance, resolve, reject } = request
    if (met === 'refused') return
    this.#loop.activity++
    const host = this.#hosts.get(request.host)
    const answering = host?.answer(arrived) ?? null
    if (!host || answering === null) {
      if (met === 'host') return
      request.met = 'refused'
      reject(new OutboundError('connect', false))
      return
    }
    request.met = 'host'
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
