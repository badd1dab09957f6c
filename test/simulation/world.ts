import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { Random } from '../fuzz/random.ts'
import { compareDisk } from './compare.ts'
import { Mismatch, same } from './coupon-model.ts'
import { Loop } from './loop.ts'
import { Machine, peers } from './machine.ts'
import { type Arrived, Network } from './network.ts'
import { posterMakers } from './poster-steps.ts'
import type { Outcome, Process } from './process.ts'
import { Relay } from './relay.ts'
import { makers, pick, type Request } from './steps.ts'
import { compareTransfers } from './transfer-model.ts'
import { requestOf, walletMakers } from './wallet-steps.ts'

/**
 * A step: the request of a client or a fault, on one machine, made from three numbers. `turns` of the event loop pass
 * until the next step; null: until everything has come to rest.
 */
export type Step = { do: string; at: number; n: [number, number, number]; turns: number | null }

/** Everything that a run follows from. */
export type Script = { seed: number; machines: number; steps: Step[] }

export type Report = {
  /** Requests of clients and of other services. */
  operations: number
  /** A number that two runs share only if the same things happened in the same order. */
  trace: number
  log: string[]
}

/** Starts in which everything that was left must end. */
const startsMax = 6

/** Run a script. Throws `Mismatch` when something is not as the model says. */
export async function run(script: Script): Promise<Report> {
  const chance = Math.random
  const random = new Random(script.seed)
  // The jitter of retries follows from the seed, too.
  Math.random = () => random.next()
  const world = new World(script, random)
  try {
    for (const step of script.steps) await world.step(step)
    await world.finish()
  } catch (cause) {
    world.log.push(String(cause))
    throw new Mismatch(`SEED=${script.seed}\n${world.log.join('\n')}`, { cause })
  } finally {
    world.end()
    Math.random = chance
  }
  return { operations: world.operations, trace: Number(world.trace), log: world.log }
}

class World {
  trace = 0n
  readonly log: string[] = []
  readonly #loop = new Loop()
  readonly #network: Network
  readonly #relays: Relay[]
  readonly #machines: Machine[]
  readonly #requests: { machine: Machine; request: Request }[] = []
  #launched = 0
  #serial = 0
  /** Requests of processes that run, without an answer yet. */
  readonly #open = new Set<Request>()
  #failure: unknown = null

  constructor({ machines }: Script, random: Random) {
    const loop = this.#loop
    const network = new Network(loop, random)
    this.#network = network
    const urls = ['wss://one.example', 'wss://two.example']
    this.#relays = urls.map((url) => new Relay(url, loop, random))
    const shared = { random, loop, network, relays: this.#relays, fail: this.#fail }
    this.#machines = Array.from({ length: machines }, (_, at) => {
      const others = peers.slice(0, machines).filter((_peer, index) => index !== at)
      const machine = new Machine({ ...shared, peers: others }, at)
      network.join(new URL(machine.base).host, {
        answer: (arrived) => this.#serve(machine, arrived),
        alive: () => {
          const process = machine.service?.process
          return () => process?.alive === true
        },
      })
      return machine
    })
  }

  get operations(): number {
    return this.#launched
  }

  readonly #fail = (cause: unknown): void => {
    this.#failure ??= cause
  }

  async step(step: Step): Promise<void> {
    await this.#do(step, pick(this.#machines, step.at))
    if (step.turns === null) {
      await this.#loop.quiet()
    } else {
      await this.#loop.turns(step.turns)
    }
    this.#check()
    if (this.#failure !== null) throw this.#failure
  }

  async #do({ do: name, n }: Step, machine: Machine): Promise<void> {
    const fault = this.#faults[name]
    if (fault) return fault(machine, n)
    if (name === 'again') {
      if (this.#requests.length === 0) return
      const { machine: before, request } = pick(this.#requests, n[0])
      return this.#send(before, request)
    }
    const asked = walletMakers[name] && this.#placeOf(name, machine)
    const around = {
      machine: asked ?? machine,
      machines: this.#machines,
      serial: () => this.#serial++,
    }
    const make = makers[name] ?? posterMakers[name] ?? walletMakers[name]
    if (!make) throw new Error(`there is no step ${name}`)
    const request = make(around, n, around.machine.now())
    if (!request) return
    this.#requests.push({ machine: around.machine, request })
    return this.#send(around.machine, request)
  }

  /** Tokens and cards are at the first machine. */
  #placeOf(name: string, machine: Machine): Machine | undefined {
    return name === 'send' ? machine : this.#machines[0]
  }

  readonly #faults: Record<string, (machine: Machine, n: Step['n']) => Promise<void> | void> = {
    pass: (_, [a]) => {
      const seconds = pick([0.2, 1, 5, 15, 40, 70], a)
      this.#say(`${seconds} s pass`)
      return this.#loop.pass(seconds)
    },
    clock: (machine, [a]) => {
      machine.offset = pick([0, 0, 0, 5, -5, -8, 300, -300], a)
      this.#say(`the clock is ${machine.offset} s ahead`)
    },
    crash: (machine, [a]) => {
      this.#say(`crash after ${a % 200}`)
      if (machine.service) machine.service.process.crashAfter(a % 200)
      else machine.crashIn = a % 400
    },
    fault: (machine, [a, b]) => {
      const kind = b % 2 ? 'statement' : 'commit'
      const fault = { kind, after: a % 3, kept: b % 3 === 0 } as const
      this.#say(`fault ${JSON.stringify(fault)}`)
      machine.service?.process.strikeAfter(fault)
    },
    relay: (_, [a, b]) => {
      this.#say(`a relay goes ${b % 2 ? 'up' : 'down'}`)
      pick(this.#relays, a).turn(b % 2 === 1)
    },
    restart: async (machine) => {
      this.#say('restart')
      await this.#loop.quiet()
      void machine.stop()
      await this.#loop.pass(11)
    },
  }

  /** A client asks. It starts a service that is down, as an operator would. */
  async #send(machine: Machine, request: Request): Promise<void> {
    if (!machine.service) await machine.start()
    if (!machine.service) return
    // The client hears of a failure in `#answered`.
    this.#launch(machine, request).catch(() => undefined)
  }

  /** Another service asks. Null if nobody is there. */
  #serve(machine: Machine, arrived: Arrived): Promise<unknown> | null {
    if (!machine.service) return null
    const { request, answer } = requestOf(machine, this.#machines, arrived)
    return this.#launch(machine, request).then(answer)
  }

  async #launch(machine: Machine, request: Request): Promise<unknown> {
    const { service } = machine
    if (!service) throw new Error('no service')
    this.#launched++
    this.#say(request.words)
    const { process } = service
    const before = process.struck
    let committed: Outcome | null = null
    const database = process.watch({
      committed: (outcome) => {
        committed = outcome
        request.judge(outcome, machine.now(), own)
      },
    })
    const own = service.on(database)
    const told = { ...request }
    this.#open.add(told)
    process.onEnd(() => this.#open.delete(told))
    const outcome = await request.run(own).then(
      (value): Outcome => ({ value }),
      (refused: unknown): Outcome => ({ refused }),
    )
    this.#open.delete(told)
    // Nobody hears a process that has ended.
    if (process.alive) {
      try {
        this.#answered(machine, process, { request, outcome, committed, before, own })
      } catch (cause) {
        this.#fail(cause)
      }
    }
    if ('refused' in outcome) throw outcome.refused
    return outcome.value
  }

  /** An answer reaches its client: it must be the one that was committed. */
  #answered(
    machine: Machine,
    process: Process,
    { request, outcome, committed, before, own }: Answered,
  ): void {
    if ('value' in outcome) {
      this.#say('  answered')
      if (request.answered) request.answered(outcome.value)
      else if (request.reads) request.judge(outcome, machine.now(), own)
      else if (committed) same('the answer', outcome, committed)
      else throw new Mismatch('it was answered before its commit')
      return
    }
    const { refused } = outcome
    const words = refused instanceof Refusal ? refused.code : '503'
    this.#say(`  ${words}`)
    if (refused instanceof Refusal && committed && !request.answered) {
      same('the answer', outcome, committed)
      return
    }
    // A request that only reads is not concerned by faults of writes.
    if (process.explains(refused, before) && (!request.reads || process.closing)) return
    if (!(refused instanceof Refusal)) {
      throw new Mismatch(`it failed: ${refused}\n${Bun.inspect(refused)}`)
    }
    if (request.reads) request.judge(outcome, machine.now(), own)
    else if (!request.early?.(refused.code, machine.now())) {
      throw new Mismatch(`it was refused as ${refused.code} before its commit`)
    }
  }

  #check(): void {
    if (this.#failure !== null) return
    for (const machine of this.#machines) {
      if (machine.changed) compareDisk(machine)
      machine.changed = false
    }
  }

  /** Let everything come to rest, without any more faults, and look whether all promises were kept. */
  async finish(): Promise<void> {
    for (const one of [this.#network, ...this.#relays]) one.healed = true
    for (const relay of this.#relays) relay.turn(true)
    for (const machine of this.#machines) {
      // While it is behind the newest write, nothing is written.
      machine.offset = 300
      machine.crashIn = null
      machine.service?.process.calm()
    }
    await this.#loop.pass(25)
    for (let starts = 0; starts < startsMax && (starts === 0 || this.#left() > 0); starts++) {
      // A start resumes what was left, and makes deliveries due.
      await this.#stopAll()
      for (const machine of this.#machines) await machine.start()
      await this.#loop.pass(25)
      // An event at which a relay hung up has a turn a minute.
      if (this.#left() > 0) await this.#loop.pass(limits.poisonTurnSeconds)
    }
    this.#check()
    if (this.#failure !== null) throw this.#failure
    compareTransfers(this.#machines)
    this.#comparePromises()
    await this.#stopAll()
    if (this.#open.size > 0) {
      throw new Mismatch(`no answer: ${[...this.#open].map(({ words }) => words)}`)
    }
    this.#check()
    if (this.#failure !== null) throw this.#failure
  }

  async #stopAll(): Promise<void> {
    const stopped = this.#machines.map((machine) => machine.stop())
    await this.#loop.pass(11)
    await Promise.all(stopped)
  }

  /** The transfers and deliveries that have not ended. */
  #left(): number {
    const counts = this.#machines.map(
      ({ disk }) =>
        disk.looking
          .query<{ left: number }, []>(
            `SELECT (SELECT count(*) FROM transfer_intents)
               + (SELECT count(*) FROM outbox WHERE done_at IS NULL) AS left`,
          )
          .get()?.left ?? 0,
    )
    return counts.reduce((sum, one) => sum + one, 0)
  }

  /** Every event that a service promised to deliver is at every relay, unless it has expired. */
  #comparePromises(): void {
    for (const { promised } of this.#machines) {
      for (const { id, kind, tags } of promised.values()) {
        if (tags.some(([name]) => name === 'expiration')) continue
        const missing = this.#relays.filter((relay) => !relay.events.has(id))
        same(
          `the relays without an event of kind ${kind}`,
          missing.map(({ url }) => url),
          [],
        )
      }
    }
  }

  end(): void {
    for (const machine of this.#machines) machine.end()
  }

  #say(words: string): void {
    this.log.push(words)
    this.trace = BigInt(Bun.hash(words, this.trace)) & 0x1fffffffffffffn
  }
}

type Answered = {
  request: Request
  outcome: Outcome
  committed: Outcome | null
  before: number
  own: Parameters<Request['judge']>[2]
}
