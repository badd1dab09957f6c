import { Refusal } from '../../src/base/refusal.ts'
import { Random } from '../fuzz/random.ts'
import { compareDisk } from './compare.ts'
import { Mismatch, same } from './coupon-model.ts'
import { Loop } from './loop.ts'
import { Machine } from './machine.ts'
import type { Outcome, Process } from './process.ts'
import { couponsOn, makers, type Request } from './steps.ts'

/**
 * A step: the request of a client or a fault, on one machine, made from three numbers. `turns` of the event loop pass
 * until the next step; null: until everything has come to rest.
 */
export type Step = { do: string; at: number; n: [number, number, number]; turns: number | null }

/** Everything that a run follows from. */
export type Script = { seed: number; machines: number; steps: Step[] }

export type Report = {
  /** Requests of clients. */
  operations: number
  /** A number that two runs share only if the same things happened in the same order. */
  trace: number
  log: string[]
}

/** Run a script. Throws `Mismatch` when something is not as the model says. */
export async function run(script: Script): Promise<Report> {
  const world = new World(script)
  try {
    for (const step of script.steps) await world.step(step)
    await world.finish()
  } catch (cause) {
    world.log.push(String(cause))
    throw new Mismatch(`SEED=${script.seed}\n${world.log.join('\n')}`, { cause })
  } finally {
    world.end()
  }
  return { operations: world.operations, trace: Number(world.trace), log: world.log }
}

class World {
  operations = 0
  trace = 0n
  readonly log: string[] = []
  readonly #loop = new Loop()
  readonly #machines: Machine[]
  readonly #requests: { machine: Machine; request: Request }[] = []
  /** Requests of processes that run, without an answer yet. */
  #open = 0
  #failure: unknown = null

  constructor({ seed, machines }: Script) {
    const random = new Random(seed)
    this.#machines = Array.from({ length: machines }, (_, at) => {
      const parts = { random, loop: this.#loop, fail: this.#fail }
      return new Machine(parts, at)
    })
  }

  readonly #fail = (cause: unknown): void => {
    this.#failure ??= cause
  }

  async step(step: Step): Promise<void> {
    const machine = this.#machines[step.at % this.#machines.length] as Machine
    await this.#do(step, machine)
    if (step.turns === null) {
      await this.#loop.quiet()
      this.#check()
    } else {
      await this.#loop.turns(step.turns)
    }
    if (this.#failure !== null) throw this.#failure
  }

  async #do({ do: name, n }: Step, machine: Machine): Promise<void> {
    const [a, b] = n
    switch (name) {
      case 'pass':
        this.#say('time passes')
        return this.#loop.pass([1, 5, 40, 70][a % 4] as number)
      case 'clock':
        machine.offset = [0, 0, 0, 5, -5, -8, 300, -300][a % 8] as number
        this.#say(`the clock is ${machine.offset} s ahead`)
        return
      case 'crash':
        this.#say(`crash after ${a % 200}`)
        if (machine.service) machine.service.process.crashAfter(a % 200)
        else machine.crashIn = a % 2000
        return
      case 'fault': {
        const fault = {
          kind: b % 2 ? 'statement' : 'commit',
          after: a % 3,
          kept: b % 3 === 0,
        } as const
        this.#say(`fault ${JSON.stringify(fault)}`)
        return machine.service?.process.strikeAfter(fault)
      }
      case 'restart': {
        this.#say('restart')
        const { service } = machine
        await this.#loop.quiet()
        if (service?.process.alive) void service.stop()
        return this.#loop.quiet()
      }
      case 'again': {
        const before = this.#requests[a % Math.max(1, this.#requests.length)]
        if (before) this.#launch(before.machine, before.request)
        return
      }
      default: {
        const make = makers[name]
        if (!make) throw new Error(`there is no step ${name}`)
        const request = make(machine.coupons, n, machine.now())
        if (!request) return
        this.#requests.push({ machine, request })
        this.#launch(machine, request)
      }
    }
  }

  #launch(machine: Machine, request: Request): void {
    if (!machine.service) machine.start()
    const { service } = machine
    if (!service) return
    this.operations++
    this.#say(request.words)
    const { process } = service
    const before = process.struck
    let committed: Outcome | null = null
    const database = process.watch({
      committed: (outcome) => {
        committed = outcome
        machine.newestCommit = Math.max(machine.newestCommit, machine.now())
        request.judge(outcome, machine.now())
      },
    })
    this.#open++
    const answered = (outcome: Outcome) => {
      this.#open--
      // Nobody hears a process that has ended.
      if (!process.alive) return
      try {
        this.#answer(machine, process, { request, outcome, committed, before })
      } catch (cause) {
        this.#fail(cause)
      }
    }
    request.run(couponsOn(service, database)).then(
      (value) => answered({ value }),
      (refused: unknown) => answered({ refused }),
    )
  }

  /** An answer reaches its client: it must be the one that was committed. */
  #answer(
    machine: Machine,
    process: Process,
    {
      request,
      outcome,
      committed,
      before,
    }: { request: Request; outcome: Outcome; committed: Outcome | null; before: number },
  ): void {
    const failed = 'refused' in outcome && !(outcome.refused instanceof Refusal)
    this.#say(
      failed
        ? '  503'
        : 'value' in outcome
          ? '  answered'
          : `  ${(outcome.refused as Refusal).code}`,
    )
    if (failed) {
      if (process.struck > before) return
      throw new Mismatch(`it failed: ${Bun.inspect(outcome.refused)}`)
    }
    if (request.reads) request.judge(outcome, machine.now())
    else if (committed) same('the answer', outcome, committed)
    else if ('refused' in outcome && machine.excuses(process, outcome.refused)) return
    else throw new Mismatch('it was answered before its commit')
  }

  #check(): void {
    if (this.#failure !== null) return
    for (const machine of this.#machines) compareDisk(machine)
  }

  /** Let everything come to rest, and start every machine once more. */
  async finish(): Promise<void> {
    for (const machine of this.#machines) {
      machine.crashIn = null
      // While it is behind the newest write, nothing is written.
      machine.offset = 300
      machine.service?.process.calm()
      if (!machine.service) machine.start()
    }
    await this.#loop.pass(70)
    this.#check()
    for (const machine of this.#machines) await machine.service?.stop()
    await this.#loop.quiet()
    if (this.#open > 0) throw new Mismatch(`${this.#open} requests got no answer`)
    this.#check()
    if (this.#failure !== null) throw this.#failure
  }

  end(): void {
    for (const machine of this.#machines) machine.end()
  }

  #say(words: string): void {
    this.log.push(words)
    this.trace = BigInt(Bun.hash(words, this.trace)) & 0x1fffffffffffffn
  }
}
