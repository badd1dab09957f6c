import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lane, Step } from './client.ts'
import { type Facts, factProblems } from './facts.ts'
import type { Life } from './life.ts'
import type { Known, World } from './moments.ts'
import { truthOf } from './truth.ts'

/** A service that came up on a state, as its clients see it. */
export type Service = {
  dataDir: string
  /** The state of each voucher; `unknown` for one that does not exist. */
  statuses(nonces: readonly string[]): Promise<Map<string, string>>
  /** The names of a lane's coupons, by id. */
  names(lane: Lane): Promise<Map<string, string>>
  /** The facts with these names. */
  facts(names: Iterable<string>): Facts
  /** The broken promises that only requests can show. */
  ask?(lane: Lane, steps: readonly Step[], life: Life): Promise<string[]>
  /** The events of the relay among these. */
  present(lane: Lane, ids: readonly string[]): Promise<Set<string>>
  /** Send a step again. */
  repeat(lane: Lane, step: Step): Promise<{ status: number; text: string }>
  /** The NIP-98 events that were used. Null: it cannot be asked. */
  spent(): Promise<Set<string> | null>
  /** True if the database says that it was closed properly. Null: it cannot be asked. */
  clean: boolean | null
  /** The problems that the program's own check finds. */
  check(): Promise<string[]>
  close(): Promise<void>
}

/** The broken promises of a service that came up after a power cut. */
export async function judge(service: Service, known: Known, life: Life): Promise<string[]> {
  const problems: string[] = []
  if (known.answered) {
    for (const [name, text] of Object.entries(life.keys)) {
      const there = readFileSync(join(service.dataDir, 'keys', name), 'utf8')
      if (there !== text) problems.push(`the key file ${name} has another content`)
    }
  }
  if (service.clean === true && !known.mayBeClean) problems.push('it takes the file for closed')
  problems.push(...(await judgeWorlds(service, life, known.coupons, known.relay)))
  problems.push(...(await service.check()))
  return problems
}

/** Compare both databases with the worlds that each may be in. */
export async function judgeWorlds(
  service: Service,
  life: Life,
  coupons: readonly World[],
  relay: readonly World[],
): Promise<string[]> {
  const lanes = [...(coupons[0]?.keys() ?? [])]
  const found = new Map<Lane, Found>()
  for (const lane of lanes) found.set(lane, await findState(service, lane))
  const held = bestOf(coupons, (...state) => couponProblems(found.get(state[0]), ...state))
  const events = bestOf(relay, (lane, steps) => eventProblems(found.get(lane), lane, steps))
  const asked = [...held.steps].map(async ([lane, { steps, settledAgain }]) => {
    const problems = await repeatProblems(service, lane, steps)
    const more = (await service.ask?.(lane, lane.steps.slice(0, steps), life)) ?? []
    // The repeats must have changed nothing.
    const names = factsOf(lane, steps, settledAgain)
    const changed = factProblems(names, truthOf(lane, steps).facts, service.facts(names))
    return [...problems, ...more, ...changed.map((problem) => `afterwards: ${problem}`)]
  })
  return [...held.problems, ...events.problems, ...(await Promise.all(asked)).flat()]
}

type Found = {
  statuses: Map<string, string>
  names: Map<string, string>
  events: Set<string>
  facts: Facts
}

async function findState(service: Service, lane: Lane): Promise<Found> {
  const all = truthOf(lane, lane.steps.length)
  return {
    statuses: await service.statuses([...all.vouchers.keys()]),
    names: await service.names(lane),
    events: await service.present(lane, [...all.events.keys()]),
    facts: service.facts(all.facts.keys()),
  }
}

type Compare = (lane: Lane, steps: number, settledAgain: boolean) => string[]
type Best = { problems: string[]; steps: Map<Lane, { steps: number; settledAgain: boolean }> }

/** The world that fits best: its problems, and the number of steps that each lane has there. */
function bestOf(worlds: readonly World[], compare: Compare): Best {
  const fits = worlds.map((world) => {
    const problems: string[] = []
    const steps: Best['steps'] = new Map()
    for (const [lane, { least, most, settledAgain = false }] of world) {
      let best: string[] | null = null
      // A step that changes nothing that can be seen may not have happened.
      for (let count = least; count <= most && best?.length !== 0; count++) {
        const found = compare(lane, count, settledAgain)
        if (best !== null && found.length >= best.length) continue
        best = found
        steps.set(lane, { steps: count, settledAgain })
      }
      problems.push(...(best ?? []))
    }
    return { problems, steps }
  })
  const [best] = fits.sort((one, other) => one.problems.length - other.problems.length)
  return best ?? { problems: [], steps: new Map() }
}

function couponProblems(
  found: Found | undefined,
  lane: Lane,
  steps: number,
  settledAgain: boolean,
): string[] {
  const truth = truthOf(lane, steps)
  const problems: string[] = []
  for (const [nonce, status] of found?.statuses ?? []) {
    const told = truth.vouchers.get(nonce) ?? 'unknown'
    if (status !== told) problems.push(`a voucher that was ${told} is ${status}`)
  }
  for (const [id, name] of truth.names) {
    const there = found?.names.get(id)
    if (there !== name) problems.push(`a coupon that was ${name} is ${there ?? 'missing'}`)
  }
  const names = factsOf(lane, steps, settledAgain)
  return [...problems, ...factProblems(names, truth.facts, found?.facts ?? new Map())]
}

/** The names of the facts that so many steps of a lane decide. */
function factsOf(lane: Lane, steps: number, settledAgain: boolean): string[] {
  const later = new Set(
    (settledAgain ? lane.steps.slice(steps) : [])
      .flatMap(({ facts }) => Object.keys(facts))
      .filter((name) => /^(balance|movement) /.test(name)),
  )
  const all = [...truthOf(lane, lane.steps.length).facts.keys()]
  return all.filter((name) => !later.has(name))
}

function eventProblems(found: Found | undefined, lane: Lane, steps: number): string[] {
  const { events } = truthOf(lane, steps)
  const all = truthOf(lane, lane.steps.length).events
  return [...all.keys()].flatMap((id) => {
    const told = events.get(id) ?? false
    const there = found?.events.has(id) ?? false
    if (told === there) return []
    return [
      `an event that was ${told ? 'accepted' : 'not there'} is ${there ? 'there' : 'missing'}`,
    ]
  })
}

async function repeatProblems(service: Service, lane: Lane, steps: number): Promise<string[]> {
  const spent = await service.spent()
  const repeats = lane.steps.slice(0, steps).map(async (step) => {
    const problems: string[] = []
    if (spent && step.proof !== null && !spent.has(step.proof)) {
      problems.push(`the signature of a ${step.kind} is not used up`)
    }
    if ((step.key === null && step.kind !== 'claim') || step.kind === 'take') return problems
    const again = await service.repeat(lane, step)
    const status = step.kind === 'refresh' ? 200 : step.status
    if (again.status !== status) problems.push(`a ${step.kind} is repeated with ${again.status}`)
    else if (step.key !== null) {
      if (again.text !== step.text) problems.push(`a ${step.kind} is not repeated byte for byte`)
    } else if (!sameClaim(step.text, again.text)) problems.push('a claim has become another one')
    return problems
  })
  return (await Promise.all(repeats)).flat()
}

function sameClaim(first: string, second: string): boolean {
  const [one, other] = [JSON.parse(first), JSON.parse(second)]
  return one.claimedAt === other.claimedAt && one.voucher.id === other.voucher.id
}
